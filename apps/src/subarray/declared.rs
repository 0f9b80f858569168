//! Arrays as a user declares them: shapes, halos and indices for each axis, checked against each other.
//!
//! Users give numbers in the order of the declaration: with `order=fortran` the fastest axis first, with
//! `order=c` last. Inside the program all lists have the slowest axis first, like those of [`ArraySpec`].

use std::collections::BTreeSet;

use datatypes::{Element, Order};

use crate::parameters::{joined_by_x, joined_sides};
use crate::{ArrayName, ArraySpec, Parameter, ParameterError, ParameterType, PerAxis, Values};

/// Names of the axes, the fastest first.
pub(crate) const AXES: [&str; 6] = ["x", "y", "z", "t", "u", "v"];

/// If no halo is given, these axes get one, from the fastest on: in most codes axes beyond the third are components.
const SPACE: usize = 3;

/// An axis with fewer points than this, and fewer than half of another axis's, probably has components: grids
/// on one rank are rarely shorter. It gets no default halo if it is the first or the last axis, as that of
/// components usually is, or if less than half of it would remain.
const SHORT: usize = 16;

/// Maximum arrays: as many as [`Arrays`] can start in different cache sets.
const MOST_ARRAYS: usize = 64;

/// Numbers for an axis: before the interior and behind it.
pub(crate) type Margins = [usize; 2];

/// How many arrays there are of each shape.
pub(crate) const ARRAYS: Parameter = Parameter::new(
    "arrays",
    "arrays",
    ParameterType::PER_AXIS,
    "arrays of each shape, all of them in one message: one number, or for each shape one, joined by +",
);

pub(crate) const SHAPE: Parameter = Parameter::new(
    "shape",
    "points",
    ParameterType::PER_AXIS,
    "extent of each axis as declared, halo included, such as 102x102x52; other shapes after a +",
);

/// The halo of each axis.
pub(crate) const fn halo(about: &'static str) -> Parameter {
    let kind = PerAxis { absent: Some("width"), instead_of: None, has_two_sides: true };
    Parameter::new("halo", "points", ParameterType::PerAxis(kind), about)
}

pub(crate) const ORDER: Parameter = Parameter::choice(
    "order",
    "which axis is the fastest: the first as declared (fortran), or the last (c)",
    &["fortran", "c"],
);

/// Shapes of arrays, and the order in which users give them.
#[derive(Clone, Debug)]
pub(crate) struct Declared<'a> {
    values: &'a Values,
    /// The order of the user's lists.
    pub order: Order,
    pub element: Element,
    /// The shapes, each once.
    pub shapes: Vec<Vec<usize>>,
    /// How many arrays have each shape.
    counts: Vec<usize>,
}

impl<'a> Declared<'a> {
    /// The values of `shape`, `arrays`, `order` and `element`.
    ///
    /// # Errors
    /// Empty axes, too many arrays, arrays beyond the address space.
    pub fn new(values: &'a Values) -> Result<Self, ParameterError> {
        let order = if values.choice("order") == "c" { Order::C } else { Order::Fortran };
        let declared = values.per_axis("shape");
        if declared.iter().flatten().any(|&points| points == 0) {
            return Err(values.refuse("shape", "must have at least 1 point on each axis"));
        }
        let counts = Self::counts(values, declared.len())?;
        let shapes = declared.iter().map(|list| slowest_first(order, list)).collect();
        let this = Self { values, order, element: values.element("element"), shapes, counts };
        // After this check no product of extents can overflow.
        values.addressable(this.specs())?;
        Ok(this)
    }

    /// The number of arrays of each of `shapes` shapes.
    fn counts(values: &Values, shapes: usize) -> Result<Vec<usize>, ParameterError> {
        let lists = values.per_axis("arrays");
        let counts: Vec<usize> = lists.iter().flatten().copied().collect();
        if lists.iter().any(|list| list.len() != 1) || ![1, shapes].contains(&lists.len()) {
            let each = if shapes == 1 {
                String::new()
            } else {
                format!(", or {shapes} joined by +, one for each shape")
            };
            return Err(values.refuse("arrays", format!("must be one number{each}")));
        }
        let counts = if counts.len() == 1 { vec![counts[0]; shapes] } else { counts };
        let most = MOST_ARRAYS;
        if counts.contains(&0)
            || counts.iter().try_fold(0usize, |sum, &n| sum.checked_add(n)).is_none_or(|n| n > most)
        {
            return Err(values.refuse("arrays", format!("must be from 1 to {most}, all shapes together")));
        }
        Ok(counts)
    }

    /// The number of the shape that each array has.
    pub fn arrays(&self) -> impl Iterator<Item = usize> + '_ {
        self.counts.iter().enumerate().flat_map(|(shape, &count)| std::iter::repeat_n(shape, count))
    }

    /// The arrays, with the names of the declaration if these distinguish them.
    pub fn specs(&self) -> Vec<ArraySpec> {
        let arrays: usize = self.counts.iter().sum();
        let declared = self.values.declared_names();
        let distinct: BTreeSet<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
        let is_named = distinct.len() == arrays && !distinct.contains("");
        let spec = |(i, shape): (usize, usize)| {
            let extents = &self.shapes[shape];
            let name = match arrays {
                _ if is_named => declared[shape].0.clone(),
                1 => "array".to_owned(),
                _ => format!("array_{}", i + 1),
            };
            let firsts = declared.get(shape).map(|(_, firsts)| firsts.clone());
            let firsts = firsts.unwrap_or_else(|| vec![1; extents.len()]);
            let firsts = (self.order == Order::Fortran).then_some(firsts);
            ArraySpec::new(ArrayName { name: name.into(), firsts }, self.element, extents)
        };
        self.arrays().enumerate().map(spec).collect()
    }

    /// The numbers of parameter `name` for each shape; `None` if absent.
    ///
    /// # Errors
    /// If there are not as many numbers as the shape has axes, or not as many lists as there are shapes.
    pub fn numbers(&self, name: &'static str) -> Result<Option<Vec<Vec<usize>>>, ParameterError> {
        let first = |list: Vec<Margins>| list.into_iter().map(|[number, _]| number).collect();
        Ok(self.lists(name, false)?.map(|lists| lists.into_iter().map(first).collect()))
    }

    /// Like [`Declared::numbers`], for both sides; with `one_for_all`, a single number applies to all axes.
    fn lists(
        &self,
        name: &'static str,
        one_for_all: bool,
    ) -> Result<Option<Vec<Vec<Margins>>>, ParameterError> {
        let sides = |list: &Vec<usize>| match name {
            "halo" => list.chunks(2).map(|sides| [sides[0], sides[1]]).collect(),
            _ => list.iter().map(|&number| [number; 2]).collect::<Vec<Margins>>(),
        };
        let lists: Vec<_> = self.values.per_axis(name).iter().map(sides).collect();
        let shapes = self.shapes.len();
        if lists.is_empty() {
            return Ok(None);
        }
        if ![1, shapes].contains(&lists.len()) {
            let lists = if shapes == 1 { String::new() } else { format!(", or {shapes} joined by +") };
            return Err(self
                .values
                .refuse(name, format!("must be one list of numbers{lists}, as shape has")));
        }
        let list = |i: usize| {
            let (list, axes) = (&lists[i % lists.len()], self.shapes[i].len());
            if one_for_all && list.len() == 1 {
                return Ok(vec![list[0]; axes]);
            }
            if list.len() != axes {
                let or = if one_for_all { ", or a single one for all of them" } else { "" };
                let numbers = if axes == 1 { "1 number" } else { &format!("{axes} numbers") };
                let is_without_components = name == "halo" && list.len() + 1 == axes;
                let components = match is_without_components {
                    true => {
                        let list = joined_sides(&list.concat());
                        format!("; {list}x0 or 0x{list} if one axis has components")
                    }
                    false => String::new(),
                };
                let shape = self.shape_text(i);
                let reason = format!("must have {numbers}, one for each axis of {shape}{or}{components}");
                return Err(self.values.refuse(name, reason));
            }
            Ok(slowest_first(self.order, list))
        };
        (0..shapes).map(list).collect::<Result<_, _>>().map(Some)
    }

    /// A shape as the user declared it.
    pub fn shape_text(&self, shape: usize) -> String {
        joined_by_x(&self.values.per_axis("shape")[shape])
    }

    /// The halo on each axis of each shape: the given `halo`, or `width` on the axes of space and on that of
    /// the `face`, counted from the fastest.
    ///
    /// # Errors
    /// A halo that leaves no interior.
    pub fn halos(&self, width: usize, face: Option<usize>) -> Result<Vec<Vec<Margins>>, ParameterError> {
        let given = self.lists("halo", true)?;
        let by_width = |shape: &Vec<usize>| {
            let has_halo = |axis: usize| axis < SPACE || face == Some(axis);
            (0..shape.len()).rev().map(|axis| [if has_halo(axis) { width } else { 0 }; 2]).collect()
        };
        let is_given = given.is_some();
        let halos: Vec<Vec<Margins>> = given.unwrap_or_else(|| self.shapes.iter().map(by_width).collect());
        for (i, (shape, halo)) in self.shapes.iter().zip(&halos).enumerate() {
            for (d, (&points, halo)) in shape.iter().zip(halo).enumerate() {
                let both = halo[0] + halo[1];
                let axis = shape.len() - 1 - d;
                let name = format!("axis {} of {}", axis_name(axis), self.shape_text(i));
                if both >= points && both > 0 {
                    return Err(self.no_interior(is_given, points, &name));
                }
                let longest = shape.iter().copied().max().unwrap_or_default();
                let is_short = points < SHORT && 2 * points < longest;
                let is_likely = match face == Some(axis) {
                    // Who writes `face=x+` of an array with its components first means the next axis.
                    true => axis == 0,
                    false => both > 0 && (axis == 0 || d == 0 || 2 * both > points),
                };
                if is_short && is_likely && !self.is_halo_of_each_axis(i) {
                    return Err(self.likely_components(i, d, both, &name, face));
                }
            }
        }
        Ok(halos)
    }

    /// Whether `halo` is given with a number for each axis of a shape.
    fn is_halo_of_each_axis(&self, shape: usize) -> bool {
        let lists = self.values.per_axis("halo");
        !lists.is_empty() && lists[shape % lists.len()].len() > 2
    }

    /// The error of a short axis `d` that got a default halo of `both` sides' points, or is that of the `face`.
    fn likely_components(
        &self,
        shape: usize,
        d: usize,
        both: usize,
        axis: &str,
        face: Option<usize>,
    ) -> ParameterError {
        let dims = self.shapes[shape].len();
        let halo = self
            .values
            .per_axis("halo")
            .first()
            .map_or_else(|| [self.values.get("width") as usize; 2], |list| [list[0], list[1]]);
        let spelled = |of_axis: Margins| {
            let mut list = vec![halo; dims];
            list[d] = of_axis;
            format!("halo={}", joined_sides(&slowest_first(self.order, &list).concat()))
        };
        let points = self.shapes[shape][d];
        let is_face = face == Some(dims - 1 - d);
        let what = match is_face {
            true => format!("the face is one across the {points} points on {axis}"),
            false => format!("{both} of the {points} points on {axis} would be halo"),
        };
        let next = if is_face { format!(" and face={}", self.other_face(1)) } else { String::new() };
        let reason = format!(
            "must be given for each axis: {what}; {}{next} if these are components, else {}",
            spelled([0; 2]),
            spelled(halo)
        );
        self.values.refuse("halo", reason)
    }

    /// The face that was given, across the axis with this number instead.
    fn other_face(&self, axis: usize) -> String {
        let end = self.values.choice("face").chars().last().unwrap_or('+');
        format!("{}{end}", axis_name(axis))
    }

    /// The error of two halos that meet.
    fn no_interior(&self, is_given: bool, points: usize, axis: &str) -> ParameterError {
        let most = (points - 1) / 2;
        match (is_given, most) {
            (true, _) => self.values.refuse("halo", format!("must be at most {} before and behind together on {axis}, or no interior is left", points - 1)),
            (false, 0) => self.values.refuse(
                "shape",
                format!("must have at least 3 points on {axis}, interior between two halos; halo=0 is without"),
            ),
            (false, _) => self.values.refuse(
                "width",
                format!("must be at most {most}: halos as wide leave no interior on {axis}; give halo= for each axis"),
            ),
        }
    }

    /// Refuses a `width` larger than the halo on the receiving side, or than the interior, of dimension `d` of a shape.
    ///
    /// # Errors
    /// The error names the largest possible width.
    pub fn check_width(
        &self,
        shape: usize,
        d: usize,
        halos: &[Margins],
        halo: usize,
        width: usize,
    ) -> Result<(), ParameterError> {
        let (points, axes) = (self.shapes[shape][d], self.shapes[shape].len());
        let axis = format!("axis {} of {}", axis_name(axes - 1 - d), self.shape_text(shape));
        let interior = points - halos[d][0] - halos[d][1];
        if halo == 0 {
            let own = axes - 1 - d;
            let other = halos.iter().rev().position(|halo| *halo != [0; 2]).filter(|other| *other != own);
            return Err(match other {
                None => {
                    self.values.refuse("halo", format!("must be at least {width} on {axis}, to receive into"))
                }
                Some(other) => {
                    let fastest = if own == 0 { ", the fastest" } else { "" };
                    let name = axis_name(own);
                    let reason = format!(
                        "axis {name} ({points} points{fastest}) has no halo to receive into. Did you mean"
                    );
                    self.values.refuse("face", format!("{reason} {}?", self.other_face(other)))
                }
            });
        }
        let reason = match (width > halo, width > interior, self.values.per_axis("halo")) {
            (true, ..) => format!("must be from 1 to {halo}, the halo on {axis}"),
            (_, true, []) => {
                format!("must be from 1 to {}, a third of the {points} points on {axis}", points / 3)
            }
            (_, true, _) => format!("must be from 1 to {interior}, the interior on {axis}"),
            _ => return Ok(()),
        };
        Err(self.values.refuse("width", reason))
    }
}

/// Converts a list between the declared order and slowest first.
pub(crate) fn slowest_first<T: Copy>(order: Order, list: &[T]) -> Vec<T> {
    match order {
        Order::C => list.to_vec(),
        Order::Fortran => list.iter().rev().copied().collect(),
    }
}

/// The name of an axis, counted from the fastest.
pub(crate) fn axis_name(axis: usize) -> String {
    AXES.get(axis).map_or_else(|| (axis + 1).to_string(), |&name| name.to_owned())
}
