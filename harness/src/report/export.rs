//! Results over all launches for other programs: as JSON, and as tables in Markdown.

use serde::Serialize;

use super::case::CaseView;
use super::columns::markdown as rows;
use super::layout::pretty;
use super::table::TableFormat;
use crate::model::{Figure, Record};

/// The schema of [`json`]. The number changes when the old form would be read wrongly or not at all.
const SCHEMA: &str = "ddtbench-results/1";

#[derive(Serialize)]
struct Results<'a> {
    schema: &'static str,
    results: Vec<Result<'a>>,
}

/// A record with its figures.
#[derive(Serialize)]
struct Result<'a> {
    #[serde(flatten)]
    record: &'a Record,
    figures: &'a [Figure],
}

/// All records with their figures: the columns of `summary.csv` as fields, those of the case within `case`.
pub fn json(records: &[Record]) -> String {
    let results = records.iter().map(|record| Result { record, figures: &record.figures }).collect();
    pretty(&Results { schema: SCHEMA, results })
}

/// A heading, a table and the verdict for each case.
pub fn markdown(format: &'static TableFormat, records: &[Record]) -> String {
    let of_case = |case: &CaseView| {
        let first = case.first();
        let header = format.columns.iter().map(|column| column.name.to_owned()).collect();
        let methods = case.methods().map(|record| format.row(case, record));
        let table = rows(&std::iter::once(header).chain(methods).collect::<Vec<_>>());
        let verdict = (format.answer.claim)(case).words();
        let (name, size, place) = (case.name().replace("  ", " "), (format.size)(first), case.conditions());
        format!("## {name}\n\n{size}; {place}; {}\n\n{table}\nVerdict: {verdict}.\n", first.case.params)
    };
    CaseView::all(format, records).iter().map(of_case).collect::<Vec<_>>().join("\n")
}
