//! A picture as PDF, made from its SVG. `plotters` writes few elements, each with all its attributes in its tag, and only these
//! are supported. The font is Helvetica, which every PDF reader has.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::canvas::FINE;

/// Points of a pixel of the sheet: 72 points and 96 CSS pixels are an inch.
const POINTS: f64 = 0.75 / FINE;
/// Distance of the handles of a quarter of a circle, of its radius: the arc is then off by at most 0.03%.
const HANDLE: f64 = 0.5523;

/// The document of a picture.
pub fn pdf(svg: &str) -> Vec<u8> {
    let (mut content, mut size) = (String::new(), (0.0, 0.0));
    let mut rest = svg;
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, text)) = after.split_once('>') else { break };
        rest = text;
        let element = Element(tag);
        match tag.split([' ', '/']).next() {
            Some("svg") => {
                let sheet = numbers(element.text("viewBox"));
                size = (sheet[2] * POINTS, sheet[3] * POINTS);
                let _ = writeln!(content, "{POINTS} 0 0 {} 0 {} cm", -POINTS, size.1);
            }
            Some("text") => content += &element.written(text.split('<').next().unwrap_or_default().trim()),
            _ => content += &element.drawn(),
        }
    }
    document(&content, size)
}

/// An element of the SVG by its tag.
struct Element<'a>(&'a str);

impl Element<'_> {
    /// An attribute; empty without it.
    fn text(&self, name: &str) -> &str {
        let begin = format!(" {name}=\"");
        let value = self.0.split_once(&begin).and_then(|(_, after)| after.split_once('"'));
        value.map_or("", |(value, _)| value)
    }

    fn number(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or(0.0)
    }

    /// The operands of a colour, on white paper; `None` without one.
    fn colour(&self, name: &str) -> Option<String> {
        let hex = self.text(name).strip_prefix('#')?;
        let opacity: f64 = self.text("opacity").parse().unwrap_or(1.0);
        let part = |i: usize| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok();
        let parts = (0..3).map(|i| Some(1.0 - opacity * (1.0 - f64::from(part(i)?) / 255.0)));
        let parts: Option<Vec<String>> = parts.map(|part| Some(format!("{:.3}", part?))).collect();
        parts.map(|parts| parts.join(" "))
    }

    /// A shape: its path, filled and stroked. Empty for other elements.
    fn drawn(&self) -> String {
        let path = match self.0.split(' ').next() {
            Some("rect") => {
                let [x, y, w, h] = ["x", "y", "width", "height"].map(|name| self.number(name));
                format!("{x} {y} {w} {h} re\n")
            }
            Some("line") => {
                let [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map(|name| self.number(name));
                format!("{x1} {y1} m {x2} {y2} l\n")
            }
            Some("circle") => circle(["cx", "cy", "r"].map(|name| self.number(name))),
            Some("polyline") => path(&numbers(self.text("points"))),
            Some("polygon") => path(&numbers(self.text("points"))) + "h\n",
            _ => return String::new(),
        };
        let mut drawn = String::new();
        if let Some(colour) = self.colour("fill") {
            let _ = write!(drawn, "{colour} rg\n{path}f\n");
        }
        if let Some(colour) = self.colour("stroke") {
            let _ = write!(drawn, "{colour} RG {} w\n{path}S\n", self.number("stroke-width").max(1.0));
        }
        drawn
    }

    /// A text at its place. The sheet has its origin at the top, so letters are turned over again.
    fn written(&self, text: &str) -> String {
        let size = self.number("font-size");
        let is_bold = self.text("font-weight") == "bold";
        let text = unescaped(text);
        let down = match self.text("dy") {
            em if em.ends_with("em") => em.trim_end_matches("em").parse().unwrap_or(0.0) * size,
            // The height of an x is about half of the size.
            ex => 0.5 * ex.trim_end_matches("ex").parse().unwrap_or(0.0) * size,
        };
        let along = match self.text("text-anchor") {
            "middle" => 0.5,
            "end" => 1.0,
            _ => 0.0,
        } * width(&text, size, is_bold);
        let (x, y) = (self.number("x"), self.number("y"));
        // The only turn is that of the titles of vertical axes.
        let place = match self.text("transform").is_empty() {
            true => format!("1 0 0 -1 {:.1} {:.1}", x - along, y + down),
            false => format!("0 -1 -1 0 {:.1} {:.1}", x + down, y + along),
        };
        let colour = self.colour("fill").unwrap_or_else(|| "0 0 0".to_owned());
        let font = if is_bold { "B" } else { "R" };
        let bytes: String = text.chars().map(|c| format!("{:02x}", win_ansi(c))).collect();
        format!("{colour} rg BT /{font} {size:.1} Tf {place} Tm <{bytes}> Tj ET\n")
    }
}

fn numbers(text: &str) -> Vec<f64> {
    text.split([' ', ',']).filter_map(|number| number.parse().ok()).collect()
}

fn path(points: &[f64]) -> String {
    let step = |(i, point): (usize, &[f64])| {
        format!("{} {} {}\n", point[0], point[1], if i == 0 { "m" } else { "l" })
    };
    points.chunks_exact(2).enumerate().map(step).collect()
}

fn circle([x, y, r]: [f64; 3]) -> String {
    let k = HANDLE * r;
    let mut path = format!("{} {y} m\n", x + r);
    // The directions of the start and the end of each quarter.
    for ((a, b), (c, d)) in
        [((1., 0.), (0., 1.)), ((0., 1.), (-1., 0.)), ((-1., 0.), (0., -1.)), ((0., -1.), (1., 0.))]
    {
        let start = (x + r * a + k * c, y + r * b + k * d);
        let end = (x + r * c + k * a, y + r * d + k * b);
        let _ = writeln!(
            path,
            "{:.1} {:.1} {:.1} {:.1} {:.1} {:.1} c",
            start.0,
            start.1,
            end.0,
            end.1,
            x + r * c,
            y + r * d
        );
    }
    path
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
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
const BOLD: f64 = 1.07;

fn width(text: &str, size: f64, is_bold: bool) -> f64 {
    let of = |c: char| {
        (u32::from(c) as usize).checked_sub(32).and_then(|i| WIDTHS.get(i)).copied().unwrap_or(OTHER)
    };
    let all: f64 = text.chars().map(|c| f64::from(of(c))).sum();
    all / 1000.0 * size * if is_bold { BOLD } else { 1.0 }
}

/// The file: a page with its content, and the places of all objects at its end.
fn document(content: &str, (width, height): (f64, f64)) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(content.as_bytes()).and_then(|()| encoder.finish());
    let packed = packed.expect("memory can be written to");
    let font = |name| {
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>").into_bytes()
    };
    let stream = format!("<< /Filter /FlateDecode /Length {} >>\nstream\n", packed.len()).into_bytes();
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 4 0 R /Resources << /Font << /R 5 0 R /B 6 0 R \
             >> >> >>"
        )
        .into_bytes(),
        [stream, packed, b"\nendstream".to_vec()].concat(),
        font("Helvetica"),
        font("Helvetica-Bold"),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n", i + 1).into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let count = places.len() + 1;
    let places: String = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    file.extend(
        format!(
            "xref\n0 {count}\n0000000000 65535 f \n{places}trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
        )
        .into_bytes(),
    );
    file
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::*;

    /// The content of the page.
    fn content(pdf: &[u8]) -> String {
        let find = |text: &[u8]| pdf.windows(text.len()).position(|part| part == text).unwrap();
        let (start, end) = (find(b"stream\n") + 7, find(b"\nendstream"));
        let mut text = String::new();
        ZlibDecoder::new(&pdf[start..end]).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn each_element_is_drawn_at_its_place() {
        let svg = "<svg width=\"540\" height=\"100\" viewBox=\"0 0 5400 1000\">\n<title>\nno\n</title>\
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
            "0.500 0.500 0.500 rg\n1 2 3 4 re\nf\n",
            "1.000 0.000 0.000 RG 7 w\n1 2 m 3 4 l\nS\n",
            "1 2 m\n3 4 l\n5 6 l\nh\nf\n",
            "15 20 m\n",
            // 2 x 222, 278, 584 and 556 thousandths of the size left of 40.
            "BT /R 100.0 Tf 1 0 0 -1 -146.2 96.0 Tm <6969203cb5> Tj ET\n",
            "/B 100.0 Tf 0 -1 -1 0 125.0 226.8 Tm <78> Tj",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("no"), "a title of the SVG is for screen readers");
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("/MediaBox [0 0 405.00 75.00]"), "{text}");
    }

    #[test]
    fn the_places_of_all_objects_are_found() {
        let file = pdf("<svg viewBox=\"0 0 10 10\"></svg>");
        let at = |place: usize| &file[place..];
        let end = String::from_utf8_lossy(&file).into_owned();
        let table: usize = end.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        assert!(at(table).starts_with(b"xref\n0 7\n"));
        let rows = String::from_utf8_lossy(at(table)).into_owned();
        for (i, row) in rows.lines().skip(3).take(6).enumerate() {
            let place: usize = row[..10].parse().unwrap();
            assert!(at(place).starts_with(format!("{} 0 obj\n", i + 1).as_bytes()), "{row}");
        }
    }
}
