//! The drawing area of pictures: shapes and texts in CSS pixels, which SVG and PDF show; sizes, fonts and colours.

use std::fmt;

use serde::Deserialize;

use super::heading::Heading;

/// Width of every picture in CSS pixels: 405 points, the width of printed text.
pub const WIDTH: f64 = 540.0;
/// Usual size of text.
pub const TEXT: f64 = 12.0;
/// Lengths of dashes and of the gaps between them.
pub const DASHES: [f64; 2] = [4.0, 3.0];

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "u32")]
pub struct Rgb(pub u8, pub u8, pub u8);

/// As in `0x0072B2`.
impl From<u32> for Rgb {
    fn from(number: u32) -> Self {
        let [_, r, g, b] = number.to_be_bytes();
        Self(r, g, b)
    }
}

/// As in the file, where a page finds the colours that it replaces.
impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// Text and axes. A dark page replaces these three colours.
pub const INK: Rgb = Rgb(0x1c, 0x23, 0x30);
/// Grid lines.
pub const LINE: Rgb = Rgb(0xd9, 0xde, 0xe7);
/// The background.
pub const PAPER: Rgb = Rgb(0xff, 0xff, 0xff);
/// The reference of comparisons.
pub const REFERENCE: Rgb = Rgb(0x85, 0x8d, 0x99);

/// The colours of Okabe and Ito, which people with any kind of colour vision can distinguish. Without black,
/// the colour of text, and without yellow, which is hard to see on white.
pub const COLOURS: [Rgb; 6] = [
    Rgb(0x00, 0x72, 0xb2),
    Rgb(0xe6, 0x9f, 0x00),
    Rgb(0x00, 0x9e, 0x73),
    Rgb(0xd5, 0x5e, 0x00),
    Rgb(0x56, 0xb4, 0xe9),
    Rgb(0xcc, 0x79, 0xa7),
];

/// Pixels from the left and from the top.
pub type Point = (f64, f64);

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Between two opposite corners.
    Rectangle([Point; 2]),
    Line(Vec<Point>),
    Polygon(Vec<Point>),
    /// Around a point, with a radius.
    Circle(Point, f64),
}

/// How a shape is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Style {
    /// The colour of its surface.
    pub fill: Option<Rgb>,
    /// The colour and the width of its line.
    pub stroke: Option<(Rgb, f64)>,
    pub is_dashed: bool,
}

impl Style {
    pub fn filled(colour: Rgb) -> Self {
        Self { fill: Some(colour), ..Self::default() }
    }

    pub fn stroke(colour: Rgb, width: f64) -> Self {
        Self { stroke: Some((colour, width)), ..Self::default() }
    }
}

/// The shares of a text's width that are left of its place.
pub const LEFT: f64 = 0.0;
pub const MIDDLE: f64 = 0.5;
pub const RIGHT: f64 = 1.0;
/// How far letters begin below their place, of their size: if the place is their top, the middle of an x, or their bottom.
pub const TOP: f64 = 0.76;
pub const CENTRE: f64 = 0.25;
pub const BOTTOM: f64 = -0.25;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    pub size: f64,
    /// [`LEFT`], [`MIDDLE`] or [`RIGHT`].
    pub along: f64,
    /// [`TOP`], [`CENTRE`] or [`BOTTOM`].
    pub down: f64,
    pub is_bold: bool,
    /// Upwards, for the titles of vertical axes.
    pub is_turned: bool,
    pub colour: Rgb,
}

/// Text of a size in CSS pixels.
pub fn font(size: f64, along: f64, down: f64) -> Font {
    Font { size, along, down, is_bold: false, is_turned: false, colour: INK }
}

/// The same in bold.
pub fn bold(size: f64, along: f64, down: f64) -> Font {
    Font { is_bold: true, ..font(size, along, down) }
}

/// The title of a vertical axis.
pub fn turned() -> Font {
    Font { is_turned: true, ..font(TEXT, MIDDLE, CENTRE) }
}

/// The approximate width of a text.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// Approximate width of bold text relative to normal text.
pub const BOLD: f64 = 1.2;

/// A text, cut to the available room.
pub fn cut(text: &str, room: f64, size: f64) -> String {
    let most = (room / width("x", size)).floor() as usize;
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    Shape(Shape, Style),
    Text(String, Font, Point),
}

/// A picture: its elements, the later ones above the earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Canvas {
    pub title: String,
    /// For screen readers.
    description: String,
    pub height: f64,
    pub elements: Vec<Element>,
}

impl Canvas {
    /// A picture with a heading, and the content that `draw` draws from a height on; it returns the height at the end.
    pub fn new(heading: &Heading, description: &str, draw: impl FnOnce(&mut Self, f64) -> f64) -> Self {
        let (title, description) = (heading.text().to_owned(), description.to_owned());
        let mut canvas = Self { title, description, ..Self::default() };
        heading.draw(&mut canvas);
        canvas.height = draw(&mut canvas, heading.height());
        canvas
    }

    pub fn draw(&mut self, shape: Shape, style: Style) {
        self.elements.push(Element::Shape(shape, style));
    }

    pub fn line(&mut self, from: Point, to: Point, style: Style) {
        self.draw(Shape::Line(vec![from, to]), style);
    }

    /// Writes a text, cut at the edge of the picture.
    pub fn write(&mut self, text: &str, font: Font, (x, y): Point) {
        let room = match font.along {
            _ if font.is_turned => f64::INFINITY,
            LEFT => WIDTH - x,
            RIGHT => x,
            _ => 2.0 * x.min(WIDTH - x),
        };
        let text = cut(text, if font.is_bold { room / BOLD } else { room }, font.size);
        self.elements.push(Element::Text(text, font, (x, y)));
    }

    /// The picture as SVG, with a view box, so that it fits any width.
    pub fn svg(&self) -> String {
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        let elements: String = self.elements.iter().map(Element::svg).collect();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{0}\" viewBox=\"0 0 {WIDTH} {0}\" \
             font-family=\"sans-serif\" role=\"img\" aria-label=\"{title}: {description}\">\n<title>{title}</title>\n\
             <desc>{description}</desc>\n<rect width=\"{WIDTH}\" height=\"{0}\" fill=\"{PAPER}\"/>\n{elements}</svg>\n",
            tenths(self.height)
        )
    }
}

impl Element {
    fn svg(&self) -> String {
        let (shape, style) = match self {
            Self::Text(text, font, at) => return text_svg(text, *font, *at),
            Self::Shape(shape, style) => (shape, style),
        };
        let points = |points: &[Point]| {
            let points = points.iter().map(|(x, y)| format!("{},{}", tenths(*x), tenths(*y)));
            points.collect::<Vec<_>>().join(" ")
        };
        let shape = match shape {
            Shape::Rectangle([(x0, y0), (x1, y1)]) => {
                let [x, y] = [x0.min(*x1), y0.min(*y1)].map(tenths);
                let [width, height] = [x1 - x0, y1 - y0].map(|length| tenths(length.abs()));
                format!("rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
            }
            Shape::Line(all) => format!("polyline points=\"{}\"", points(all)),
            Shape::Polygon(all) => format!("polygon points=\"{}\"", points(all)),
            Shape::Circle((x, y), r) => {
                format!("circle cx=\"{}\" cy=\"{}\" r=\"{}\"", tenths(*x), tenths(*y), tenths(*r))
            }
        };
        let fill = style.fill.map_or_else(|| "none".to_owned(), |colour| colour.to_string());
        let stroke =
            style.stroke.map(|(colour, width)| format!(" stroke=\"{colour}\" stroke-width=\"{width}\""));
        let [dash, gap] = DASHES;
        let dashes = style.is_dashed.then(|| format!(" stroke-dasharray=\"{dash} {gap}\""));
        format!("<{shape} fill=\"{fill}\"{}{}/>\n", stroke.unwrap_or_default(), dashes.unwrap_or_default())
    }
}

fn text_svg(text: &str, font: Font, (x, y): Point) -> String {
    let Font { size, colour, along, down, .. } = font;
    let anchor = ["start", "middle", "end"][(2.0 * along) as usize];
    let [x, y] = [x, y].map(tenths);
    let weight = if font.is_bold { " font-weight=\"bold\"" } else { "" };
    let turn = if font.is_turned { format!(" transform=\"rotate(270, {x}, {y})\"") } else { String::new() };
    format!(
        "<text x=\"{x}\" y=\"{y}\" dy=\"{down}em\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{colour}\"{weight}{turn}>\
         {}</text>\n",
        escaped(text)
    )
}

/// Tenths of a pixel are fine enough.
fn tenths(pixels: f64) -> f64 {
    (10.0 * pixels).round() / 10.0
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_names_what_it_shows_and_has_the_given_sizes() {
        let canvas = Canvas::new(&Heading::plain("Overhead <of> \"all\""), "a & b", |canvas, top| {
            canvas.write("hello", font(TEXT, LEFT, TOP), (10.0, top + 20.04));
            canvas.line((0.0, top), (10.0, 36.0), Style::stroke(INK, 0.7));
            top + 100.0
        });
        let text = canvas.svg();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
        for part in [
            "viewBox=\"0 0 540 126\"",
            "<title>Overhead &lt;of&gt; &quot;all&quot;</title>\n<desc>a &amp; b</desc>",
            "<text x=\"10\" y=\"46\" dy=\"0.76em\" text-anchor=\"start\" font-size=\"12\" fill=\"#1C2330\">hello</text>",
            // Colours that a page replaces have the form that it looks for.
            "<polyline points=\"0,26 10,36\" fill=\"none\" stroke=\"#1C2330\" stroke-width=\"0.7\"/>",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
