//! The parts of stacked bars: how they look, and what they are called.

use plotters::prelude::*;

use super::Shape;
use super::canvas::{Area, COLOURS, REFERENCE, fine};
use super::data::Datum;
use super::legend::Entry;
use super::names::distinct;

/// The parts of stacked bars, and what bars have besides.
pub fn entries<'a>(shape: Shape, data: &[Datum]) -> Vec<Entry<'a>> {
    let Shape::Stack = shape else { return Vec::new() };
    let mut parts = distinct(data.iter().map(|datum| datum.quantity.clone()));
    parts.sort_by_key(|part| PARTS.iter().position(|known| known == part).unwrap_or(PARTS.len()));
    let entry = |part: String| -> Entry<'a> {
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

/// The lengths of whole bars.
pub fn totals(data: &[&Datum]) -> Vec<f64> {
    let of = |one: &&Datum| {
        let same = data.iter().filter(|other| other.method == one.method && other.case == one.case);
        same.map(|datum| datum.value).sum()
    };
    data.iter().map(of).collect()
}
