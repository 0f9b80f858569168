//! Findings as text and Markdown, and for pages and pictures.

use serde::{Serialize, Serializer};

use super::columns::{Table, text_width, wrapped};
use super::markdown::escaped;
use super::matrix::Matrix;
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
    pub sentences: Vec<String>,
    /// The rows for these sentences, the worst first.
    pub table: Table<'a>,
    /// The content of the table, if it is the best of each MPI: the answer to which MPI is fastest.
    #[serde(rename = "is_answer", serialize_with = "is_some")]
    pub matrix: Option<Matrix>,
}

fn is_some<S: Serializer>(matrix: &Option<Matrix>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(matrix.is_some())
}

impl Compared<'_> {
    /// Text within the width of a terminal.
    pub fn text(&self, width: Option<u16>) -> String {
        let columns = text_width(width);
        let mut text = String::new();
        for Section { title, sentences, table, matrix } in &self.sections {
            if table.rows.is_empty() {
                text += &wrapped("", &format!("{title}: {}", sentences.join(" ")), columns, 2);
                continue;
            }
            text += &format!("{}\n", wrapped("", title, columns, 2));
            sentences.iter().for_each(|sentence| text += &wrapped("  ", sentence, columns, 4));
            let table = matrix.as_ref().map_or_else(|| table.text(width), |matrix| matrix.text(width));
            text += &format!("\n{table}\n");
        }
        text + &wrapped("", &self.legend, columns, 0)
    }

    /// Markdown, for pull requests.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for Section { title, sentences, table, .. } in &self.sections {
            text += &format!("### {}\n\n", escaped(title));
            text.extend(sentences.iter().map(|sentence| format!("- {}\n", escaped(sentence))));
            text += &format!("\n{}\n", table.markdown());
        }
        format!("{text}{}\n", escaped(&self.legend))
    }
}
