//! What readers of results of earlier versions must know.

use crate::model::Record;

/// The schema from which on methods and columns mean what they mean today.
const OF_TODAY: u32 = 2;

/// What is to be said of such results; `None` where there are none.
pub fn note(records: &[Record]) -> Option<String> {
    let is_old = |record: &&Record| record.schema < OF_TODAY;
    let old = records.iter().find(is_old)?;
    let all = records.iter().all(|record| record.schema < OF_TODAY);
    let which = if all { "recorded" } else { "some rows were recorded" };
    let what = match old.case.experiment.as_str() {
        "halo" => {
            "what was called manual is shown as manual_tuned, and caches were not warm: not to be set beside later figures"
        }
        "partitioned" => "figures are not to be set beside later ones",
        "engine" => "what was called manual is shown as manual_tuned",
        _ => {
            "what was called reference and manual is shown as reference_untouched and manual_tuned, ovh is against the \
             former, and pack% is the origin's packing doubled: not to be set beside later figures"
        }
    };
    Some(format!("{which} by an earlier version (schema {}): {what}; see docs/columns.md", old.schema))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Case;

    fn record(schema: u32, experiment: &str) -> Record {
        let case = Case { experiment: experiment.to_owned(), ..Case::default() };
        Record { schema, case: case.into(), ..Record::default() }
    }

    #[test]
    fn old_results_are_never_shown_without_a_word() {
        let [old, new] = [1, OF_TODAY].map(|schema| record(schema, "pingpong"));
        assert_eq!(note(std::slice::from_ref(&new)), None);
        assert!(note(std::slice::from_ref(&old)).unwrap().starts_with("recorded by an earlier version"));
        assert!(note(&[new, old]).unwrap().starts_with("some rows were"));
        assert_eq!(note(&[]), None);
        assert!(note(&[record(1, "halo")]).unwrap().contains("caches were not warm"));
    }
}
