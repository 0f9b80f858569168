//! What a default run shows: intervals over six launches, of made-up runs and of recorded launches.

use ddtbench::stats;
use ddtbench::stats::launches;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::made_up::{Correlated, SPREAD, drifting_levels, normal, time};
use super::recorded_launches::{Launch, RECORDINGS};
use super::tally::{COLUMNS, Tally};

/// Launches of a default run.
const LAUNCHES: usize = 6;

/// Blocks of each method in a launch: the least, and the quartiles, of the 1,440 of a default run of all tests and methods (MPICH
/// 5.0.2, AMD EPYC, Zen 3); the most were 84.
const BLOCKS: [usize; 4] = [6, 11, 24, 36];

/// By how much launches differ besides, in deviations of a block: not at all, or as much as blocks do.
const BETWEEN: [f64; 2] = [0.0, 1.0];

/// Runs of each kind.
const TRIALS: usize = 4000;

/// The method that the others are compared with.
const BASE: &str = "manual";

/// The phase that counts.
const HEADLINE: &str = "round_trip";

/// Prints how often intervals over the launches of a default run hold the truth.
pub fn print() {
    stationary();
    drifting();
    recorded();
}

/// The medians of the launches of a run whose blocks follow each other with the correlation `rho`, from launch to launch as
/// well, around a level of each block.
fn run(blocks: usize, rho: f64, between: f64, level: &[f64], rng: &mut Pcg64) -> Vec<f64> {
    let mut of = Correlated::new(rho, rng);
    let launch = |levels: &[f64]| {
        let own = between * normal(rng);
        let times = levels.iter().map(|level| time(level + own + of.next(rng), false));
        stats::median(&stats::sorted(times)).expect("a launch has blocks")
    };
    level.chunks_exact(blocks).map(launch).collect()
}

/// By how much the ends of the interval must be moved away from the median, for it to hold 1. In logarithms.
fn needed_factor(launches: &[f64]) -> f64 {
    let (low, high) = launches::location(launches).interval.expect("a run has six launches");
    let middle = stats::median(&stats::sorted(launches.iter().copied())).expect("it has launches").ln();
    if middle > 0.0 { middle / (middle - low.ln()) } else { -middle / (high.ln() - middle) }
}

fn mark(launches: &[f64]) -> bool {
    launches::unsteady(launches).unwrap_or(false)
}

fn stationary() {
    println!("\nDefault runs: {LAUNCHES} launches, stationary, {TRIALS} trials each");
    println!("  blocks   rho  between launches  {COLUMNS}  width");
    for blocks in BLOCKS {
        for rho in [0.0, 0.35, 0.67] {
            for between in BETWEEN {
                let mut rng = Pcg64::seed_from_u64(7);
                let mut tally = Tally::new(mark);
                let mut needed = Vec::new();
                for _ in 0..TRIALS {
                    let launches = run(blocks, rho, between, &vec![0.0; LAUNCHES * blocks], &mut rng);
                    tally.add_launches(&launches, 1.0);
                    needed.push(needed_factor(&launches));
                }
                // Who knows how launches vary takes the factor with which 95% are held.
                let knowing = stats::quantile(&stats::sorted(needed), 0.95).unwrap_or(f64::NAN);
                println!("  {blocks:6}  {rho:.2}  {between:16.1}  {}  {:5.2}", tally.row(), 1.0 / knowing);
            }
        }
    }
}

fn drifting() {
    println!("\nDefault runs whose level changes, rho 0.35 besides, {TRIALS} trials each");
    println!("  blocks  {:20}  between launches  {COLUMNS}  width in percent", "what");
    for blocks in BLOCKS {
        for (name, level) in drifting_levels() {
            for between in BETWEEN {
                let mut rng = Pcg64::seed_from_u64(8);
                let mut tally = Tally::new(mark);
                for _ in 0..TRIALS {
                    let level = level(LAUNCHES * blocks, &mut rng);
                    tally.add_launches(&run(blocks, 0.35, between, &level, &mut rng), 1.0);
                }
                println!(
                    "  {blocks:6}  {name:20}  {between:16.1}  {}  {:5.1}",
                    tally.row(),
                    100.0 * tally.width()
                );
            }
        }
    }
    println!("  (one deviation is {:.0}%)", 100.0 * SPREAD);
}

/// Six launches that follow each other in a recording against the median of all of it.
fn recorded() {
    for recording in &RECORDINGS {
        println!("\nSix launches in a row against the median of all, {}", recording.name);
        println!("  of       {:12}  {COLUMNS}  width in percent  windows", "what");
        for (mpi, launches) in recording.read() {
            windows(&mpi, &launches);
        }
    }
}

fn windows(mpi: &str, launches: &[Launch]) {
    let first = launches.first().expect("a recording has launches");
    let headlines = || first.keys().filter(|(_, _, phase)| phase == HEADLINE);
    // A launch may lack a method, which has failed.
    let series =
        |value: &dyn Fn(&Launch) -> Option<f64>| launches.iter().filter_map(value).collect::<Vec<f64>>();
    let times = |of: &(String, String, String)| series(&|launch| Some(launch.get(of)?.median_s));
    let ratios = |of: &(String, String, String)| {
        let base = (of.0.clone(), BASE.to_owned(), of.2.clone());
        series(&|launch| Some(launch.get(of)?.median_s / launch.get(&base)?.median_s))
    };
    let row = |what: &str, all: Vec<Vec<f64>>, mark: fn(&[f64]) -> bool| {
        let mut tally = Tally::new(mark);
        for series in &all {
            let truth = stats::median(&stats::sorted(series.iter().copied())).expect("there are launches");
            series.windows(LAUNCHES).for_each(|window| tally.add_launches(window, truth));
        }
        let width = 100.0 * tally.width();
        println!("  {mpi:7}  {what:12}  {}  {width:5.1}  {}", tally.row(), tally.trials());
    };
    row("times", headlines().map(times).collect(), mark);
    let parts: fn(&[f64]) -> bool = |ratios| launches::halves_part(ratios).unwrap_or(false);
    row("over manual", headlines().filter(|(_, method, _)| method != BASE).map(ratios).collect(), parts);
}
