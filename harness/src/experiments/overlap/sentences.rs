//! Sentences about overlap in addition to its diagnoses: the times from which a part is hidden, methods that gain if there is
//! work to hide behind, slower communication with asynchronous progress, and advice if nothing can be found.

use super::diagnosis::Diagnosis;
use super::methods::METHODS;
use crate::model::{Basis, Phase, Quantity, Record};
use crate::report::case::{CaseView, interval, measured};
use crate::report::names::{grouped, number};
use crate::report::units;
use crate::stats::difference::Difference;

/// Minimum launches for an interval over launches.
const LAUNCHES: usize = 6;

/// Probability that any of the sentences about methods is wrong.
const ALPHA: f64 = 0.05;

/// A method, its time without work, and with work to hide behind.
#[derive(Clone, Copy)]
struct TimedMethod<'a> {
    name: &'a str,
    alone: &'a Record,
    both: &'a Record,
}

pub(super) fn sentences(cases: &[CaseView]) -> Vec<String> {
    begins(cases)
        .into_iter()
        .chain(turned_around(cases))
        .chain(slower_alone(cases))
        .chain(too_short(cases))
        .collect()
}

/// Below this overhead ratio, half of the shorter part is hidden.
const HALF: f64 = 0.5;

/// For each method over a grid of times: in how many cells half of the shorter part is hidden, and from which times.
fn begins(cases: &[CaseView]) -> Vec<String> {
    let cells = cases.iter().flat_map(|case| {
        let [communication_us, computation_us] =
            ["communication_us", "computation_us"].map(|axis| number(&case.first().case, axis));
        let cell = move |record: &Record| {
            let of = format!("{}, {}, {}", record.case.test, case.side(), record.method);
            Some((of, [communication_us?, computation_us?], record.value(Quantity::OverheadRatio)?))
        };
        case.methods().filter_map(cell)
    });
    let sentence = |(of, cells): (String, Vec<(String, [f64; 2], f64)>)| {
        let all = cells.len();
        let hidden: Vec<[f64; 2]> =
            cells.into_iter().filter(|cell| cell.2 < HALF).map(|cell| cell.1).collect();
        let first = hidden.iter().min_by(|a, b| a[0].max(a[1]).total_cmp(&b[0].max(b[1])));
        let from = first.map_or_else(String::new, |times| {
            let [communication, computation] = times.map(|us| units::seconds(us * 1e-6));
            format!(", from {communication} of communication and {computation} of computation")
        });
        let cells = hidden.len();
        (all > 1).then(|| {
            format!("{of}: at least half of the shorter part is hidden in {cells} of {all} cells{from}.")
        })
    };
    grouped(cells, |cell| cell.0.clone()).into_iter().filter_map(sentence).collect()
}

/// Methods that are slower than others without work, and faster with work to hide behind: all intervals are
/// disjoint, and the probability is corrected for the number of pairs of methods.
fn turned_around(cases: &[CaseView]) -> Vec<String> {
    let pairs: Vec<_> =
        cases.iter().flat_map(|case| pairs(case).into_iter().map(move |pair| (case, pair))).collect();
    let level = ALPHA / pairs.len() as f64;
    let found = pairs.into_iter().filter(|(_, (one, other))| chance(*one, *other) <= level);
    found
        .filter_map(|(case, (one, other))| turned(case, one, other).or_else(|| turned(case, other, one)))
        .collect()
}

/// All pairs of array-to-array methods of a case.
fn pairs<'a>(case: &CaseView<'a>) -> Vec<(TimedMethod<'a>, TimedMethod<'a>)> {
    let is_whole = |record: &&Record| {
        let row = METHODS.iter().find(|row| row.name == record.method);
        measured(record) && row.is_some_and(|row| row.array_to_array)
    };
    let method = |both: &'a Record| {
        let alone = case.phase(&both.method, Phase::CommunicationAlone)?;
        Some(TimedMethod { name: &both.method, alone, both })
    };
    let all: Vec<TimedMethod> = case.methods().filter(is_whole).filter_map(method).collect();
    let with_later = |(i, one): (usize, &TimedMethod<'a>)| {
        all[i + 1..].iter().map(|other| (*one, *other)).collect::<Vec<_>>()
    };
    all.iter().enumerate().flat_map(with_later).collect()
}

/// The p-value of the difference of two methods without work, and with work: the larger of both, because both are claimed.
fn chance(one: TimedMethod, other: TimedMethod) -> f64 {
    let of = |one, other| difference(one, other).map_or(1.0, |difference| difference.p());
    of(one.alone, other.alone).max(of(one.both, other.both))
}

/// The difference of the logarithms of two times, from their 95% intervals: Student's t with as many values as in the intervals.
fn difference(one: &Record, other: &Record) -> Option<Difference> {
    let location = |record: &Record| {
        let (low, median, high) = interval(record)?;
        let values = if record.basis == Basis::WithinLaunch { record.blocks } else { record.launches };
        let unit = Difference::new(0.0, 1.0, values as f64 - 1.0);
        // Half of the interval in units of the standard error.
        let error = (high / low).ln() / 2.0 / unit.half_width(0.05);
        (values > 1 && error.is_finite()).then_some((median.ln(), error, unit.freedom))
    };
    let ((a, of_a, freedom), (b, of_b, freedom_b)) = (location(one)?, location(other)?);
    // The smaller of both degrees of freedom: Welch's are between that and the sum.
    Some(Difference::new(b - a, of_a.hypot(of_b), freedom.min(freedom_b)))
}

/// The sentence that one is slower without work and faster with work, if all intervals are disjoint.
fn turned(case: &CaseView, one: TimedMethod, other: TimedMethod) -> Option<String> {
    let times = |method: TimedMethod| interval(method.alone).zip(interval(method.both));
    let ((alone, both), (other_alone, other_both)) = (times(one)?, times(other)?);
    let is_turned = alone.0 > other_alone.2 && both.2 < other_both.0;
    let [alone, other_alone, both, other_both] =
        [alone, other_alone, both, other_both].map(|(_, median, _)| units::seconds(median));
    is_turned.then(|| {
        format!(
            "{}, {}: {} is slower than {} by itself ({alone} and {other_alone}), and faster with work to hide it behind \
             ({both} and {other_both}).",
            case.first().case.test,
            case.side(),
            one.name,
            other.name
        )
    })
}

/// Communication that is shown to take this many times longer in another configuration is reported.
const SLOWER: f64 = 2.0;

/// Whether communication without work is slower with asynchronous progress: hidden parts must be compared with that.
fn slower_alone(cases: &[CaseView]) -> Option<String> {
    let mut slower: Vec<(f64, &Record, &Record)> = Vec::new();
    for case in cases.iter().filter(|case| case.first().case.configuration().is_some()) {
        let basic = case.first().case.without_configuration();
        let Some(basic) = cases.iter().find(|other| *other.first().case == basic) else { continue };
        for record in case.methods().filter(|record| measured(record)) {
            let [progress, basic] =
                [case, basic].map(|case| case.phase(&record.method, Phase::CommunicationAlone));
            let Some((progress, basic)) = progress.zip(basic) else { continue };
            let Some((of_progress, of_basic)) = interval(progress).zip(interval(basic)) else { continue };
            slower.push((of_progress.0 / of_basic.2, progress, basic));
        }
    }
    slower.retain(|(times, ..)| *times >= SLOWER);
    slower.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (_, progress, basic) = slower.first()?;
    let [progress_s, basic_s] =
        [progress, basic].map(|record| record.median_s.map(units::seconds).unwrap_or_default());
    let more = match slower.len() - 1 {
        0 => String::new(),
        more => format!(" {more} more results take at least {SLOWER} times as long."),
    };
    let (case, method) = (&progress.case, &progress.method);
    Some(format!(
        "{}, {}: without work, {method} of {} takes {progress_s}, but {basic_s} in the basic configuration. Compare the overlap with this.{more}",
        case.mpi_label(),
        case.configuration().unwrap_or_default(),
        case.test,
    ))
}

/// Advice if nothing can be found.
fn too_short(cases: &[CaseView]) -> Option<String> {
    let of_case = |case: &CaseView| {
        let records = case.methods().filter(|record| measured(record));
        records.map(|record| (Diagnosis::from_record(case, record), record.launches)).collect::<Vec<_>>()
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
    use super::*;
    use crate::experiments;
    use crate::experiments::Kind;
    use crate::model::{Case, Figure};

    /// The three records of a method: times without and with work, each within 5%, and an overhead ratio with
    /// an interval of this width.
    fn method(name: &str, alone_s: f64, both_s: f64, width: f64) -> [Record; 3] {
        let of = |phase, median_s: f64| Record {
            case: Case { test: "nas_lu_y".to_owned(), mpi: "mpich".to_owned(), ..Case::default() }.into(),
            method: name.to_owned(),
            phase,
            launches: 6,
            basis: Basis::Launches,
            median_s: Some(median_s),
            median_low_s: Some(0.95 * median_s),
            median_high_s: Some(1.05 * median_s),
            ..Record::default()
        };
        let ratio =
            Figure::with_interval(Quantity::OverheadRatio, 0.5, (0.5 - width / 2.0, 0.5 + width / 2.0));
        let slowdown = Figure::plain(Quantity::ComputationSlowdown, 1.0);
        let in_mpi = Figure::plain(Quantity::CommunicationRatio, 0.5);
        let whole = Record { figures: vec![ratio, slowdown, in_mpi], ..of(Kind::Overlap.headline(), both_s) };
        [of(Phase::CommunicationAlone, alone_s), of(Phase::ComputationAlone, 1.0), whole]
    }

    fn sentences_of(methods: &[[Record; 3]]) -> Vec<String> {
        let records = methods.concat();
        sentences(&CaseView::all(experiments::of_kind(Kind::Overlap).table_format, &records))
    }

    #[test]
    fn a_grid_has_a_sentence_and_a_case_by_itself_has_none() {
        let cell = |communication_us: u32, computation_us: u32, ratio: f64| {
            let params = format!("communication_us={communication_us} computation_us={computation_us}");
            let [_, _, whole] = method("ddt", 1.0, 2.0, 0.1);
            let case = Case { params, ..(*whole.case).clone() };
            let figure = Figure::with_interval(Quantity::OverheadRatio, ratio, (ratio - 0.1, ratio + 0.1));
            Record { case: case.into(), figures: vec![figure], ..whole }
        };
        let of = |records: &[Record]| {
            begins(&CaseView::all(experiments::of_kind(Kind::Overlap).table_format, records))
        };
        let grid =
            [cell(1000, 1000, 1.02), cell(4000, 1000, 0.3), cell(1000, 4000, -0.1), cell(4000, 4000, 0.4)];
        let [sentence] = &of(&grid)[..] else { panic!("a grid of one method") };
        assert!(
            sentence.contains("is hidden in 3 of 4 cells, from 4.00 ms of communication and 1.00 ms"),
            "{sentence}"
        );
        assert_eq!(of(&grid[..1]), [""; 0]);
    }

    #[test]
    fn the_slower_one_that_is_faster_behind_work_is_named_and_no_other() {
        let manual = || method("manual", 1.0, 2.0, 0.1);
        let turned = sentences_of(&[manual(), method("ddt", 1.5, 1.6, 0.1)]);
        assert_eq!(turned.len(), 1, "{turned:?}");
        assert!(turned[0].contains("ddt is slower than manual by itself (1.50 s and 1.00 s)"), "{turned:?}");
        assert!(turned[0].contains("(1.60 s and 2.00 s)") && turned[0].contains("mpich"), "{turned:?}");
        // Slower in both, and intervals that overlap without or with work.
        for (alone_s, both_s) in [(1.5, 2.6), (1.05, 1.6), (1.5, 1.95)] {
            assert_eq!(sentences_of(&[manual(), method("ddt", alone_s, both_s, 0.1)]), [""; 0]);
        }
        let reference = method("reference", 1.0, 2.0, 0.1);
        assert_eq!(sentences_of(&[reference, method("ddt", 1.5, 1.6, 0.1)]), [""; 0], "it moves no arrays");
    }

    #[test]
    fn the_more_pairs_there_are_the_clearer_one_must_be() {
        // All intervals are disjoint, but only just: chance gives this for 1.4% of pairs, and ten pairs of methods allow 0.5%.
        let (manual, ddt) = (|name| method(name, 1.0, 2.0, 0.1), method("ddt", 1.11, 1.805, 0.1));
        assert_eq!(sentences_of(&[manual("manual"), ddt.clone()]).len(), 1);
        let names = ["manual", "manual_tuned", "mpi_pack", "engine"];
        let five: Vec<_> = names.map(manual).into_iter().chain([ddt]).collect();
        assert_eq!(sentences_of(&five), [""; 0]);
        // A clear difference is reported even among so many.
        let clear: Vec<_> = names.map(manual).into_iter().chain([method("ddt", 1.5, 1.4, 0.1)]).collect();
        assert_eq!(sentences_of(&clear).len(), 4, "{:?}", sentences_of(&clear));
    }

    #[test]
    fn communication_that_progress_slows_is_reported() {
        let with = |configuration: &str, records: [Record; 3]| {
            let params = format!("nx=8{configuration}");
            records.map(|record| {
                let case = Case { params: params.clone(), ..(*record.case).clone() };
                Record { case: case.into(), ..record }
            })
        };
        let basic = || with("", method("ddt", 1.0, 2.0, 0.1));
        let progress = |alone_s| with(" configuration=progress", method("ddt", alone_s, 9.0, 0.1));
        let found = sentences_of(&[basic(), progress(8.0)]);
        let expected = "mpich, progress: without work, ddt of nas_lu_y takes 8.00 s, but 1.00 s in the basic configuration. ";
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
        assert_eq!(
            sentences_of(&[basic(), progress(2.0)]),
            [""; 0],
            "twice as long, but not shown to be longer"
        );
        assert_eq!(sentences_of(&[progress(8.0)]), [""; 0], "there is nothing to compare with");
        let elsewhere = progress(8.0).map(|record| {
            let case = Case { transport: "tcp".to_owned(), ..(*record.case).clone() };
            Record { case: case.into(), ..record }
        });
        assert_eq!(sentences_of(&[basic(), elsewhere]), [""; 0], "it went another way");
    }

    #[test]
    fn cases_too_short_for_a_diagnosis_have_advice() {
        let short = sentences_of(&[method("manual", 1.0, 2.0, 0.1), method("ddt", 1.0, 2.0, 2.0)]);
        assert_eq!(short.len(), 1, "{short:?}");
        assert!(short[0].contains("1 of 2") && short[0].contains("--launches 12"), "{short:?}");
    }
}
