//! Pictures with a row per method: bars, stacked bars, and points per launch; tests below each other, MPIs side by side.

use super::axis::{Axis, Scale, held, three_digits};
use super::blocks::{NAME, ROW, TestBlock, TestGroup, groups};
use super::canvas::{CENTRE, Canvas, INK, LEFT, PAPER, RIGHT, Shape, Style, TEXT, WIDTH, bold, font, width};
use super::data::Datum;
use super::legend::legend;
use super::parts::{entries, part_look, states, totals, verdict_look};
use super::sheet::{Frame, Look, Looks, NUMBERS, SheetColumns, numbers, symbol};
use super::{MarkShape, Picture, Results};
use crate::model::{Case, Record};
use crate::report::case::measured;
use crate::report::names::{on_side, work};

/// Distance of the states of a row.
const BESIDE: f64 = 6.0;
/// Height of the names of MPIs, and of an axis's title.
const HEAD: f64 = 19.0;

/// Draws the picture from `top` on. Returns the height at its end.
pub fn draw(canvas: &mut Canvas, results: &Results<'_>, picture: &Picture, data: &[Datum], top: f64) -> f64 {
    let groups = groups(picture.shape, data);
    let names_tests = matches!(picture.shape, MarkShape::Verdicts { .. });
    let labels = groups.iter().flat_map(|group| &group.blocks).flat_map(|block| match names_tests {
        true => vec![block.name.as_str()],
        false => block.methods.clone(),
    });
    let left = labels.map(|label| width(label, TEXT)).fold(40.0, f64::max).min(0.5 * WIDTH) + 16.0;
    let columns = SheetColumns::new(data, left);
    let typical = typical(data);
    let looks = Looks::new(results, data);
    let sheet = RowSheet { results, picture, columns: &columns, looks, typical, states: states(data) };
    let mut y = legend(canvas, &entries(picture.shape, data), top);
    for sides in &columns.bands {
        columns.head(canvas, sides, y + 2.0);
        y += HEAD;
        for group in &groups {
            sheet.group(canvas, group, sides, y);
            y += group.height + NUMBERS + 4.0;
        }
        columns.title(canvas, &picture.unit.title(&picture.axis, typical), sides.len(), y);
        y += HEAD;
    }
    y + 4.0
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
    fn group(&self, canvas: &mut Canvas, group: &TestGroup<'_>, sides: &[(Case, String)], y: f64) {
        let of_group: Vec<&Datum> = group.blocks.iter().flat_map(|block| &block.data).copied().collect();
        let across = &self.axis(&of_group);
        for (i, (of_side, _)) in sides.iter().enumerate() {
            let (left, size) = (self.columns.start(i), (self.columns.width(), group.height));
            let frame = Frame { corner: (left, y), size, across, up: None };
            frame.draw(canvas, false, true);
            let mut label_at = left + 4.0;
            if let MarkShape::Bars { base } | MarkShape::Points { base } | MarkShape::Verdicts { base } =
                self.picture.shape
            {
                let base = frame.x(base);
                // Beside the rows only: names of blocks may reach into the frame.
                for block in &group.blocks {
                    let (top, height) = (y + block.top, block.methods.len() as f64 * ROW);
                    canvas.line((base, top), (base, top + height), Style::stroke(INK, 0.9));
                }
                label_at += base - left;
            }
            for block in &group.blocks {
                for (row, method) in block.methods.iter().enumerate() {
                    let middle = y + block.top + (row as f64 + 0.5) * ROW;
                    let is_it = |datum: &&&Datum| datum.method == *method && on_side(&datum.case, of_side);
                    let of: Vec<&Datum> = block.data.iter().filter(is_it).copied().collect();
                    self.row(canvas, &frame, method, &of, middle);
                    if let Some(why) = of.is_empty().then(|| self.outcome(of_side, block, method)).flatten() {
                        canvas.write(why, font(TEXT - 1.0, LEFT, CENTRE), (label_at, middle));
                    }
                }
            }
        }
        for block in &group.blocks {
            let labels = if let MarkShape::Verdicts { .. } = self.picture.shape {
                vec![block.name.as_str()]
            } else {
                let place = (4.0, y + block.top - NAME / 2.0);
                canvas.write(&block.name, bold(TEXT, LEFT, CENTRE), place);
                block.methods.clone()
            };
            for (row, label) in labels.into_iter().enumerate() {
                let place = (self.columns.start(0) - 6.0, y + block.top + (row as f64 + 0.5) * ROW);
                canvas.write(label, font(TEXT, RIGHT, CENTRE), place);
            }
        }
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
    fn row(&self, canvas: &mut Canvas, frame: &Frame<'_>, method: &str, data: &[&Datum], y: f64) {
        let look = self.looks.get(method);
        let whisker = |canvas: &mut Canvas, datum: &Datum, y: f64, colour| {
            if let Some((low, high)) = datum.interval {
                frame.whisker(canvas, [low, high].map(|end| (frame.x(end), y)), true, colour);
            }
        };
        let bar = |canvas: &mut Canvas, from: f64, to: f64, look: Look| {
            let [from, to] = [from, to].map(|value| frame.x(value).min(frame.right()));
            let corners = [(from, y - 0.38 * ROW), (to, y + 0.38 * ROW)];
            canvas.draw(Shape::Rectangle(corners), look.surface(0.8));
        };
        let is_long = |value: f64| frame.x(value) > frame.right();
        match self.picture.shape {
            MarkShape::Bars { .. } | MarkShape::Times => {
                let base = if let MarkShape::Bars { base } = self.picture.shape { base } else { 0.0 };
                for datum in data {
                    bar(canvas, base, datum.value, look);
                    if is_long(datum.value) {
                        self.length(canvas, frame, datum.value, y);
                    } else {
                        whisker(canvas, datum, y, INK);
                    }
                }
            }
            MarkShape::Stack => {
                let mut from = 0.0;
                for datum in data {
                    let (colour, _) = part_look(&datum.quantity);
                    bar(canvas, from, from + datum.value, Look { colour, shape: 0, filled: true });
                    from += datum.value;
                }
                if is_long(from) {
                    self.length(canvas, frame, from, y);
                }
            }
            MarkShape::Launches => {
                for datum in data.iter().filter(|datum| datum.launch.is_none()) {
                    whisker(canvas, datum, y, INK);
                    let x = frame.x(datum.value);
                    canvas.line((x, y - 0.4 * ROW), (x, y + 0.4 * ROW), Style::stroke(INK, 1.6));
                }
                for datum in data.iter().filter(|datum| datum.launch.is_some()) {
                    symbol(canvas, Look { shape: 0, ..look }, (frame.x(datum.value), y), 2.4);
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
                    whisker(canvas, datum, y, look.colour);
                    symbol(canvas, look, (frame.x(datum.value), y), 3.2);
                }
            }
            MarkShape::Lines | MarkShape::Heat { .. } => {}
        }
    }

    /// The length of a bar that exceeds its axis, at its end.
    fn length(&self, canvas: &mut Canvas, frame: &Frame<'_>, value: f64, y: f64) {
        let (size, unit) = self.picture.unit.shown(self.typical);
        let text = format!("{} {unit} >", three_digits(value / size));
        let (x, half, long) = (frame.right() - 3.0, 0.3 * ROW, width(&text, TEXT - 1.0) + 6.0);
        canvas.draw(Shape::Rectangle([(x - long, y - half), (x, y + half)]), Style::filled(PAPER));
        canvas.write(&text, font(TEXT - 1.0, RIGHT, CENTRE), (x - 2.0, y));
    }
}
