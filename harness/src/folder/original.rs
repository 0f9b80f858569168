//! The original suite's text format, and where the lines of each case end in it, which they do not tell.

use std::path::Path;

use super::log::Log;
use super::{ORIGINAL, Result, rows};

/// Where lines end: `case,launch,end_bytes`.
const INDEX: &str = ".ddtbench.out.csv";

/// The files that the original suite's format takes.
pub const FILES: [&str; 2] = [ORIGINAL, INDEX];

/// The files while they are written.
#[derive(Debug)]
pub struct Original {
    text: Log,
    index: Log,
    header: String,
}

impl Original {
    /// Opens both files, or makes them. The text begins with `header`, a line.
    pub fn open(folder: &Path, header: String) -> Result<Self> {
        let [text, index] = FILES.map(|name| Log::open(&folder.join(name)));
        Ok(Self { text: text?, index: index?, header })
    }

    /// Keeps the lines of a case.
    pub fn append(&mut self, case: usize, launch: usize, lines: &str) -> Result<()> {
        let header = if self.text.is_empty() { self.header.as_str() } else { "" };
        self.text.append(format!("{header}{lines}").as_bytes())?;
        self.index.append(&rows::rows([(case, launch, self.text.len())]))
    }

    /// The index first: its rows stand for what lies before their ends.
    pub fn logs(&mut self) -> [&mut Log; 2] {
        [&mut self.index, &mut self.text]
    }
}

/// The rows of the index that are whole.
fn ends(index: &[u8]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(super::torn::split(index).0);
    reader.into_deserialize().map_while(std::result::Result::ok)
}

/// The rows of an index for what lies in the first `length` bytes.
pub fn up_to(index: &[u8], length: usize) -> Vec<u8> {
    rows::rows(ends(index).take_while(|(_, _, end)| *end <= length))
}

/// The text and the index with the header and the lines of those cases alone that are `kept`; and the lines that are not.
pub fn split(text: &[u8], index: &[u8], kept: impl Fn(usize, usize) -> bool) -> [Vec<u8>; 3] {
    let mut parts: [Vec<u8>; 3] = Default::default();
    let mut ends_of_kept = Vec::new();
    let mut start = text.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    parts[0].extend_from_slice(&text[..start]);
    for (case, launch, end) in ends(index) {
        let Some(lines) = text.get(start..end) else { break };
        if kept(case, launch) {
            parts[0].extend_from_slice(lines);
            ends_of_kept.push((case, launch, parts[0].len()));
        } else {
            parts[2].extend_from_slice(lines);
        }
        start = end;
    }
    parts[1] = rows::rows(ends_of_kept);
    parts[2].extend_from_slice(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_between_index_and_text_leaves_no_line_to_another_case() {
        let text = b"header\none\ntwo\nthree\n";
        let index = b"0,0,11\n1,0,15\n2,0,21\n";
        // The second case is to be measured again.
        let [kept, ends, rest] = split(text, index, |case, _| case != 1);
        assert_eq!([&kept[..], &rest], [&b"header\none\nthree\n"[..], b"two\n"]);
        let alike = kept.iter().zip(text).take_while(|(a, b)| a == b).count();
        // Before the text is replaced, its index knows but what both texts have; so it does right after.
        let before = up_to(&ends, alike);
        assert_eq!(before, b"0,0,11\n");
        for text in [&text[..], &kept] {
            let [again, ..] = split(text, &before, |case, _| case != 1);
            assert_eq!(again, b"header\none\n");
        }
    }
}
