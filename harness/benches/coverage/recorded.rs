//! Windows of long runs, replayed: does the interval of a window hold the median of the whole run?

use std::path::Path;

use ddtbench::stats;
use serde::Deserialize;

use super::tally::{COLUMNS, Tally};

/// Medians of blocks of runs of 45 s; README.md beside them says how they were made.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/recorded");

/// Lengths of windows, in those of a default run of the same test.
const LENGTHS: [f64; 3] = [0.5, 1.0, 2.0];

/// Fewest rounds of a window: fewer have no interval.
const FEWEST: usize = stats::MIN_ROUNDS;

/// The method that the others are compared with.
const BASE: &str = "manual";

/// A row of `runs.csv`: a run, and the rounds that a default run of its test has.
#[derive(Deserialize)]
struct RunRow {
    run: String,
    default_rounds: f64,
}

/// A run: the methods' names, and per method the medians of its blocks, round by round.
struct RecordedRun {
    name: String,
    default_rounds: f64,
    methods: Vec<String>,
    medians: Vec<Vec<f64>>,
}

fn read(RunRow { run: name, default_rounds }: RunRow) -> RecordedRun {
    let file = Path::new(FOLDER).join(format!("{name}.csv"));
    let mut reader = csv::Reader::from_path(file).expect("a recorded run is a CSV file");
    let methods: Vec<String> = reader.headers().expect("it has a header").iter().map(str::to_owned).collect();
    let mut medians = vec![Vec::new(); methods.len()];
    for row in reader.deserialize::<Vec<f64>>() {
        let row = row.expect("a row has a number per method");
        medians.iter_mut().zip(row).for_each(|(medians, time)| medians.push(time));
    }
    RecordedRun { name, default_rounds, methods, medians }
}

impl RecordedRun {
    /// The times of each method.
    fn times(&self) -> Vec<Vec<f64>> {
        self.medians.clone()
    }

    /// The ratio of each other method to the base, round by round.
    fn ratios(&self) -> Vec<Vec<f64>> {
        let base = self.methods.iter().position(|method| method == BASE).expect("each run has the base");
        let over = |times: &Vec<f64>| -> Vec<f64> {
            times.iter().zip(&self.medians[base]).map(|(time, base)| time / base).collect()
        };
        let others = self.medians.iter().enumerate().filter(|(method, _)| *method != base);
        others.map(|(_, times)| over(times)).collect()
    }
}

impl RecordedRun {
    /// The times of each pair of methods.
    fn pairs(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let with_later = |first: usize| self.medians[first + 1..].iter().map(move |later| (first, later));
        let pairs = (0..self.medians.len()).flat_map(with_later);
        pairs.map(|(first, later)| (&later[..], &self.medians[first][..]))
    }
}

/// Prints how often intervals of windows hold the median of their run.
pub fn print() {
    let file = Path::new(FOLDER).join("runs.csv");
    let rows = csv::Reader::from_path(file).expect("the recorded runs are part of the project");
    let rows = rows.into_deserialize().map(|row| row.expect("a row is a run and its rounds"));
    let runs: Vec<RecordedRun> = rows.map(read).collect();
    println!("\nWindows of {} recorded runs against the median of the whole run", runs.len());
    println!("  default runs  {:7}  {:12}  {COLUMNS}  width in percent  windows", "of", "what");
    for length in LENGTHS {
        for group in ["", "mpich", "openmpi", "busy"] {
            let of_group: Vec<_> = runs.iter().filter(|run| run.name.starts_with(group)).collect();
            let row = |what: &str, series: fn(&RecordedRun) -> Vec<Vec<f64>>, mark: fn(&[f64]) -> bool| {
                let mut tally = Tally::new(mark);
                for run in &of_group {
                    let n = ((run.default_rounds * length).round() as usize).max(FEWEST);
                    for series in series(run) {
                        let sorted = stats::sorted(series.iter().copied());
                        let truth = stats::median(&sorted).expect("runs have rounds");
                        series.chunks_exact(n).for_each(|window| tally.add(window, truth));
                    }
                }
                let of = if group.is_empty() { "all" } else { group };
                let width = 100.0 * tally.width();
                println!(
                    "  {length:12.1}  {of:7}  {what:12}  {}  {width:5.1}  {}",
                    tally.row(),
                    tally.trials()
                );
            };
            row("times", RecordedRun::times, stats::unsteady);
            row("over manual", RecordedRun::ratios, stats::halves_part);
        }
    }
    verdicts(&runs);
}

/// What windows as long as a default run say of each pair of methods, against what the whole run says: as verdicts are
/// drawn, and as they were before, where plain intervals of the two medians part.
fn verdicts(runs: &[RecordedRun]) {
    println!("\nVerdicts of windows as long as a default run on each pair of methods");
    println!(
        "  of       drawn  contradict the run  unsteady  no difference  before: drawn  contradict  windows"
    );
    for group in ["", "mpich", "openmpi", "busy"] {
        let (mut drawn, mut wrong, mut unsteady, mut before, mut wrong_before, mut all) = (0, 0, 0, 0, 0, 0);
        for run in runs.iter().filter(|run| run.name.starts_with(group)) {
            let n = (run.default_rounds.round() as usize).max(FEWEST);
            for (times, base) in run.pairs() {
                let of_run = ratio(times, base).value;
                for (times, base) in times.chunks_exact(n).zip(base.chunks_exact(n)) {
                    let side = |low: f64, high: f64| f64::from(i8::from(low > 1.0) - i8::from(high < 1.0));
                    let now = ratio(times, base);
                    let now_side = now.interval.map_or(0.0, |(low, high)| side(low, high));
                    let plain = |times: &[f64]| stats::median_interval(&stats::sorted(times.iter().copied()));
                    let parts = plain(times).zip(plain(base));
                    let then_side = parts.map_or(0.0, |(a, b)| side(a.0 / b.1, a.1 / b.0));
                    let contradicts = |side: f64| side * (of_run - 1.0) < 0.0;
                    all += 1;
                    unsteady += usize::from(now.unsteady);
                    drawn += usize::from(!now.unsteady && now_side != 0.0);
                    wrong += usize::from(!now.unsteady && contradicts(now_side));
                    before += usize::from(then_side != 0.0);
                    wrong_before += usize::from(contradicts(then_side));
                }
            }
        }
        let of = if group.is_empty() { "all" } else { group };
        let level = all - drawn - unsteady;
        let [drawn, wrong, unsteady, level, before, wrong_before] =
            [drawn, wrong, unsteady, level, before, wrong_before].map(|n| 100.0 * n as f64 / all as f64);
        println!(
            "  {of:7} {drawn:6.1}  {wrong:18.1}  {unsteady:8.1}  {level:13.1}  {before:13.1}  \
             {wrong_before:10.1}  {all}"
        );
    }
}

/// The ratio of two methods' times, round by round.
fn ratio(times: &[f64], base: &[f64]) -> stats::Ratio {
    let pairs = times.iter().copied().zip(base.iter().copied());
    stats::paired_ratio(pairs).expect("times are above 0")
}
