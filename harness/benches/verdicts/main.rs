//! How often `ddtbench compare` is wrong, and what it finds: comparisons of recorded launches by its whole rule, looks and
//! stopping included. Prints tables; docs/compare.md has them.
//!
//! A build is compared with itself: neighbouring launches are put on one side each, drawn by chance, as `compare` measures
//! them. Any verdict of slower or faster is an alarm. For what is found, one method of one test is made slower on one side.
//!
//!     cargo bench -p ddtbench --bench verdicts

#[path = "../recorded/launches.rs"]
mod recorded;

use std::collections::BTreeMap;

use ddtbench::compare::{Comparer, ComparisonRow, ComparisonUnit, Settings, Side, Verdict, looks};
use ddtbench::experiments::Kind;
use ddtbench::model::{Case, Phase, Record};
use ddtbench::stats;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use recorded::{Launch, RECORDINGS};

/// Launches of each side at most, as `compare` makes them.
const MOST: usize = 20;

/// Comparisons of a build with itself.
const COMPARISONS: usize = 1000;

/// Comparisons of which each tells whether something is found.
const SEARCHES: usize = 200;

/// Parts of the recording whose rates say how much one rate can be off: comparisons of one part share launches.
const PARTS: usize = 10;

/// By how much a method is made slower.
const SLOWER: [f64; 5] = [1.05, 1.1, 1.2, 1.5, 2.0];

fn main() {
    for recording in &RECORDINGS {
        println!("{}\n", recording.name);
        print(&recording.read());
        println!();
    }
}

/// What the whole rule says of the launches of each MPI.
fn print(recorded: &BTreeMap<String, Vec<Launch>>) {
    println!(
        "A build compared with itself: share of {COMPARISONS} comparisons with any alarm, and its 95% interval"
    );
    println!("MPI       alarms  interval       launches, median  rows decided");
    for (mpi, launches) in recorded {
        let outcomes = compare_all(launches, COMPARISONS, &|_, _| 1.0);
        let alarms: Vec<f64> =
            outcomes.iter().map(|o| f64::from(u8::from(o.rows.iter().any(is_alarm)))).collect();
        let (low, high) = interval(&alarms);
        let decided: Vec<f64> =
            outcomes.iter().map(|o| share(&o.rows, |row| row.verdict.is_decided())).collect();
        println!(
            "{mpi:<9} {:>5.1}%  {:>4.1} to {:>4.1}%  {:>16}  {:>11.0}%",
            100.0 * mean(&alarms),
            100.0 * low,
            100.0 * high,
            median_launches(&outcomes),
            100.0 * mean(&decided)
        );
    }
    println!(
        "\nOne method of one test is slower: share of comparisons that find it, and launches that it takes, median"
    );
    println!(
        "MPI       test           method    {}",
        SLOWER.map(|factor| format!("{:>12}", format!("{factor}x"))).join("")
    );
    for (mpi, launches) in recorded {
        for (test, method) in
            [("nas_lu_y", "ddt"), ("milc_su3_zd", "ddt"), ("lammps_full", "ddt"), ("wrf_x_vec", "manual")]
        {
            let cells = SLOWER.map(|factor| {
                let outcomes = compare_all(launches, SEARCHES, &|t, m| {
                    if (t, m) == (test, method) { factor } else { 1.0 }
                });
                let found =
                    |o: &Outcome| f64::from(u8::from(o.rows.iter().any(|row| is_found(row, test, method))));
                let found: Vec<f64> = outcomes.iter().map(found).collect();
                format!("{:>12}", format!("{:.0}% ({})", 100.0 * mean(&found), median_launches(&outcomes)))
            });
            println!("{mpi:<9} {test:<14} {method:<9}{}", cells.join(""));
        }
    }
}

/// What came of a comparison.
struct Outcome {
    rows: Vec<ComparisonRow>,
    launches: usize,
}

/// Comparisons that begin all over the recording. On one side methods take as many times as long as `slower` says.
fn compare_all(launches: &[Launch], count: usize, slower: &dyn Fn(&str, &str) -> f64) -> Vec<Outcome> {
    let mut random = Pcg64::seed_from_u64(1);
    let starts = launches.len() - 2 * MOST + 1;
    // In order, so that neighbours in the list share launches.
    (0..count).map(|i| compare(&launches[i * starts / count..][..2 * MOST], slower, &mut random)).collect()
}

fn compare(launches: &[Launch], slower: &dyn Fn(&str, &str) -> f64, random: &mut Pcg64) -> Outcome {
    let mut sides = [Vec::new(), Vec::new()];
    for (number, pair) in launches.chunks(2).enumerate() {
        let first = usize::from(random.random::<bool>());
        for (launch, side) in pair.iter().zip([first, 1 - first]) {
            let factor = |test: &str, method: &str| if side == 1 { slower(test, method) } else { 1.0 };
            sides[side]
                .extend(launch.iter().map(|(of, median)| record(number, of, median * factor(&of.0, &of.1))));
        }
    }
    let mut comparer = Comparer::new(Settings::default());
    let mut outcome = Outcome { rows: Vec::new(), launches: 0 };
    for look in looks(MOST) {
        let side = |i: usize| {
            let made =
                sides[i].iter().filter(|record: &&Record| record.launch.is_some_and(|launch| launch < look));
            Side::of("side", made, ComparisonUnit::Launch)
        };
        outcome =
            Outcome { rows: comparer.look(&side(0), &side(1), look as f64 / MOST as f64), launches: look };
        if outcome.rows.iter().all(|row| row.verdict.is_decided()) {
            break;
        }
    }
    outcome
}

fn record(launch: usize, (test, method, phase): &(String, String, String), median_s: f64) -> Record {
    let kind = Kind::default();
    let case = Case { experiment: kind.name().to_owned(), test: test.clone(), ..Case::default() };
    Record {
        case: case.into(),
        method: method.clone(),
        launch: Some(launch),
        phase: if phase == "pack" { Phase::Pack } else { kind.headline() },
        pair: Record::ALL_PAIRS.to_owned(),
        median_s: Some(median_s),
        outcome: "converged".to_owned(),
        ..Record::default()
    }
}

fn is_alarm(row: &ComparisonRow) -> bool {
    let answers = [&row.over_control, &row.time];
    answers.into_iter().flatten().any(|answer| matches!(answer.verdict, Verdict::Slower | Verdict::Faster))
}

fn is_found(row: &ComparisonRow, test: &str, method: &str) -> bool {
    row.subject.test == test && row.subject.method == method && row.verdict == Verdict::Slower
}

fn mean(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(f64::NAN)
}

fn share(rows: &[ComparisonRow], is_so: fn(&ComparisonRow) -> bool) -> f64 {
    rows.iter().filter(|row| is_so(row)).count() as f64 / rows.len().max(1) as f64
}

fn median_launches(outcomes: &[Outcome]) -> usize {
    let launches = outcomes.iter().map(|outcome| outcome.launches as f64);
    stats::median(&stats::sorted(launches)).unwrap_or(0.0) as usize
}

/// Student's interval of a rate, from those of the parts of the recording.
fn interval(values: &[f64]) -> (f64, f64) {
    let parts: Vec<f64> = values.chunks(values.len().div_ceil(PARTS)).map(mean).collect();
    let (middle, half) = stats::student_interval(&parts, 0.95).unwrap_or((f64::NAN, f64::NAN));
    ((middle - half).max(0.0), middle + half)
}
