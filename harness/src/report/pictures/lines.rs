//! Pictures with lines: a line per method through points with their intervals.

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Axis, Scale, axis_of, held};
use super::canvas::{Area, FINE, Refused, TEXT, WIDTH, bold, cut, fine, font, stroke, svg, write};
use super::data::Datum;
use super::heading::Heading;
use super::legend::{LegendEntry, LegendMark, legend, legend_height};
use super::panels::{Panel, panel_rows};
use super::rows::typical;
use super::sheet::{Frame, Look, Looks, NUMBERS, RIGHT, frame, numbers, point, whisker};
use super::{Picture, Results};
use crate::report::names::{distinct, grouped};

/// Room left of the first panel for the vertical axis.
const LEFT: f64 = 66.0;
/// Room for its numbers.
const NUMBERS_UP: f64 = 44.0;
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

/// The picture as SVG.
pub fn draw(
    results: &Results<'_>,
    picture: &Picture,
    data: &[Datum],
    heading: &Heading,
    description: &str,
) -> String {
    let looks = Looks::of(results, data);
    let series: Vec<LineSeries<'_>> = distinct(data.iter().map(series_of));
    let entries: Vec<LegendEntry> = series.iter().map(|series| entry(&looks, series)).collect();
    let rows = panel_rows(data, 2);
    let across = rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let width = (WIDTH - RIGHT) / across - LEFT;
    let top = legend_height(&entries);
    let sheet = LineSheet { picture, data, looks: &looks, typical: typical(data) };
    svg(heading, top + rows.len() as f64 * WHOLE + 4.0, description, |root| {
        legend(root, &entries, 0.0)?;
        for (i, row) in rows.iter().enumerate() {
            for (j, panel) in row.iter().enumerate() {
                let place = (j as f64 * (LEFT + width), top + i as f64 * WHOLE);
                sheet.panel(root, panel, place, width)?;
            }
        }
        Ok(())
    })
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
    fn panel(
        &self,
        root: &Area<'_>,
        panel: &Panel<'_>,
        (left, y): (f64, f64),
        width: f64,
    ) -> Result<(), Refused> {
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
        let shown = cut(&panel.title, width + LEFT, TEXT);
        write(root, &shown, &bold(TEXT, HPos::Left, VPos::Center), (left + 4.0, y + HEAD / 2.0))?;
        let turned = font(TEXT, HPos::Center, VPos::Center).transform(FontTransform::Rotate270);
        let name = self.picture.unit.title(&self.picture.axis, self.typical);
        root.draw(&Text::new(name, (fine(left + 10.0), fine(top + PANEL / 2.0)), turned))?;
        let x = left + LEFT;
        let mut frame = frame(root, (x, top), (width, PANEL), [&across, &up], NUMBERS_UP, true)?;
        let all = grouped(panel.data.iter().copied(), |datum| series_of(datum));
        let count = all.len() as f64;
        for (j, (series, points)) in all.into_iter().enumerate() {
            // Intervals at the same place are shifted sideways.
            let apart = (j as f64 - (count - 1.0) / 2.0) * APART.min(APART_AT_MOST / count);
            let apart = apart / width * (across.range.end - across.range.start);
            let apart = if is_model(series.1) { 0.0 } else { apart };
            self.line(&mut frame, [&across, &up], (apart, &stops), &series, points)?;
        }
        let (middle, end) = (x + width / 2.0, top + PANEL + NUMBERS + 1.0);
        write(root, &unit.title(title, typical_x), &font(TEXT, HPos::Center, VPos::Top), (middle, end))
    }

    /// The line of a method on one side, from left to right.
    fn line(
        &self,
        frame: &mut Frame<'_, '_>,
        [across, up]: [&Axis; 2],
        (apart, stops): (f64, &[f64]),
        (method, quantity): &LineSeries<'_>,
        mut data: Vec<&Datum>,
    ) -> Result<(), Refused> {
        data.sort_by(|a, b| a.x_number().unwrap_or(0.0).total_cmp(&b.x_number().unwrap_or(0.0)));
        let look: Look = self.looks.get(method);
        let x = |datum: &Datum| across.scale.place(datum.x_number().unwrap_or(0.0)) + apart;
        let at = |datum: &Datum, value: f64| (x(datum), up.scale.place(value));
        let style = stroke(look.colour, 1.3);
        for part in unbroken(&data, stops) {
            let places: Vec<(f64, f64)> = part.iter().map(|datum| at(datum, datum.value)).collect();
            if is_model(quantity) {
                let (long, gap) = ((4.0 * FINE) as u32, (3.0 * FINE) as u32);
                frame.draw_series([DashedPathElement::new(places, long, gap, style)])?;
            } else {
                frame.draw_series([PathElement::new(places, style)])?;
            }
        }
        for datum in data.iter().filter(|_| !is_model(quantity)) {
            if let Some((low, high)) = datum.interval {
                whisker(frame, [at(datum, low), at(datum, high)], false, look.colour)?;
            }
            point(frame, look, at(datum, datum.value), 2.6)?;
        }
        Ok(())
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
