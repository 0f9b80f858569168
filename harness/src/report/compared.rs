//! What was found, as text, as Markdown, and as a page and its pictures have it.

use serde::{Serialize, Serializer};

use super::columns::{Table, text_width, wrapped};
use super::matrix::Matrix;
use super::pictures::Datum;

/// What a comparison has found; of a run that was none, nothing.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Compared<'a> {
    /// Each other side against the base, and all sides beside each other.
    pub sections: Vec<Section<'a>>,
    /// What columns and verdicts mean.
    pub legend: String,
    /// The ratio of each method's times, with the verdict as its series.
    #[serde(skip)]
    pub changes: Vec<Datum>,
}

/// A part of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section<'a> {
    /// Who is compared, and where.
    pub title: String,
    /// What was found, in sentences.
    pub sentences: Vec<String>,
    /// The rows that the sentences rest on, the worst first.
    pub table: Table<'a>,
    /// The content of the table, if it is the best of each MPI: the answer to which MPI is fastest.
    #[serde(rename = "is_answer", serialize_with = "is_some")]
    pub matrix: Option<Matrix>,
}

fn is_some<S: Serializer>(matrix: &Option<Matrix>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(matrix.is_some())
}

impl Compared<'_> {
    /// As text, nothing of it wider than a terminal of `width`.
    pub fn text(&self, width: Option<u16>) -> String {
        let columns = text_width(width);
        let mut text = String::new();
        for Section { title, sentences, table, matrix } in &self.sections {
            text += &format!("{title}\n\n");
            sentences.iter().for_each(|sentence| text += &wrapped("  ", sentence, columns, 4));
            if !table.rows.is_empty() {
                let table = matrix.as_ref().map_or_else(|| table.text(width), |matrix| matrix.text(width));
                text += &format!("\n{table}");
            }
            text.push('\n');
        }
        text + &wrapped("", &self.legend, columns, 0)
    }

    /// As Markdown, for a pull request.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for Section { title, sentences, table, .. } in &self.sections {
            text += &format!("### {title}\n\n");
            text.extend(sentences.iter().map(|sentence| format!("- {sentence}\n")));
            text += &format!("\n{}\n", table.markdown());
        }
        format!("{text}{}\n", self.legend)
    }
}
