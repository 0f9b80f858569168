//! Shows how often `ddtbench compare` is wrong, and which changes it detects: comparisons of recorded launches by its
//! whole rule, including interim tests and stopping. Prints tables; docs/evidence/compare.md has them.
//!
//! A build is compared with itself. Of two neighbouring launches one is on each side, drawn by chance, like with
//! `compare`; or runs of one side follow those of the other, like with `run --repeat`. Any verdict of slower
//! or faster is a false alarm. To count detected changes, a method of each of four tests is made slower on one side:
//! by less and by more than the threshold.
//!
//!     cargo bench -p ddtbench --bench verdicts [-- WORD] [COMPARISONS]

#[path = "../recorded/launches.rs"]
mod recorded;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use ddtbench::compare::{
    Comparer, ComparisonRow, ComparisonUnit, Estimate, Launches, Schedule, Settings, Side, Subject, Turn,
    Verdict, until_decided,
};
use ddtbench::experiments::Kind;
use ddtbench::model::{Case, Phase, Record};
use ddtbench::stats;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use recorded::{IN_TURN, Launch, RECORDINGS, Recorded};

/// Maximum number of launches of each side, as in `compare`.
const MOST: usize = 30;

/// Comparisons of a build with itself, unless an argument gives another number.
const COMPARISONS: usize = 1000;

/// One comparison with a planted change is made for this many without one.
const PER_SEARCH: usize = 5;

/// The test and the method that are made slower.
const SEARCHED: [(&str, &str); 5] = [
    ("nas_lu_y", "ddt"),
    ("milc_su3_zd", "ddt"),
    ("nas_mg_x", "ddt"),
    ("lammps_full", "ddt"),
    ("wrf_x_vec", "manual"),
];

/// The recording is split into this many parts to estimate the error of a rate, because comparisons of one part share
/// launches.
const PARTS: usize = 10;

/// Runs of a side that is a folder of runs: as many as docs/compare.md advises, and fewer.
const RUNS: [usize; 2] = [3, 2];
const RUN_LAUNCHES: usize = 6;

/// The factors by which methods are made slower.
const SLOWER: [f64; 7] = [1.0, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2];

/// The smallest changes that fail a gate.
const THRESHOLDS: [f64; 2] = [0.05, 0.1];

/// How long a comparison measures.
#[derive(Clone, Copy)]
struct Budget {
    name: &'static str,
    /// Maximum number of launches of each side of a case.
    most: usize,
    /// Maximum number of launches of each side of all cases together, in multiples of the number of cases.
    all: usize,
}

/// All launches; time for eight of each case, spent where it decides most; and eight of each case, whatever their
/// result.
const BUDGETS: [Budget; 3] = [
    Budget { name: "until decided, 30 of each at most", most: MOST, all: MOST },
    Budget { name: "time for 8 of each, nearest first", most: MOST, all: 8 },
    Budget { name: "8 of each at most", most: 8, all: 8 },
];

/// A word as an argument selects the recordings with it in their names; a number is the number of comparisons.
fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let number = |argument: &String| argument.parse::<usize>().ok();
    let count = arguments.iter().find_map(number).unwrap_or(COMPARISONS);
    let word = arguments.iter().find(|argument| number(argument).is_none()).cloned().unwrap_or_default();
    for recording in RECORDINGS.iter().chain([&IN_TURN]).filter(|recording| recording.name.contains(&word)) {
        println!("{}\n", recording.name);
        let launches = recording.read();
        print(&launches, count);
        print_runs(&launches, recording.launches_of_a_pause);
        println!();
    }
}

/// Prints the results of the whole rule on the launches of each MPI.
fn print(recorded: &BTreeMap<String, Vec<Launch>>, count: usize) {
    println!(
        "A build compared with itself: share of {count} comparisons with any alarm, and with any interval that misses; with 95% \
         intervals"
    );
    println!(
        "MPI       budget                              alarms  interval       misses  interval       launches  decided"
    );
    for_each_mpi(recorded, |mpi, launches| {
        let line = |budget: Budget| {
            let outcomes = compare_all(launches, count, budget, THRESHOLDS[0], &Planted::default());
            let rate = |is_so: &dyn Fn(&ComparisonRow) -> bool| {
                let all: Vec<f64> =
                    outcomes.iter().map(|o| f64::from(u8::from(o.rows.iter().any(is_so)))).collect();
                let (low, high) = interval(&all);
                format!("{:>5.1}%  {:>4.1} to {:>4.1}%", 100.0 * mean(&all), 100.0 * low, 100.0 * high)
            };
            let decided: Vec<f64> =
                outcomes.iter().map(|o| share(&o.rows, ComparisonRow::is_decided)).collect();
            format!(
                "{mpi:<9} {:<35} {}  {}  {:>8}  {:>6.0}%\n",
                budget.name,
                rate(&is_alarm),
                rate(&|row| times(row).any(|time| misses(time, 1.0))),
                median_launches(&outcomes),
                100.0 * mean(&decided)
            )
        };
        BUDGETS.map(line).concat()
    });
    println!(
        "\nA method of each of up to {} tests is slower, compared without other tests: share of these rows that are called slower, that \
         fail a gate, and that are called the same, in percent; after each number of times as long. Launches: median of the largest \
         number of a case",
        SEARCHED.len()
    );
    println!(
        "MPI       threshold  budget                              launches{}",
        SLOWER.map(|factor| format!("{:>15}", format!("{factor}x"))).join("")
    );
    for_each_mpi(recorded, |mpi, launches| {
        let launches: Vec<Launch> = launches.iter().map(of_searched_tests).collect();
        let line = |threshold: f64, budget: Budget| {
            let of = SLOWER.map(|factor| {
                let planted = Planted { searched: factor, ..Planted::default() };
                compare_all(&launches, count.div_ceil(PER_SEARCH), budget, threshold, &planted)
            });
            let made = of.iter().map(|outcomes| median_launches(outcomes)).max().unwrap_or(0);
            let cells = of.map(|outcomes| {
                let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
                format!("{:>15}", found(rows.filter(|row| is_searched(row))))
            });
            let threshold = 100.0 * threshold;
            format!("{mpi:<9} {threshold:>8}%  {:<35} {made:>8}{}\n", budget.name, cells.concat())
        };
        THRESHOLDS.map(|threshold| line(threshold, BUDGETS[0])).concat()
    });
    print_odd_launches(recorded, count.div_ceil(PER_SEARCH));
}

/// Prints what launches do that take much longer than others: those of a library, which are a result, and those of a disturbed machine.
fn print_odd_launches(recorded: &BTreeMap<String, Vec<Launch>>, count: usize) {
    println!(
        "\nSome launches take much longer, with all tests: share of {count} comparisons with an alarm, share of all intervals that miss \
         the ratio of the expected means, median of the ratios"
    );
    println!("MPI       launches                                         expected  alarms  misses   ratio");
    let libraries: [(&str, [f64; 2], f64); 4] = [
        ("1 in 4 takes 3.0x as long on both sides", [0.25; 2], 3.0),
        ("1 in 3 takes 1.5x as long on both sides", [1.0 / 3.0; 2], 1.5),
        ("1 in 4 takes 3.0x as long on the new side", [0.0, 0.25], 3.0),
        ("1 in 3 takes 1.5x as long on the new side", [0.0, 1.0 / 3.0], 1.5),
    ];
    for_each_mpi(recorded, |mpi, launches| {
        let line = |(name, shares, times_as_long): (&str, [f64; 2], f64)| {
            let expected = f64::powf(times_as_long, shares[1] - shares[0]);
            let planted = Planted { odd: shares, times_as_long, ..Planted::default() };
            let outcomes = compare_all(launches, count, BUDGETS[0], THRESHOLDS[0], &planted);
            let alarms = outcomes.iter().filter(|outcome| outcome.rows.iter().any(is_alarm)).count();
            let all: Vec<&Estimate> = outcomes.iter().flat_map(|of| of.rows.iter().flat_map(times)).collect();
            let missed = all.iter().filter(|time| misses(time, expected)).count();
            let ratio = stats::median(&stats::sorted(all.iter().map(|time| time.ratio))).unwrap_or(f64::NAN);
            format!(
                "{mpi:<9} {name:<48} {expected:>8.2} {:>6.1}% {:>6.1}% {ratio:>7.2}\n",
                100.0 * alarms as f64 / outcomes.len() as f64,
                100.0 * missed as f64 / all.len() as f64,
            )
        };
        libraries.map(line).concat()
    });
    println!(
        "\nOne launch of ten is disturbed and takes 1.5x as long, and a method of each of some tests is slower, as above: percent called \
         slower, failing a gate, and the same"
    );
    println!("MPI      {}", SLOWER.map(|factor| format!("{:>15}", format!("{factor}x"))).join(""));
    for_each_mpi(recorded, |mpi, launches| {
        let launches: Vec<Launch> = launches.iter().map(of_searched_tests).collect();
        let cells = SLOWER.map(|searched| {
            let planted = Planted { searched, odd: [0.1; 2], times_as_long: 1.5, is_disturbance: true };
            let outcomes = compare_all(&launches, count, BUDGETS[0], THRESHOLDS[0], &planted);
            let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
            format!("{:>15}", found(rows.filter(|row| is_searched(row))))
        });
        format!("{mpi:<9}{}\n", cells.concat())
    });
}

/// The faults that are planted into recorded launches.
struct Planted {
    /// The factor of the times of the searched methods on the new side.
    searched: f64,
    /// The share of the launches of each side in which all methods take longer, and the factor.
    odd: [f64; 2],
    times_as_long: f64,
    /// Whether the machine is recorded as disturbed in these launches.
    is_disturbance: bool,
}

impl Default for Planted {
    fn default() -> Self {
        Self { searched: 1.0, odd: [0.0; 2], times_as_long: 1.0, is_disturbance: false }
    }
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

fn of_searched_tests(launch: &Launch) -> Launch {
    let is_of = |test: &str| SEARCHED.iter().any(|(of, _)| *of == test);
    launch.iter().filter(|(of, _)| is_of(&of.0)).map(|(of, recorded)| (of.clone(), *recorded)).collect()
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

/// Prints the results of comparisons of runs, with the runs of one side after those of the other and `pause` launches
/// left out between two runs: of all tests, and with one slower method of each of some tests.
fn print_runs(recorded: &BTreeMap<String, Vec<Launch>>, pause: usize) {
    println!(
        "\nRuns of {RUN_LAUNCHES} launches compared with as many that follow. All tests: comparisons with any alarm, rows with one, and \
         rows that are called the same with each threshold. The slower rows as above, without other tests"
    );
    println!(
        "MPI       runs  alarms       rows           same       threshold{}",
        SLOWER.map(|factor| format!("{:>15}", format!("{factor}x"))).join("")
    );
    for_each_mpi(recorded, |mpi, launches| {
        let searched: Vec<Launch> = launches.iter().map(of_searched_tests).collect();
        let line = |runs: usize| {
            let compared = |launches: &[Launch], threshold: f64, slower: &dyn Fn(&str, &str) -> f64| {
                let windows = launches.windows(2 * side_of(runs, pause) - pause);
                windows.map(|window| compare_runs(window, runs, pause, threshold, slower)).collect::<Vec<_>>()
            };
            let all = THRESHOLDS.map(|threshold| compared(launches, threshold, &|_, _| 1.0));
            let alarms = all[0].iter().filter(|rows| rows.iter().any(is_alarm)).count();
            let rows = all[0].concat();
            let of_rows = rows.iter().filter(|row| is_alarm(row)).count();
            let same =
                all.each_ref().map(|all| 100.0 * share(&all.concat(), |row| row.verdict == Verdict::Same));
            let of_threshold = |threshold: f64| {
                let cells = SLOWER.map(|factor| {
                    let slower = |t: &str, m: &str| if SEARCHED.contains(&(t, m)) { factor } else { 1.0 };
                    let compared = compared(&searched, threshold, &slower);
                    format!("{:>15}", found(compared.iter().flatten().filter(|row| is_searched(row))))
                });
                format!("{:>8}%{}", 100.0 * threshold, cells.concat())
            };
            format!(
                "{mpi:<9} {runs:>4}  {alarms:>3} of {:<3}  {of_rows:>3} of {:<6}  {:>3.0}, {:>3.0}%  {}\n{:>54}{}\n",
                all[0].len(),
                rows.len(),
                same[0],
                same[1],
                of_threshold(THRESHOLDS[0]),
                "",
                of_threshold(THRESHOLDS[1]),
            )
        };
        RUNS.map(line).concat()
    });
}

/// Launches of a side that is a folder of runs, with a pause after each.
const fn side_of(runs: usize, pause: usize) -> usize {
    runs * (RUN_LAUNCHES + pause)
}

/// Compares the first runs of a recording with the following ones.
fn compare_runs(
    launches: &[Launch],
    count: usize,
    pause: usize,
    threshold: f64,
    slower: &dyn Fn(&str, &str) -> f64,
) -> Vec<ComparisonRow> {
    let side = |name: &str, first: usize, slower: &dyn Fn(&str, &str) -> f64| {
        let mut records = runs(name, &launches[first..], count, pause);
        for record in &mut records {
            let factor = slower(&record.case.test, &record.method);
            record.median_s = record.median_s.map(|median| median * factor);
        }
        Side::from_records(name, &records, ComparisonUnit::Run)
    };
    let [base, new] = [side("base", 0, &|_, _| 1.0), side("new", side_of(count, pause), slower)];
    Comparer::new(Settings { threshold, ..Settings::default() }).interim_test(&base, &new, &|_| Some(1.0))
}

/// The runs of a side at the start of a recording. All have different names, because runs are not paired.
fn runs(side: &str, launches: &[Launch], count: usize, pause: usize) -> Vec<Record> {
    let all = launches.chunks(RUN_LAUNCHES + pause).take(count).enumerate();
    let of_run = |(run, launches): (usize, &[Launch])| {
        let launches = launches.iter().take(RUN_LAUNCHES).enumerate();
        launches
            .flat_map(|(number, launch)| launch.iter().map(move |(of, recorded)| (number, of, recorded)))
            .map(|(number, of, recorded)| record(&format!("{side} {run}"), number, of, recorded))
            .collect::<Vec<_>>()
    };
    all.flat_map(of_run).collect()
}

/// The changes of a row's time, in each state of the machine.
fn times(row: &ComparisonRow) -> impl Iterator<Item = &Estimate> {
    row.compared().filter_map(|change| change.time.as_ref())
}

/// Whether an interval misses the true ratio.
fn misses(answer: &Estimate, ratio: f64) -> bool {
    answer.low > ratio || answer.high < ratio
}

/// The result of a comparison.
struct Outcome {
    rows: Vec<ComparisonRow>,
    launches: usize,
}

/// Comparisons that begin at places all over the recording.
fn compare_all(
    launches: &[Launch],
    count: usize,
    budget: Budget,
    threshold: f64,
    planted: &Planted,
) -> Vec<Outcome> {
    let mut random = Pcg64::seed_from_u64(1);
    let window = (2 * MOST).min(launches.len());
    let starts = launches.len() - window + 1;
    // In order, so that neighbours in the list share launches.
    (0..count)
        .map(|i| compare(&launches[i * starts / count..][..window], budget, threshold, planted, &mut random))
        .collect()
}

fn compare(
    launches: &[Launch],
    budget: Budget,
    threshold: f64,
    planted: &Planted,
    random: &mut Pcg64,
) -> Outcome {
    let mut sides = [Vec::new(), Vec::new()];
    for (number, pair) in launches.chunks(2).enumerate() {
        let first = usize::from(random.random::<bool>());
        for (launch, side) in pair.iter().zip([first, 1 - first]) {
            // Each case has its own process.
            let mut odd: BTreeMap<&str, bool> = BTreeMap::new();
            sides[side].extend(launch.iter().map(|(of, recorded)| {
                let mut record = record("", number, of, recorded);
                let is_searched = side == 1 && SEARCHED.contains(&(of.0.as_str(), of.1.as_str()));
                let mut factor = if is_searched { planted.searched } else { 1.0 };
                if *odd.entry(&of.0).or_insert_with(|| random.random::<f64>() < planted.odd[side]) {
                    let is_packing = of.2 == "pack";
                    factor *= if is_packing && !planted.is_disturbance { 1.0 } else { planted.times_as_long };
                    (record.blocks, record.blocks_disturbed) =
                        (10, if planted.is_disturbance { 5 } else { 0 });
                }
                record.median_s = record.median_s.map(|median| median * factor);
                record
            }));
        }
    }
    let cases: BTreeSet<Subject> = sides[0].iter().map(|record| Subject::of_case(&record.case)).collect();
    let left = budget.all * cases.len();
    let mut schedule = Schedule::new(cases, budget.most);
    let settings = Settings { threshold, ..Settings::default() };
    let Ok((_, rows)) = until_decided(&settings, &mut schedule, &mut Simulated { sides, left });
    Outcome { rows: rows.into_iter().flatten().collect(), launches: schedule.most_made() }
}

/// Launches of two sides, and how many may be made.
struct Simulated {
    sides: [Vec<Record>; 2],
    left: usize,
}

impl Launches for Simulated {
    type Error = Infallible;

    /// A launch of each case after the other, as in a measurement, until the time is used up.
    fn make(&mut self, due: &[(&Subject, usize)]) -> Result<Turn, Infallible> {
        self.left = self.left.saturating_sub(due.len());
        Ok(if self.left < due.len() { Turn::Last } else { Turn::Made })
    }

    fn sides(&self, counts: &dyn Fn(&Record) -> bool) -> Vec<Side> {
        let side = |records: &Vec<Record>| {
            Side::from_records("side", records.iter().filter(|record| counts(record)), ComparisonUnit::Launch)
        };
        self.sides.iter().map(side).collect()
    }
}

fn record(
    run: &str,
    launch: usize,
    (test, method, phase): &(String, String, String),
    recorded: &Recorded,
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

/// Student's interval of a rate, from the rates of the parts of the recording.
fn interval(values: &[f64]) -> (f64, f64) {
    let parts: Vec<f64> = values.chunks(values.len().div_ceil(PARTS)).map(mean).collect();
    let (middle, half) = stats::student_interval(&parts, 0.95).unwrap_or((f64::NAN, f64::NAN));
    ((middle - half).max(0.0), middle + half)
}
