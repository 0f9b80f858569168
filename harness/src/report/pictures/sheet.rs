//! Common parts of pictures: columns of panels, one per MPI; frames with axes; marks and legends.

use plotters::chart::ChartContext;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Results;
use super::axis::Axis;
use super::canvas::{
    Area, COLOURS, FINE, INK, LINE, PAPER, REFERENCE, Refused, TEXT, WIDTH, cut, fine, font, stroke, write,
};
use super::data::Datum;
use crate::model::Case;
use crate::report::names::{distinct, sides};

/// Empty space at the right edge.
pub const RIGHT: f64 = 18.0;
/// Blank between panels.
const GAP: f64 = 26.0;
/// Height of the numbers below an axis.
pub const NUMBERS: f64 = 18.0;

/// A frame with axes.
pub type Frame<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.share(*place) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let all = || self.ticks.iter().map(|tick| tick.0).collect();
        if hint.weight().allow_light_points() { Vec::new() } else { all() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, place: &f64) -> String {
        let found = self.ticks.iter().find(|tick| tick.0 == *place);
        found.map_or_else(String::new, |tick| tick.1.clone())
    }
}

/// The style of a method's marks, in all pictures of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub colour: RGBColor,
    pub shape: usize,
    /// Whether they are filled: with more methods than colours, methods of the same colour differ in that.
    pub filled: bool,
}

/// The styles of a run's methods, in the order of measurement.
pub struct Looks(Vec<(String, Look)>);

impl Looks {
    /// The styles for a run, and for lines that show a part of a method's cases.
    pub fn of(results: &Results<'_>, data: &[Datum]) -> Self {
        let methods = results.over.iter().map(|record| record.method.clone());
        let parts = data.iter().filter(|datum| !datum.series.is_empty()).map(Datum::line);
        // If all lines show parts, methods need no colours.
        let has_methods = data.iter().any(|datum| datum.series.is_empty());
        let names = distinct(methods.filter(|_| has_methods).chain(parts));
        let (mut references, mut coloured) = (0, 0);
        let look = |name: String| {
            let look = if results.is_reference(&name) {
                let i = references;
                references += 1;
                Look { colour: REFERENCE, shape: (3 + i) % 4, filled: i == 0 }
            } else {
                let i = coloured;
                coloured += 1;
                Look {
                    colour: COLOURS[i % COLOURS.len()],
                    shape: (i % 3 + i / 12) % 3,
                    filled: (i / COLOURS.len()).is_multiple_of(2),
                }
            };
            (name, look)
        };
        Self(names.into_iter().map(look).collect())
    }

    /// That of a method. Bars that are not of a method have one look.
    pub fn get(&self, method: &str) -> Look {
        let unknown = Look { colour: COLOURS[0], shape: 0, filled: true };
        self.0.iter().find(|(name, _)| name == method).map_or(unknown, |(_, look)| *look)
    }
}

impl Look {
    /// How a surface is filled.
    pub fn surface(self) -> ShapeStyle {
        if self.filled { self.colour.filled() } else { PAPER.filled() }
    }
}

/// Number of texts that fit on a horizontal axis.
pub fn numbers(width: f64) -> usize {
    ((width / 36.0) as usize).clamp(3, 7)
}

/// Sides in bands of as many as fit next to each other.
pub struct SheetColumns {
    /// The sides of each band, with their names.
    pub bands: Vec<Vec<(Case, String)>>,
    left: f64,
    width: f64,
}

impl SheetColumns {
    /// For this data, to the right of labels that take `left`.
    pub fn of(data: &[Datum], left: f64) -> Self {
        let sides = sides(data.iter().map(|datum| &*datum.case));
        let most = match sides.len() {
            count @ 0..=3 => count.max(1),
            4 => 2,
            _ => 3,
        };
        let room = WIDTH - left - RIGHT - GAP * (most - 1) as f64;
        Self { bands: sides.chunks(most).map(<[_]>::to_vec).collect(), left, width: room / most as f64 }
    }

    /// Left end of a column.
    pub fn start(&self, column: usize) -> f64 {
        self.left + column as f64 * (self.width + GAP)
    }

    pub fn width(&self) -> f64 {
        self.width
    }

    /// The names of a band's sides, above their columns.
    pub fn head(&self, root: &Area<'_>, band: &[(Case, String)], y: f64) -> Result<(), Refused> {
        for (i, (_, name)) in band.iter().enumerate() {
            let shown = cut(name, self.width, TEXT);
            let style = super::canvas::bold(TEXT, HPos::Center, VPos::Top);
            write(root, &shown, &style, (self.start(i) + self.width / 2.0, y))?;
        }
        Ok(())
    }

    /// The title of the horizontal axes of a band.
    pub fn title(&self, root: &Area<'_>, text: &str, columns: usize, y: f64) -> Result<(), Refused> {
        let middle = (self.start(0) + self.start(columns - 1) + self.width) / 2.0;
        write(root, text, &font(TEXT, HPos::Center, VPos::Top), (middle, y))
    }
}

/// A frame, with or without grid lines. The numbers of the horizontal axis are below it, those of the vertical axis on its left
/// if there is room.
pub fn frame<'a, 'b>(
    root: &'a Area<'b>,
    (x, y): (f64, f64),
    (w, h): (f64, f64),
    [across, up]: [&Axis; 2],
    left: f64,
    has_grid: bool,
) -> Result<Frame<'a, 'b>, Refused> {
    let area = root.clone().shrink((fine(x - left), fine(y)), (fine(w + left), fine(h + NUMBERS)));
    let mut chart = ChartBuilder::on(&area)
        .x_label_area_size(fine(NUMBERS))
        .y_label_area_size(fine(left))
        .build_cartesian_2d(across.clone(), up.clone())?;
    let mut mesh = chart.configure_mesh();
    mesh.bold_line_style(stroke(LINE, 0.7))
        .light_line_style(TRANSPARENT)
        .axis_style(stroke(INK, 0.7))
        .x_label_style(font(TEXT - 1.0, HPos::Center, VPos::Top))
        .y_label_style(font(TEXT - 1.0, HPos::Right, VPos::Center))
        .set_all_tick_mark_size(fine(3.0));
    if left == 0.0 {
        mesh.disable_y_axis();
    }
    if !has_grid {
        mesh.disable_mesh();
    }
    mesh.draw()?;
    Ok(chart)
}

/// The outline of a rectangle; `plotters` draws outlines of one pixel of the drawing area only.
pub fn outline<T: Copy>([(left, top), (right, bottom)]: [(T, T); 2]) -> Vec<(T, T)> {
    vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
}

/// A point: a disc, a square, a triangle or a cross.
pub fn point(frame: &mut Frame<'_, '_>, look: Look, at: (f64, f64), px: f64) -> Result<(), Refused> {
    let place = frame.backend_coord(&at);
    let area = frame.plotting_area().strip_coord_spec();
    let (x0, y0) = area.get_base_pixel();
    symbol(&area, look, (place.0 - x0, place.1 - y0), px)
}

/// The same at pixels of the drawing area.
pub fn symbol(area: &Area<'_>, look: Look, (x, y): (i32, i32), px: f64) -> Result<(), Refused> {
    let r = fine(px);
    let line = stroke(look.colour, 1.2);
    match look.shape {
        0 => {
            area.draw(&Circle::new((x, y), r, look.surface()))?;
            area.draw(&Circle::new((x, y), r, line))?;
        }
        1 => {
            let corners = [(x - r, y - r), (x + r, y + r)];
            area.draw(&Rectangle::new(corners, look.surface()))?;
            area.draw(&PathElement::new(outline(corners), line))?;
        }
        2 => {
            let corners = vec![(x - r, y + r), (x + r, y + r), (x, y - r)];
            area.draw(&Polygon::new(corners.clone(), look.surface()))?;
            area.draw(&PathElement::new([corners.clone(), corners[..2].to_vec()].concat(), line))?;
        }
        _ => {
            area.draw(&PathElement::new(vec![(x - r, y - r), (x + r, y + r)], line))?;
            area.draw(&PathElement::new(vec![(x - r, y + r), (x + r, y - r)], line))?;
        }
    }
    Ok(())
}

/// An interval: a line between its ends, horizontal or vertical, with caps at the ends that are within the frame.
pub fn whisker(
    frame: &mut Frame<'_, '_>,
    [from, to]: [(f64, f64); 2],
    is_across: bool,
    colour: RGBColor,
) -> Result<(), Refused> {
    let area = frame.plotting_area().strip_coord_spec();
    let ((x0, y0), (width, height)) = (area.get_base_pixel(), area.dim_in_pixel());
    let half = (2.5 * FINE) as i32;
    let held = |at: &(f64, f64)| {
        let (x, y) = frame.backend_coord(at);
        let (x, y) = (x - x0, y - y0);
        let inside = (x.clamp(0, width as i32), y.clamp(0, height as i32));
        (inside, inside == (x, y))
    };
    let ends = [held(&from), held(&to)];
    let style = stroke(colour, 0.9);
    area.draw(&PathElement::new(ends.map(|end| end.0).to_vec(), style))?;
    for ((x, y), _) in ends.into_iter().filter(|(_, is_end)| *is_end) {
        let cap = if is_across { [(x, y - half), (x, y + half)] } else { [(x - half, y), (x + half, y)] };
        area.draw(&PathElement::new(cap.to_vec(), style))?;
    }
    Ok(())
}
