//! The arrangement of panels: side by side, or below each other.

use super::data::Datum;
use crate::report::names::{grouped, on_side, sides};

/// A framed part of a picture: one side of a panel.
pub struct Panel<'a> {
    pub title: String,
    pub data: Vec<&'a Datum>,
}

/// Panels in rows of `most`: the sides of a panel side by side, and panels below each other; with one side,
/// one panel after another.
pub fn panel_rows<'a>(data: impl IntoIterator<Item = &'a Datum>, most: usize) -> Vec<Vec<Panel<'a>>> {
    let data: Vec<&Datum> = data.into_iter().collect();
    let sides = sides(data.iter().map(|datum| &*datum.case));
    let panels = grouped(data, |datum| datum.panel.as_str()).into_iter();
    let of_sides = panels.map(|(name, data)| {
        let panel = |(side, side_name): &_| {
            let data: Vec<&Datum> = data.iter().copied().filter(|datum| on_side(&datum.case, side)).collect();
            let title = if sides.len() == 1 { name.to_owned() } else { format!("{name}, {side_name}") };
            (!data.is_empty()).then_some(Panel { title, data })
        };
        sides.iter().filter_map(panel).collect::<Vec<_>>()
    });
    let lines: Vec<Vec<Panel<'_>>> =
        if sides.len() == 1 { vec![of_sides.flatten().collect()] } else { of_sides.collect() };
    let mut rows = Vec::new();
    for mut line in lines {
        while !line.is_empty() {
            let rest = line.split_off(most.min(line.len()));
            rows.push(std::mem::replace(&mut line, rest));
        }
    }
    rows
}
