//! Legends: entries in as many lines as they need.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Area, Refused, TEXT, WIDTH, fine, font, stroke, width, write};
use super::sheet::{Look, RIGHT, symbol};

/// An entry of a legend: its mark and its text.
pub type LegendEntry = (LegendMark, String);

#[derive(Clone, Copy)]
pub enum LegendMark {
    /// A line through a point.
    Line(Look),
    Dashed(Look),
    Point(Look),
    /// A filled square.
    Surface(RGBColor),
}

impl LegendMark {
    fn draw(self, area: &Area<'_>, (x, y): (i32, i32)) -> Result<(), Refused> {
        let line = |from: i32, to: i32, look: Look| {
            area.draw(&PathElement::new(vec![(x + from, y), (x + to, y)], stroke(look.colour, 1.3)))
        };
        let half = fine(9.0);
        match self {
            Self::Line(look) => {
                line(-half, half, look)?;
                symbol(area, look, (x, y), 2.6)?;
            }
            Self::Dashed(look) => {
                line(-half, -half / 4, look)?;
                line(half / 4, half, look)?;
            }
            Self::Point(look) => symbol(area, look, (x, y), 3.2)?,
            Self::Surface(colour) => {
                let half = fine(6.0);
                area.draw(&Rectangle::new([(x - half, y - half), (x + half, y + half)], colour.filled()))?;
            }
        }
        Ok(())
    }
}

/// Height of a line of a legend.
const ENTRY: f64 = 17.0;
/// Room for an entry's mark.
const MARK: f64 = 24.0;

/// Lines of a legend, with as many entries as fit.
fn legend_lines(entries: &[LegendEntry]) -> Vec<Vec<(f64, &LegendEntry)>> {
    let mut lines: Vec<Vec<(f64, &LegendEntry)>> = Vec::new();
    let mut x = WIDTH;
    for entry in entries {
        let needs = MARK + width(&entry.1, TEXT) + 14.0;
        if x + needs > WIDTH {
            lines.push(Vec::new());
            x = RIGHT;
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, entry));
        }
        x += needs;
    }
    lines
}

pub fn legend_height(entries: &[LegendEntry]) -> f64 {
    legend_lines(entries).len() as f64 * ENTRY
}

/// Draws a legend from `y` on.
pub fn legend(root: &Area<'_>, entries: &[LegendEntry], y: f64) -> Result<(), Refused> {
    for (i, line) in legend_lines(entries).into_iter().enumerate() {
        let middle = y + (i as f64 + 0.5) * ENTRY;
        for (x, (mark, name)) in line {
            mark.draw(root, (fine(x + MARK / 2.0 - 3.0), fine(middle)))?;
            write(root, name, &font(TEXT, HPos::Left, VPos::Center), (x + MARK, middle))?;
        }
    }
    Ok(())
}
