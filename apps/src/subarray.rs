//! The user's own array: a face, or any block, of arrays with any number of dimensions.
//!
//! Source: none; the user gives the shape. `tests/integration/tables/as_subarray.txt` has commands that move
//! the same data as WRF, MILC, NAS MG and NAS LU.
//!
//! Arrays of `shape`, halo included. Axes are called x, y, z, t, u, v, and x is the fastest: the first one
//! declared if `order` is `fortran`, the last if it is `c`. `halo` has the points of halo on either side: b
//! before and h behind the interior on the axis of the face, whose extent is n. With w = `width`:
//! - `x+` sends the last interior layers, x = n-h-w..=n-h-1, and receives them into the lower halo, x = b-w..=b-1;
//! - `x-` sends the first, x = b..=b+w-1, and receives them into the upper halo, x = n-h..=n-h+w-1;
//! - on the other axes a face spans the interior, and with `corners` also the halo.
//!
//! Instead of a face, a block of `count` points from index `start`, `step` indices apart on each axis. It is received at the same place (into the
//! array of another rank), or at `receive_start` with `receive_count`. Either is sent in the order of the array, one array
//! after the other. Bytes: the points of all arrays, times the bytes of an element.

mod declared;

use std::ops::Range;
use std::sync::Arc;

use crate::face::{Face, FaceBlock};
use crate::region::{Description, Region, Whole};
use crate::{MicroApp, OnlyWith, Parameter, ParameterError, ParameterType, PerAxis, Preset, Test, Values};

pub(crate) use declared::{ARRAYS, Declared, ORDER, SHAPE, axis_name, halo, slowest_first};

/// A parameter of a block, which replaces a face.
const fn of_block(name: &'static str, unit: &'static str, about: &'static str) -> Parameter {
    let kind = PerAxis { absent: Some("none"), instead_of: Some("face"), has_two_sides: false };
    Parameter::new(name, unit, ParameterType::PerAxis(kind), about)
}

/// The value of a parameter that only a face has, if there is a block.
const fn of_face(idle: &'static str) -> OnlyWith {
    OnlyWith {
        choice: "face",
        idle,
        reason: "does not apply to a block, which start and count define; remove it, or give a face instead of \
                 them, such as face=x+",
    }
}

/// The word for no face.
const NO_FACE: &str = "none";

/// A face of your own array, or a block of it.
pub const SUBARRAY: Test = Test {
    name: "subarray",
    original_name: None,
    source: "your own array",
    about: "a face or a block of arrays of any shape: -p shape=102x102x52 -p face=x+",
    parameters: &[
        SHAPE,
        ARRAYS,
        ORDER,
        Parameter::element("element", "predefined type of an element"),
        Parameter::choice(
            "face",
            "none for a block, or the axis (x is the fastest) and the end of the sent layers, such as x+",
            &[NO_FACE, "x-", "x+", "y-", "y+", "z-", "z+", "t-", "t+", "u-", "u+", "v-", "v+"],
        ),
        Parameter::integer("width", "layers", "layers of the face").only_with(of_face("1")),
        halo(
            "of a face: points of halo on either side of each axis, or one number for all; 1:2: before and behind; width: as \
             wide as the face on x, y, z and the face's axis",
        )
        .only_with(of_face("width")),
        Parameter::choice(
            "corners",
            "of a face: yes: it spans the halo of the other axes, too; no: their interior",
            &["no", "yes"],
        )
        .only_with(of_face("no")),
        of_block("start", "index", "first index of the block on each axis, from 0"),
        of_block("count", "points", "points of the block on each axis"),
        of_block("receive_start", "index", "where the block is received; none: at start"),
        of_block("receive_count", "points", "its points there, as many in all; none: count"),
        of_block("step", "points", "from one point of the block to the next on each axis; without start and count of the whole array; none: 1"),
    ],
    sets: &[
        // shape, arrays, order, element, face, width, halo, corners, start, count, receive_start, receive_count, step
        Preset::Quick.set("66x66x66_x", "66x66x66 1 fortran double x+ 1 width no none none none none none"),
        Preset::Default.set("66x66x66_y", "66x66x66 1 fortran double y+ 1 width no none none none none none"),
        Preset::Default.set("66x66x66_z", "66x66x66 1 fortran double z+ 1 width no none none none none none"),
        Preset::Default.set("102x102x52x5_x", "102x102x52x5 1 fortran double x+ 2 2x2x2x0 no none none none none none"),
        Preset::Default.set("64x64x64_block", "64x64x64 1 fortran double none 1 width no 16x16x16 32x32x32 none none none"),
        Preset::Full.set("258x258x258_x", "258x258x258 1 fortran double x+ 1 width no none none none none none"),
    ],
    make: |values, _| {
        let declared = Declared::new(values)?;
        let steps = steps(values, &declared)?;
        let faces = bounds(values, &declared, &steps)?.map(|of_shapes| {
            let region = |(array, shape): (usize, usize)| -> Arc<dyn FaceBlock> {
                let (points, description) = (&declared.shapes[shape], Description::Subarray(declared.order));
                let whole = Whole::new(array, declared.element, points, 0, None, description);
                Arc::new(Region::stepped(&whole, of_shapes[shape].clone(), steps[shape].clone()))
            };
            Face::new(declared.arrays().enumerate().map(region))
        });
        let [send, receive] = faces;
        Ok(MicroApp::new(declared.element, declared.specs(), send, receive))
    },
};

/// The first index of each dimension of a box, the slowest first, and from it on as many as it has.
type Bounds = Vec<Range<usize>>;

/// From one index of each dimension of a box to the next.
type Steps = Vec<usize>;

/// The steps of `step` for each shape, or 1.
fn steps(values: &Values, declared: &Declared<'_>) -> Result<Vec<Steps>, ParameterError> {
    if values.per_axis("step").iter().flatten().any(|&step| step == 0) {
        return Err(values.refuse("step", "must be at least 1 on each axis"));
    }
    let ones = || declared.shapes.iter().map(|shape| vec![1; shape.len()]).collect();
    Ok(declared.numbers("step")?.unwrap_or_else(ones))
}

/// The sent and the received blocks, for each shape.
fn bounds(
    values: &Values,
    declared: &Declared<'_>,
    steps: &[Steps],
) -> Result<[Vec<Bounds>; 2], ParameterError> {
    let parameters = ["start", "count", "receive_start", "receive_count", "step"];
    let given = parameters.into_iter().find(|name| !values.per_axis(name).is_empty());
    match (values.choice("face"), given) {
        (NO_FACE, None) => Err(values.refuse("face", "must be a face, such as x+, without start and count")),
        (NO_FACE, Some(_)) => blocks(values, declared, steps),
        (_, Some(name)) => Err(values.refuse(
            "face",
            format!("must be {NO_FACE} together with {name}: give either a face or a block"),
        )),
        (face, None) => layers(face, values, declared),
    }
}

/// Layers next to the halo, at one end of an axis.
fn layers(face: &str, values: &Values, declared: &Declared<'_>) -> Result<[Vec<Bounds>; 2], ParameterError> {
    let (name, end) = face.split_at(1);
    let axis = declared::AXES.iter().position(|&axis| axis == name).expect("faces are at axes");
    if let Some(i) = declared.shapes.iter().position(|shape| axis >= shape.len()) {
        let axes: Vec<_> = (0..declared.shapes[i].len()).map(axis_name).collect();
        let reason = format!(
            "must be a face that {} has: its axes are {}, the fastest first",
            declared.shape_text(i),
            axes.join(", ")
        );
        return Err(values.refuse("face", reason));
    }
    let width = values.positive("width")?;
    let halos = declared.halos(width, Some(axis))?;
    let has_corners = values.choice("corners") == "yes";
    let mut sides = [Vec::new(), Vec::new()];
    for (i, (shape, halo)) in declared.shapes.iter().zip(&halos).enumerate() {
        let across = shape.len() - 1 - axis;
        let (n, [before, behind], w) = (shape[across], halo[across], width);
        let received = if end == "+" { before } else { behind };
        declared.check_width(i, across, halo, received, width)?;
        let starts = if end == "+" { [n - behind - w, before - w] } else { [before, n - behind] };
        for (side, start) in sides.iter_mut().zip(starts) {
            let span = |(&n, &[before, behind]): (&usize, &[usize; 2])| {
                if has_corners { 0..n } else { before..n - behind }
            };
            let mut bounds: Bounds = shape.iter().zip(halo).map(span).collect();
            bounds[across] = start..start + w;
            side.push(bounds);
        }
    }
    Ok(sides)
}

/// The blocks that the user gives.
fn blocks(
    values: &Values,
    declared: &Declared<'_>,
    steps: &[Steps],
) -> Result<[Vec<Bounds>; 2], ParameterError> {
    let (mut start, mut count) = (declared.numbers("start")?, declared.numbers("count")?);
    if start.is_none() && count.is_none() && !values.per_axis("step").is_empty() {
        let of = |points: fn((&usize, &usize)) -> usize| {
            let list = |(shape, steps): (&Vec<usize>, &Steps)| shape.iter().zip(steps).map(points).collect();
            Some(declared.shapes.iter().zip(steps).map(list).collect())
        };
        (start, count) = (of(|_| 0), of(|(points, step)| points.div_ceil(*step)));
    }
    let (Some(start), Some(count)) = (start, count) else {
        let (missing, other) =
            if values.per_axis("start").is_empty() { ("start", "count") } else { ("count", "start") };
        let shape = declared.shape_text(0);
        return Err(values.refuse(
            missing,
            format!("must be given together with {other}: a number for each axis of {shape}"),
        ));
    };
    let send = boxes(values, declared, steps, ["start", "count"], &start, &count)?;
    let receive_start = declared.numbers("receive_start")?.unwrap_or(start);
    let receive_count = declared.numbers("receive_count")?.unwrap_or(count);
    let names = ["receive_start", "receive_count"];
    let receive = boxes(values, declared, steps, names, &receive_start, &receive_count)?;
    for (i, (send, receive)) in send.iter().zip(&receive).enumerate() {
        let shape = declared.shape_text(i);
        let [sent, received] = [send, receive].map(|bounds| bounds.iter().map(Range::len).product::<usize>());
        if sent != received {
            let reason = format!("must be as many points as are sent of {shape}, {sent}");
            return Err(values.refuse("receive_count", reason));
        }
        // The received data would otherwise change the data that is sent back.
        let meet = |((a, b), step): ((&Range<usize>, &Range<usize>), &usize)| {
            let last = |range: &Range<usize>| range.start + (range.len() - 1) * step;
            a.start.abs_diff(b.start) % step == 0 && a.start <= last(b) && b.start <= last(a)
        };
        let overlap = send.iter().zip(receive).zip(&steps[i]).all(meet);
        if send != receive && overlap {
            let reason = format!("must be none, or a block without a sent point of {shape}");
            return Err(values.refuse("receive_start", reason));
        }
    }
    Ok([send, receive])
}

/// The boxes that two parameters describe, each within its shape.
fn boxes(
    values: &Values,
    declared: &Declared<'_>,
    steps: &[Steps],
    [start_name, count_name]: [&'static str; 2],
    starts: &[Vec<usize>],
    counts: &[Vec<usize>],
) -> Result<Vec<Bounds>, ParameterError> {
    let mut boxes = Vec::new();
    for (i, shape) in declared.shapes.iter().enumerate() {
        let mut bounds = Bounds::new();
        for (d, &points) in shape.iter().enumerate() {
            let (start, count) = (starts[i][d], counts[i][d]);
            let axis = format!("axis {} of {}", axis_name(shape.len() - 1 - d), declared.shape_text(i));
            if start >= points {
                return Err(values.refuse(start_name, format!("must be from 0 to {} on {axis}", points - 1)));
            }
            let most = (points - start).div_ceil(steps[i][d]);
            if !(1..=most).contains(&count) {
                let reason = format!("must be from 1 to {most} on {axis}, from index {start} on");
                return Err(values.refuse(count_name, reason));
            }
            bounds.push(start..start + count);
        }
        boxes.push(bounds);
    }
    Ok(boxes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Side, WireOrder};

    /// First element and number of elements of each run of (sent data, destination).
    fn runs(changes: &[(&str, &str)]) -> [Vec<(i64, u64)>; 2] {
        let mut values = SUBARRAY.set(SUBARRAY.quick_set().name).unwrap();
        changes.iter().for_each(|(name, text)| values.assign(name, text).unwrap());
        let app = SUBARRAY.build(&values, Context::default()).unwrap();
        [Side::Send, Side::Receive].map(|side| {
            let message = app.message(side, WireOrder::Ddt);
            message.segments().map(|(_, run)| (run.offset / 8, run.bytes / 8)).collect()
        })
    }

    #[test]
    fn faces_and_blocks_are_these_runs_of_elements() {
        for row in include_str!("subarray/runs.txt").lines().filter(|row| !row.starts_with('#')) {
            let (given, expected) = row.split_once(" => ").unwrap();
            let changes: Vec<_> = given.split(' ').map(|change| change.split_once('=').unwrap()).collect();
            let found = runs(&changes).map(|side| {
                side.iter().map(|(first, count)| format!("{first}+{count}")).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.join(" / "), expected, "{given}");
        }
    }

    #[test]
    fn what_a_set_has_of_a_face_is_left_out_for_a_block() {
        let values = |changes: &[(&str, &str)]| {
            let mut values = SUBARRAY.set("102x102x52x5_x").unwrap();
            changes.iter().for_each(|(name, text)| values.assign(name, text).unwrap());
            values
        };
        let block = values(&[("shape", "9x8"), ("start", "1x2"), ("count", "3x4")]);
        assert!(block.to_string().contains("face=none width=1 halo=width corners=no"), "{block}");
        // In the form of a plan, which writes all values.
        let all: Vec<(&str, String)> = block.pairs().collect();
        let again = values(&all.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>());
        for possible in [block, again, values(&[("width", "1")])] {
            assert!(SUBARRAY.build(&possible, Context::default()).is_ok(), "{possible}");
        }
    }

    #[test]
    fn x_is_the_fastest_axis_in_either_order() {
        let face =
            |shape, order, halo| runs(&[("shape", shape), ("order", order), ("halo", halo), ("face", "y+")]);
        assert_eq!(face("5x7x9", "fortran", "0x2x1"), face("9x7x5", "c", "1x2x0"));
    }

    #[test]
    fn a_declaration_has_its_element_and_order() {
        let with = |changes: &[(&str, &str)]| {
            let mut values = SUBARRAY.set(SUBARRAY.quick_set().name).unwrap();
            let assigned = changes.iter().try_for_each(|(name, text)| values.assign(name, text));
            assigned.map(|()| values).map_err(|error| error.to_string())
        };
        let c = with(&[("shape", "float u[52][102][5]"), ("face", "y+")]).unwrap();
        let written = [("shape", "52x102x5"), ("order", "c"), ("element", "float"), ("face", "y+")];
        assert_eq!(c, with(&written).unwrap());
        let fortran = with(&[("order", "fortran"), ("shape", "real(4) :: u(0:4,102)")]).unwrap();
        assert_eq!(fortran, with(&[("shape", "5x102"), ("element", "float")]).unwrap());
        // A last axis as short as components, in an order that was not given.
        assert_eq!(c.note_on_order(), None);
        assert_eq!(with(&[("shape", "102x102x52")]).unwrap().note_on_order(), None);
        let note = with(&[("shape", "102x102x5")]).unwrap().note_on_order().unwrap();
        assert!(note.contains("order=c,shape=102x102x5"), "{note}");
    }
}
