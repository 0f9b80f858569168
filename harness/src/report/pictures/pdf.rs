//! A picture as PDF, made of its SVG: `roxmltree` reads the elements that `plotters` writes, each with all its attributes, and
//! `pdf-writer` writes the file. Text is in Helvetica, which every reader of PDF has, and can be searched and copied.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use roxmltree::{Document, Node};

use super::canvas::FINE;

/// Points of a pixel of the sheet: 72 points and 96 CSS pixels are an inch.
const POINTS: f64 = 0.75 / FINE;
/// Distance of the handles of a quarter of a circle, of its radius: the arc is then off by at most 0.03%.
const HANDLE: f32 = 0.5523;

/// The names of both fonts in the file.
const REGULAR: Name = Name(b"R");
const BOLD: Name = Name(b"B");

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
    for (font, name) in [(regular, "Helvetica"), (bold, "Helvetica-Bold")] {
        pdf.type1_font(font).base_font(Name(name.as_bytes())).encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(content).and_then(|()| encoder.finish());
    pdf.stream(stream, &packed.expect("memory can be written to")).filter(Filter::FlateDecode);
    pdf.finish()
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

/// A character in the encoding of Windows, which Helvetica is asked for.
fn win_ansi(c: char) -> u8 {
    match c {
        '…' => 0x85,
        '–' => 0x96,
        c => u8::try_from(u32::from(c)).unwrap_or(b'?'),
    }
}

/// Widths of Helvetica's letters from blank to tilde, in thousandths of the size (Adobe's font metrics).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// The width of other letters, such as that of micro.
const OTHER: u16 = 556;
/// Bold letters relative to others, in the mean of small ones.
const BOLD_WIDTH: f32 = 1.07;

fn width(text: &str, size: f32, is_bold: bool) -> f32 {
    let of = |c: char| {
        (u32::from(c) as usize).checked_sub(32).and_then(|i| WIDTHS.get(i)).copied().unwrap_or(OTHER)
    };
    let all: f32 = text.chars().map(|c| f32::from(of(c))).sum();
    all / 1000.0 * size * if is_bold { BOLD_WIDTH } else { 1.0 }
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
            // 2 x 222, 278, 584 and 556 thousandths of the size left of 40.
            "BT\n/R 100 Tf\n1 0 0 -1 -146.2 96 Tm\n<6969203CB5> Tj\nET\n",
            "/B 100 Tf\n0 -1 -1 0 125 226.75 Tm\n(x) Tj",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("no"), "a title of the SVG is for screen readers");
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("/MediaBox [0 0 405 75]"), "{text}");
    }
}
