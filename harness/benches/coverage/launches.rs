//! What a default run shows: intervals over six launches, of made-up runs and of recorded launches.

use std::collections::BTreeMap;
use std::io::Read;

use ddtbench::stats;
use ddtbench::stats::launches;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::made_up::{Correlated, Level, SPREAD, drifting_levels, normal, time};
use super::tally::{COLUMNS, Tally};

/// Launches of a default run.
const LAUNCHES: usize = 6;

/// Blocks of a launch: a default run of the quick tests has 1 to 39, the middle half 6 to 24 (launches.csv of such runs).
const BLOCKS: [usize; 3] = [6, 16, 24];

/// By how much launches differ besides, in deviations of a block: not at all, or as much as blocks do. Real ones differ by more.
const BETWEEN: [f64; 2] = [0.0, 1.0];

/// Runs of each kind.
const TRIALS: usize = 4000;

/// Launches in the order in which they were made, see `recorded/README.md`.
const RECORDED: &[u8] = include_bytes!("../recorded/launches.csv.gz");

/// The method that the others are compared with.
const BASE: &str = "manual";

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
                let level: Level = level;
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

/// A launch's headline medians by test and method.
type Launch = BTreeMap<(String, String), f64>;

/// Six launches that follow each other in the recording against the median of all of it.
fn recorded() {
    println!("\nSix recorded launches against the median of all launches of the recording");
    println!("  of       {:12}  {COLUMNS}  width in percent  windows", "what");
    for (mpi, launches) in read() {
        let series = |of: &(String, String), over: Option<&(String, String)>| -> Vec<f64> {
            let value =
                |launch: &Launch| Some(launch.get(of)? / over.map_or(Some(&1.0), |over| launch.get(over))?);
            launches.iter().filter_map(value).collect()
        };
        let first = launches.first().expect("a recording has launches");
        let all = first.keys().map(|of| series(of, None)).collect();
        let others = first.keys().filter(|(_, method)| method != BASE);
        let ratios = others.map(|of| series(of, Some(&(of.0.clone(), BASE.to_owned())))).collect();
        let row = |what: &str, all: Vec<Vec<f64>>, mark: fn(&[f64]) -> bool| {
            let mut tally = Tally::new(mark);
            for series in &all {
                let truth =
                    stats::median(&stats::sorted(series.iter().copied())).expect("there are launches");
                series.windows(LAUNCHES).for_each(|window| tally.add_launches(window, truth));
            }
            let width = 100.0 * tally.width();
            println!("  {mpi:7}  {what:12}  {}  {width:5.1}  {}", tally.row(), tally.trials());
        };
        row("times", all, mark);
        row("over manual", ratios, |ratios| launches::halves_part(ratios).unwrap_or(false));
    }
}

/// The launches of each MPI, in their order.
fn read() -> BTreeMap<String, Vec<Launch>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(RECORDED).read_to_string(&mut text).expect("a gzipped file");
    let mut all: BTreeMap<String, Vec<Launch>> = BTreeMap::new();
    for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let (mpi, launch, test, method, phase, median): (String, usize, String, String, String, f64) =
            row.expect("a row of a launch");
        if phase == "pack" {
            continue;
        }
        let of_mpi = all.entry(mpi).or_default();
        of_mpi.resize_with(of_mpi.len().max(launch + 1), Launch::new);
        of_mpi[launch].insert((test, method), median);
    }
    all
}
