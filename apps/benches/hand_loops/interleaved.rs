//! All loops in one run. Short blocks take turns, because the machine changes during a measurement. The arrays are at
//! several places, because times depend on where they begin.

use std::time::{Duration, Instant};

use ddtbench_apps::Loops;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::case::{Case, Direction, Variant};
use crate::ratios::{self, quantile};

/// A block lasts at least this long, so that the clock's own cost is negligible.
const BLOCK: Duration = Duration::from_micros(100);

/// Number of random placements of arrays and buffers.
const PLACEMENTS: usize = 6;

/// Seed of these draws.
const SEED: u64 = 9;

/// Rounds of blocks at one placement.
const ROUNDS: usize = 24;

/// A placement takes at most this time, but has at least [`LEAST_ROUNDS`].
const LIMIT: Duration = Duration::from_millis(400);

/// Rounds of the slowest cases: over all placements they give enough ratios for an interval.
const LEAST_ROUNDS: usize = 4;

/// The plain nest takes at most this many times the time of the fastest twin for the base instruction set.
const PLAIN_LIMIT: f64 = 1.10;

/// The tuned loops take at most this many times the time of the fastest loop for this processor.
const TUNED_LIMIT: f64 = 1.05;

/// Times of a variant relative to those of the fastest of others.
struct Ratio {
    median: f64,
    /// Its interval of about 95%.
    low: f64,
    high: f64,
    /// The median at the worst placement.
    worst: f64,
    /// The variant compared with: the one that was fastest at most placements.
    fastest_other: &'static str,
}

/// The comparison of one case in one direction.
pub struct Comparison {
    name: String,
    direction: Direction,
    bytes: usize,
    /// Names and median times of the variants.
    times_s: Vec<(&'static str, f64)>,
    plain: Ratio,
    tuned: Ratio,
}

/// Times of one placement: for each variant, in each round.
type Rounds = Vec<Vec<f64>>;

impl Comparison {
    /// Measures all variants in turn, at every placement.
    pub fn of(case: &mut Case, direction: Direction) -> Self {
        let mut random = Pcg64::seed_from_u64(SEED);
        let variants = case.variants();
        let placements: Vec<Rounds> = (0..PLACEMENTS)
            .map(|_| {
                case.move_to(&mut random);
                rounds(case, direction, &variants)
            })
            .collect();
        let time = |i: usize| {
            let all: Vec<f64> = placements.iter().flat_map(|rounds| rounds[i].iter().copied()).collect();
            (case.variant_name(variants[i]), quantile(&all, 0.5))
        };
        let ratio = |own: Loops, others: Vec<Variant>| {
            let index =
                |variant: &Variant| variants.iter().position(|other| other == variant).expect("listed");
            let others: Vec<usize> = others.iter().map(index).collect();
            let (ratio, fastest) = Ratio::of(&placements, index(&Variant::Rust(own)), &others);
            Ratio { fastest_other: case.variant_name(variants[fastest]), ..ratio }
        };
        let plain = Variant::Rust(Loops::Plain);
        Self {
            name: case.name.clone(),
            direction,
            bytes: case.bytes(),
            times_s: (0..variants.len()).map(time).collect(),
            plain: ratio(Loops::Plain, case.twins(false)),
            tuned: ratio(Loops::Tuned, [case.twins(true), vec![plain]].concat()),
        }
    }
}

impl Ratio {
    /// Compares one variant with the fastest of `others` at each placement; also returns the one most often fastest.
    fn of(placements: &[Rounds], own: usize, others: &[usize]) -> (Self, usize) {
        let (mut all, mut medians, mut chosen) = (Vec::new(), Vec::new(), vec![0; others.len()]);
        for rounds in placements {
            let of_others: Vec<&[f64]> = others.iter().map(|&other| &*rounds[other]).collect();
            let (ratios, fastest) = ratios::over_fastest(&rounds[own], &of_others);
            medians.push(quantile(&ratios, 0.5));
            all.extend(ratios);
            chosen[fastest] += 1;
        }
        let [low, median, high] = ratios::interval(&all);
        let most = (0..others.len()).max_by_key(|&other| chosen[other]).expect("there are others");
        let worst = medians.into_iter().reduce(f64::max).expect("there are placements");
        (Self { median, low, high, worst, fastest_other: "" }, others[most])
    }

    /// The ratio with its interval, marked `!` if all of that is above `limit`.
    fn text(&self, limit: f64) -> String {
        let Self { median, low, high, worst, fastest_other } = self;
        let mark = if low <= &limit { ' ' } else { '!' };
        format!("{mark} {median:.2} [{low:.2}, {high:.2}] {worst:.2} {fastest_other:9}")
    }
}

/// Blocks of all variants in turn, with the arrays at their current place.
fn rounds(case: &mut Case, direction: Direction, variants: &[Variant]) -> Rounds {
    let mut time = |variant: Variant, repetitions: u32| {
        let start = Instant::now();
        (0..repetitions).for_each(|_| case.run(direction, variant));
        start.elapsed()
    };
    let mut repetitions = |&variant: &Variant| {
        let once = (0..5).map(|_| time(variant, 1)).min().expect("five times").as_nanos().max(1);
        BLOCK.as_nanos().div_ceil(once) as u32
    };
    let repetitions: Vec<u32> = variants.iter().map(&mut repetitions).collect();
    let mut samples = vec![Vec::with_capacity(ROUNDS); variants.len()];
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round >= LEAST_ROUNDS && start.elapsed() > LIMIT {
            break;
        }
        for turn in 0..variants.len() {
            // Alternately forwards and backwards, so that no variant always follows the same one. Each runs once
            // untimed first, because the caches still have data of the previous block.
            let turn = if round % 4 < 2 { turn } else { variants.len() - 1 - turn };
            let i = (turn + round / 2) % variants.len();
            time(variants[i], 1);
            samples[i].push(time(variants[i], repetitions[i]).as_secs_f64() / f64::from(repetitions[i]));
        }
    }
    samples
}

pub fn print(comparisons: &[Comparison]) {
    println!(
        "Times in us: medians over {PLACEMENTS} placements of arrays and buffers. Ratios: medians over rounds, their\n\
         intervals, the median at the worst placement, and the variant compared with. plain/C: the fastest of -O2 and\n\
         -O3. tuned/best: the fastest of -O3 -march=native, with loops or with a memcpy for each run, and of the plain nest."
    );
    for (i, c) in comparisons.iter().enumerate() {
        if i == 0 {
            print!("{:38} {:6} {:>9}", "test", "", "bytes");
            c.times_s.iter().for_each(|(name, _)| print!(" {name:>9}"));
            println!("   {:34}   tuned/best", "plain/C");
        }
        let direction = if c.direction == Direction::Pack { "pack" } else { "unpack" };
        print!("{:38} {direction:6} {:>9}", c.name, c.bytes);
        c.times_s.iter().for_each(|(_, time_s)| print!(" {:>9.3}", time_s * 1e6));
        println!(" {} {}", c.plain.text(PLAIN_LIMIT), c.tuned.text(TUNED_LIMIT));
    }
    let held = |limit: f64, ratio: fn(&Comparison) -> &Ratio| {
        comparisons.iter().filter(|&comparison| ratio(comparison).low <= limit).count()
    };
    println!(
        "of {}: plain at most {PLAIN_LIMIT} times C: {}; tuned at most {TUNED_LIMIT} times the best: {} (others marked !)",
        comparisons.len(),
        held(PLAIN_LIMIT, |comparison| &comparison.plain),
        held(TUNED_LIMIT, |comparison| &comparison.tuned),
    );
}
