//! Legends: entries in as many lines as they need.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{Area, Refused, TEXT, WIDTH, fine, font, width, write};
use super::sheet::RIGHT;

/// An entry of a legend: how it is drawn at pixels of the sheet, and what it says.
pub type LegendEntry<'a> = (Box<dyn Fn(&Area<'_>, (i32, i32)) -> Result<(), Refused> + 'a>, String);

/// Height of a line of a legend.
const ENTRY: f64 = 17.0;
/// Room for an entry's mark.
const MARK: f64 = 24.0;

/// Lines of a legend, as many entries in each as have room.
fn legend_lines<'a, 'b>(entries: &'b [LegendEntry<'a>]) -> Vec<Vec<(f64, &'b LegendEntry<'a>)>> {
    let mut lines: Vec<Vec<(f64, &LegendEntry<'_>)>> = Vec::new();
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

/// The height of a legend.
pub fn legend_height(entries: &[LegendEntry<'_>]) -> f64 {
    legend_lines(entries).len() as f64 * ENTRY
}

/// A legend, from `y` on.
pub fn legend(root: &Area<'_>, entries: &[LegendEntry<'_>], y: f64) -> Result<(), Refused> {
    for (i, line) in legend_lines(entries).into_iter().enumerate() {
        let middle = y + (i as f64 + 0.5) * ENTRY;
        for (x, (mark, name)) in line {
            mark(root, (fine(x + MARK / 2.0 - 3.0), fine(middle)))?;
            write(root, name, &font(TEXT, HPos::Left, VPos::Center), TEXT, (x + MARK, middle))?;
        }
    }
    Ok(())
}

/// A line from one place to another, in pixels of the sheet around a point; for legends.
pub fn dash(area: &Area<'_>, (x, y): (i32, i32), style: ShapeStyle, dashed: bool) -> Result<(), Refused> {
    let half = fine(9.0);
    let ends = if dashed { vec![(-half, -half / 4), (half / 4, half)] } else { vec![(-half, half)] };
    for (from, to) in ends {
        area.draw(&PathElement::new(vec![(x + from, y), (x + to, y)], style))?;
    }
    Ok(())
}
