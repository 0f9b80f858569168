//! Series whose long-run median is known.

use std::f64::consts::TAU;
use std::hint::black_box;
use std::time::Instant;

use ddtbench::stats;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::oracle::Oracle;
use super::tally::{COLUMNS, Tally};

/// Trials of each kind.
const TRIALS: usize = 4000;

/// Numbers of blocks: default runs have ten at least, mostly some tens (docs/evidence/statistics.md).
const BLOCKS: [usize; 6] = [10, 12, 16, 24, 40, 80];

/// One deviation of a block's median, as a share of it.
pub const SPREAD: f64 = 0.03;

/// Prints all tables.
pub fn print() {
    correlated();
    drifting();
    oracle();
    compared();
    stopped();
    timed();
}

/// A normal variable (Box & Muller 1958).
pub fn normal(rng: &mut Pcg64) -> f64 {
    let mut uniform = || (f64::from(rng.random::<u32>()) + 0.5) / 4_294_967_296.0;
    let (a, b) = (uniform(), uniform());
    (-2.0 * a.ln()).sqrt() * (TAU * b).cos()
}

/// A stationary series of deviation 1 in which neighbours have the correlation `rho`.
pub struct Correlated {
    rho: f64,
    now: f64,
}

impl Correlated {
    /// Begins at any value.
    pub fn new(rho: f64, rng: &mut Pcg64) -> Self {
        Self { rho, now: normal(rng) }
    }

    /// The next value.
    pub fn next(&mut self, rng: &mut Pcg64) -> f64 {
        let value = self.now;
        self.now = self.rho * value + (1.0 - self.rho * self.rho).sqrt() * normal(rng);
        value
    }
}

/// How deviations become times with the median 1.
pub fn time(deviation: f64, is_skewed: bool) -> f64 {
    // With a tail to the right alone: a third of the deviations are twice and three times as large.
    let skew = if is_skewed && deviation > 0.5 { 2.0 * deviation - 0.5 } else { deviation };
    (SPREAD * skew).exp()
}

fn correlated() {
    println!("\nStationary series, {TRIALS} trials each");
    println!("  blocks   rho  times   {COLUMNS}  width  over the law's  law covers");
    for n in BLOCKS {
        for rho in [0.0, 0.35, 0.67] {
            let law = stats::known_inflation(rho, n);
            for (name, is_skewed) in [("normal", false), ("skewed", true)] {
                let (law_covers, holds) = knowing(rho, n, law, is_skewed);
                let mut rng = Pcg64::seed_from_u64(1);
                let mut tally = Tally::new(stats::unsteady);
                for _ in 0..TRIALS {
                    let mut of = Correlated::new(rho, &mut rng);
                    let series: Vec<f64> = (0..n).map(|_| time(of.next(&mut rng), is_skewed)).collect();
                    tally.add(&series, 1.0);
                }
                let (width, over_law) = (tally.over_plain() / law.max(holds), tally.over_plain() / law);
                let row = tally.row();
                println!(
                    "  {n:6}  {rho:.2}  {name:6}  {row}  {width:5.3}  {over_law:14.3}  {law_covers:10.1}"
                );
            }
        }
    }
}

/// The interval that knows rho: the share in percent that it holds with the inflation of the arcsine `law`, and the
/// inflation with which it holds 95%. The law is that of long series.
fn knowing(rho: f64, n: usize, law: f64, is_skewed: bool) -> (f64, f64) {
    let mut rng = Pcg64::seed_from_u64(6);
    let needed = (0..4 * TRIALS).map(|_| {
        let mut of = Correlated::new(rho, &mut rng);
        let logarithms = (0..n).map(|_| time(of.next(&mut rng), is_skewed).ln());
        let values = stats::sorted(logarithms);
        let (low, high) = stats::median_interval(&values).expect("there are six values");
        let middle = stats::median(&values).expect("there are values");
        // The truth is 0, the logarithm of 1.
        if middle > 0.0 { middle / (middle - low) } else { -middle / (high - middle) }
    });
    let needed = stats::sorted(needed);
    let covered = needed.partition_point(|&needed| needed <= law) as f64 / needed.len() as f64;
    (100.0 * covered, stats::quantile(&needed, 0.95).unwrap_or(f64::NAN))
}

/// A level that changes, in deviations, at each block; its long-run median is 0.
pub type Level = fn(usize, &mut Pcg64) -> Vec<f64>;

/// A level that moves by so many deviations from the first block to the last; what counts is that of the middle.
fn line(n: usize, by: f64) -> Vec<f64> {
    (0..n).map(|i| by * ((i as f64 + 0.5) / n as f64 - 0.5)).collect()
}

/// A slow part with as much variance as the fast one, that lasts for about so many blocks.
fn slow(n: usize, blocks: f64, rng: &mut Pcg64) -> Vec<f64> {
    let mut of = Correlated::new((-1.0 / blocks).exp(), rng);
    (0..n).map(|_| of.next(rng)).collect()
}

/// Two states, three deviations apart, that last for 20 and for 10 blocks; seen from the long-run median.
fn states(n: usize, rng: &mut Pcg64) -> Vec<f64> {
    // Two thirds of a normal distribution at 0 and a third of one at 3 have their median where P(x) + P(x - 3) / 2 =
    // 3/4, at 0.668.
    const MEDIAN: f64 = 0.668;
    let mut is_slow = rng.random::<f64>() < 1.0 / 3.0;
    let mut level = || {
        let stays = if is_slow { 0.9 } else { 0.95 };
        is_slow ^= rng.random::<f64>() >= stays;
        if is_slow { 3.0 - MEDIAN } else { -MEDIAN }
    };
    (0..n).map(|_| level()).collect()
}

/// The levels that are tried, by name.
pub fn drifting_levels() -> [(&'static str, Level); 6] {
    [
        ("drift by 1 deviation", |n, _| line(n, 1.0)),
        ("drift by 2", |n, _| line(n, 2.0)),
        ("drift by 4", |n, _| line(n, 4.0)),
        ("slow, 20 blocks", |n, rng| slow(n, 20.0, rng)),
        ("slow, 50 blocks", |n, rng| slow(n, 50.0, rng)),
        ("two states", states),
    ]
}

fn drifting() {
    println!("\nSeries that do not keep their level, rho 0.35 besides, {TRIALS} trials each");
    println!("  blocks  {:20}  {COLUMNS}  width in percent", "what");
    for n in BLOCKS {
        for (name, level) in drifting_levels() {
            let mut rng = Pcg64::seed_from_u64(2);
            let mut tally = Tally::new(stats::unsteady);
            for _ in 0..TRIALS {
                let mut of = Correlated::new(0.35, &mut rng);
                let level = level(n, &mut rng);
                let series: Vec<f64> =
                    level.iter().map(|level| time(level + of.next(&mut rng), false)).collect();
                tally.add(&series, 1.0);
            }
            println!("  {n:6}  {name:20}  {}  {:5.1}", tally.row(), 100.0 * tally.width());
        }
    }
}

/// What the best mark could do that knows all of the slow part but its level, with the intervals as they are.
fn oracle() {
    println!("\nCovered, or marked by the best test that knows the slow part, {TRIALS} trials each");
    println!("  blocks  what             covered  covered or marked");
    for n in BLOCKS {
        for (name, blocks) in [("slow, 20 blocks", 20.0), ("slow, 50 blocks", 50.0)] {
            let oracle = Oracle::new(n, |lag| 0.35_f64.powi(lag) + (-f64::from(lag) / blocks).exp());
            let of = |rho: f64, with_slow: bool| -> Vec<(f64, bool)> {
                let mut rng = Pcg64::seed_from_u64(2);
                let mut trial = || {
                    let mut of = Correlated::new(rho, &mut rng);
                    let level = if with_slow { slow(n, blocks, &mut rng) } else { vec![0.0; n] };
                    let series: Vec<f64> =
                        level.iter().map(|level| SPREAD * (level + of.next(&mut rng))).collect();
                    let (low, high) = interval(&series);
                    (oracle.suspicion(&series, (low, high)), low <= 0.0 && 0.0 <= high)
                };
                (0..TRIALS).map(|_| trial()).collect()
            };
            let independent = stats::sorted(of(0.0, false).into_iter().map(|(suspicion, _)| suspicion));
            let limit = stats::quantile(&independent, 0.9).unwrap_or(f64::NAN);
            let trials = of(0.35, true);
            let share = |holds: fn(f64, bool, f64) -> bool| {
                let count =
                    trials.iter().filter(|&&(suspicion, covered)| holds(suspicion, covered, limit)).count();
                100.0 * count as f64 / TRIALS as f64
            };
            let covered = share(|_, covered, _| covered);
            let either = share(|suspicion, covered, limit| covered || suspicion > limit);
            println!("  {n:6}  {name}  {covered:7.1}  {either:17.1}");
        }
    }
}

/// The interval of logarithms of times, in logarithms.
fn interval(logarithms: &[f64]) -> (f64, f64) {
    let times: Vec<f64> = logarithms.iter().map(|logarithm| logarithm.exp()).collect();
    let (low, high) = stats::series_interval(&times).expect("there are six values");
    (low.ln(), high.ln())
}

/// Two methods that share a slow state, with samples of each round: the ratio of the two, of which an overhead is what it leaves of 1.
fn compared() {
    const SAMPLES: usize = 5;
    const OF_RATIOS: usize = TRIALS / 4;
    println!(
        "\nTwo methods in the same rounds, their shared state a slow part of 50 blocks, {OF_RATIOS} trials each"
    );
    println!("  blocks   rho  ratios covered  marked");
    for n in BLOCKS {
        for rho in [0.0, 0.35] {
            let mut rng = Pcg64::seed_from_u64(4);
            let (mut ratios, mut marked) = (0, 0);
            for _ in 0..OF_RATIOS {
                let slowness = slow(n, 50.0, &mut rng);
                let mut method = |level: f64| -> Vec<[f64; SAMPLES]> {
                    let mut of = Correlated::new(rho, &mut rng);
                    let mut block = |slowness: &f64| {
                        let own = of.next(&mut rng);
                        [(); SAMPLES].map(|()| level * time(slowness + own + 0.5 * normal(&mut rng), false))
                    };
                    slowness.iter().map(&mut block).collect()
                };
                let (one, reference) = (method(2.0), method(1.0));
                let middle =
                    |block: &[f64; SAMPLES]| stats::median(&stats::sorted(*block)).unwrap_or(f64::NAN);
                let pairs = one.iter().zip(&reference);
                let ratio = stats::paired_ratio(pairs.map(|(a, b)| (middle(a), middle(b))));
                let ratio = ratio.expect("all times are above 0");
                let holds = |interval: Option<(f64, f64)>, truth: f64| {
                    interval.is_some_and(|(low, high)| low <= truth && truth <= high)
                };
                ratios += usize::from(holds(ratio.interval, 2.0));
                marked += usize::from(ratio.unsteady);
            }
            let [ratios, marked] = [ratios, marked].map(|count| 100.0 * count as f64 / OF_RATIOS as f64);
            println!("  {n:6}  {rho:.2}  {ratios:14.1}  {marked:6.1}");
        }
    }
}

/// What a look costs.
fn timed() {
    println!("\nTime of an interval and a mark");
    for n in [40, 400, 4000] {
        let mut rng = Pcg64::seed_from_u64(5);
        let series: Vec<f64> = (0..n).map(|_| time(normal(&mut rng), false)).collect();
        let start = Instant::now();
        let mut count = 0_u32;
        while start.elapsed().as_secs_f64() < 0.1 {
            black_box((stats::series_interval(&series), stats::unsteady(&series)));
            count += 1;
        }
        println!("  {n:6} blocks  {:8.1} us", 1e6 * start.elapsed().as_secs_f64() / f64::from(count));
    }
}

/// Rounds until the interval lies within 2.5% of the median, looked at as the rank program does, 400 at most.
fn stopped() {
    const MOST: usize = 400;
    println!("\nStopped when the interval lies within 2.5%, {TRIALS} trials each");
    println!("  rho   deviation  {COLUMNS}  median rounds");
    for rho in [0.0, 0.35, 0.67] {
        for spread in [0.03, 0.06] {
            let mut rng = Pcg64::seed_from_u64(3);
            let (mut tally, mut rounds) = (Tally::new(stats::unsteady), Vec::new());
            for _ in 0..TRIALS {
                let mut of = Correlated::new(rho, &mut rng);
                let mut blocks: Vec<[f64; 1]> = Vec::new();
                while blocks.len() < MOST {
                    blocks.push([(spread * of.next(&mut rng)).exp()]);
                    if stats::is_time_to_look(blocks.len()) && stats::is_narrow(&blocks, 0.025) {
                        break;
                    }
                }
                rounds.push(blocks.len() as f64);
                tally.add(&blocks.concat(), 1.0);
            }
            let middle = stats::median(&stats::sorted(rounds)).unwrap_or(f64::NAN);
            println!("  {rho:.2}  {spread:9.2}  {}  {middle:6.0}", tally.row());
        }
    }
}
