//! Pictures with a row per method: bars, stacked bars, and points per launch; tests below each other, MPIs side by side.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Axis, Scale, held, three_digits};
use super::blocks::{NAME, ROW, TestBlock, TestGroup, groups};
use super::canvas::{Area, INK, PAPER, Refused, TEXT, WIDTH, bold, fine, font, stroke, svg, width, write};
use super::data::Datum;
use super::heading::Heading;
use super::legend::{legend, legend_height};
use super::parts::{entries, part_look, states, totals, verdict_look};
use super::sheet::{Frame, Look, Looks, NUMBERS, SheetColumns, frame, numbers, outline, point, whisker};
use super::{MarkShape, Picture, Results};
use crate::model::{Case, Record};
use crate::report::case::measured;
use crate::report::names::{on_side, work};

/// Distance of the states of a row.
const BESIDE: f64 = 6.0;
/// Height of the names of MPIs, and of an axis's title.
const HEAD: f64 = 19.0;

/// The picture as SVG.
pub fn draw(
    results: &Results<'_>,
    picture: &Picture,
    data: &[Datum],
    heading: &Heading,
    description: &str,
) -> String {
    let groups = groups(picture.shape, data);
    let names_tests = matches!(picture.shape, MarkShape::Verdicts { .. });
    let labels = groups.iter().flat_map(|group| &group.blocks).flat_map(|block| match names_tests {
        true => vec![block.name.as_str()],
        false => block.methods.clone(),
    });
    let left = labels.map(|label| width(label, TEXT)).fold(40.0, f64::max).min(0.5 * WIDTH) + 16.0;
    let columns = SheetColumns::of(data, left);
    let entries = entries(picture.shape, data);
    let top = legend_height(&entries);
    let band = HEAD + groups.iter().map(|group| group.height + NUMBERS + 4.0).sum::<f64>() + HEAD;
    let height = top + columns.bands.len() as f64 * band + 4.0;
    let typical = typical(data);
    let looks = Looks::of(results, data);
    let sheet = RowSheet { results, picture, columns: &columns, looks, typical, states: states(data) };
    svg(heading, height, description, |root| {
        legend(root, &entries, 0.0)?;
        for (i, sides) in columns.bands.iter().enumerate() {
            let mut y = top + i as f64 * band;
            columns.head(root, sides, y + 2.0)?;
            y += HEAD;
            for group in &groups {
                sheet.group(root, group, sides, y)?;
                y += group.height + NUMBERS + 4.0;
            }
            columns.title(root, &picture.unit.title(&picture.axis, typical), sides.len(), y)?;
        }
        Ok(())
    })
}

/// The middle one of the shown values, for choosing units.
pub fn typical(data: &[Datum]) -> f64 {
    let mut values: Vec<f64> = data.iter().map(|datum| datum.value.abs()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(1.0)
}

/// Values without outliers next to which most others would be invisible: more than three times the upper quartile.
fn usual(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let limit = values.get(values.len() * 3 / 4).map_or(f64::MAX, |value| 3.0 * value);
    values.retain(|value| *value <= limit);
    values
}

struct RowSheet<'a> {
    results: &'a Results<'a>,
    picture: &'a Picture,
    columns: &'a SheetColumns,
    looks: Looks,
    typical: f64,
    states: Vec<&'a str>,
}

impl RowSheet<'_> {
    /// Names on the left, and a frame per side with the marks of the group's tests.
    fn group(
        &self,
        root: &Area<'_>,
        group: &TestGroup<'_>,
        sides: &[(Case, String)],
        y: f64,
    ) -> Result<(), Refused> {
        let of_group: Vec<&Datum> = group.blocks.iter().flat_map(|block| &block.data).copied().collect();
        let across = self.axis(&of_group);
        // Rows are in pixels from the top.
        let down = Axis { scale: Scale::Linear, range: group.height..0.0, ticks: Vec::new() };
        for (i, (of_side, _)) in sides.iter().enumerate() {
            let (at, size) = ((self.columns.start(i), y), (self.columns.width(), group.height));
            let mut frame = frame(root, at, size, [&across, &down], 0.0, true)?;
            let mut label_at = at.0 + 4.0;
            if let MarkShape::Bars { base } | MarkShape::Points { base } | MarkShape::Verdicts { base } =
                self.picture.shape
            {
                let base = across.scale.place(base);
                // Beside the rows only: names of blocks may reach into the frame.
                let line = |block: &TestBlock<'_>| {
                    let bottom = block.top + block.methods.len() as f64 * ROW;
                    PathElement::new(vec![(base, block.top), (base, bottom)], stroke(INK, 0.9))
                };
                frame.draw_series(group.blocks.iter().map(line))?;
                label_at += across.share(base) * size.0;
            }
            for block in &group.blocks {
                for (row, method) in block.methods.iter().enumerate() {
                    let middle = block.top + (row as f64 + 0.5) * ROW;
                    let is_it = |datum: &&&Datum| datum.method == *method && on_side(&datum.case, of_side);
                    let of: Vec<&Datum> = block.data.iter().filter(is_it).copied().collect();
                    self.row(&mut frame, &across, method, &of, middle)?;
                    if let Some(why) = of.is_empty().then(|| self.outcome(of_side, block, method)).flatten() {
                        let place = (label_at, y + middle);
                        write(root, why, &font(TEXT - 1.0, HPos::Left, VPos::Center), place)?;
                    }
                }
            }
        }
        for block in &group.blocks {
            let labels = if let MarkShape::Verdicts { .. } = self.picture.shape {
                vec![block.name.as_str()]
            } else {
                let place = (4.0, y + block.top - NAME / 2.0);
                write(root, &block.name, &bold(TEXT, HPos::Left, VPos::Center), place)?;
                block.methods.clone()
            };
            for (row, label) in labels.into_iter().enumerate() {
                let place = (self.columns.start(0) - 6.0, y + block.top + (row as f64 + 0.5) * ROW);
                write(root, label, &font(TEXT, HPos::Right, VPos::Center), place)?;
            }
        }
        Ok(())
    }

    /// Why a method has no mark on this side, if its outcome explains it.
    fn outcome(&self, of_side: &Case, block: &TestBlock<'_>, method: &str) -> Option<&'static str> {
        let is_it = |record: &&Record| {
            record.method == method && work(&record.case) == block.work && on_side(&record.case, of_side)
        };
        let mut of_method = self.results.over.iter().filter(is_it).peekable();
        let first = of_method.peek()?.outcome.label();
        Some(if of_method.any(measured) { "no figure" } else { first })
    }

    /// The axis of a group for all sides. Bars that exceed it show their length.
    fn axis(&self, data: &[&Datum]) -> Axis {
        let around = |values: &[f64], base, scale| {
            Axis::around(
                values,
                base,
                scale,
                self.picture.unit.shown(self.typical).0,
                numbers(self.columns.width()),
            )
        };
        let held = |scale| held(data.iter().copied(), scale);
        match self.picture.shape {
            MarkShape::Bars { base } | MarkShape::Points { base } | MarkShape::Verdicts { base } => {
                around(&held(self.picture.scale), Some(base), self.picture.scale)
            }
            MarkShape::Times => around(&usual(held(Scale::Linear)), Some(0.0), Scale::Linear),
            MarkShape::Stack => around(&usual(totals(data)), Some(0.0), Scale::Linear),
            MarkShape::Launches | MarkShape::Lines | MarkShape::Heat { .. } => {
                let values = held(Scale::Log);
                let (low, high) =
                    values.iter().fold((f64::MAX, 0.0), |(low, high), v| (v.min(low), v.max(high)));
                // Points of methods that differ by a large factor would be on top of each other.
                around(&values, None, if high > 4.0 * low { Scale::Log } else { Scale::Linear })
            }
        }
    }

    /// The marks of a method on one side.
    fn row(
        &self,
        frame: &mut Frame<'_, '_>,
        axis: &Axis,
        method: &str,
        data: &[&Datum],
        y: f64,
    ) -> Result<(), Refused> {
        let look = self.looks.get(method);
        let place = |value: f64| axis.scale.place(value);
        let end = axis.range.end;
        let half = 0.38 * ROW;
        let bar = |frame: &mut Frame<'_, '_>, from: f64, to: f64, look: Look| -> Result<(), Refused> {
            let corners = [(from.min(end), y - half), (to.min(end), y + half)];
            frame.draw_series([Rectangle::new(corners, look.surface())])?;
            frame.draw_series([PathElement::new(outline(corners), stroke(look.colour, 0.8))])?;
            Ok(())
        };
        match self.picture.shape {
            MarkShape::Bars { .. } | MarkShape::Times => {
                let base = if let MarkShape::Bars { base } = self.picture.shape { base } else { 0.0 };
                for datum in data {
                    bar(frame, place(base), place(datum.value), look)?;
                    if place(datum.value) > end {
                        self.length(frame, axis, datum.value, y)?;
                    } else if let Some((low, high)) = datum.interval {
                        whisker(frame, [(place(low), y), (place(high), y)], true, INK)?;
                    }
                }
            }
            MarkShape::Stack => {
                let mut from = 0.0;
                for datum in data {
                    let (colour, _) = part_look(&datum.quantity);
                    bar(frame, from, from + datum.value, Look { colour, shape: 0, filled: true })?;
                    from += datum.value;
                }
                if from > end {
                    self.length(frame, axis, from, y)?;
                }
            }
            MarkShape::Launches => {
                for datum in data.iter().filter(|datum| datum.launch.is_none()) {
                    if let Some((low, high)) = datum.interval {
                        whisker(frame, [(place(low), y), (place(high), y)], true, INK)?;
                    }
                    let median =
                        vec![(place(datum.value), y - 0.4 * ROW), (place(datum.value), y + 0.4 * ROW)];
                    frame.draw_series([PathElement::new(median, stroke(INK, 1.6))])?;
                }
                for datum in data.iter().filter(|datum| datum.launch.is_some()) {
                    point(frame, Look { shape: 0, ..look }, (place(datum.value), y), 2.4)?;
                }
            }
            MarkShape::Points { .. } | MarkShape::Verdicts { .. } => {
                for datum in data {
                    let mut look = verdict_look(&datum.series);
                    let state = self.states.iter().position(|state| datum.y.as_deref() == Some(*state));
                    let mut y = y;
                    if let Some(state) = state.filter(|_| self.states.len() > 1) {
                        look.shape = state;
                        y += BESIDE * (state as f64 - 0.5 * (self.states.len() - 1) as f64);
                    }
                    if let Some((low, high)) = datum.interval {
                        whisker(frame, [(place(low), y), (place(high), y)], true, look.colour)?;
                    }
                    point(frame, look, (place(datum.value), y), 3.2)?;
                }
            }
            MarkShape::Lines | MarkShape::Heat { .. } => {}
        }
        Ok(())
    }

    /// The length of a bar that exceeds its axis, at its end.
    fn length(&self, frame: &mut Frame<'_, '_>, axis: &Axis, value: f64, y: f64) -> Result<(), Refused> {
        let (size, unit) = self.picture.unit.shown(self.typical);
        let text = format!("{} {unit} >", three_digits(value / size));
        let area = frame.plotting_area().strip_coord_spec();
        let ((x0, y0), at) = (area.get_base_pixel(), frame.backend_coord(&(axis.range.end, y)));
        let (x, y) = (at.0 - x0 - fine(3.0), at.1 - y0);
        let (half, long) = (fine(0.3 * ROW), fine(width(&text, TEXT - 1.0) + 6.0));
        area.draw(&Rectangle::new([(x - long, y - half), (x, y + half)], PAPER.filled()))?;
        let style = font(TEXT - 1.0, HPos::Right, VPos::Center);
        area.draw(&Text::new(text, (x - fine(2.0), y), style))?;
        Ok(())
    }
}
