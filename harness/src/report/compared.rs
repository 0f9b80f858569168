//! Findings as text and Markdown, and for pages and pictures.

use serde::Serialize;

use super::columns::{Table, text_width, wrapped};
use super::markdown::escaped;
use super::pictures::Datum;

/// The findings of a comparison; empty for a run without one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Compared<'a> {
    /// The result of a gate, and the changes: the first lines of all forms.
    pub decisions: Vec<String>,
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
    pub sentences: Vec<String>,
    /// The rows for these sentences, the worst first.
    pub table: Table<'a>,
    /// Explains the table.
    pub legend: String,
    /// Forms of the table for narrow terminals, the widest first: tables below each other.
    #[serde(skip)]
    pub narrower: Vec<Vec<Table<'a>>>,
    /// Whether it has the best of each MPI: the answer to which MPI is fastest.
    pub is_answer: bool,
}

impl Section<'_> {
    /// The table within the width of a terminal: its widest form that fits.
    pub fn table_text(&self, width: Option<u16>) -> String {
        let Some(narrowest) = self.narrower.last() else { return self.table.text(width) };
        let text =
            |tables: &[Table<'_>]| tables.iter().map(|table| table.text(None)).collect::<Vec<_>>().join("\n");
        let fits = |text: &String| {
            width.is_none_or(|width| text.lines().all(|line| line.chars().count() <= usize::from(width)))
        };
        let forms =
            [std::slice::from_ref(&self.table)].into_iter().chain(self.narrower.iter().map(Vec::as_slice));
        forms.map(text).find(fits).unwrap_or_else(|| text(narrowest))
    }
}

impl Compared<'_> {
    /// Text within the width of a terminal.
    pub fn text(&self, width: Option<u16>) -> String {
        let columns = text_width(width);
        let mut text: String = self.decisions.iter().map(|found| wrapped("", found, columns, 2)).collect();
        text += if text.is_empty() { "" } else { "\n" };
        for section @ Section { title, sentences, table, .. } in &self.sections {
            if table.rows.is_empty() {
                text += &wrapped("", &format!("{title}: {}", sentences.join(" ")), columns, 2);
                continue;
            }
            text += &format!("{}\n", wrapped("", title, columns, 2));
            sentences.iter().for_each(|sentence| text += &wrapped("  ", sentence, columns, 4));
            text += &format!("\n{}\n", section.table_text(width));
            if !section.legend.is_empty() {
                text += &format!("{}\n", wrapped("", &section.legend, columns, 0));
            }
        }
        text + &wrapped("", &self.legend, columns, 0)
    }

    /// Markdown, for pull requests.
    pub fn markdown(&self) -> String {
        let mut text: String =
            self.decisions.iter().map(|found| format!("**{}**\n\n", escaped(found))).collect();
        for Section { title, sentences, table, legend, .. } in &self.sections {
            text += &format!("### {}\n\n", escaped(title));
            text.extend(sentences.iter().map(|sentence| format!("- {}\n", escaped(sentence))));
            text += &format!("\n{}\n", table.markdown());
            text += &if legend.is_empty() { String::new() } else { format!("{}\n\n", escaped(legend)) };
        }
        format!("{text}{}\n", escaped(&self.legend))
    }
}
