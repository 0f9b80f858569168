//! Comparisons of made-up launches with known differences.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

mod sides;
mod texts;

use super::made::only;
use super::schedule::interim_tests;
use super::*;
use crate::model::Record;
use crate::report::compared::Compared;
use made::record;

/// Tests, each with a control, a reference and two more methods.
const TESTS: usize = 6;
const METHODS: [&str; 4] = ["reference", "manual", "mpi_pack", "ddt"];

/// A normal value, from the sum of uniform ones.
fn normal(random: &mut Pcg64) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// Launches of both sides, in pairs: the machine drifts from pair to pair, each process differs by 10% in
/// time, and each method by another 4%. On the other side, methods take so many times as long.
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
            Side::from_records("x", of, ComparisonUnit::Launch)
        };
        let part = 1.0 / interim_tests(most).len() as f64;
        rows = comparer.interim_test(&made(0), &made(1), &|_| Some(part));
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

#[test]
fn a_thing_compared_with_itself_differs_in_at_most_one_of_twenty_comparisons() {
    let mut random = Pcg64::seed_from_u64(1);
    let comparisons = 200;
    let mut count = |settings: &dyn Fn() -> Settings, slower: &dyn Fn(usize, &str) -> f64| {
        let of = |random: &mut Pcg64| compare_by(settings(), &launches(random, 13, slower), 13);
        (0..comparisons).filter(|_| of(&mut random).iter().any(is_alarm)).count()
    };
    // Every certain difference is a change.
    let any_change = || Settings { threshold: 1e-6, ..Settings::default() };
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

/// Changes the distance of cores from launch to launch: methods follow it, datatypes most. On the other side,
/// `ddt` of a test takes `far_only` times as long where they are far.
fn in_states(random: &mut Pcg64, sides: &mut [Vec<Record>; 2], far_only: f64) {
    for (side, records) in sides.iter_mut().enumerate() {
        for launch in records.chunks_mut(METHODS.len()) {
            let is_far = random.random::<bool>();
            let latency_s = if is_far { 220e-9 } else { 33e-9 };
            for record in launch {
                let is_slow = is_far && (side, &*record.case.test, &*record.method) == (1, "test 2", "ddt");
                let slope = if record.method == "ddt" { 0.4 } else { 0.2 };
                let factor = f64::powf(latency_s / 33e-9, slope) * if is_slow { far_only } else { 1.0 };
                record.median_s = record.median_s.map(|median| median * factor);
                record.mean_s = record.mean_s.map(|mean| mean * factor);
                record.state_latency_s = Some(latency_s);
            }
        }
    }
}

#[test]
fn a_change_in_one_state_is_found_in_that_state_and_the_states_are_no_difference() {
    let mut random = Pcg64::seed_from_u64(7);
    let (mut found, mut alarms) = (0, 0);
    for comparison in 0..60 {
        let is_slower = comparison < 20;
        let mut sides = launches(&mut random, 30, &|_, _| 1.0);
        in_states(&mut random, &mut sides, if is_slower { 1.6 } else { 1.0 });
        let rows = compare(&sides, 30);
        if !is_slower {
            alarms += usize::from(rows.iter().any(is_alarm));
            continue;
        }
        let row = row(&rows, 2, "ddt");
        let [near, far] = &row.changes[..] else { panic!("{row:?}") };
        assert!(!near.verdict.is_change() && near.latency_s < far.latency_s, "{row:?}");
        found += usize::from(row.verdict == Verdict::Slower && far.verdict == Verdict::Slower);
    }
    assert!(found >= 16, "{found} of 20");
    // 2 are allowed, and 6 are three deviations more.
    assert!(alarms <= 6, "{alarms} of 40");
}

#[test]
fn a_state_has_one_name_in_all_rows_and_tables() {
    let of = |launch: usize| {
        ["a", "b"].into_iter().enumerate().flat_map(move |(i, test)| {
            ["manual", "ddt"].into_iter().enumerate().map(move |(j, method)| {
                // 168 to 174 ns; each test and method has another median.
                let latency_s = 1e-9 * (168 + launch % 3 + 2 * i + j) as f64;
                let mut record = record("r", launch, method, 1e-5);
                record.case_mut().test = test.to_owned();
                Record { state_latency_s: Some(latency_s), ..record }
            })
        })
    };
    let records: Vec<Record> = (0..6).flat_map(of).collect();
    let sides = ["x", "y"].map(|name| Side::from_records(name, &records, ComparisonUnit::Launch));
    let rows = Comparer::new(Settings::default()).interim_test(&sides[0], &sides[1], &|_| Some(1.0));
    let found = Comparisons::from_sides(Settings::default(), &sides, vec![rows]);
    let of_rows = found.comparisons[0].rows.iter().map(|row| row.changes[0].latency_s);
    let of_states = [found.comparisons[0].states[0].latency_s, found.overviews[0].latency_s.unwrap()];
    let all: Vec<f64> = of_rows.flatten().chain(of_states).collect();
    // Launches of a are at 168.5, 169.5 and 170.5 ns, those of b at 170.5, 171.5 and 172.5 ns.
    assert!(
        all.len() == 6 && all.iter().all(|latency_s| (latency_s / 170.5e-9 - 1.0).abs() < 1e-4),
        "{all:?}"
    );
}

/// Launches of a library that is `times` as slow in `slow` of `of` launches.
fn at_times(random: &mut Pcg64, records: &mut [Record], slow: f64, times: f64) {
    let cases = records.len() / METHODS.len();
    for case in 0..cases {
        if random.random::<f64>() < slow {
            for record in &mut records[case * METHODS.len()..][..METHODS.len()] {
                record.median_s = record.median_s.map(|median| times * median);
                record.mean_s = record.mean_s.map(|mean| times * mean);
            }
        }
    }
}

#[test]
fn a_decision_is_kept_if_later_launches_meet_another_state() {
    let side = |times: f64, launches: std::ops::Range<usize>| {
        let record = |launch: usize| {
            let is_far = launch < 6;
            let time = (1.0 + 0.001 * (launch % 5) as f64) * if is_far { 3.0 * times } else { 1.0 };
            let latency_s = if is_far { 160e-9 } else { 33e-9 };
            Record { state_latency_s: Some(latency_s), ..record("r", launch, "ddt", 1e-5 * time) }
        };
        Side::from_records("x", &launches.map(record).collect::<Vec<_>>(), ComparisonUnit::Launch)
    };
    let mut comparer = Comparer::new(Settings::default());
    let first = comparer.interim_test(&side(1.0, 0..13), &side(1.5, 0..13), &|_| Some(0.5));
    assert_eq!(first[0].verdict, Verdict::Slower);
    let last = comparer.interim_test(&side(1.0, 0..90), &side(1.5, 0..90), &|_| Some(0.5));
    assert_eq!(
        (last[0].verdict, last[0].changes[1].launches),
        (Verdict::Slower, (6, 6)),
        "a fifteenth is far"
    );
}

#[test]
fn two_equal_libraries_that_are_slow_in_some_launches_do_not_differ() {
    let mut random = Pcg64::seed_from_u64(13);
    let comparisons = 100;
    let of = |random: &mut Pcg64| {
        let mut sides = launches(random, 30, &|_, _| 1.0);
        sides.iter_mut().for_each(|side| at_times(random, side, 0.25, 3.0));
        compare(&sides, 30).iter().any(is_alarm)
    };
    let alarms = (0..comparisons).filter(|_| of(&mut random)).count();
    // 5 are allowed, and 12 are three deviations more.
    assert!(alarms <= 12, "{alarms} of {comparisons}");
}

#[test]
fn a_decision_stays_with_the_interval_of_all_launches_and_is_withdrawn_if_they_contradict_it() {
    let mut random = Pcg64::seed_from_u64(6);
    let [base, slow] = launches(&mut random, 13, &|_, method| if method == "ddt" { 20.0 } else { 1.0 });
    let side = |records: &[Record], launches: usize| {
        let of = records.iter().filter(|record| record.launch.is_some_and(|launch| launch < launches));
        Side::from_records("x", of, ComparisonUnit::Launch)
    };
    let mut comparer = Comparer::new(Settings::default());
    let first = comparer.interim_test(&side(&base, 5), &side(&slow, 5), &|_| Some(0.5));
    let second = comparer.interim_test(&side(&base, 13), &side(&slow, 13), &|_| Some(0.5));
    let time = |rows: &[ComparisonRow]| only(row(rows, 0, "ddt")).time.clone().unwrap();
    let (first, second) = (time(&first), time(&second));
    assert_eq!((first.verdict, second.verdict), (Verdict::Slower, Verdict::Slower));
    assert_eq!((first.units, second.units), ((5, 5), (13, 13)));
    assert!(second.high / second.low < first.high / first.low, "{first:?} {second:?}");
    let mut comparer = Comparer::new(Settings::default());
    comparer.interim_test(&side(&base, 5), &side(&slow, 5), &|_| Some(0.5));
    let rows = comparer.interim_test(&side(&base, 13), &side(&base, 13), &|_| Some(0.5));
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
        row.verdict == Verdict::Slower && only(row).time.as_ref().is_none_or(|time| !time.verdict.is_change())
    });
    assert!(found >= 57, "{found} of 60");
}

#[test]
fn a_row_is_open_while_its_mean_may_have_changed() {
    let mean = |verdict, ratio: f64| Estimate {
        ratio,
        verdict,
        ..only(&made::row("a", "ddt", 1, ratio, verdict)).time.clone().unwrap()
    };
    let row = |time, ratio, mean: Option<Estimate>, mean_ratio: f64, verdict| {
        let mut row = made::row("a", "ddt", 1, ratio, time);
        let change = &mut row.changes[0];
        (change.mean, change.new_mean_s) = (mean, Some(1.02e-5 * mean_ratio));
        (change.verdict, row.verdict) = (verdict, verdict);
        row
    };
    assert!(!row(Verdict::Same, 1.0, None, 1.05, Verdict::Same).is_open());
    assert!(row(Verdict::Same, 1.0, None, 2.8, Verdict::Same).is_open());
    assert!(!row(Verdict::Slower, 2.8, None, 2.8, Verdict::Slower).is_open(), "the mean follows the time");
    assert!(!row(Verdict::Same, 1.0, Some(mean(Verdict::Slower, 2.8)), 2.8, Verdict::Slower).is_open());
}
