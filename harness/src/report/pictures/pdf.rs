//! A picture as PDF, written by `pdf-writer`. Text can be searched and copied; its font is Arimo, which has
//! the widths of Helvetica and is embedded, as journals require.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::FontFlags;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use ttf_parser::Face;

use super::canvas::{Canvas, DASHES, Element, Font, PAPER, Point, Rgb, Shape, Style, WIDTH};

/// 72 points and 96 CSS pixels are an inch.
const POINTS: f32 = 0.75;
/// Distance of the handles of a quarter of a circle, of its radius: the arc is then off by at most 0.03%.
const HANDLE: f32 = 0.5523;

/// The names of both fonts in the file.
const REGULAR: Name = Name(b"R");
const BOLD: Name = Name(b"B");

/// Regular and bold letters: the name of the font, its file, and the file as it can be read.
static FONTS: LazyLock<[(&str, &[u8], Face<'static>); 2]> = LazyLock::new(|| {
    let read = |(name, bytes): (&'static str, &'static [u8])| {
        (name, bytes, Face::parse(bytes, 0).expect("it is part of the program"))
    };
    [
        ("Arimo", include_bytes!("fonts/Arimo-Regular.ttf").as_slice()),
        ("Arimo-Bold", include_bytes!("fonts/Arimo-Bold.ttf")),
    ]
    .map(read)
});

/// The document of a picture.
pub fn pdf(canvas: &Canvas) -> Vec<u8> {
    let [width, height] = [WIDTH, canvas.height].map(|pixels| pixels as f32 * POINTS);
    let mut content = Content::new();
    content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
    let paper = Shape::Rectangle([(0.0, 0.0), (WIDTH, canvas.height)]);
    draw(&mut content, &paper, Style::filled(PAPER));
    for element in &canvas.elements {
        match element {
            Element::Text(text, font, at) => write(&mut content, text, *font, *at),
            Element::Shape(shape, style) => draw(&mut content, shape, *style),
        }
    }
    file(&content.finish(), [width, height], &canvas.title)
}

/// The file: a page with its content.
fn file(content: &[u8], [width, height]: [f32; 2], title: &str) -> Vec<u8> {
    let [catalog, pages, page, stream, regular, bold, info] = [1, 2, 3, 4, 5, 6, 7].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.document_info(info).title(TextStr(title));
    pdf.pages(pages).kids([page]).count(1);
    let mut sheet = pdf.page(page);
    sheet.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(stream);
    sheet.resources().fonts().pair(REGULAR, regular).pair(BOLD, bold);
    sheet.finish();
    pdf.stream(stream, &packed(content)).filter(Filter::FlateDecode);
    for (font, (name, bytes, face)) in [regular, bold].into_iter().zip(&*FONTS) {
        let [about, program] = [10, 20].map(|more| Ref::new(font.get() + more));
        embed(&mut pdf, [font, about, program], Name(name.as_bytes()), bytes, face);
    }
    pdf.finish()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.expect("memory can be written to")
}

/// Writes a font with its file.
fn embed(pdf: &mut Pdf, [font, about, program]: [Ref; 3], name: Name<'_>, bytes: &[u8], face: &Face<'_>) {
    /// The first letter and the last one, blank and y with diaeresis.
    const LETTERS: [u8; 2] = [32, 255];
    let thousandths = |units: i16| 1000.0 * f32::from(units) / f32::from(face.units_per_em());
    let widths = (LETTERS[0]..=LETTERS[1]).map(|code| 1000.0 * advance(face, letter(code)));
    let mut dict = pdf.indirect(font).dict();
    dict.pair(Name(b"Type"), Name(b"Font")).pair(Name(b"Subtype"), Name(b"TrueType"));
    dict.pair(Name(b"BaseFont"), name).pair(Name(b"Encoding"), Name(b"WinAnsiEncoding"));
    dict.pair(Name(b"FirstChar"), i32::from(LETTERS[0])).pair(Name(b"LastChar"), i32::from(LETTERS[1]));
    dict.insert(Name(b"Widths")).array().items(widths);
    dict.pair(Name(b"FontDescriptor"), about);
    dict.finish();
    let all = face.global_bounding_box();
    let [left, bottom, right, top] = [all.x_min, all.y_min, all.x_max, all.y_max].map(thousandths);
    let mut descriptor = pdf.font_descriptor(about);
    descriptor.name(name).flags(FontFlags::NON_SYMBOLIC).bbox(Rect::new(left, bottom, right, top));
    descriptor.ascent(thousandths(face.ascender())).descent(thousandths(face.descender()));
    let capital = face.capital_height().unwrap_or_default();
    descriptor.cap_height(thousandths(capital)).italic_angle(0.0).stem_v(80.0).font_file2(program);
    descriptor.finish();
    let length = i32::try_from(bytes.len()).unwrap_or_default();
    pdf.stream(program, &packed(bytes)).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
}

/// Its parts, each from 0 to 1.
fn parts(Rgb(r, g, b): Rgb) -> [f32; 3] {
    [r, g, b].map(|part| f32::from(part) / 255.0)
}

/// Draws a shape, filled and stroked.
fn draw(content: &mut Content, shape: &Shape, style: Style) {
    if let Some(colour) = style.fill {
        let [r, g, b] = parts(colour);
        content.set_fill_rgb(r, g, b);
        path(content, shape);
        content.fill_nonzero();
    }
    if let Some((colour, width)) = style.stroke {
        let [r, g, b] = parts(colour);
        let dashes = DASHES.map(|length| length as f32);
        content.set_stroke_rgb(r, g, b).set_line_width(width as f32);
        content.set_dash_pattern(dashes.into_iter().filter(|_| style.is_dashed), 0.0);
        path(content, shape);
        content.stroke();
    }
}

fn path(content: &mut Content, shape: &Shape) {
    match shape {
        Shape::Rectangle([(x0, y0), (x1, y1)]) => {
            let [x, y, w, h] = [*x0, *y0, x1 - x0, y1 - y0].map(|length| length as f32);
            content.rect(x, y, w, h);
        }
        Shape::Circle((x, y), r) => circle(content, [*x, *y, *r].map(|length| length as f32)),
        Shape::Line(points) | Shape::Polygon(points) => {
            for (i, (x, y)) in points.iter().map(|(x, y)| (*x as f32, *y as f32)).enumerate() {
                if i == 0 {
                    content.move_to(x, y)
                } else {
                    content.line_to(x, y)
                };
            }
            if let Shape::Polygon(_) = shape {
                content.close_path();
            }
        }
    }
}

fn circle(content: &mut Content, [x, y, r]: [f32; 3]) {
    let k = HANDLE * r;
    content.move_to(x + r, y);
    // The directions of the start and the end of each quarter.
    for ((a, b), (c, d)) in
        [((1., 0.), (0., 1.)), ((0., 1.), (-1., 0.)), ((-1., 0.), (0., -1.)), ((0., -1.), (1., 0.))]
    {
        content.cubic_to(
            x + r * a + k * c,
            y + r * b + k * d,
            x + r * c + k * a,
            y + r * d + k * b,
            x + r * c,
            y + r * d,
        );
    }
}

/// Writes a text at its place. The sheet has its origin at the top, so letters are turned over again.
fn write(content: &mut Content, text: &str, font: Font, (x, y): Point) {
    let [size, along, down, x, y] = [font.size, font.along, font.down, x, y].map(|number| number as f32);
    let (along, down) = (along * width(text, size, font.is_bold), down * size);
    let place = match font.is_turned {
        false => [1.0, 0.0, 0.0, -1.0, x - along, y + down],
        true => [0.0, -1.0, -1.0, 0.0, x + down, y + along],
    };
    let [r, g, b] = parts(font.colour);
    let bytes: Vec<u8> = text.chars().map(win_ansi).collect();
    content.set_fill_rgb(r, g, b).begin_text();
    content
        .set_font(if font.is_bold { BOLD } else { REGULAR }, size)
        .set_text_matrix(place)
        .show(Str(&bytes));
    content.end_text();
}

/// The letters that Windows has at other places than Latin-1.
const ELSEWHERE: [(char, u8); 2] = [('…', 0x85), ('–', 0x96)];

/// A character in the encoding of Windows, which fonts are asked for.
fn win_ansi(c: char) -> u8 {
    let found = ELSEWHERE.iter().find(|(known, _)| *known == c);
    found.map_or_else(|| u8::try_from(u32::from(c)).unwrap_or(b'?'), |(_, code)| *code)
}

/// The character with this code.
fn letter(code: u8) -> char {
    ELSEWHERE.iter().find(|(_, known)| *known == code).map_or(char::from(code), |(letter, _)| *letter)
}

/// The width of a letter, relative to the size.
fn advance(face: &Face<'_>, letter: char) -> f32 {
    let units = face.glyph_index(letter).and_then(|glyph| face.glyph_hor_advance(glyph)).unwrap_or_default();
    f32::from(units) / f32::from(face.units_per_em())
}

fn width(text: &str, size: f32, is_bold: bool) -> f32 {
    let (.., face) = &FONTS[usize::from(is_bold)];
    text.chars().map(|c| advance(face, letter(win_ansi(c)))).sum::<f32>() * size
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::super::canvas::{RIGHT, TOP, font, turned};
    use super::super::heading::Heading;
    use super::*;

    fn content(pdf: &[u8]) -> String {
        let find = |text: &[u8]| pdf.windows(text.len()).position(|part| part == text).unwrap();
        let (start, end) = (find(b"stream\n") + 7, find(b"\nendstream"));
        let mut bytes = Vec::new();
        ZlibDecoder::new(&pdf[start..end]).read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn each_element_is_drawn_at_its_place() {
        let [red, blue] = [Rgb(255, 0, 0), Rgb(0, 0, 255)];
        let canvas = Canvas::new(&Heading::plain("no"), "", |canvas, _| {
            canvas.draw(Shape::Rectangle([(1.0, 2.0), (4.0, 6.0)]), Style::filled(Rgb(0, 0, 0)));
            canvas.line((1.0, 2.0), (3.0, 4.0), Style { is_dashed: true, ..Style::stroke(red, 0.5) });
            canvas.draw(Shape::Polygon(vec![(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]), Style::filled(blue));
            canvas.draw(Shape::Circle((10.0, 20.0), 5.0), Style::filled(PAPER));
            canvas.write("ii <µ", font(100.0, RIGHT, TOP), (400.0, 20.0));
            canvas.write("x", Font { is_bold: true, size: 100.0, ..turned() }, (100.0, 200.0));
            100.0
        });
        let file = pdf(&canvas);
        let page = content(&file);
        for part in [
            "0.75 0 0 -0.75 0 75 cm\n1 1 1 rg\n0 0 540 100 re\nf\n",
            "0 0 0 rg\n1 2 3 4 re\nf\n",
            "1 0 0 RG\n0.5 w\n[4 3] 0 d\n1 2 m\n3 4 l\nS\n",
            "1 2 m\n3 4 l\n5 6 l\nh\nf\n",
            "15 20 m\n",
            // 2 x 455, 569, 1196 and 1180 of 2048 parts of the size left of 400.
            "BT\n/R 100 Tf\n1 0 0 -1 211.76758 96 Tm\n<6969203CB5> Tj\nET\n",
            "/B 100 Tf\n0 -1 -1 0 125 227.80762 Tm\n(x) Tj",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("/MediaBox [0 0 405 75]"), "{text}");
        assert_eq!(text.matches("/FontFile2 ").count(), 2, "fonts are embedded: {text}");
    }
}
