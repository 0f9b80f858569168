//! The drawing area of pictures: sizes, fonts, colours, and the SVG around it.
//!
//! `plotters` draws on whole pixels, so the drawing area has ten pixels per pixel of the picture. The head of the file is written
//! here: a view box, so that a picture fits any width, and title and description for screen readers.

use std::fmt::Display;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::heading::Heading;

/// Width of every picture in CSS pixels: 405 points, the width of printed text.
pub const WIDTH: f64 = 540.0;
/// Pixels of the drawing area per pixel of the picture.
pub const FINE: f64 = 10.0;
/// Usual size of text.
pub const TEXT: f64 = 12.0;
/// `plotters` writes a font's size divided by this.
const FONT: f64 = 1.24;

/// Text and axes. A dark page replaces these three colours.
pub const INK: RGBColor = RGBColor(0x1c, 0x23, 0x30);
/// Grid lines.
pub const LINE: RGBColor = RGBColor(0xd9, 0xde, 0xe7);
/// The background.
pub const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// The reference of comparisons.
pub const REFERENCE: RGBColor = RGBColor(0x85, 0x8d, 0x99);

/// The colours of Okabe and Ito, which people with any kind of colour vision can distinguish. Without black, the colour of text,
/// and without yellow, which is hard to see on white.
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xcc, 0x79, 0xa7),
];

/// An error of drawing. There are none in memory.
pub type Refused = Box<dyn std::error::Error>;

/// A part of the sheet.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub fn fine(px: f64) -> i32 {
    (px * FINE).round() as i32
}

/// The approximate width of a text.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// Text of a size in CSS pixels, aligned by `h` and `v`.
pub fn font<'a>(size: f64, h: HPos, v: VPos) -> TextStyle<'a> {
    ("sans-serif", size * FINE * FONT).into_font().color(&INK).pos(Pos::new(h, v))
}

/// Approximate width of bold text relative to normal text.
pub const BOLD: f64 = 1.2;

/// The same in bold.
pub fn bold<'a>(size: f64, h: HPos, v: VPos) -> TextStyle<'a> {
    ("sans-serif", size * FINE * FONT, FontStyle::Bold).into_font().color(&INK).pos(Pos::new(h, v))
}

/// Writes a text, cut at the edge of the picture.
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

/// A text, cut to the available room.
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

/// An SVG with a heading, and the content drawn by `draw` below it; `description` is for screen readers.
///
/// # Panics
/// Never: drawing in memory does not fail.
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
    // After the tag with which `plotters` begins.
    let content = sheet.split_once('>').map_or("", |(_, content)| content);
    let (title, description) = (escaped(heading.text()), escaped(description));
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

/// The text of a colour in the file, by which a page finds it.
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
    fn colours_that_a_page_changes_have_the_form_that_it_replaces() {
        let text = svg(&Heading::plain(""), 50.0, "", |root| {
            root.draw(&PathElement::new(vec![(0, 0), (10, 10)], stroke(INK, 1.0))).map_err(Into::into)
        });
        assert!(text.contains(&format!("stroke=\"{}\"", written(INK))), "{text}");
        assert!(text.contains(&format!("fill=\"{}\"", written(PAPER))), "{text}");
    }
}
