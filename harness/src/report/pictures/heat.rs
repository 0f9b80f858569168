//! Heat maps: a cell per pair of places, with its value and colour. A map per panel and side; maps of one
//! test have the same axes.

use std::collections::HashMap;

use super::Results;
use super::axis::{AxisUnit, axis_of, text};
use super::canvas::{
    BOTTOM, CENTRE, Canvas, Font, INK, LEFT, LINE, MIDDLE, Point, RIGHT, Shape, Style, TEXT, TOP, WIDTH,
    bold, cut, font, turned, width,
};
use super::colours::{Colours, text_on};
use super::data::Datum;
use super::panels::{Panel, panel_rows};
use super::places::Places;
use super::sheet::Frame;
use super::{MarkShape, Picture};
use crate::report::names::grouped;

/// Height of a line of text.
const HEAD: f64 = 19.0;
const CELL: f64 = 23.0;
/// The same for maps with many rows.
const LOW_CELL: f64 = 16.0;
/// Maximum rows with high cells.
const FEW: usize = 14;
/// Empty space between maps, and at the right edge.
const GAP: f64 = 18.0;
/// Height of the colour bar with its texts.
const BAR: f64 = 62.0;
/// Text size in cells, and in narrow cells.
const IN_CELL: [f64; 2] = [TEXT - 1.0, TEXT - 3.0];

struct MapGroup<'a> {
    x: Places<'a>,
    y: Places<'a>,
    /// One entry per map.
    rows: Vec<Vec<Panel<'a>>>,
    /// Room left of a row.
    left: f64,
}

/// Draws the picture from `top` on. Returns the height at its end.
pub fn draw(canvas: &mut Canvas, _: &Results<'_>, picture: &Picture, data: &[Datum], top: f64) -> f64 {
    let MarkShape::Heat(colours) = picture.shape else { return top };
    bar(canvas, picture, colours, top);
    groups(data).iter().fold(top + BAR, |y, group| group.draw(canvas, picture, colours, y))
}

/// The number of cells without a value, and of all cells.
pub fn missing(data: &[Datum]) -> (usize, usize) {
    let mut count = (0, 0);
    for group in groups(data) {
        for map in group.rows.iter().flatten() {
            let all = group.x.all.len() * group.y.all.len();
            count = (count.0 + all - map.data.len(), count.1 + all);
        }
    }
    count
}

fn groups<'a>(data: &'a [Datum]) -> Vec<MapGroup<'a>> {
    let group = |all: Vec<&'a Datum>| {
        let x = Places::from_places(&all[0].x_name, all.iter().filter_map(|datum| datum.x.as_ref()));
        let y = Places::from_places(&all[0].y_name, all.iter().filter_map(|datum| datum.y.as_ref()));
        // As many maps as fit with cells wide enough for a number.
        let most = match x.all.len() {
            ..=4 => 3,
            5..=8 => 2,
            _ => 1,
        };
        let rows = panel_rows(all.iter().copied(), most);
        let widest = y.texts.iter().map(|text| width(text, TEXT - 1.0)).fold(0.0, f64::max);
        // The name of the axis is next to the places, or above them.
        let left = (widest + 30.0).max(width(axis_of(y.name).0, TEXT - 1.0) + 12.0);
        MapGroup { x, y, rows, left }
    };
    let of_axes = grouped(data, |datum| (&datum.case.test, &datum.x_name, &datum.y_name));
    of_axes.into_values().map(group).collect()
}

impl MapGroup<'_> {
    fn cell(&self) -> f64 {
        if self.y.all.len() > FEW { LOW_CELL } else { CELL }
    }

    /// Height of a row of maps, with titles and numbers.
    fn row(&self) -> f64 {
        HEAD + self.cell() * self.y.all.len() as f64 + HEAD + 6.0
    }

    /// Draws its maps from `y` on. Returns the height at their end.
    fn draw(&self, canvas: &mut Canvas, picture: &Picture, colours: &Colours, mut y: f64) -> f64 {
        let across = self.rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
        // A map with few cells does not need the whole width.
        let most = 90.0 * self.x.all.len() as f64;
        let size = ((WIDTH - self.left - GAP * across) / across).min(most);
        for row in &self.rows {
            for (i, map) in row.iter().enumerate() {
                let x = self.left + i as f64 * (size + GAP);
                self.map(canvas, picture, colours, map, (x, y), size, i == 0);
            }
            self.title_up(canvas, y + HEAD);
            y += self.row();
        }
        let (title, _) = axis_of(self.x.name);
        let middle = self.left + (across * (size + GAP) - GAP) / 2.0;
        canvas.write(title, font(TEXT, MIDDLE, BOTTOM), (middle, y + 8.0));
        y + HEAD
    }

    /// The title of the vertical axis.
    fn title_up(&self, canvas: &mut Canvas, top: f64) {
        let (name, height) = (axis_of(self.y.name).0, self.cell() * self.y.all.len() as f64);
        if width(name, TEXT) > height {
            // Next to a low map, the title would run into the next one. It is above the places, so that it
            // can be read completely.
            let place = (self.left - 6.0, top - HEAD / 2.0);
            let name = cut(name, self.left, TEXT - 1.0);
            canvas.write(&name, font(TEXT - 1.0, RIGHT, CENTRE), place);
        } else {
            canvas.write(name, turned(), (10.0, top + height / 2.0));
        }
    }

    /// A map with its title and its vertical axis, if it is the first.
    #[expect(clippy::too_many_arguments)]
    fn map(
        &self,
        canvas: &mut Canvas,
        picture: &Picture,
        colours: &Colours,
        map: &Panel<'_>,
        (x, y): Point,
        size: f64,
        is_first: bool,
    ) {
        // The title is cut to the map's width; a value such as `progress` is clear without its name.
        let title = cut(&map.title.replace("configuration=", ""), size, TEXT);
        canvas.write(&title, bold(TEXT, LEFT, CENTRE), (x, y + HEAD / 2.0));
        let (columns, rows) = (self.x.all.len(), self.y.all.len());
        let cell = (size / columns as f64, self.cell());
        let widest = self.x.texts.iter().map(|text| width(text, TEXT - 1.0)).fold(0.0, f64::max) + 4.0;
        let every = (widest / cell.0).ceil().max(1.0) as usize;
        let (across, up) = (&self.x.across(every), &self.y.up());
        let size = (size, cell.1 * rows as f64);
        let frame = Frame { corner: (x, y + HEAD), size, across, up: Some(up) };
        frame.draw(canvas, is_first, false);
        let data: HashMap<_, _> =
            map.data.iter().map(|datum| ((datum.x.as_ref(), datum.y.as_ref()), datum)).collect();
        for (i, across) in self.x.all.iter().enumerate() {
            for (j, up) in self.y.all.iter().enumerate() {
                let corners = [0.0, 1.0].map(|end| (frame.x(i as f64 + end), frame.y(j as f64 + end)));
                match data.get(&(Some(*across), Some(*up))) {
                    Some(datum) => filled(canvas, picture, colours, datum, corners),
                    None => crossed(canvas, corners),
                }
            }
        }
        canvas
            .draw(Shape::Rectangle([frame.corner, (frame.right(), frame.bottom())]), Style::stroke(INK, 0.7));
    }
}

/// A cell with its value, if there is room. The sign `~` marks a value whose interval includes the neutral value.
fn filled(canvas: &mut Canvas, picture: &Picture, colours: &Colours, datum: &Datum, corners: [Point; 2]) {
    let colour = colours.colour(datum.value);
    canvas.draw(Shape::Rectangle(corners), Style::filled(colour));
    let [(x0, y0), (x1, y1)] = corners;
    let shown = in_cell(picture.unit, colours, datum);
    let fits = |size: &&f64| width(&shown, **size) + 2.0 <= x1 - x0 && **size + 3.0 <= (y1 - y0).abs();
    if let Some(size) = IN_CELL.iter().find(fits) {
        let font = Font { colour: text_on(colour), ..font(*size, MIDDLE, CENTRE) };
        canvas.write(&shown, font, ((x0 + x1) / 2.0, (y0 + y1) / 2.0));
    }
}

fn in_cell(unit: AxisUnit, colours: &Colours, datum: &Datum) -> String {
    let value = datum.value / unit.shown(datum.value).0;
    let number = match value.abs() {
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    let holds =
        |(low, high): (f64, f64)| colours.neutral.is_some_and(|neutral| low <= neutral && neutral <= high);
    if datum.interval.is_some_and(holds) { format!("~{number}") } else { number }
}

/// A cell without a value: a stroke through it.
fn crossed(canvas: &mut Canvas, [(x0, y0), (x1, y1)]: [Point; 2]) {
    let (style, [bottom, top]) = (Style::stroke(LINE, 0.7), [y0.max(y1), y0.min(y1)]);
    canvas.line((x0, bottom), (x1, top), style);
    canvas.draw(Shape::Rectangle([(x0, top), (x1, bottom)]), style);
}

/// The colour bar with its stops, their meanings, and the mark of empty cells.
fn bar(canvas: &mut Canvas, picture: &Picture, colours: &Colours, y: f64) {
    const STEPS: usize = 100;
    let (left, length, top, bottom) = (GAP, WIDTH - 2.0 * GAP - 86.0, y + 17.0, y + 29.0);
    canvas.write(&picture.axis, font(TEXT, LEFT, TOP), (left, y + 1.0));
    for step in 0..STEPS {
        let share = (step as f64 + 0.5) / STEPS as f64;
        let from = left + length * step as f64 / STEPS as f64;
        // Each step extends under the next ones, so that no seam is visible.
        let corners = [(from, top), (left + length, bottom)];
        canvas.draw(Shape::Rectangle(corners), Style::filled(colours.colour_at(share)));
    }
    let last = colours.stops.len() - 1;
    for (i, stop) in colours.stops.iter().enumerate() {
        let x = left + length * colours.share(stop.at);
        canvas.line((x, bottom), (x, bottom + 3.0), Style::stroke(INK, 0.7));
        let side = match i {
            0 => LEFT,
            _ if i == last => RIGHT,
            _ => MIDDLE,
        };
        let value = text(stop.at / picture.unit.shown(stop.at).0);
        let value = match i {
            0 => format!("{value} or less"),
            _ if i == last => format!("{value} or more"),
            _ => value,
        };
        let label = if stop.name.is_empty() { value } else { format!("{value}: {}", stop.name) };
        canvas.write(&label, font(TEXT - 1.0, side, TOP), (x, bottom + 5.0));
    }
    let x = WIDTH - GAP - 74.0;
    crossed(canvas, [(x, top), (x + 18.0, bottom)]);
    canvas.write("no value", font(TEXT - 1.0, LEFT, CENTRE), (x + 23.0, (top + bottom) / 2.0));
}
