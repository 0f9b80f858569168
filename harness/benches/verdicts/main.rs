//! Shows how often `ddtbench compare` is wrong, and which changes it detects: comparisons of recorded launches by its
//! whole rule, including interim tests and stopping. Prints tables; docs/evidence/compare.md has them.
//!
//! A build is compared with itself. Of two neighbouring launches one is on each side, drawn by chance, like
//! with `compare`; or runs of one side follow those of the other, like with `run --repeat`. Any verdict of
//! slower or faster is a false alarm. To count detected changes, a method of each test is made slower on one
//! side: by less and by more than the threshold.
//!
//!     cargo bench -p ddtbench --bench verdicts [-- COMPARISONS]

mod recorded;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use ddtbench::compare::{
    Comparer, ComparisonRow, ComparisonUnit, Launches, Schedule, Settings, Side, Subject, Turn, Verdict,
    until_decided,
};
use ddtbench::experiments::Kind;
use ddtbench::model::{Case, Phase, Record};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use recorded::{Launch, RecordedCase};

/// Maximum number of launches of each side, as in `compare`.
const MOST: usize = 30;

/// Comparisons of a build with itself, unless an argument gives another number.
const COMPARISONS: usize = 1000;

/// One comparison with a planted change is made for this many without one.
const PER_SEARCH: usize = 5;

/// The test and the method that are made slower.
const SEARCHED: [(&str, &str); 3] = [("nas_lu_y", "ddt"), ("milc_su3_zd", "ddt"), ("nas_mg_x", "ddt")];

/// Runs of a side that is a folder of runs, as many as docs/compare.md advises, and their launches.
const RUNS: usize = 3;
const RUN_LAUNCHES: usize = 6;

/// The factors by which methods are made slower.
const SLOWER: [f64; 7] = [1.0, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2];

/// The argument is the number of comparisons.
fn main() {
    let count = std::env::args().find_map(|argument| argument.parse::<usize>().ok()).unwrap_or(COMPARISONS);
    let launches = recorded::launches_in_turn();
    print(&launches, count);
    print_runs(&launches);
}

/// Prints the results of the whole rule on the launches of each MPI.
fn print(recorded: &BTreeMap<String, Vec<Launch>>, count: usize) {
    println!("A build compared with itself: share of {count} comparisons with any alarm\nMPI       alarms");
    for_each_mpi(recorded, |mpi, launches| {
        let all = compare_all(launches, count, 1.0);
        let alarms = all.iter().filter(|rows| rows.iter().any(is_alarm)).count();
        format!("{mpi:<9} {:>5.1}%\n", 100.0 * alarms as f64 / count as f64)
    });
    println!(
        "\nA method of each test is slower, compared without other tests: share of these rows that are called slower, that fail a gate, \
         and that are called the same, in percent; after each number of times as long"
    );
    print_factors("");
    for_each_mpi(recorded, |mpi, launches| {
        let of = SLOWER.map(|slower| compare_all(launches, count.div_ceil(PER_SEARCH), slower));
        format!("{mpi:<9} {:>8}{}\n", "", of.map(|compared| found_in(&compared.concat())).concat())
    });
}

/// The head of a table with a column for each factor.
fn print_factors(name: &str) {
    println!("MPI       {name:>8}{}", SLOWER.map(|factor| format!("{:>15}", format!("{factor}x"))).concat());
}

/// The percentages of rows that are called slower, that fail a gate, and that are called the same.
fn found<'a>(rows: impl Iterator<Item = &'a ComparisonRow>) -> String {
    let rows: Vec<&ComparisonRow> = rows.collect();
    let share = |is_so: &dyn Fn(&ComparisonRow) -> bool| {
        100.0 * rows.iter().filter(|row| is_so(row)).count() as f64 / rows.len().max(1) as f64
    };
    let is_slower = |row: &ComparisonRow| row.verdict == Verdict::Slower;
    let [slower, fails, same] = [
        share(&is_slower),
        share(&|row| is_slower(row) && row.is_beyond()),
        share(&|row| row.verdict == Verdict::Same),
    ];
    format!("{slower:.0} {fails:.0} {same:.0}")
}

fn is_searched(row: &ComparisonRow) -> bool {
    SEARCHED.contains(&(row.subject.test.as_str(), row.subject.method.as_str()))
}

/// The same of the searched rows, as a cell of a table.
fn found_in(rows: &[ComparisonRow]) -> String {
    format!("{:>15}", found(rows.iter().filter(|row| is_searched(row))))
}

/// Prints a report for each MPI. They are computed in parallel, because each takes more than a minute.
fn for_each_mpi(recorded: &BTreeMap<String, Vec<Launch>>, report: impl Fn(&str, &[Launch]) -> String + Sync) {
    let report = &report;
    std::thread::scope(|scope| {
        let each = recorded.iter().map(|(mpi, launches)| scope.spawn(move || report(mpi, launches)));
        for text in each.collect::<Vec<_>>() {
            print!("{}", text.join().expect("it does not panic"));
        }
    });
}

/// Prints the results of comparisons of runs, with the runs of one side after those of the other: of equal
/// sides, and with slower methods on one side.
fn print_runs(recorded: &BTreeMap<String, Vec<Launch>>) {
    println!(
        "\n{RUNS} runs of {RUN_LAUNCHES} launches compared with as many that follow: comparisons with any alarm, and rows with one. The \
         slower rows as above"
    );
    print_factors("alarms");
    for_each_mpi(recorded, |mpi, launches| {
        let compared = |slower: f64| {
            let windows = launches.windows(2 * RUNS * RUN_LAUNCHES);
            windows.map(|window| compare_runs(window, slower)).collect::<Vec<_>>()
        };
        let all = compared(1.0);
        let alarms = all.iter().filter(|rows| rows.iter().any(is_alarm)).count();
        let cells = SLOWER.map(|factor| found_in(&compared(factor).concat()));
        let rows = all.concat();
        let of_rows = rows.iter().filter(|row| is_alarm(row)).count();
        format!("{mpi:<9} {alarms} of {}, {of_rows} of {}{}\n", all.len(), rows.len(), cells.concat())
    });
}

/// Compares the first runs of a recording with the following ones.
fn compare_runs(launches: &[Launch], slower: f64) -> Vec<ComparisonRow> {
    let side = |name: &str, launches: &[Launch], slower: f64| {
        let mut records = runs(name, launches);
        for record in &mut records {
            let is_slower = SEARCHED.contains(&(&*record.case.test, &*record.method));
            record.median_s = record.median_s.map(|median| if is_slower { median * slower } else { median });
        }
        Side::from_records(name, &records, ComparisonUnit::Run)
    };
    let (base, new) = launches.split_at(RUNS * RUN_LAUNCHES);
    let [base, new] = [side("base", base, 1.0), side("new", new, slower)];
    Comparer::new(Settings::default()).interim_test(&base, &new, &|_| Some(1.0))
}

/// The runs of a side. All have different names, because runs are not paired.
fn runs(side: &str, launches: &[Launch]) -> Vec<Record> {
    let of_launch = |(number, launch): (usize, &Launch)| {
        let run = format!("{side} {}", number / RUN_LAUNCHES);
        let of = launch.iter().map(|(of, recorded)| record(&run, number % RUN_LAUNCHES, of, recorded));
        of.collect::<Vec<_>>()
    };
    launches.iter().enumerate().flat_map(of_launch).collect()
}

/// Comparisons that begin at places all over the recording. The searched methods take so many times as long on one side.
fn compare_all(launches: &[Launch], count: usize, slower: f64) -> Vec<Vec<ComparisonRow>> {
    let mut random = Pcg64::seed_from_u64(1);
    let window = (2 * MOST).min(launches.len());
    let starts = launches.len() - window + 1;
    // In order, so that neighbours in the list share launches.
    (0..count).map(|i| compare(&launches[i * starts / count..][..window], slower, &mut random)).collect()
}

fn compare(launches: &[Launch], slower: f64, random: &mut Pcg64) -> Vec<ComparisonRow> {
    let mut sides = [Vec::new(), Vec::new()];
    for (number, pair) in launches.chunks(2).enumerate() {
        let first = usize::from(random.random::<bool>());
        for (launch, side) in pair.iter().zip([first, 1 - first]) {
            sides[side].extend(launch.iter().map(|(of, recorded)| {
                let mut record = record("", number, of, recorded);
                let is_searched = side == 1 && SEARCHED.contains(&(of.0.as_str(), of.1.as_str()));
                let factor = if is_searched { slower } else { 1.0 };
                record.median_s = record.median_s.map(|median| median * factor);
                record
            }));
        }
    }
    let cases: BTreeSet<Subject> = sides[0].iter().map(|record| Subject::of_case(&record.case)).collect();
    let mut schedule = Schedule::new(cases, MOST);
    let settings = Settings::default();
    let Ok((_, rows)) = until_decided(&settings, &mut schedule, &mut Simulated(sides));
    rows.into_iter().flatten().collect()
}

/// Launches of two sides.
struct Simulated([Vec<Record>; 2]);

impl Launches for Simulated {
    type Error = Infallible;

    fn make(&mut self, _: &[(&Subject, usize)]) -> Result<Turn, Infallible> {
        Ok(Turn::Made)
    }

    fn sides(&self, counts: &dyn Fn(&Record) -> bool) -> Vec<Side> {
        let side = |records: &Vec<Record>| {
            Side::from_records("side", records.iter().filter(|record| counts(record)), ComparisonUnit::Launch)
        };
        self.0.iter().map(side).collect()
    }
}

fn record(
    run: &str,
    launch: usize,
    (test, method, phase): &(String, String, String),
    recorded: &RecordedCase,
) -> Record {
    let kind = Kind::default();
    let case =
        Case { run: run.to_owned(), experiment: kind, test: test.clone(), hosts: 1, ..Case::default() };
    Record {
        case: case.into(),
        method: method.clone(),
        launch: Some(launch),
        phase: if phase == "pack" { Phase::Pack } else { kind.headline() },
        median_s: Some(recorded.median_s),
        state_latency_s: recorded.state_latency_s,
        state_copy_bytes_per_s: recorded.state_copy_bytes_per_s,
        ..Record::default()
    }
}

fn is_alarm(row: &ComparisonRow) -> bool {
    row.verdict.is_change()
}
