//! The original suite's text format, and where the lines of each case end in it, which they do not tell.

use std::path::Path;

use super::log::Log;
use super::{ORIGINAL, Result, rows};

/// Where lines end: `case,launch,end_bytes`.
const INDEX: &str = ".ddtbench.out.csv";

/// Both files.
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

/// The text and the index with the header and the lines of those cases alone that are `kept`; and the lines that are not.
pub fn split(text: &[u8], index: &[u8], kept: impl Fn(usize, usize) -> bool) -> [Vec<u8>; 3] {
    let mut parts: [Vec<u8>; 3] = Default::default();
    let mut start = text.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    parts[0].extend_from_slice(&text[..start]);
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(super::torn::split(index).0);
    for (case, launch, end) in
        reader.into_deserialize::<(usize, usize, usize)>().map_while(std::result::Result::ok)
    {
        let Some(lines) = text.get(start..end) else { break };
        if kept(case, launch) {
            parts[0].extend_from_slice(lines);
            let end = parts[0].len();
            parts[1].extend(rows::rows([(case, launch, end)]));
        } else {
            parts[2].extend_from_slice(lines);
        }
        start = end;
    }
    parts[2].extend_from_slice(&text[start..]);
    parts
}
