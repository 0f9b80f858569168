//! Series whose long-run median is 1.

use std::f64::consts::TAU;

use ddtbench::stats;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::LAUNCHES;
use super::tally::{self, COLUMNS, Tally};

/// Trials of each kind.
const TRIALS: usize = 4000;

/// Numbers of blocks of a single launch: at least ten, mostly some tens.
const BLOCKS: [usize; 6] = [10, 12, 16, 24, 40, 80];

/// Blocks of each method in a launch of a default run: the minimum and the quartiles of the 1,440 in a default run of
/// all tests and methods (MPICH 5.0.2, AMD EPYC, Zen 3). The maximum was 84.
const OF_DEFAULT_RUNS: [usize; 4] = [6, 11, 24, 36];

/// Additional variation between launches, in standard deviations of a block: none, or as much as between blocks.
const BETWEEN: [f64; 2] = [0.0, 1.0];

/// One standard deviation of a block's median, as a share of it.
const SPREAD: f64 = 0.03;

pub fn print() {
    println!("\nOne launch: {TRIALS} series each, neighbours correlated by rho, around a level");
    println!("  blocks   rho  {:20}  {COLUMNS}  width", "level");
    for (n, rho, (name, level)) in cases(&BLOCKS) {
        let mut rng = Pcg64::seed_from_u64(1);
        let trials = (0..TRIALS).map(|_| (times(&series(n, rho, level, &mut rng)), 1.0));
        let tally = Tally::of(tally::BLOCKS, trials);
        let width = tally.over_knowing(stats::known_inflation(rho, n));
        println!("  {n:6}  {rho:.2}  {name:20}  {}  {width:5.2}", tally.row());
    }
    println!("\nDefault runs: {LAUNCHES} launches, {TRIALS} trials each");
    println!("  blocks   rho  {:20}  between launches  {COLUMNS}  width", "level");
    for (n, rho, (name, level)) in cases(&OF_DEFAULT_RUNS) {
        for between in BETWEEN {
            let mut rng = Pcg64::seed_from_u64(7);
            let trials = (0..TRIALS).map(|_| (run(n, rho, level, between, &mut rng), 1.0));
            let tally = Tally::of(tally::LAUNCHES, trials);
            let width = tally.over_knowing(0.0);
            println!("  {n:6}  {rho:.2}  {name:20}  {between:16.1}  {}  {width:5.2}", tally.row());
        }
    }
    stopped();
}

/// All correlations at a constant level, and one at each of the other levels.
fn cases(blocks: &[usize]) -> impl Iterator<Item = (usize, f64, (&'static str, Level))> {
    let constant = [0.0, 0.35, 0.67].map(|rho| (rho, LEVELS[0]));
    let cases = constant.into_iter().chain(LEVELS[1..].iter().map(|level| (0.35, *level)));
    blocks.iter().flat_map(move |&n| cases.clone().map(move |(rho, level)| (n, rho, level)))
}

/// The medians of the launches of a run. Blocks are also correlated from launch to launch.
fn run(blocks: usize, rho: f64, level: Level, between: f64, rng: &mut Pcg64) -> Vec<f64> {
    let all = series(LAUNCHES * blocks, rho, level, rng);
    let mut launch = |deviations: &[f64]| {
        let own = between * normal(rng);
        let of_launch: Vec<f64> = deviations.iter().map(|deviation| deviation + own).collect();
        stats::median(&stats::sorted(times(&of_launch))).expect("a launch has blocks")
    };
    all.chunks_exact(blocks).map(&mut launch).collect()
}

/// A series with correlation `rho` between neighbours, around a level that may change.
fn series(n: usize, rho: f64, level: Level, rng: &mut Pcg64) -> Vec<f64> {
    let noise = correlated(n, rho, rng);
    noise.into_iter().zip(level(n, rng)).map(|(noise, level)| noise + level).collect()
}

/// A stationary series with standard deviation 1 and correlation `rho` between neighbours.
fn correlated(n: usize, rho: f64, rng: &mut Pcg64) -> Vec<f64> {
    let mut now = normal(rng);
    let mut next = || {
        let value = now;
        now = rho * value + (1.0 - rho * rho).sqrt() * normal(rng);
        value
    };
    (0..n).map(|_| next()).collect()
}

/// A normal variable (Box & Muller 1958).
fn normal(rng: &mut Pcg64) -> f64 {
    let mut uniform = || (f64::from(rng.random::<u32>()) + 0.5) / 4_294_967_296.0;
    let (a, b) = (uniform(), uniform());
    (-2.0 * a.ln()).sqrt() * (TAU * b).cos()
}

/// Deviations converted to times with the median 1.
fn times(deviations: &[f64]) -> Vec<f64> {
    deviations.iter().map(|deviation| (SPREAD * deviation).exp()).collect()
}

/// A level in deviations at each block, whose long-run median is 0.
type Level = fn(usize, &mut Pcg64) -> Vec<f64>;

/// The tested levels, by name.
const LEVELS: [(&str, Level); 7] = [
    ("constant", |n, _| vec![0.0; n]),
    ("drift by 1 deviation", |n, _| line(n, 1.0)),
    ("drift by 2", |n, _| line(n, 2.0)),
    ("drift by 4", |n, _| line(n, 4.0)),
    ("slow, 20 blocks", |n, rng| slow(n, 20.0, rng)),
    ("slow, 50 blocks", |n, rng| slow(n, 50.0, rng)),
    ("two states", states),
];

/// A level that moves by `by` standard deviations from the first block to the last; its middle is 0.
fn line(n: usize, by: f64) -> Vec<f64> {
    (0..n).map(|i| by * ((i as f64 + 0.5) / n as f64 - 0.5)).collect()
}

/// A slow component with as much variance as the fast one, which lasts for about `blocks` blocks.
fn slow(n: usize, blocks: f64, rng: &mut Pcg64) -> Vec<f64> {
    correlated(n, (-1.0 / blocks).exp(), rng)
}

/// Two states, three standard deviations apart, that last for 20 and for 10 blocks, relative to the long-run median.
fn states(n: usize, rng: &mut Pcg64) -> Vec<f64> {
    // Two thirds of a normal distribution at 0 and one third at 3 have their median at the x with P(x) + P(x - 3) / 2
    // = 3/4, which is 0.668.
    const MEDIAN: f64 = 0.668;
    let mut is_slow = rng.random::<f64>() < 1.0 / 3.0;
    let mut level = || {
        let stays = if is_slow { 0.9 } else { 0.95 };
        is_slow ^= rng.random::<f64>() >= stays;
        if is_slow { 3.0 - MEDIAN } else { -MEDIAN }
    };
    (0..n).map(|_| level()).collect()
}

/// Rounds until the interval is within 2.5% of the median, as the rank program checks it, at most 400.
fn stopped() {
    const MOST: usize = 400;
    println!("\nStopped when the interval is within 2.5%, {TRIALS} trials each");
    println!("  rho   {COLUMNS}");
    for rho in [0.0, 0.35, 0.67] {
        let mut rng = Pcg64::seed_from_u64(3);
        let trial = |_| {
            let all = times(&correlated(MOST, rho, &mut rng));
            let blocks: Vec<[f64; 1]> = all.iter().map(|&time| [time]).collect();
            let is_over = |&n: &usize| stats::is_time_to_test(n) && stats::is_narrow(&blocks[..n], 0.025);
            let rounds = (1..MOST).find(is_over).unwrap_or(MOST);
            (all[..rounds].to_vec(), 1.0)
        };
        println!("  {rho:.2}  {}", Tally::of(tally::BLOCKS, (0..TRIALS).map(trial)).row());
    }
}
