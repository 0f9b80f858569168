//! The bounds that an MPI may give a type: the only place that decides it. All that measures or checks asks here.
//!
//! Implementations differ on purpose in three questions, so that several answers are right:
//!
//! - **Sticky bounds** (MPI-4.1, section 5.1.6): if only some members have explicit bounds, by `resized`, `subarray` or `darray`, the
//!   others may count or not (mpich#2220, ompi#349, ompi#8560).
//! - **Rounding of the extent** (epsilon): to the alignment of the type map or of a member, from the extents of the members, of
//!   structures only, or not at all.
//! - **Types without data**: anything, and members without data may count or not.
//!
//! So data is at the places that follow from the bounds that the MPI reports, if they are among the allowed
//! ones ([`Layout::with_bounds_by`]).

use std::collections::BTreeSet;
use std::convert::Infallible;

use crate::check::outermost;
use crate::{Constructor, Layout};

/// Size and bounds of a type as an MPI reports them, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// `MPI_Type_size`.
    pub size: i64,
    /// `MPI_Type_get_extent`.
    pub lower_bound: i64,
    /// `MPI_Type_get_extent`.
    pub extent: i64,
    /// `MPI_Type_get_true_extent`.
    pub true_lower_bound: i64,
    /// `MPI_Type_get_true_extent`.
    pub true_extent: i64,
}

/// A lower bound and an extent, in bytes.
pub type LowerAndExtent = (i64, i64);

/// How a known MPI answers the open questions. Both count members without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Only explicit bounds count, if there are any; otherwise the extent is rounded.
    OpenMpi,
    /// All bounds count; the extent of a structure is rounded.
    Mpich,
}

/// Part of a type: its bounds as those of its copies.
struct PartBounds {
    lower: i64,
    upper: i64,
    is_explicit: bool,
    has_data: bool,
}

impl Reported {
    /// The expected report, with this layout's bounds.
    pub fn from_layout(layout: &Layout) -> Self {
        Self {
            size: layout.size() as i64,
            lower_bound: layout.lower_bound(),
            extent: layout.extent(),
            true_lower_bound: layout.true_lower_bound(),
            true_extent: layout.true_extent(),
        }
    }

    /// Lower bound and extent.
    pub fn bounds(&self) -> LowerAndExtent {
        (self.lower_bound, self.extent)
    }

    /// How the report about `layout`, whose children have the bounds that the MPI has reported, differs from
    /// everything that the standard allows; `None` if it is right.
    pub fn fault(&self, layout: &Layout) -> Option<String> {
        let expected = Self::from_layout(layout);
        if self.size != expected.size {
            return Some(format!("MPI_Type_size gives {} instead of {}", self.size, expected.size));
        }
        if layout.size() == 0 {
            return None;
        }
        let wrong = |call: &str, found: LowerAndExtent, expected: LowerAndExtent| {
            let ((lower, extent), (right_lower, right_extent)) = (found, expected);
            format!(
                "{call} gives lower bound {lower}, extent {extent} instead of {right_lower}, {right_extent}"
            )
        };
        let true_bounds = |reported: &Self| (reported.true_lower_bound, reported.true_extent);
        if true_bounds(self) != true_bounds(&expected) {
            return Some(wrong("MPI_Type_get_true_extent", true_bounds(self), true_bounds(&expected)));
        }
        let is_wrong = !self.has_allowed_bounds(layout);
        is_wrong.then(|| wrong("MPI_Type_get_extent", self.bounds(), expected.bounds()))
    }

    /// Whether the standard allows lower bound and extent for `layout`, whose children have the bounds that the MPI has reported.
    pub fn has_allowed_bounds(&self, layout: &Layout) -> bool {
        layout.size() == 0 || layout.allowed_bounds().contains(&self.bounds())
    }
}

impl Layout {
    /// All bounds that an MPI may report for this layout, each once, if its children have theirs; first its
    /// own. Those of a type without data are not restricted.
    pub fn allowed_bounds(&self) -> Vec<LowerAndExtent> {
        let mut allowed = vec![Reported::from_layout(self).bounds()];
        if self.constructor().has_own_bounds() {
            return allowed;
        }
        let mut roundings = alignments(self);
        roundings.insert(1);
        for [all_data, all_bounds] in [[false, false], [false, true], [true, false], [true, true]] {
            let counts = |part: &PartBounds| (part.has_data || all_data) && (part.is_explicit || all_bounds);
            let Some((lower, upper)) = hull(self, counts) else { continue };
            // Without explicit bounds, the formula's upper bound is the end of the data, which is then rounded.
            let is_explicit = parts(self).any(|part| counts(&part) && part.is_explicit);
            let ends = [Some(upper), (!is_explicit).then(|| self.true_upper_bound())];
            for (upper, rounding) in
                ends.iter().flatten().flat_map(|end| roundings.iter().map(move |by| (end, by)))
            {
                let bounds = (lower, rounded(upper.saturating_sub(lower), *rounding));
                if !allowed.contains(&bounds) {
                    allowed.push(bounds);
                }
            }
        }
        allowed
    }

    /// The same constructors with the bounds that `choose` gives each type in it, from the innermost outwards: it gets the type, and
    /// the type with the bounds of its children. `None` if it gives none, or if they are beyond 64 bits.
    ///
    /// # Errors
    /// Those of `choose`.
    pub fn with_bounds_by<E, F>(&self, choose: &mut F) -> Result<Option<Self>, E>
    where
        F: FnMut(&Self, &Self) -> Result<Option<LowerAndExtent>, E>,
    {
        let own = self.constructor().children();
        let mut children: Vec<Self> = Vec::new();
        for child in own {
            // Equal members are the same type.
            let known = own.iter().position(|other| other == child).and_then(|place| children.get(place));
            let Some(child) =
                known.cloned().map_or_else(|| child.with_bounds_by(choose), |known| Ok(Some(known)))?
            else {
                return Ok(None);
            };
            children.push(child);
        }
        let node = if children == own { Some(self.clone()) } else { self.with_children(&children) };
        let Some(node) = node else { return Ok(None) };
        Ok(choose(self, &node)?.and_then(|bounds| node.with_bounds(bounds)))
    }

    /// The same with `resized` around each type whose bounds were reported and do not follow from its
    /// constructor: as text, it has these bounds on every MPI.
    pub fn with_resized(&self) -> Self {
        if self.bounds().reported.is_none() {
            return self.clone();
        }
        let children: Vec<Self> = self.constructor().children().iter().map(Self::with_resized).collect();
        let node = self.with_children(&children).unwrap_or_else(|| self.clone());
        let (lower_bound, extent) = Reported::from_layout(self).bounds();
        match Reported::from_layout(&node).bounds() == (lower_bound, extent) {
            true => node,
            false => Self::resized(lower_bound, extent, &node).expect("the same bounds fit"),
        }
    }

    /// The layout with the bounds of the standard's formula and of known MPIs, each with its name; empty if they all have the same bounds
    /// and the same data. On bounds of some types with members without data, and of unaligned values, these MPIs have further rules.
    pub fn readings(&self) -> Vec<(String, Self)> {
        let mut all = vec![("the standard's formula".to_owned(), self.clone())];
        for (name, reading) in [("Open MPI", Reading::OpenMpi), ("MPICH, Intel MPI", Reading::Mpich)] {
            let choose = &mut |_: &Self, node: &Self| Ok::<_, Infallible>(Some(reading.bounds_of(node)));
            let Ok(read) = self.with_bounds_by(choose);
            let Some(read) = read else { return Vec::new() };
            match all.iter_mut().find(|(_, known)| known.is_same_type(&read)) {
                Some((names, _)) => *names += &format!(", {name}"),
                None => all.push((name.to_owned(), read)),
            }
        }
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// The innermost types in it that known MPIs read in several ways, each once, with these readings.
    pub fn read_in_several_ways(&self) -> Vec<(&Self, Vec<(String, Self)>)> {
        let readings = self.readings();
        if readings.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(&Self, Vec<(String, Self)>)> = Vec::new();
        for new in self.constructor().children().iter().flat_map(Self::read_in_several_ways) {
            if found.iter().all(|known| known.0 != new.0) {
                found.push(new);
            }
        }
        if found.is_empty() { vec![(self, readings)] } else { found }
    }

    /// Whether known MPIs agree about the places of the data of one copy.
    pub fn has_same_places_everywhere(&self) -> bool {
        self.readings().iter().all(|(_, other)| self.segments().eq(other.segments()))
    }

    /// Whether the bounds and the places of all data are the same.
    pub fn is_same_type(&self, other: &Self) -> bool {
        self == other
            || Reported::from_layout(self) == Reported::from_layout(other)
                && self.segments().eq(other.segments())
    }
}

impl Reading {
    /// The bounds of a type whose children have theirs.
    fn bounds_of(self, node: &Layout) -> LowerAndExtent {
        let own = Reported::from_layout(node).bounds();
        if node.constructor().has_own_bounds() {
            return own;
        }
        let is_marked = parts(node).any(|part| part.is_explicit);
        let (explicit_only, rounds) = match self {
            Self::OpenMpi => (is_marked, !is_marked),
            Self::Mpich => (false, matches!(node.constructor(), Constructor::Struct { .. })),
        };
        let Some((lower, upper)) = hull(node, |part| part.is_explicit || !explicit_only) else { return own };
        let rounding = if rounds { node.bounds().alignment as i64 } else { 1 };
        (lower, rounded(upper.saturating_sub(lower), rounding))
    }
}

fn rounded(extent: i64, alignment: i64) -> i64 {
    extent.saturating_add((alignment - extent.rem_euclid(alignment)) % alignment)
}

/// The lowest and the highest bound of the parts that count.
fn hull(layout: &Layout, counts: impl Fn(&PartBounds) -> bool) -> Option<(i64, i64)> {
    let counted = parts(layout).filter(counts).map(|part| (part.lower, part.upper));
    counted.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Alignments to which extents may be rounded: those of the predefined types in it, those of members without
/// data among them, and their sizes.
fn alignments(layout: &Layout) -> BTreeSet<i64> {
    let mut found = BTreeSet::from([layout.bounds().alignment as i64]);
    if let Constructor::Named { element } = layout.constructor() {
        found.insert(element.size() as i64);
    }
    layout.constructor().children().iter().for_each(|child| found.append(&mut alignments(child)));
    found
}

/// The outermost parts of a type with their bounds, which are beyond 64 bits only for parts without data.
/// Parts without copies do not count.
fn parts(layout: &Layout) -> impl Iterator<Item = PartBounds> {
    let part = move |number: u64| {
        let part = layout.constructor().part(number);
        let copies = part.repeat as i64;
        (copies > 0).then(|| {
            let last = (copies - 1).saturating_mul(part.child.extent());
            let at = |distance: i64| part.displacement.saturating_add(distance);
            PartBounds {
                lower: at(last.min(0)).saturating_add(part.child.lower_bound()),
                upper: at(last.max(0)).saturating_add(part.child.upper_bound()),
                is_explicit: part.child.bounds().markers.is_some(),
                has_data: part.child.size() > 0,
            }
        })
    };
    outermost(layout.constructor()).filter_map(part)
}
