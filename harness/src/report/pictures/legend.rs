//! Legends: entries in as many lines as they need.

use super::canvas::{CENTRE, Canvas, LEFT, Point, Rgb, Shape, Style, TEXT, WIDTH, font, width};
use super::sheet::{EDGE, Look, symbol};

/// An entry of a legend: its mark and its text.
pub type LegendEntry = (LegendMark, String);

#[derive(Clone, Copy)]
pub enum LegendMark {
    /// A line through a point.
    Line(Look),
    Dashed(Look),
    Point(Look),
    /// A filled square.
    Surface(Rgb),
}

impl LegendMark {
    fn draw(self, canvas: &mut Canvas, (x, y): Point) {
        let mut line = |from: f64, to: f64, look: Look| {
            canvas.line((x + from, y), (x + to, y), Style::stroke(look.colour, 1.3));
        };
        match self {
            Self::Line(look) => {
                line(-9.0, 9.0, look);
                symbol(canvas, look, (x, y), 2.6);
            }
            Self::Dashed(look) => {
                line(-9.0, -2.2, look);
                line(2.2, 9.0, look);
            }
            Self::Point(look) => symbol(canvas, look, (x, y), 3.2),
            Self::Surface(colour) => {
                let corners = [(x - 6.0, y - 6.0), (x + 6.0, y + 6.0)];
                canvas.draw(Shape::Rectangle(corners), Style::filled(colour));
            }
        }
    }
}

/// Height of a line of a legend.
const ENTRY: f64 = 17.0;
/// Room for an entry's mark.
const MARK: f64 = 24.0;

/// Draws a legend from `y` on, with as many entries in a line as fit. Returns the height at its end.
pub fn legend(canvas: &mut Canvas, entries: &[LegendEntry], mut y: f64) -> f64 {
    let mut x = WIDTH;
    for (mark, name) in entries {
        let needs = MARK + width(name, TEXT) + 14.0;
        if x + needs > WIDTH {
            (x, y) = (EDGE, y + ENTRY);
        }
        let middle = y - 0.5 * ENTRY;
        mark.draw(canvas, (x + MARK / 2.0 - 3.0, middle));
        canvas.write(name, font(TEXT, LEFT, CENTRE), (x + MARK, middle));
        x += needs;
    }
    y
}
