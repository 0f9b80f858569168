//! Replays windows of recordings: does the interval of a window include the median of the whole recording?

use std::path::Path;

use ddtbench::stats;
use serde::Deserialize;

use super::LAUNCHES;
use super::recorded_launches::{Launch, RECORDINGS};
use super::tally::{self, COLUMNS, Judge, Tally};

/// Medians of blocks of runs of 45 s; the README.md in that folder describes how they were made.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/recorded");

/// The method with which the others are compared.
const BASE: &str = "manual";

/// The phase that is judged.
const HEADLINE: &str = "round_trip";

/// A row of `runs.csv`: a run, and the number of rounds in a default run of its test.
#[derive(Deserialize)]
struct RunRow {
    run: String,
    default_rounds: f64,
}

/// A recorded run: for each method the medians of its blocks, round by round.
struct RecordedRun {
    name: String,
    /// Rounds of a window: those of a default run, and at least as many as an interval needs.
    window: usize,
    base: usize,
    medians: Vec<Vec<f64>>,
}

fn read(RunRow { run: name, default_rounds }: RunRow) -> RecordedRun {
    let file = Path::new(FOLDER).join(format!("{name}.csv"));
    let mut reader = csv::Reader::from_path(file).expect("a recorded run is a CSV file");
    let methods = reader.headers().expect("it has a header").clone();
    let base = methods.iter().position(|method| method == BASE).expect("each run has the base");
    let mut medians = vec![Vec::new(); methods.len()];
    for row in reader.deserialize::<Vec<f64>>() {
        let row = row.expect("a row has a number per method");
        medians.iter_mut().zip(row).for_each(|(medians, time)| medians.push(time));
    }
    let window = (default_rounds.round() as usize).max(stats::MIN_ROUNDS);
    RecordedRun { name, window, base, medians }
}

/// Prints how often intervals of windows include the median of their recording.
pub fn print() {
    for recording in &RECORDINGS {
        println!("\nSix launches in a row against the median of all, {}", recording.name);
        println!("  of       {:12}  {COLUMNS}  width in percent  windows", "what");
        recording.read().iter().for_each(|(mpi, launches)| of_launches(mpi, launches));
    }
    let rows = csv::Reader::from_path(Path::new(FOLDER).join("runs.csv")).expect("a part of the project");
    let rows = rows.into_deserialize().map(|row| row.expect("a row is a run and its rounds"));
    let runs: Vec<RecordedRun> = rows.map(read).collect();
    println!("\nWindows of {} recorded runs against the median of the whole run", runs.len());
    println!("  of       {:12}  {COLUMNS}  width in percent  windows", "what");
    for group in ["", "mpich", "openmpi", "busy"] {
        let of_group: Vec<_> = runs.iter().filter(|run| run.name.starts_with(group)).collect();
        let windows = |series: &[f64], n: usize| -> Vec<_> {
            series.chunks_exact(n).map(|window| (window.to_vec(), median(series))).collect()
        };
        let times =
            of_group.iter().flat_map(|run| run.medians.iter().map(|times| (times.clone(), run.window)));
        let ratios = of_group.iter().flat_map(|run| {
            let others = run.medians.iter().enumerate().filter(|(method, _)| *method != run.base);
            others.map(|(_, times)| (over(times, &run.medians[run.base]), run.window))
        });
        row(group, "times", tally::BLOCKS, times.flat_map(|(series, n)| windows(&series, n)));
        row(group, "over manual", tally::RATIOS, ratios.flat_map(|(series, n)| windows(&series, n)));
    }
    verdicts(&runs);
}

fn row(of: &str, what: &str, judge: Judge, windows: impl IntoIterator<Item = (Vec<f64>, f64)>) {
    let tally = Tally::of(judge, windows);
    let (of, width) = (if of.is_empty() { "all" } else { of }, 100.0 * tally.width());
    println!("  {of:7}  {what:12}  {}  {width:5.1}  {}", tally.row(), tally.trials);
}

fn median(series: &[f64]) -> f64 {
    stats::median(&stats::sorted(series.iter().copied())).expect("a recording has values")
}

fn over(times: &[f64], base: &[f64]) -> Vec<f64> {
    times.iter().zip(base).map(|(time, base)| time / base).collect()
}

/// Windows with as many launches as a default run has.
fn of_launches(mpi: &str, launches: &[Launch]) {
    let first = launches.first().expect("a recording has launches");
    let headlines: Vec<_> = first.keys().filter(|(_, _, phase)| phase == HEADLINE).collect();
    let windows = |value: &dyn Fn(&Launch) -> Option<f64>| -> Vec<_> {
        // A launch may lack a method that has failed.
        let series: Vec<f64> = launches.iter().filter_map(value).collect();
        series.windows(LAUNCHES).map(|window| (window.to_vec(), median(&series))).collect()
    };
    let times = headlines.iter().flat_map(|of| windows(&|launch| Some(launch.get(*of)?.median_s)));
    row(mpi, "times", tally::LAUNCHES, times);
    let ratios = headlines.iter().filter(|(_, method, _)| method != BASE).flat_map(|of| {
        let base = (of.0.clone(), BASE.to_owned(), of.2.clone());
        windows(&|launch| Some(launch.get(*of)?.median_s / launch.get(&base)?.median_s))
    });
    row(mpi, "over manual", tally::LAUNCH_RATIOS, ratios);
}

/// The verdicts of windows on each pair of methods, compared with those of the whole run.
fn verdicts(runs: &[RecordedRun]) {
    println!("\nVerdicts of windows as long as a default run on each pair of methods");
    println!("  of       drawn  contradict the run  unsteady  no difference  windows");
    for group in ["", "mpich", "openmpi", "busy"] {
        let (mut drawn, mut wrong, mut unsteady, mut all) = (0, 0, 0, 0);
        for run in runs.iter().filter(|run| run.name.starts_with(group)) {
            let pairs = (0..run.medians.len()).flat_map(|i| (i + 1..run.medians.len()).map(move |j| (j, i)));
            for (times, base) in pairs.map(|(j, i)| (&run.medians[j], &run.medians[i])) {
                let of_run = ratio(times, base).value;
                for (times, base) in times.chunks_exact(run.window).zip(base.chunks_exact(run.window)) {
                    let now = ratio(times, base);
                    let side =
                        now.interval.map_or(0, |(low, high)| i8::from(low > 1.0) - i8::from(high < 1.0));
                    all += 1;
                    unsteady += usize::from(now.unsteady);
                    drawn += usize::from(!now.unsteady && side != 0);
                    wrong += usize::from(!now.unsteady && f64::from(side) * (of_run - 1.0) < 0.0);
                }
            }
        }
        let of = if group.is_empty() { "all" } else { group };
        let [drawn, wrong, unsteady, level] =
            [drawn, wrong, unsteady, all - drawn - unsteady].map(|n| 100.0 * n as f64 / all as f64);
        println!("  {of:7} {drawn:6.1}  {wrong:18.1}  {unsteady:8.1}  {level:13.1}  {all}");
    }
}

/// The ratio of two methods' times, round by round.
fn ratio(times: &[f64], base: &[f64]) -> stats::Ratio {
    let pairs = times.iter().copied().zip(base.iter().copied());
    stats::paired_ratio(pairs).expect("times are above 0")
}
