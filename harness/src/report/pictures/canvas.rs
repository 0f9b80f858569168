//! The sheet that pictures are drawn on: sizes, fonts, colours, and the SVG around it.
//!
//! `plotters` draws on whole pixels, so that a sheet has ten of its pixels where the picture has one. What it cannot write is
//! written here: the head of the file with a view box, so that a picture fits any width, and its title and description for
//! those who cannot see it.

use std::fmt::Display;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::heading::Heading;

/// Width of every picture, in CSS pixels: 405 points, the text of a page in print.
pub const WIDTH: f64 = 540.0;
/// Pixels of the sheet for one of the picture.
pub const FINE: f64 = 10.0;
/// Size of most text.
pub const TEXT: f64 = 12.0;
/// `plotters` writes a font's size divided by this.
const FONT: f64 = 1.24;

/// Text and axes. These three are given other colours by a page that is dark.
pub const INK: RGBColor = RGBColor(0x1c, 0x23, 0x30);
/// Lines that only help to read.
pub const LINE: RGBColor = RGBColor(0xd9, 0xde, 0xe7);
/// What all is drawn on.
pub const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// What others are compared with.
pub const REFERENCE: RGBColor = RGBColor(0x85, 0x8d, 0x99);

/// Okabe and Ito's colours, which people with any kind of colour vision tell apart; without black, which is text, and yellow, which
/// white paper swallows.
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xcc, 0x79, 0xa7),
];

/// What drawing may refuse; on a sheet in memory, nothing.
pub type Refused = Box<dyn std::error::Error>;

/// A part of the sheet.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Pixels of the sheet.
pub fn fine(px: f64) -> i32 {
    (px * FINE).round() as i32
}

/// The width that a text takes, about.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// Text of a size in CSS pixels, which stands at its place as `h` and `v` say.
pub fn font<'a>(size: f64, h: HPos, v: VPos) -> TextStyle<'a> {
    ("sans-serif", size * FINE * FONT).into_font().color(&INK).pos(Pos::new(h, v))
}

/// How much wider a text is in bold, about.
pub const BOLD: f64 = 1.2;

/// The same in bold.
pub fn bold<'a>(size: f64, h: HPos, v: VPos) -> TextStyle<'a> {
    ("sans-serif", size * FINE * FONT, FontStyle::Bold).into_font().color(&INK).pos(Pos::new(h, v))
}

/// Writes a text, cut where it would leave the sheet.
pub fn write(root: &Area<'_>, text: &str, style: &TextStyle<'_>, (x, y): (f64, f64)) -> Result<(), Refused> {
    let room = match style.pos.h_pos {
        HPos::Left => WIDTH - x,
        HPos::Right => x,
        HPos::Center => 2.0 * x.min(WIDTH - x),
    };
    let wider = if matches!(style.font.get_style(), FontStyle::Bold) { BOLD } else { 1.0 };
    root.draw(&Text::new(
        cut(text, room / wider, style.font.get_size() / (FINE * FONT)),
        (fine(x), fine(y)),
        style.clone(),
    ))?;
    Ok(())
}

/// A text, cut where it has no room.
pub fn cut(text: &str, room: f64, size: f64) -> String {
    let most = (room / width("x", size)).floor() as usize;
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// A line of a width in CSS pixels.
pub fn stroke(colour: RGBColor, px: f64) -> ShapeStyle {
    colour.stroke_width(fine(px) as u32)
}

/// An SVG of a heading and of what `draw` draws below it, of a height; `description` is for those who hear it.
///
/// # Panics
/// If memory refuses to be drawn on, which it does not.
pub fn svg(
    heading: &Heading,
    height: f64,
    description: &str,
    draw: impl FnOnce(&Area<'_>) -> Result<(), Refused>,
) -> String {
    let (mut sheet, top) = (String::new(), heading.height());
    let height = top + height;
    {
        let root = SVGBackend::with_string(&mut sheet, (fine(WIDTH) as u32, fine(height) as u32))
            .into_drawing_area();
        let below = root.clone().shrink((0, fine(top)), (fine(WIDTH) as u32, fine(height - top) as u32));
        let drawn = root.fill(&PAPER).map_err(Refused::from).and_then(|()| heading.draw(&root));
        let drawn = drawn.and_then(|()| draw(&below));
        let drawn = drawn.and_then(|()| root.present().map_err(Refused::from));
        drawn.expect("a sheet in memory can be drawn on");
    }
    // Behind the tag that `plotters` begins with.
    let content = sheet.split_once('>').map_or("", |(_, content)| content);
    let (title, description) = (escaped(&heading.text()), escaped(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {} {}\" \
         role=\"img\" aria-label=\"{title}: {description}\">\n<title>{title}</title>\n<desc>{description}</desc>{content}",
        fine(WIDTH),
        fine(height),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// How a colour is written in the file, by which a page finds it.
pub fn written(RGBColor(r, g, b): RGBColor) -> impl Display {
    format!("#{r:02X}{g:02X}{b:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_names_what_it_shows_and_has_the_given_sizes() {
        let text = svg(&Heading::plain("Overhead <of> \"all\""), 100.0, "a & b", |root| {
            write(root, "hello", &font(TEXT, HPos::Left, VPos::Top), (10.0, 20.0))
        });
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
        assert!(text.contains("viewBox=\"0 0 5400 1260\" role=\"img\""), "{text}");
        assert!(
            text.contains("<title>Overhead &lt;of&gt; &quot;all&quot;</title>\n<desc>a &amp; b</desc>"),
            "{text}"
        );
        assert!(text.contains("x=\"100\" y=\"460\""), "below the heading: {text}");
        let size = text.split("font-size=\"").nth(2).and_then(|rest| rest.split('"').next()).unwrap();
        assert!((size.parse::<f64>().unwrap() - TEXT * FINE).abs() < 1e-6, "{size}");
    }

    #[test]
    fn text_that_would_leave_the_sheet_is_cut() {
        let text = svg(&Heading::plain(""), 50.0, "", |root| {
            write(root, &"x".repeat(500), &font(TEXT, HPos::Left, VPos::Top), (100.0, 0.0))
        });
        assert!(text.contains('…') && !text.contains(&"x".repeat(100)), "{text}");
        let shown = |style: &TextStyle<'_>| {
            let drawn =
                svg(&Heading::plain(""), 50.0, "", |root| write(root, &"x".repeat(500), style, (100.0, 0.0)));
            drawn.matches('x').count()
        };
        let (h, v) = (HPos::Left, VPos::Top);
        assert!(shown(&bold(TEXT, h, v)) < shown(&font(TEXT, h, v)) - 5, "bold letters are wider");
    }

    #[test]
    fn colours_that_a_page_changes_are_written_as_it_looks_for_them() {
        let text = svg(&Heading::plain(""), 50.0, "", |root| {
            root.draw(&PathElement::new(vec![(0, 0), (10, 10)], stroke(INK, 1.0))).map_err(Into::into)
        });
        assert!(text.contains(&format!("stroke=\"{}\"", written(INK))), "{text}");
        assert!(text.contains(&format!("fill=\"{}\"", written(PAPER))), "{text}");
    }
}
