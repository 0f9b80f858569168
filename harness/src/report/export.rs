//! Results over all launches for other programs: JSON, and tables in Markdown.

use serde_json::{Value, json};

use super::case::CaseView;
use super::columns::Table;
use super::layout::pretty;
use super::markdown::escaped;
use super::table::TableFormat;
use crate::model::{PairScope, Quantity, Record};

/// The schema of [`json()`]. The number changes if programs would misread the new form.
const SCHEMA: &str = "ddtbench-results/2";

/// All records with their figures, one for each state of the machine: the columns of `summary.csv` as fields,
/// those of the case within `case`. Next to them the best of each MPI, `overview`.
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

/// A line for each method and state of the machine, with names before values, for programs that search in text: the median of the
/// headline phase in seconds with its 95% interval, and the overhead as a fraction. A missing value is empty.
pub fn figures_of_merit(records: &[Record]) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3e}"));
    let is_headline = |record: &&Record| {
        record.pair == PairScope::All
            && record.phase == record.case.experiment.headline()
            && record.outcome.counts()
    };
    let line = |record: &Record| {
        let case = &record.case;
        let values = [
            ("test", case.test.clone()),
            ("set", case.set.clone()),
            ("method", record.method.clone()),
            ("mpi", case.mpi_label()),
            ("ranks", case.ranks.to_string()),
            ("bytes", record.bytes.to_string()),
            ("cache", case.cache.to_string()),
            ("memory", case.memory.name().to_owned()),
            ("core_to_core_s", number(record.state_latency_s)),
            ("launches", record.launches.to_string()),
            ("median_s", number(record.median_s)),
            ("low_s", number(record.median_low_s)),
            ("high_s", number(record.median_high_s)),
            ("overhead", number(record.value(Quantity::OverheadReference))),
            ("copies", number(record.value(Quantity::DeviceCopies))),
            ("params", case.params.replace(' ', ",")),
        ];
        let values =
            values.map(|(name, value)| format!(" {name}={}", value.replace(char::is_whitespace, "_")));
        format!("fom{}\n", values.concat())
    };
    records.iter().filter(is_headline).map(line).collect()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Case, Phase};

    #[test]
    fn a_figure_of_merit_is_a_line_with_a_name_for_each_value() {
        let case = Case {
            test: "nas_lu_y".to_owned(),
            set: "custom".to_owned(),
            params: "nx=8 ny=9".to_owned(),
            mpi: "mpich".to_owned(),
            ranks: 2,
            ..Case::default()
        };
        let record = Record {
            case: Arc::new(case),
            method: "ddt".to_owned(),
            phase: Phase::RoundTrip,
            bytes: 64,
            launches: 6,
            median_s: Some(1.23456e-5),
            ..Record::default()
        };
        let other = Record { phase: Phase::Pack, ..record.clone() };
        assert_eq!(
            figures_of_merit(&[record, other]),
            "fom test=nas_lu_y set=custom method=ddt mpi=mpich ranks=2 bytes=64 cache=warm memory=host core_to_core_s= launches=6 \
             median_s=1.235e-5 low_s= high_s= overhead= copies= params=nx=8,ny=9\n"
        );
    }
}
