//! Results of earlier versions, read with the words of today. What each schema changed: `docs/columns.md`.
//!
//! Schema 1 had a `reference` whose buffer was never written again, and a `manual` of tuned copies: today these are
//! `reference_untouched` and `manual_tuned`, and are shown so. The share of packing was made of the origin's times, doubled.

use crate::engine::EngineRecord;
use crate::methods::REFERENCE;
use crate::record::{Phase, Record};

/// The schema of the results that this version records. It goes up when a column or a method changes its meaning.
pub const SCHEMA: u32 = 2;

/// The schema of rows that do not say: those before there was a column for it.
pub const fn first() -> u32 {
    1
}

/// Gives methods of schema 1 the names that stand for them today. All records are of one run, hence of one kind of
/// experiment: halos wrote what their `reference` sends anew then as well.
pub fn rename(records: &mut [Record]) {
    let is_halo = records.iter().any(|record| record.phase == Phase::Exchange);
    for record in records.iter_mut().filter(|record| record.schema < SCHEMA) {
        match record.method.as_str() {
            REFERENCE if !is_halo => "reference_untouched",
            "manual" => "manual_tuned",
            _ => continue,
        }
        .clone_into(&mut record.method);
    }
}

/// The same for a contender of the engine's comparison.
pub fn rename_contender(record: &mut EngineRecord) {
    if record.schema < SCHEMA && record.method == "manual" {
        "manual_tuned".clone_into(&mut record.method);
    }
}

/// What readers of such comparisons must know; `None` where there are none.
pub fn engine_note(records: &[EngineRecord]) -> Option<String> {
    records.iter().any(|record| record.schema < SCHEMA).then(|| {
        "recorded by an earlier version (schema 1): what was called manual is shown as manual_tuned; see docs/columns.md"
            .to_owned()
    })
}

/// What readers of such results must know; `None` where there are none.
pub fn note(records: &[Record]) -> Option<String> {
    let is_old = |record: &&Record| record.schema < SCHEMA;
    let old = records.iter().find(is_old)?;
    let has = |phase| records.iter().any(|record| record.phase == phase);
    let all = records.iter().all(|record| record.schema < SCHEMA);
    let which = if all { "recorded" } else { "some rows were recorded" };
    let what = if has(Phase::Exchange) {
        "what was called manual is shown as manual_tuned, and caches were not warm: not to be set beside later figures"
    } else if has(Phase::Solution) {
        "figures are not to be set beside later ones"
    } else {
        "what was called reference and manual is shown as reference_untouched and manual_tuned, ovh is against the \
         former, and pack% is the origin's packing doubled: not to be set beside later figures"
    };
    Some(format!("{which} by an earlier version (schema {}): {what}; see docs/columns.md", old.schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(schema: u32, method: &str, phase: Phase) -> Record {
        Record { schema, method: method.to_owned(), phase, ..Record::default() }
    }

    #[test]
    fn methods_whose_meaning_changed_have_the_name_of_today() {
        let name = |schema, method, phase| {
            let mut records = [record(schema, "ddt", phase), record(schema, method, Phase::Pack)];
            rename(&mut records);
            records[1].method.clone()
        };
        assert_eq!(name(1, "reference", Phase::RoundTrip), "reference_untouched");
        assert_eq!(name(1, "manual", Phase::RoundTrip), "manual_tuned");
        assert_eq!(name(1, "ddt", Phase::RoundTrip), "ddt");
        assert_eq!(name(1, "manual", Phase::Exchange), "manual_tuned");
        assert_eq!(name(1, "reference", Phase::Exchange), "reference", "a halo's");
        assert_eq!(name(SCHEMA, "reference", Phase::RoundTrip), "reference");
    }

    #[test]
    fn a_halo_is_told_of_by_any_of_its_phases() {
        let halo = [record(1, "manual_tuned", Phase::Init), record(1, "manual_tuned", Phase::Exchange)];
        assert!(note(&halo).unwrap().contains("caches were not warm"));
    }

    #[test]
    fn old_results_are_never_shown_without_a_word() {
        let [old, new] = [1, SCHEMA].map(|schema| record(schema, "ddt", Phase::RoundTrip));
        assert_eq!(note(std::slice::from_ref(&new)), None);
        assert!(note(std::slice::from_ref(&old)).unwrap().starts_with("recorded by an earlier version"));
        assert!(note(&[new, old]).unwrap().starts_with("some rows were"));
        assert_eq!(note(&[]), None);
    }
}
