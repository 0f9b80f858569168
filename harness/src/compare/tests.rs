//! Comparisons of made-up launches with known differences.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::model::{Outcome, Record};
use made::record;

/// Tests, each with a control, a reference and two more methods.
const TESTS: usize = 6;
const METHODS: [&str; 4] = ["reference", "manual", "mpi_pack", "ddt"];

/// A normal value, from the sum of uniform ones.
fn normal(random: &mut Pcg64) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// Launches of both sides, in pairs: the machine drifts from pair to pair, each process differs by 10% in time, and each method
/// by another 4%. On the other side, methods take so many times as long.
fn launches(random: &mut Pcg64, count: usize, slower: &dyn Fn(usize, &str) -> f64) -> [Vec<Record>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    let mut drift = 0.0;
    for launch in 0..count {
        drift += 0.03 * normal(random);
        for test in 0..TESTS {
            for (side, records) in sides.iter_mut().enumerate() {
                let process = drift + 0.10 * normal(random);
                for method in METHODS {
                    let factor = if side == 1 { slower(test, method) } else { 1.0 };
                    let time = (process + 0.04 * normal(random)).exp() * 1e-5 * factor;
                    let mut record = record("r", launch, method, time);
                    record.case_mut().test = format!("test {test}");
                    records.push(record);
                }
            }
        }
    }
    sides
}

/// The rows of the last test of a comparison of up to so many launches.
fn compare(sides: &[Vec<Record>; 2], most: usize) -> Vec<ComparisonRow> {
    compare_by(Settings::default(), sides, most)
}

fn compare_by(settings: Settings, sides: &[Vec<Record>; 2], most: usize) -> Vec<ComparisonRow> {
    let mut comparer = Comparer::new(settings);
    let mut rows = Vec::new();
    for test in interim_tests(most) {
        let made = |side: usize| {
            let of = sides[side].iter().filter(|record| record.launch.is_some_and(|launch| launch < test));
            Side::of("x", of, ComparisonUnit::Launch)
        };
        rows = comparer.interim_test(&made(0), &made(1), &|_| Some(test as f64 / most as f64));
        if rows.iter().all(ComparisonRow::is_decided) {
            break;
        }
    }
    rows
}

fn row<'a>(rows: &'a [ComparisonRow], test: usize, method: &str) -> &'a ComparisonRow {
    let name = format!("test {test}");
    rows.iter().find(|row| row.subject.test == name && row.subject.method == method).unwrap()
}

fn is_alarm(row: &ComparisonRow) -> bool {
    row.verdict.is_change()
}

/// A threshold of almost nothing: every certain difference is a change.
fn any_change() -> Settings {
    Settings { threshold: 1e-6, ..Settings::default() }
}

#[test]
fn a_thing_compared_with_itself_differs_in_at_most_one_of_twenty_comparisons() {
    let mut random = Pcg64::seed_from_u64(1);
    let comparisons = 200;
    let mut count = |settings: &dyn Fn() -> Settings, slower: &dyn Fn(usize, &str) -> f64| {
        let of = |random: &mut Pcg64| compare_by(settings(), &launches(random, 13, slower), 13);
        (0..comparisons).filter(|_| of(&mut random).iter().any(is_alarm)).count()
    };
    // 10 are allowed, and 19 are three deviations more. Parts of the error are added up, so that fewer are expected.
    let alarms = count(&any_change, &|_, _| 1.0);
    assert!(alarms <= 19, "{alarms} of {comparisons}");
    assert!(alarms > 0, "the error that may be made is used");
    // With a threshold of 5%, all may be slower by exactly that.
    let alarms = count(&Settings::default, &|_, _| 1.05);
    assert!(alarms <= 19, "{alarms} of {comparisons}");
    assert_eq!(count(&Settings::default, &|_, _| 1.0), 0);
}

#[test]
fn what_is_slower_by_two_fifths_is_found_and_nothing_else() {
    let mut random = Pcg64::seed_from_u64(2);
    let (mut found, mut others) = (0, 0);
    for _ in 0..50 {
        let slower = |test: usize, method: &str| if (test, method) == (2, "ddt") { 1.4 } else { 1.0 };
        let rows = compare(&launches(&mut random, 20, &slower), 20);
        found += usize::from(row(&rows, 2, "ddt").verdict == Verdict::Slower);
        let others_of = rows.iter().filter(|row| row.subject.test != "test 2" || row.subject.method != "ddt");
        others += others_of.filter(|row| is_alarm(row)).count();
    }
    assert!(found >= 48, "{found} of 50");
    assert!(others <= 6, "{others} of 50 comparisons");
}

/// Changes the distance of cores from launch to launch: methods follow it, datatypes most.
fn in_states(random: &mut Pcg64, sides: &mut [Vec<Record>; 2]) {
    for launch in sides.iter_mut().flat_map(|records| records.chunks_mut(METHODS.len())) {
        let latency_s = [19e-9, 33e-9, 220e-9][random.random_range(0..3)];
        for record in launch {
            let slope = if record.method == "ddt" { 0.4 } else { 0.2 };
            let factor = f64::powf(latency_s / 33e-9, slope);
            record.median_s = record.median_s.map(|median| median * factor);
            record.mean_s = record.mean_s.map(|mean| mean * factor);
            record.state_latency_s = Some(latency_s);
        }
    }
}

#[test]
fn what_the_machines_state_explains_hides_nothing_and_is_no_difference() {
    let mut random = Pcg64::seed_from_u64(7);
    let (mut found, mut without_states, mut alarms) = (0, 0, 0);
    for comparison in 0..60 {
        let is_slower = comparison < 20;
        let slower = |test: usize, method: &str| match (is_slower, test, method) {
            (true, 2, "ddt") => 1.6,
            _ => 1.0,
        };
        let mut sides = launches(&mut random, 13, &slower);
        in_states(&mut random, &mut sides);
        let rows = compare(&sides, 13);
        assert!(rows.iter().filter_map(|row| row.time.as_ref()).any(|time| time.adjusted));
        if !is_slower {
            alarms += usize::from(rows.iter().any(is_alarm));
            continue;
        }
        found += usize::from(row(&rows, 2, "ddt").verdict == Verdict::Slower);
        sides.iter_mut().flatten().for_each(|record| record.state_latency_s = None);
        without_states += usize::from(row(&compare(&sides, 13), 2, "ddt").verdict == Verdict::Slower);
    }
    assert!(found >= 16 && without_states <= 4, "{found} and {without_states} of 20");
    // 2 are allowed, and 6 are three deviations more.
    assert!(alarms <= 6, "{alarms} of 40");
}

#[test]
fn fewer_than_three_launches_have_no_verdict() {
    let rows = compare(&launches(&mut Pcg64::seed_from_u64(3), 2, &|_, _| 20.0), 2);
    assert!(rows.iter().all(|row| row.verdict == Verdict::Undecided && row.time.is_none()), "{rows:?}");
    assert!(rows.iter().all(|row| row.base_s.is_some() && row.new_s.is_some()), "but medians are there");
}

#[test]
fn a_verdict_is_about_time_whatever_the_control_has_become() {
    let mut random = Pcg64::seed_from_u64(4);
    // The control is 3 times as slow, another method less, but it is still slower.
    let slower = |_: usize, method: &str| match method {
        "ddt" => 2.0,
        "mpi_pack" => 3.0,
        "reference" => 1.0,
        _ => 3.0,
    };
    let rows = compare(&launches(&mut random, 20, &slower), 20);
    let of = |method: &str| {
        let row = row(&rows, 0, method);
        (row.verdict, row.control.as_deref(), row.over_control.as_ref().map(|over| over.verdict))
    };
    assert_eq!(of("ddt"), (Verdict::Slower, Some("manual"), Some(Verdict::Faster)));
    assert_eq!(of("manual"), (Verdict::Slower, Some("reference"), Some(Verdict::Slower)));
    let (verdict, _, over) = of("mpi_pack");
    assert!(verdict == Verdict::Slower && !over.is_some_and(Verdict::is_change), "{over:?}");
    assert_eq!(of("reference").1, None);
    assert_ne!(of("reference").0, Verdict::Slower);
}

#[test]
fn what_fails_on_one_side_alone_is_broken_or_repaired() {
    let mut sides = launches(&mut Pcg64::seed_from_u64(5), 3, &|_, _| 1.0);
    let fail = |records: &mut Vec<Record>, method: &str| {
        for record in records.iter_mut().filter(|record| record.method == method && record.launch == Some(1))
        {
            (record.median_s, record.outcome) = (None, Outcome::Crashed { detail: String::new() });
        }
    };
    fail(&mut sides[1], "ddt");
    fail(&mut sides[0], "mpi_pack");
    let rows = compare(&sides, 3);
    assert_eq!(
        (row(&rows, 0, "ddt").verdict, row(&rows, 0, "ddt").note.as_str()),
        (Verdict::Broken, "crashed")
    );
    assert_eq!(row(&rows, 0, "mpi_pack").verdict, Verdict::Repaired);
    fail(&mut sides[0], "ddt");
    assert_eq!(row(&compare(&sides, 3), 0, "ddt").verdict, Verdict::NotCompared);
    sides[0].retain(|record| record.method != "ddt");
    assert_eq!(row(&compare(&sides, 3), 0, "ddt").verdict, Verdict::NotCompared, "only one side has it");
}

#[test]
fn a_decision_stays_with_the_interval_of_all_launches_and_is_withdrawn_if_they_contradict_it() {
    let mut random = Pcg64::seed_from_u64(6);
    let [base, slow] = launches(&mut random, 13, &|_, method| if method == "ddt" { 20.0 } else { 1.0 });
    let side = |records: &[Record], launches: usize| {
        let of = records.iter().filter(|record| record.launch.is_some_and(|launch| launch < launches));
        Side::of("x", of, ComparisonUnit::Launch)
    };
    let mut comparer = Comparer::new(Settings::default());
    let first = comparer.interim_test(&side(&base, 5), &side(&slow, 5), &|_| Some(0.4));
    let second = comparer.interim_test(&side(&base, 13), &side(&slow, 13), &|_| Some(1.0));
    let time = |rows: &[ComparisonRow]| row(rows, 0, "ddt").time.clone().unwrap();
    let (first, second) = (time(&first), time(&second));
    assert_eq!((first.verdict, second.verdict), (Verdict::Slower, Verdict::Slower));
    assert_eq!((first.units, second.units), ((5, 5), (13, 13)));
    assert!(second.high / second.low < first.high / first.low, "{first:?} {second:?}");
    let mut comparer = Comparer::new(Settings::default());
    comparer.interim_test(&side(&base, 5), &side(&slow, 5), &|_| Some(0.4));
    let rows = comparer.interim_test(&side(&base, 13), &side(&base, 13), &|_| Some(1.0));
    let withdrawn = time(&rows);
    assert!(withdrawn.verdict == Verdict::Undecided && withdrawn.low < 1.0, "{withdrawn:?}");
}

/// Gives launches the means of a disturbed machine: in two of five launches a few repetitions wait for a core, and make the mean
/// up to six times as long. On the other side, one method is sometimes late, which multiplies its mean by this factor.
fn disturb(random: &mut Pcg64, sides: &mut [Vec<Record>; 2], late: f64) {
    for (side, record) in
        sides.iter_mut().enumerate().flat_map(|(i, records)| records.iter_mut().map(move |r| (i, r)))
    {
        let waits = if random.random::<f64>() < 0.4 { 5.0 * random.random::<f64>() } else { 0.0 };
        let is_late = (side, &*record.case.test, &*record.method) == (1, "test 2", "ddt");
        record.mean_s =
            record.median_s.map(|median| median * (1.02 + waits + if is_late { late - 1.0 } else { 0.0 }));
    }
}

#[test]
fn a_mean_that_is_disturbed_is_no_change_and_one_that_is_late_is_found() {
    let mut random = Pcg64::seed_from_u64(11);
    let mut count = |late: f64, is_found: &dyn Fn(&[ComparisonRow]) -> bool| {
        let comparisons = 60;
        let found = (0..comparisons).filter(|_| {
            let mut sides = launches(&mut random, 20, &|_, _| 1.0);
            disturb(&mut random, &mut sides, late);
            is_found(&compare(&sides, 20))
        });
        found.count()
    };
    let alarms = count(1.0, &|rows| rows.iter().any(is_alarm));
    assert!(alarms <= 3, "{alarms} of 60: 1 in 100 is allowed");
    // The time has not changed.
    let found = count(10.0, &|rows| {
        let row = row(rows, 2, "ddt");
        row.verdict == Verdict::Slower && !row.time.as_ref().is_some_and(|time| time.verdict.is_change())
    });
    assert!(found >= 57, "{found} of 60");
}

#[test]
fn a_row_is_open_while_its_mean_may_have_changed_and_reports_its_basis() {
    let mean = |verdict, ratio: f64| Estimate {
        ratio,
        verdict,
        ..made::row("a", "ddt", 1, ratio, verdict).time.unwrap()
    };
    let row = |time, ratio, mean: Option<Estimate>, mean_ratio: f64, verdict| ComparisonRow {
        mean,
        new_mean_s: Some(1.02e-5 * mean_ratio),
        verdict,
        ..made::row("a", "ddt", 1, ratio, time)
    };
    assert!(!row(Verdict::Same, 1.0, None, 1.05, Verdict::Same).is_open());
    assert!(row(Verdict::Same, 1.0, None, 2.8, Verdict::Same).is_open());
    assert!(!row(Verdict::Slower, 2.8, None, 2.8, Verdict::Slower).is_open(), "the mean follows the time");
    let late = row(Verdict::Same, 1.0, Some(mean(Verdict::Slower, 2.8)), 2.8, Verdict::Slower);
    assert!(!late.is_open());
    assert_eq!(
        findings(std::slice::from_ref(&late)),
        ["ddt: slower by mean in 1: a mean 2.80x [2.77, 2.83], median 1.00x [0.99, 1.01]"]
    );
    let more = row(Verdict::Slower, 2.0, Some(mean(Verdict::Slower, 900.0)), 900.0, Verdict::Slower);
    assert!(findings(&[more])[0].contains("mean 900.0x"), "a hundred times as much");
    let both = row(Verdict::Slower, 6.27, Some(mean(Verdict::Faster, 0.04)), 0.04, Verdict::Slower);
    let comparisons = made::comparisons(vec![late, both]);
    assert_eq!(comparisons.gate(), GateDecision::Shut);
    assert!(comparisons.compared().text(Some(60)).contains("slower by mean"), "at every width");
    assert!(comparisons.compared().markdown().contains("| slower by mean |"));
    assert!(comparisons.junit().unwrap().contains("type=\"slower by mean\""));
    let text = comparisons.compared().text(Some(200));
    assert!(text.contains("by mean: shown by the mean"), "{text}");
    assert!(text.contains("mean 10.2 -> 28.6 µs (2.80x [2.77, 2.83])"), "{text}");
    assert!(text.contains("6.27x [6.21, 6.33], but mean 0.040x [0.040, 0.040]"), "{text}");
}
