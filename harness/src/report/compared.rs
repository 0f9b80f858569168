//! Findings as text and Markdown, and for pages and pictures.

use serde::Serialize;

use super::columns::{Table, text_width, wrapped};
use super::pictures::Datum;

/// The findings of a comparison; empty for a run without one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Compared<'a> {
    /// Each other side compared with the base, and all sides together.
    pub sections: Vec<Section<'a>>,
    /// Explains columns and verdicts.
    pub legend: String,
    /// The ratio of each method's times, with the verdict as its series.
    #[serde(skip)]
    pub changes: Vec<Datum>,
}

/// A part of the findings.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section<'a> {
    /// The sides and the place.
    pub title: String,
    /// The findings in sentences.
    pub sentences: Vec<String>,
    /// The rows for these sentences, the worst first.
    pub table: Table<'a>,
}

impl Compared<'_> {
    /// Text within the width of a terminal.
    pub fn text(&self, width: Option<u16>) -> String {
        let columns = text_width(width);
        let mut text = String::new();
        for Section { title, sentences, table } in &self.sections {
            text += &format!("{title}\n\n");
            sentences.iter().for_each(|sentence| text += &wrapped("  ", sentence, columns, 4));
            if !table.rows.is_empty() {
                text += &format!("\n{}", table.text(width));
            }
            text.push('\n');
        }
        text + &wrapped("", &self.legend, columns, 0)
    }

    /// Markdown, for pull requests.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for Section { title, sentences, table } in &self.sections {
            text += &format!("### {title}\n\n");
            text.extend(sentences.iter().map(|sentence| format!("- {sentence}\n")));
            text += &format!("\n{}\n", table.markdown());
        }
        format!("{text}{}\n", self.legend)
    }
}
