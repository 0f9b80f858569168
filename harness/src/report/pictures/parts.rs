//! What marks are coloured by that is no method: the parts of stacked bars, and verdicts.

use plotters::prelude::*;

use super::MarkShape;
use super::canvas::{Area, COLOURS, REFERENCE, fine};
use super::data::Datum;
use super::legend::LegendEntry;
use super::sheet::{Look, symbol};
use crate::report::names::{distinct, grouped};

/// The legend of the parts of stacked bars, or of verdicts; other shapes need none.
pub fn entries<'a>(shape: MarkShape, data: &[Datum]) -> Vec<LegendEntry<'a>> {
    match shape {
        MarkShape::Stack => part_entries(data),
        MarkShape::Points { .. } => distinct(data.iter().map(|datum| datum.series.clone()))
            .into_iter()
            .map(|verdict| -> LegendEntry<'a> {
                let look = verdict_look(&verdict);
                (Box::new(move |area: &Area<'_>, at| symbol(area, look, at, 3.2)), verdict)
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn part_entries<'a>(data: &[Datum]) -> Vec<LegendEntry<'a>> {
    let mut parts = distinct(data.iter().map(|datum| datum.quantity.clone()));
    parts.sort_by_key(|part| PARTS.iter().position(|known| known == part).unwrap_or(PARTS.len()));
    let entry = |part: String| -> LegendEntry<'a> {
        let (colour, name) = part_look(&part);
        let half = fine(6.0);
        let mark = move |area: &Area<'_>, (x, y): (i32, i32)| {
            let corners = [(x - half, y - half), (x + half, y + half)];
            area.draw(&Rectangle::new(corners, colour.filled())).map_err(Into::into)
        };
        (Box::new(mark), name.to_owned())
    };
    parts.into_iter().map(entry).collect()
}

/// The parts of bars that pack explicitly, in the order in which they happen; before those of others.
const PARTS: [&str; 4] = ["create", "pack_doubled", "net", "unpack_doubled"];

/// How a part of a stacked bar looks, and its name.
pub fn part_look(part: &str) -> (RGBColor, &str) {
    match part {
        "create" => (COLOURS[5], "create datatypes"),
        "pack_doubled" => (COLOURS[1], "pack, doubled"),
        "net" => (COLOURS[4], "communicate (net)"),
        "unpack_doubled" => (COLOURS[3], "unpack, doubled"),
        "communicate" => (COLOURS[0], "communicate, packing in MPI"),
        _ => (REFERENCE, "the same bytes in one piece"),
    }
}

/// How a point looks with a verdict: what is slower is no disc, so that colours alone tell nothing.
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
    let bars = grouped(data, |datum| datum.of());
    bars.values().map(|parts| parts.iter().map(|datum| datum.value).sum()).collect()
}
