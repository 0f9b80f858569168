//! A picture as PDF, made of its SVG: `roxmltree` reads the elements that `plotters` writes, each with all its attributes, and
//! `pdf-writer` writes the file. Text can be searched and copied; its font is Arimo, which has the widths of Helvetica and is
//! embedded, as journals require.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::FontFlags;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use roxmltree::{Document, Node};
use ttf_parser::Face;

use super::canvas::FINE;

/// Points of a pixel of the sheet: 72 points and 96 CSS pixels are an inch.
const POINTS: f64 = 0.75 / FINE;
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
///
/// # Panics
/// If the text is not XML with a view box, which every picture is.
pub fn pdf(svg: &str) -> Vec<u8> {
    let document = Document::parse(svg).expect("pictures are XML");
    let picture = document.root_element();
    let [_, _, width, height] = numbers(picture, "viewBox")[..] else { panic!("pictures have a view box") };
    let [width, height] = [width, height].map(|pixels| (f64::from(pixels) * POINTS) as f32);
    let mut content = Content::new();
    content.transform([POINTS as f32, 0.0, 0.0, -POINTS as f32, 0.0, height]);
    for element in picture.descendants() {
        match element.tag_name().name() {
            "text" => write(&mut content, element),
            _ => draw(&mut content, element),
        }
    }
    let title = picture.children().find(|child| child.has_tag_name("title")).and_then(|title| title.text());
    file(&content.finish(), [width, height], title.unwrap_or_default())
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

fn number(element: Node<'_, '_>, name: &str) -> f32 {
    element.attribute(name).and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

fn numbers(element: Node<'_, '_>, name: &str) -> Vec<f32> {
    let text = element.attribute(name).unwrap_or_default();
    text.split([' ', ',']).filter_map(|number| number.parse().ok()).collect()
}

/// A colour on white paper; `None` without one.
fn colour(element: Node<'_, '_>, name: &str) -> Option<[f32; 3]> {
    let hex = element.attribute(name)?.strip_prefix('#')?;
    let opacity = element.attribute("opacity").and_then(|opacity| opacity.parse().ok()).unwrap_or(1.0);
    let part = |i: usize| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok();
    let [Some(r), Some(g), Some(b)] = [0, 1, 2].map(part) else { return None };
    Some([r, g, b].map(|part| 1.0 - opacity * (1.0 - f32::from(part) / 255.0)))
}

/// Draws a shape, filled and stroked; nothing of other elements.
fn draw(content: &mut Content, element: Node<'_, '_>) {
    if let Some([r, g, b]) = colour(element, "fill") {
        content.set_fill_rgb(r, g, b);
        path(content, element);
        content.fill_nonzero();
    }
    if let Some([r, g, b]) = colour(element, "stroke") {
        content.set_stroke_rgb(r, g, b).set_line_width(number(element, "stroke-width").max(1.0));
        path(content, element);
        content.stroke();
    }
}

fn path(content: &mut Content, element: Node<'_, '_>) {
    let of = |names: [&str; 4]| names.map(|name| number(element, name));
    match element.tag_name().name() {
        "rect" => {
            let [x, y, w, h] = of(["x", "y", "width", "height"]);
            content.rect(x, y, w, h);
        }
        "line" => {
            let [x1, y1, x2, y2] = of(["x1", "y1", "x2", "y2"]);
            content.move_to(x1, y1).line_to(x2, y2);
        }
        "circle" => circle(content, of(["cx", "cy", "r", ""])),
        shape @ ("polyline" | "polygon") => {
            for (i, point) in numbers(element, "points").chunks_exact(2).enumerate() {
                if i == 0 {
                    content.move_to(point[0], point[1])
                } else {
                    content.line_to(point[0], point[1])
                };
            }
            if shape == "polygon" {
                content.close_path();
            }
        }
        _ => {}
    }
}

fn circle(content: &mut Content, [x, y, r, _]: [f32; 4]) {
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
fn write(content: &mut Content, element: Node<'_, '_>) {
    let text = element.text().unwrap_or_default().trim();
    let size = number(element, "font-size");
    let is_bold = element.attribute("font-weight") == Some("bold");
    let down = match element.attribute("dy").unwrap_or_default() {
        em if em.ends_with("em") => em.trim_end_matches("em").parse().unwrap_or(0.0) * size,
        // The height of an x is about half of the size.
        ex => 0.5 * ex.trim_end_matches("ex").parse().unwrap_or(0.0) * size,
    };
    let along = match element.attribute("text-anchor") {
        Some("middle") => 0.5,
        Some("end") => 1.0,
        _ => 0.0,
    } * width(text, size, is_bold);
    let (x, y) = (number(element, "x"), number(element, "y"));
    // The only turn is that of the titles of vertical axes.
    let place = match element.has_attribute("transform") {
        false => [1.0, 0.0, 0.0, -1.0, x - along, y + down],
        true => [0.0, -1.0, -1.0, 0.0, x + down, y + along],
    };
    let [r, g, b] = colour(element, "fill").unwrap_or_default();
    let bytes: Vec<u8> = text.chars().map(win_ansi).collect();
    content.set_fill_rgb(r, g, b).begin_text();
    content.set_font(if is_bold { BOLD } else { REGULAR }, size).set_text_matrix(place).show(Str(&bytes));
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
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"540\" height=\"100\" viewBox=\"0 0 5400 1000\">\n<title>\nno\n</title>\
                   <rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" opacity=\"0.5\" fill=\"#000000\" stroke=\"none\"/>\n\
                   <line opacity=\"1\" stroke=\"#FF0000\" stroke-width=\"7\" x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4\"/>\n\
                   <polygon opacity=\"1\" fill=\"#0000FF\" points=\"1,2 3,4 5,6 \"/>\n\
                   <circle cx=\"10\" cy=\"20\" r=\"5\" opacity=\"1\" fill=\"#FFFFFF\" stroke=\"none\" stroke-width=\"1\"/>\n\
                   <text x=\"40\" y=\"20\" dy=\"0.76em\" text-anchor=\"end\" font-size=\"100\" opacity=\"1\" fill=\"#000000\">\nii &lt;µ\n</text>\n\
                   <text x=\"100\" y=\"200\" dy=\"0.5ex\" text-anchor=\"middle\" font-size=\"100\" fill=\"#000000\" font-weight=\"bold\" \
                   transform=\"rotate(270, 100, 200)\">\nx\n</text>\n</svg>\n";
        let file = pdf(svg);
        let page = content(&file);
        for part in [
            "0.075 0 0 -0.075 0 75 cm\n",
            "0.5 0.5 0.5 rg\n1 2 3 4 re\nf\n",
            "1 0 0 RG\n7 w\n1 2 m\n3 4 l\nS\n",
            "1 2 m\n3 4 l\n5 6 l\nh\nf\n",
            "15 20 m\n",
            // 2 x 455, 569, 1196 and 1180 of 2048 parts of the size left of 40.
            "BT\n/R 100 Tf\n1 0 0 -1 -148.23242 96 Tm\n<6969203CB5> Tj\nET\n",
            "/B 100 Tf\n0 -1 -1 0 125 227.80762 Tm\n(x) Tj",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("no"), "a title of the SVG is for screen readers");
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("/MediaBox [0 0 405 75]"), "{text}");
        assert_eq!(text.matches("/FontFile2 ").count(), 2, "fonts are embedded: {text}");
    }
}
