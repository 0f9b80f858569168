//! Common parts of pictures: columns of panels, one per MPI; frames with axes; marks and legends.

use super::Results;
use super::axis::Axis;
use super::canvas::{
    CENTRE, COLOURS, Canvas, INK, LINE, MIDDLE, PAPER, Point, REFERENCE, RIGHT, Rgb, Shape, Style, TEXT, TOP,
    WIDTH, bold, cut, font,
};
use super::data::Datum;
use crate::model::Case;
use crate::report::names::{distinct, sides};

/// Empty space at the right edge.
pub const EDGE: f64 = 18.0;
/// Blank between panels.
const GAP: f64 = 26.0;
/// Height of the numbers below an axis.
pub const NUMBERS: f64 = 18.0;

/// The style of a method's marks, in all pictures of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub colour: Rgb,
    pub shape: usize,
    /// Whether they are filled: with more methods than colours, methods of the same colour differ in that.
    pub filled: bool,
}

/// The styles of a run's methods, in the order of measurement.
pub struct Looks(Vec<(String, Look)>);

impl Looks {
    /// The styles for a run, and for lines that show a part of a method's cases.
    pub fn new(results: &Results<'_>, data: &[Datum]) -> Self {
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
    /// A surface with an outline.
    pub fn surface(self, width: f64) -> Style {
        let fill = if self.filled { self.colour } else { PAPER };
        Style { fill: Some(fill), ..Style::stroke(self.colour, width) }
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
    pub fn new(data: &[Datum], left: f64) -> Self {
        let sides = sides(data.iter().map(|datum| &*datum.case));
        let most = match sides.len() {
            count @ 0..=3 => count.max(1),
            4 => 2,
            _ => 3,
        };
        let room = WIDTH - left - EDGE - GAP * (most - 1) as f64;
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
    pub fn head(&self, canvas: &mut Canvas, band: &[(Case, String)], y: f64) {
        for (i, (_, name)) in band.iter().enumerate() {
            let (shown, middle) = (cut(name, self.width, TEXT), self.start(i) + self.width / 2.0);
            canvas.write(&shown, bold(TEXT, MIDDLE, TOP), (middle, y));
        }
    }

    /// The title of the horizontal axes of a band.
    pub fn title(&self, canvas: &mut Canvas, text: &str, columns: usize, y: f64) {
        let middle = (self.start(0) + self.start(columns - 1) + self.width) / 2.0;
        canvas.write(text, font(TEXT, MIDDLE, TOP), (middle, y));
    }
}

/// A frame with a horizontal axis, and perhaps a vertical one.
pub struct Frame<'a> {
    pub corner: Point,
    pub size: (f64, f64),
    pub across: &'a Axis,
    pub up: Option<&'a Axis>,
}

impl Frame<'_> {
    pub fn right(&self) -> f64 {
        self.corner.0 + self.size.0
    }

    pub fn bottom(&self) -> f64 {
        self.corner.1 + self.size.1
    }

    /// The pixel of a value on the horizontal axis.
    pub fn x(&self, value: f64) -> f64 {
        self.x_of(self.across.scale.place(value))
    }

    /// The pixel of a value on the vertical axis.
    pub fn y(&self, value: f64) -> f64 {
        self.up.map_or(value, |up| self.y_of(up, up.scale.place(value)))
    }

    fn x_of(&self, place: f64) -> f64 {
        self.corner.0 + self.across.share(place) * self.size.0
    }

    fn y_of(&self, up: &Axis, place: f64) -> f64 {
        self.bottom() - up.share(place) * self.size.1
    }

    /// Draws it, with or without grid lines. The numbers of the horizontal axis are below it, those of the
    /// vertical axis on its left if `has_left`.
    pub fn draw(&self, canvas: &mut Canvas, has_left: bool, has_grid: bool) {
        /// Length of the ticks, and half of the distance of the numbers.
        const TICK: f64 = 3.0;
        let ((left, top), right, bottom) = (self.corner, self.right(), self.bottom());
        let (grid, ink) = (Style::stroke(LINE, 0.7), Style::stroke(INK, 0.7));
        let across: Vec<_> =
            self.across.ticks.iter().map(|(place, text)| (self.x_of(*place), text)).collect();
        let up =
            self.up.iter().flat_map(|up| up.ticks.iter().map(|(place, text)| (self.y_of(up, *place), text)));
        let up: Vec<_> = up.collect();
        if has_grid {
            across.iter().for_each(|(x, _)| canvas.line((*x, bottom), (*x, top), grid));
            up.iter().for_each(|(y, _)| canvas.line((left, *y), (right, *y), grid));
        }
        canvas.line((left, bottom), (right, bottom), ink);
        for (x, text) in across {
            canvas.line((x, bottom), (x, bottom + TICK), ink);
            canvas.write(text, font(TEXT - 1.0, MIDDLE, TOP), (x, bottom + 2.0 * TICK));
        }
        if has_left {
            canvas.line((left, bottom), (left, top), ink);
            for (y, text) in up {
                canvas.line((left - TICK, y), (left, y), ink);
                canvas.write(text, font(TEXT - 1.0, RIGHT, CENTRE), (left - 2.0 * TICK, y));
            }
        }
    }

    /// Draws an interval: a line between its ends, horizontal or vertical, with caps at the ends that are within the frame.
    pub fn whisker(&self, canvas: &mut Canvas, ends: [Point; 2], is_across: bool, colour: Rgb) {
        const HALF: f64 = 2.5;
        let ((left, top), right, bottom) = (self.corner, self.right(), self.bottom());
        let style = Style::stroke(colour, 0.9);
        let [from, to] = ends.map(|(x, y)| (x.clamp(left, right), y.clamp(top, bottom)));
        canvas.line(from, to, style);
        for (x, y) in ends.into_iter().filter(|end| [from, to].contains(end)) {
            let (dx, dy) = if is_across { (0.0, HALF) } else { (HALF, 0.0) };
            canvas.line((x - dx, y - dy), (x + dx, y + dy), style);
        }
    }
}

/// A point: a disc, a square, a triangle or a cross.
pub fn symbol(canvas: &mut Canvas, look: Look, (x, y): Point, r: f64) {
    let surface = look.surface(1.2);
    match look.shape {
        0 => canvas.draw(Shape::Circle((x, y), r), surface),
        1 => canvas.draw(Shape::Rectangle([(x - r, y - r), (x + r, y + r)]), surface),
        2 => canvas.draw(Shape::Polygon(vec![(x - r, y + r), (x + r, y + r), (x, y - r)]), surface),
        _ => {
            let line = Style::stroke(look.colour, 1.2);
            canvas.line((x - r, y - r), (x + r, y + r), line);
            canvas.line((x - r, y + r), (x + r, y - r), line);
        }
    }
}
