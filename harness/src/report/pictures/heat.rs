//! Heat maps: a cell per pair of places, with its value and colour. A map per panel and side; maps of one test have the same
//! axes.

use std::collections::HashMap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Results;
use super::axis::{AxisUnit, axis_of, text};
use super::canvas::{
    Area, INK, LINE, Refused, TEXT, WIDTH, bold, cut, fine, font, stroke, svg, width, write,
};
use super::colours::{Colours, text_on};
use super::data::Datum;
use super::heading::Heading;
use super::panels::{Panel, panel_rows};
use super::places::Places;
use super::sheet::{Frame, frame, outline};
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

/// The picture as SVG.
pub fn draw(
    _: &Results<'_>,
    picture: &Picture,
    data: &[Datum],
    heading: &Heading,
    description: &str,
) -> String {
    let MarkShape::Heat { colours } = picture.shape else { return String::new() };
    let groups = groups(data);
    let height = BAR + groups.iter().map(MapGroup::height).sum::<f64>();
    svg(heading, height, description, |root| {
        bar(root, picture, colours)?;
        let mut y = BAR;
        for group in &groups {
            group.draw(root, picture, colours, y)?;
            y += group.height();
        }
        Ok(())
    })
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

    fn height(&self) -> f64 {
        self.rows.len() as f64 * self.row() + HEAD
    }

    fn draw(&self, root: &Area<'_>, picture: &Picture, colours: &Colours, y: f64) -> Result<(), Refused> {
        let across = self.rows.iter().map(Vec::len).max().unwrap_or(1) as f64;
        // A map with few cells does not need the whole width.
        let most = 90.0 * self.x.all.len() as f64;
        let size = ((WIDTH - self.left - GAP * across) / across).min(most);
        for (i, row) in self.rows.iter().enumerate() {
            let y = y + i as f64 * self.row();
            for (j, map) in row.iter().enumerate() {
                let x = self.left + j as f64 * (size + GAP);
                let left = if j == 0 { self.left } else { 0.0 };
                self.map(root, picture, colours, map, (x, y), (size, left))?;
            }
            self.title_up(root, y + HEAD)?;
        }
        let (title, _) = axis_of(self.x.name);
        let end = y + self.rows.len() as f64 * self.row();
        let middle = self.left + (across * (size + GAP) - GAP) / 2.0;
        write(root, title, &font(TEXT, HPos::Center, VPos::Bottom), (middle, end + 8.0))
    }

    /// The title of the vertical axis.
    fn title_up(&self, root: &Area<'_>, top: f64) -> Result<(), Refused> {
        let (name, height) = (axis_of(self.y.name).0, self.cell() * self.y.all.len() as f64);
        if width(name, TEXT) > height {
            // Next to a low map, the title would run into the next one. It is above the places, so that it can be read
            // completely.
            let style = font(TEXT - 1.0, HPos::Right, VPos::Center);
            let place = (self.left - 6.0, top - HEAD / 2.0);
            return write(root, &cut(name, self.left, TEXT - 1.0), &style, place);
        }
        let turned = font(TEXT, HPos::Center, VPos::Center).transform(FontTransform::Rotate270);
        root.draw(&Text::new(name, (fine(10.0), fine(top + height / 2.0)), turned))?;
        Ok(())
    }

    /// A map with its title and its vertical axis, if there is one.
    fn map(
        &self,
        root: &Area<'_>,
        picture: &Picture,
        colours: &Colours,
        map: &Panel<'_>,
        (x, y): (f64, f64),
        (size, left): (f64, f64),
    ) -> Result<(), Refused> {
        // The title is cut to the map's width; a value such as `progress` is clear without its name.
        let title = cut(&map.title.replace("configuration=", ""), size, TEXT);
        write(root, &title, &bold(TEXT, HPos::Left, VPos::Center), (x, y + HEAD / 2.0))?;
        let (columns, rows) = (self.x.all.len(), self.y.all.len());
        let cell = (size / columns as f64, self.cell());
        let widest = self.x.texts.iter().map(|text| width(text, TEXT - 1.0)).fold(0.0, f64::max) + 4.0;
        let every = (widest / cell.0).ceil().max(1.0) as usize;
        let axes = [&self.x.across(every), &self.y.up()];
        let mut frame = frame(root, (x, y + HEAD), (size, cell.1 * rows as f64), axes, left, false)?;
        let data: HashMap<_, _> =
            map.data.iter().map(|datum| ((datum.x.as_ref(), datum.y.as_ref()), datum)).collect();
        for (i, across) in self.x.all.iter().enumerate() {
            for (j, up) in self.y.all.iter().enumerate() {
                let corner = (i as f64, j as f64);
                match data.get(&(Some(*across), Some(*up))) {
                    Some(datum) => filled(&mut frame, picture, colours, datum, corner, cell)?,
                    None => {
                        frame.draw_series(crossed([corner, (corner.0 + 1.0, corner.1 + 1.0)]))?;
                    }
                }
            }
        }
        let around = outline([(0.0, 0.0), (columns as f64, rows as f64)]);
        frame.draw_series([PathElement::new(around, stroke(INK, 0.7))])?;
        Ok(())
    }
}

/// A cell with its value, if there is room. The sign `~` marks a value whose interval includes the neutral value.
fn filled(
    frame: &mut Frame<'_, '_>,
    picture: &Picture,
    colours: &Colours,
    datum: &Datum,
    (x, y): (f64, f64),
    (wide, high): (f64, f64),
) -> Result<(), Refused> {
    let colour = colours.colour(datum.value);
    frame.draw_series([Rectangle::new([(x, y), (x + 1.0, y + 1.0)], colour.filled())])?;
    let shown = in_cell(picture.unit, colours, datum);
    let fits = |size: &&f64| width(&shown, **size) + 2.0 <= wide && **size + 3.0 <= high;
    if let Some(size) = IN_CELL.iter().find(fits) {
        let ink = text_on(colour);
        let style = font(*size, HPos::Center, VPos::Center).color(&ink);
        frame.draw_series([Text::new(shown, (x + 0.5, y + 0.5), style)])?;
    }
    Ok(())
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
fn crossed<T: Copy>(corners @ [(left, top), (right, bottom)]: [(T, T); 2]) -> [PathElement<(T, T)>; 2] {
    [vec![(left, bottom), (right, top)], outline(corners)]
        .map(|line| PathElement::new(line, stroke(LINE, 0.7)))
}

/// The colour bar with its stops, their meanings, and the mark of empty cells.
fn bar(root: &Area<'_>, picture: &Picture, colours: &Colours) -> Result<(), Refused> {
    const STEPS: usize = 100;
    let (left, length, top, high) = (GAP, WIDTH - 2.0 * GAP - 86.0, 17.0, 12.0);
    write(root, &picture.axis, &font(TEXT, HPos::Left, VPos::Top), (left, 1.0))?;
    for step in 0..STEPS {
        let share = (step as f64 + 0.5) / STEPS as f64;
        let at = |step: usize| fine(left + length * step as f64 / STEPS as f64);
        // Each step extends under the next ones, so that no seam is visible.
        let corners = [(at(step), fine(top)), (at(STEPS), fine(top + high))];
        root.draw(&Rectangle::new(corners, colours.colour_at(share).filled()))?;
    }
    let last = colours.stops.len() - 1;
    for (i, stop) in colours.stops.iter().enumerate() {
        let x = left + length * colours.share(stop.at);
        let tick = vec![(fine(x), fine(top + high)), (fine(x), fine(top + high + 3.0))];
        root.draw(&PathElement::new(tick, stroke(INK, 0.7)))?;
        let place = if i == 0 {
            HPos::Left
        } else if i == last {
            HPos::Right
        } else {
            HPos::Center
        };
        let size = TEXT - 1.0;
        let value = text(stop.at / picture.unit.shown(stop.at).0);
        let value = match i {
            0 => format!("{value} or less"),
            _ if i == last => format!("{value} or more"),
            _ => value,
        };
        let label = if stop.name.is_empty() { value } else { format!("{value}: {}", stop.name) };
        write(root, &label, &font(size, place, VPos::Top), (x, top + high + 5.0))?;
    }
    let x = WIDTH - GAP - 74.0;
    for line in crossed([(fine(x), fine(top)), (fine(x + 18.0), fine(top + high))]) {
        root.draw(&line)?;
    }
    let style = font(TEXT - 1.0, HPos::Left, VPos::Center);
    write(root, "no value", &style, (x + 23.0, top + high / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::pictures::colours::TIME_OVER;

    fn datum(x: u32, y: u32, value: f64) -> Datum {
        Datum { x: Some(x.to_string()), y: Some(y.to_string()), value, ..Datum::default() }
    }

    #[test]
    fn a_value_whose_interval_includes_the_neutral_value_is_marked() {
        let shown = |value: f64, interval| {
            let datum = Datum { interval, ..datum(1, 1, value) };
            in_cell(AxisUnit::Ratio, &TIME_OVER, &datum)
        };
        assert_eq!(shown(1.02, Some((0.9, 1.1))), "~1.02");
        assert_eq!(shown(19.53, Some((19.0, 20.0))), "19.5");
        assert_eq!(shown(0.5, None), "0.50");
    }
}
