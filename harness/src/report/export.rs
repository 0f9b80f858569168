//! Results over all launches for other programs: JSON, and tables in Markdown.

use serde_json::{Value, json};

use super::case::CaseView;
use super::columns::Table;
use super::layout::pretty;
use super::markdown::escaped;
use super::table::TableFormat;
use crate::model::Record;

/// The schema of [`json()`]. The number changes if programs would misread the new form.
const SCHEMA: &str = "ddtbench-results/2";

/// All records with their figures, one for each state of the machine: the columns of `summary.csv` as fields, those of the case within `case`. Next to them the best of
/// each MPI, `overview`.
pub fn json(records: &[Record], overview: &Value) -> String {
    let result = |record: &Record| {
        let Value::Object(mut fields) = json!(record) else { unreachable!("a record has fields") };
        // Its two columns are fields of the record.
        if let Some(Value::Object(columns)) = fields.shift_remove("outcome") {
            fields.extend(columns);
        }
        fields.insert("figures".to_owned(), json!(record.figures));
        fields
    };
    let results: Vec<_> = records.iter().map(result).collect();
    pretty(&json!({ "schema": SCHEMA, "results": results, "overview": overview }))
}

/// A heading, a table and the verdict for each case.
pub fn markdown(format: &'static TableFormat, records: &[Record]) -> String {
    let of_case = |case: &CaseView| {
        let first = case.first();
        let rows = case.methods().map(|record| format.row(case, record)).collect();
        let table = Table { columns: format.columns(), rows }.markdown();
        let verdict = format.answer.verdict(case);
        let (name, size) = (case.name().replace("  ", " "), (format.size)(first));
        let place = case.conditions() + &super::state::counted_of([case]);
        let about = escaped(&format!("{size}; {place}; {}", first.case.params));
        format!("## {}\n\n{about}\n\n{table}\nVerdict: {}.\n", escaped(&name), escaped(&verdict))
    };
    CaseView::all(format, records).iter().map(of_case).collect::<Vec<_>>().join("\n")
}
