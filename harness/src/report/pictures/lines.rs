//! Pictures with lines: a line per method through points with their intervals.

use super::axis::{Axis, Scale, axis_of, held};
use super::canvas::{
    CENTRE, Canvas, LEFT, MIDDLE, Point, Shape, Style, TEXT, TOP, WIDTH, bold, cut, font, turned,
};
use super::data::Datum;
use super::legend::{LegendEntry, LegendMark, legend};
use super::panels::{Panel, panel_rows};
use super::rows::typical;
use super::sheet::{EDGE, Frame, Looks, NUMBERS, numbers, symbol};
use super::{Picture, Results};
use crate::report::names::{distinct, grouped};

/// Room left of the first panel for the vertical axis.
const ROOM: f64 = 66.0;
const PANEL: f64 = 170.0;
/// Height of a line of text.
const HEAD: f64 = 19.0;
/// Distance of points of two lines at the same place, in pixels.
const APART: f64 = 2.0;
/// The same for all lines together.
const APART_AT_MOST: f64 = 12.0;
/// Height of a panel with its texts.
const WHOLE: f64 = HEAD + SPACE + PANEL + NUMBERS + HEAD + 4.0;
/// Between the name of a panel and its frame.
const SPACE: f64 = 5.0;

/// A line: its name, and its quantity.
type LineSeries<'a> = (String, &'a str);

/// Draws the picture from `top` on. Returns the height at its end.
pub fn draw(canvas: &mut Canvas, results: &Results<'_>, picture: &Picture, data: &[Datum], top: f64) -> f64 {
    let looks = Looks::new(results, data);
    let series: Vec<LineSeries<'_>> = distinct(data.iter().map(series_of));
    let entries: Vec<LegendEntry> = series.iter().map(|series| entry(&looks, series)).collect();
    let rows = panel_rows(data, 2);
    let across = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let width = (WIDTH - EDGE) / across - ROOM;
    let sheet = LineSheet { picture, data, looks: &looks, typical: typical(data) };
    let mut y = legend(canvas, &entries, top);
    for row in &rows {
        for (i, panel) in row.iter().enumerate() {
            sheet.panel(canvas, panel, (i as f64 * (ROOM + width), y), width);
        }
        y += WHOLE;
    }
    y + 4.0
}

fn series_of(datum: &Datum) -> LineSeries<'_> {
    (datum.line(), datum.quantity.as_str())
}

/// Whether a line is a model's prediction, not a measurement.
fn is_model(quantity: &str) -> bool {
    quantity.ends_with("_model")
}

fn entry(looks: &Looks, (method, quantity): &LineSeries<'_>) -> LegendEntry {
    let look = looks.get(method);
    match is_model(quantity) {
        true => (LegendMark::Dashed(look), format!("{method}, model")),
        false => (LegendMark::Line(look), method.clone()),
    }
}

struct LineSheet<'a> {
    picture: &'a Picture,
    data: &'a [Datum],
    looks: &'a Looks,
    typical: f64,
}

impl LineSheet<'_> {
    /// A panel, with the common axes of all sides.
    fn panel(&self, canvas: &mut Canvas, panel: &Panel<'_>, (left, y): Point, width: f64) {
        let Datum { panel: name, x_name, .. } = panel.data[0];
        let of: Vec<&Datum> = self.data.iter().filter(|datum| datum.panel == *name).collect();
        let xs: Vec<f64> = of.iter().filter_map(|datum| datum.x_number()).collect();
        let (low, high) = xs.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (x.min(low), x.max(high)));
        let scale = if low > 0.0 && high > 4.0 * low { Scale::Log } else { Scale::Linear };
        let typical_x = (low * high).max(0.0).sqrt();
        let (title, unit) = axis_of(x_name);
        let mut across = Axis::around(&xs, None, scale, unit.shown(typical_x).0, numbers(width));
        // Room at both ends for shifted points.
        let room = (APART_AT_MOST / 2.0 + 4.0) / width * (across.range.end - across.range.start);
        across.range = across.range.start - room..across.range.end + room;
        let mut stops = xs;
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        let values = held(of.iter().copied(), self.picture.scale);
        let up = Axis::around(&values, None, self.picture.scale, self.picture.unit.shown(self.typical).0, 6);

        let top = y + HEAD + SPACE;
        let shown = cut(&panel.title, width + ROOM, TEXT);
        canvas.write(&shown, bold(TEXT, LEFT, CENTRE), (left + 4.0, y + HEAD / 2.0));
        let name = self.picture.unit.title(&self.picture.axis, self.typical);
        canvas.write(&name, turned(), (left + 10.0, top + PANEL / 2.0));
        let x = left + ROOM;
        let frame = Frame { corner: (x, top), size: (width, PANEL), across: &across, up: Some(&up) };
        frame.draw(canvas, true, true);
        let all = grouped(panel.data.iter().copied(), |datum| series_of(datum));
        let count = all.len() as f64;
        for (j, (series, points)) in all.into_iter().enumerate() {
            // Intervals at the same place are shifted sideways.
            let apart = (j as f64 - (count - 1.0) / 2.0) * APART.min(APART_AT_MOST / count);
            let apart = if is_model(series.1) { 0.0 } else { apart };
            self.line(canvas, &frame, (apart, &stops), &series, points);
        }
        let middle = (x + width / 2.0, top + PANEL + NUMBERS + 1.0);
        canvas.write(&unit.title(title, typical_x), font(TEXT, MIDDLE, TOP), middle);
    }

    /// The line of a method on one side, from left to right.
    fn line(
        &self,
        canvas: &mut Canvas,
        frame: &Frame<'_>,
        (apart, stops): (f64, &[f64]),
        (method, quantity): &LineSeries<'_>,
        mut data: Vec<&Datum>,
    ) {
        let x = |datum: &Datum| datum.x_number().unwrap_or(0.0);
        data.sort_by(|a, b| x(a).total_cmp(&x(b)));
        let look = self.looks.get(method);
        let at = |datum: &Datum, value: f64| (frame.x(x(datum)) + apart, frame.y(value));
        let style = Style { is_dashed: is_model(quantity), ..Style::stroke(look.colour, 1.3) };
        for part in unbroken(&data, stops) {
            canvas.draw(Shape::Line(part.iter().map(|datum| at(datum, datum.value)).collect()), style);
        }
        for datum in data.iter().filter(|_| !is_model(quantity)) {
            if let Some((low, high)) = datum.interval {
                frame.whisker(canvas, [low, high].map(|end| at(datum, end)), false, look.colour);
            }
            symbol(canvas, look, at(datum, datum.value), 2.6);
        }
    }
}

/// Splits a line where it has no point at a stop of the axis: no line is drawn across missing values.
fn unbroken<'a, 'b>(data: &'b [&'a Datum], stops: &[f64]) -> Vec<&'b [&'a Datum]> {
    let stop = |datum: &Datum| {
        let x = datum.x_number()?;
        stops.binary_search_by(|stop| stop.total_cmp(&x)).ok()
    };
    let follows = |a: &&Datum, b: &&Datum| stop(a).zip(stop(b)).is_some_and(|(a, b)| b <= a + 1);
    data.chunk_by(follows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_drawn_over_what_was_not_measured() {
        let at = |x: f64| Datum { x: Some(x.to_string()), ..Datum::default() };
        let all = [at(1.0), at(2.0), at(8.0)];
        let all: Vec<&Datum> = all.iter().collect();
        let lengths = |stops: &[f64]| unbroken(&all, stops).into_iter().map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(&[1.0, 2.0, 8.0]), [3]);
        assert_eq!(lengths(&[1.0, 2.0, 4.0, 8.0]), [2, 1]);
    }
}
