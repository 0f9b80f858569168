//! Colours that do not represent methods: parts of stacked bars, and verdicts.

use super::MarkShape;
use super::canvas::{COLOURS, INK, REFERENCE, Rgb};
use super::data::Datum;
use super::legend::{LegendEntry, LegendMark};
use super::sheet::Look;
use crate::report::names::{distinct, grouped};

/// The legend of the parts of stacked bars, or of verdicts; other shapes need none.
pub fn entries(shape: MarkShape, data: &[Datum]) -> Vec<LegendEntry> {
    match shape {
        MarkShape::Stack => {
            let mut parts = distinct(data.iter().map(|datum| datum.quantity.as_str()));
            parts.sort_by_key(|part| PARTS.iter().position(|known| known == part).unwrap_or(PARTS.len()));
            let entry = |(colour, name): (Rgb, &str)| (LegendMark::Surface(colour), name.to_owned());
            parts.into_iter().map(part_look).map(entry).collect()
        }
        MarkShape::Points { .. } => {
            let verdicts = distinct(data.iter().map(|datum| datum.series.clone()));
            verdicts.into_iter().map(|verdict| (LegendMark::Point(verdict_look(&verdict)), verdict)).collect()
        }
        MarkShape::Verdicts { .. } => {
            let verdicts = distinct(data.iter().map(|datum| datum.series.as_str()));
            let colour = |verdict| {
                (LegendMark::Surface(verdict_look(verdict).colour), of_datatype(verdict).to_owned())
            };
            let states = states(data);
            let shape = |(shape, state): (usize, &&str)| {
                (LegendMark::Point(Look { colour: INK, shape, filled: true }), (*state).to_owned())
            };
            let shapes = states.iter().enumerate().map(shape).filter(|_| states.len() > 1);
            verdicts.into_iter().map(colour).chain(shapes).collect()
        }
        _ => Vec::new(),
    }
}

/// The result for a datatype.
fn of_datatype(verdict: &str) -> &str {
    match verdict {
        "faster" => "use the datatype",
        "slower" => "pack by hand",
        open => open,
    }
}

/// The states of the machine in a picture.
pub fn states(data: &[Datum]) -> Vec<&str> {
    distinct(data.iter().filter_map(|datum| datum.y.as_deref()))
}

/// The parts of bars with explicit packing, in their order; then those of others.
const PARTS: [&str; 4] = ["create", "pack_doubled", "net", "unpack_doubled"];

/// The colour of a part of a stacked bar, and its name.
pub fn part_look(part: &str) -> (Rgb, &str) {
    match part {
        "create" => (COLOURS[5], "create datatypes"),
        "pack_doubled" => (COLOURS[1], "pack, doubled"),
        "net" => (COLOURS[4], "communicate (net)"),
        "unpack_doubled" => (COLOURS[3], "unpack, doubled"),
        "communicate" => (COLOURS[0], "communicate, packing in MPI"),
        _ => (REFERENCE, "the same bytes, contiguous"),
    }
}

/// The mark of a verdict. Slower is not a disc, so that verdicts do not depend only on colours.
pub fn verdict_look(verdict: &str) -> Look {
    let (colour, shape, filled) = match verdict {
        "slower" => (COLOURS[3], 1, true),
        "faster" => (COLOURS[2], 2, true),
        "same" => (REFERENCE, 0, true),
        _ => (REFERENCE, 0, false),
    };
    Look { colour, shape, filled }
}

/// The lengths of whole bars.
pub fn totals(data: &[&Datum]) -> Vec<f64> {
    let bars = grouped(data, |datum| datum.case_and_method());
    bars.values().map(|parts| parts.iter().map(|datum| datum.value).sum()).collect()
}
