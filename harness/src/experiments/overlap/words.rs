//! What overlap says in sentences besides its diagnoses: which method gains by work to hide it behind, and what to do where nothing can
//! be told.

use super::diagnosis::Diagnosis;
use super::methods::METHODS;
use crate::model::{Phase, Record};
use crate::report::case::{CaseView, interval, measured};
use crate::report::units;

/// The fewest launches of which intervals are those of launches.
const LAUNCHES: usize = 6;

/// A method, its time by itself, and with work to hide it behind: low end, median, high end.
type Times<'a> = (&'a str, (f64, f64, f64), (f64, f64, f64));

/// All sentences of these cases.
pub(super) fn sentences(cases: &[CaseView]) -> Vec<String> {
    cases.iter().flat_map(turned_around).chain(too_short(cases)).collect()
}

/// Methods that are slower than others by themselves and faster with work to hide them behind, all intervals apart.
fn turned_around(case: &CaseView) -> Vec<String> {
    let is_whole = |record: &&Record| {
        let row = METHODS.iter().find(|row| row.name == record.method);
        measured(record) && row.is_some_and(|row| row.array_to_array)
    };
    let times = |record| -> Option<Times> {
        let record: &Record = record;
        let alone = case.phase(&record.method, Phase::CommunicationAlone)?;
        Some((&record.method, interval(alone)?, interval(record)?))
    };
    let all: Vec<Times> = case.methods().filter(is_whole).filter_map(times).collect();
    let pairs = all.iter().flat_map(|one| all.iter().map(move |other| (*one, *other)));
    let sentence = |((name, alone, both), (other, other_alone, other_both)): (Times, Times)| {
        let is_turned = alone.0 > other_alone.2 && both.2 < other_both.0;
        let [alone, other_alone, both, other_both] =
            [alone, other_alone, both, other_both].map(|(_, median, _)| units::seconds(median));
        is_turned.then(|| {
            format!(
                "{}, {}: {name} is slower than {other} by itself ({alone} and {other_alone}), and faster with work to hide it behind \
                 ({both} and {other_both}).",
                case.first().case.test,
                case.side()
            )
        })
    };
    pairs.filter_map(sentence).collect()
}

/// What to do where nothing can be told.
fn too_short(cases: &[CaseView]) -> Option<String> {
    let of_case = |case: &CaseView| {
        let records = case.methods().filter(|record| measured(record));
        records.map(|record| (Diagnosis::of(case, record), record.launches)).collect::<Vec<_>>()
    };
    let all: Vec<_> = cases.iter().flat_map(of_case).collect();
    let short = all.iter().filter(|(diagnosis, _)| *diagnosis == Diagnosis::TooShort);
    let launches: Vec<usize> = short.map(|(_, launches)| *launches).collect();
    let most = *launches.iter().max()?;
    let more = if most < LAUNCHES { LAUNCHES } else { 2 * most };
    Some(format!(
        "Too short to tell, {} of {}: the interval of the overhead ratio is wide beside the step from perfect to serial. More launches \
         (--launches {more}) or a longer --max-time make it narrower, and so do longer times.",
        launches.len(),
        all.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::KIND;
    use super::*;
    use crate::model::{Case, Figure, Quantity};

    /// Both times of a method, each within 5%; and an overhead ratio whose interval is so wide.
    fn method(name: &str, alone_s: f64, both_s: f64, width: f64) -> [Record; 3] {
        let of = |phase, median_s: f64| Record {
            case: Case { test: "nas_lu_y".to_owned(), mpi: "mpich".to_owned(), ..Case::default() },
            method: name.to_owned(),
            phase,
            pair: Record::ALL_PAIRS.to_owned(),
            outcome: "converged".to_owned(),
            launches: 6,
            median_s: Some(median_s),
            median_low_s: Some(0.95 * median_s),
            median_high_s: Some(1.05 * median_s),
            ..Record::default()
        };
        let ratio =
            Figure::with_interval(Quantity::OverheadRatio, 0.5, (0.5 - width / 2.0, 0.5 + width / 2.0));
        let slowdown = Figure::plain(Quantity::ComputationSlowdown, 1.0);
        let in_mpi = Figure::plain(Quantity::CommunicationRatio, 0.5);
        let whole = Record { figures: vec![ratio, slowdown, in_mpi], ..of(KIND.headline(), both_s) };
        [of(Phase::CommunicationAlone, alone_s), of(Phase::ComputationAlone, 1.0), whole]
    }

    fn said(methods: &[[Record; 3]]) -> Vec<String> {
        let records = methods.concat();
        sentences(&CaseView::all(KIND.table_format(), &records))
    }

    #[test]
    fn the_slower_one_that_is_faster_behind_work_is_named_and_no_other() {
        let manual = || method("manual", 1.0, 2.0, 0.1);
        let turned = said(&[manual(), method("ddt", 1.5, 1.6, 0.1)]);
        assert_eq!(turned.len(), 1, "{turned:?}");
        assert!(turned[0].contains("ddt is slower than manual by itself (1.50 s and 1.00 s)"), "{turned:?}");
        assert!(turned[0].contains("(1.60 s and 2.00 s)") && turned[0].contains("mpich"), "{turned:?}");
        // Slower in both, and intervals that meet alone or together.
        for (alone_s, both_s) in [(1.5, 2.6), (1.05, 1.6), (1.5, 1.95)] {
            assert_eq!(said(&[manual(), method("ddt", alone_s, both_s, 0.1)]), [""; 0]);
        }
        let reference = method("reference", 1.0, 2.0, 0.1);
        assert_eq!(said(&[reference, method("ddt", 1.5, 1.6, 0.1)]), [""; 0], "it moves no arrays");
    }

    #[test]
    fn what_is_too_short_to_tell_has_advice() {
        let short = said(&[method("manual", 1.0, 2.0, 0.1), method("ddt", 1.0, 2.0, 2.0)]);
        assert_eq!(short.len(), 1, "{short:?}");
        assert!(short[0].contains("1 of 2") && short[0].contains("--launches 12"), "{short:?}");
    }
}
