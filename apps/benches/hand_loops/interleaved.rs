//! All loops in one run. Short blocks take turns, because the machine changes during a measurement. The arrays are at
//! several places, because times depend on where they begin.

use std::time::{Duration, Instant};

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

/// The plain nest should take at most this many times the time of its twin.
const PLAIN_LIMIT: f64 = 1.10;

/// The tuned loops should reach at least this share of the speed of the fastest other variant.
const TUNED_LIMIT: f64 = 0.95;

/// The median of some ratios, its interval of about 95%, and the median at the worst placement for us.
struct Ratio {
    median: f64,
    low: f64,
    high: f64,
    worst: f64,
    /// The variant compared with: the one that was fastest at most placements.
    fastest_other: Variant,
}

/// The comparison of one case in one direction.
pub struct Comparison {
    name: String,
    direction: Direction,
    bytes: usize,
    /// Median times, in the order of [`Variant::ALL`].
    times_s: Vec<f64>,
    /// The plain nest's time relative to that of the faster twin.
    plain: Ratio,
    /// The fastest other variant's time relative to that of the tuned loops.
    tuned: Ratio,
}

/// Times of one placement: for each variant, in each round.
type Rounds = Vec<Vec<f64>>;

impl Comparison {
    /// Measures all variants in turn, at every placement.
    pub fn of(case: &mut Case, direction: Direction) -> Self {
        let mut random = Pcg64::seed_from_u64(SEED);
        let placements: Vec<Rounds> = (0..PLACEMENTS)
            .map(|_| {
                case.move_to(&mut random);
                rounds(case, direction)
            })
            .collect();
        let time = |i: usize| {
            let all: Vec<f64> = placements.iter().flat_map(|rounds| rounds[i].iter().copied()).collect();
            quantile(&all, 0.5)
        };
        let twins = [Variant::C(0), Variant::C(1)];
        let others = [Variant::PLAIN, Variant::C(2)];
        Self {
            name: case.name.clone(),
            direction,
            bytes: case.bytes(),
            times_s: (0..Variant::ALL.len()).map(time).collect(),
            plain: Ratio::of(&placements, Variant::PLAIN, &twins, |over| over, f64::max),
            tuned: Ratio::of(&placements, Variant::TUNED, &others, |over| 1.0 / over, f64::min),
        }
    }

    fn plain_holds(&self) -> bool {
        self.plain.low <= PLAIN_LIMIT
    }

    fn tuned_holds(&self) -> bool {
        self.tuned.high >= TUNED_LIMIT
    }
}

impl Ratio {
    /// Compares one variant with the fastest of `others` at each placement; `ratio` converts the quotient of its time
    /// and the other's.
    fn of(
        placements: &[Rounds],
        own: Variant,
        others: &[Variant],
        ratio: impl Fn(f64) -> f64,
        worse: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let (mut all, mut medians, mut chosen) = (Vec::new(), Vec::new(), vec![0; others.len()]);
        for rounds in placements {
            let of_others: Vec<&[f64]> = others.iter().map(|&other| &*rounds[index(other)]).collect();
            let (over, fastest) = ratios::over_fastest(&rounds[index(own)], &of_others);
            let ratios: Vec<f64> = over.into_iter().map(&ratio).collect();
            medians.push(quantile(&ratios, 0.5));
            all.extend(ratios);
            chosen[fastest] += 1;
        }
        let [low, median, high] = ratios::interval(&all);
        let most = (0..others.len()).max_by_key(|&other| chosen[other]).expect("there are others");
        Self {
            median,
            low,
            high,
            worst: medians.into_iter().reduce(worse).expect("there are placements"),
            fastest_other: others[most],
        }
    }
}

fn index(variant: Variant) -> usize {
    Variant::ALL.iter().position(|other| *other == variant).expect("all are listed")
}

/// Blocks of all variants in turn, with the arrays at their current place.
fn rounds(case: &mut Case, direction: Direction) -> Rounds {
    let variants = Variant::ALL;
    let mut time = |variant, repetitions: u32| {
        let start = Instant::now();
        (0..repetitions).for_each(|_| case.run(direction, variant));
        start.elapsed()
    };
    let repetitions = variants.map(|variant| {
        let once = (0..5).map(|_| time(variant, 1)).min().expect("five times").as_nanos().max(1);
        BLOCK.as_nanos().div_ceil(once) as u32
    });
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
        "Times in us: medians over {PLACEMENTS} placements of arrays and buffers. Ratios: medians over rounds, their"
    );
    println!(
        "intervals, and the median at the worst placement. plain/C: over the faster of -O2 and -O3. other/tuned: the"
    );
    println!("faster of the plain nest and C with a memcpy for each run (-O3 -march=native).");
    print!("{:38} {:6} {:>9}", "test", "", "bytes");
    Variant::ALL.iter().for_each(|variant| print!(" {:>9}", variant.name()));
    println!("   {:34}   other/tuned", "plain/C");
    for c in comparisons {
        let direction = if c.direction == Direction::Pack { "pack" } else { "unpack" };
        print!("{:38} {direction:6} {:>9}", c.name, c.bytes);
        c.times_s.iter().for_each(|time_s| print!(" {:>9.3}", time_s * 1e6));
        let ratio = |ratio: &Ratio, holds: bool| {
            let Ratio { median, low, high, worst, fastest_other } = ratio;
            let mark = if holds { ' ' } else { '!' };
            format!("{mark} {median:.2} [{low:.2}, {high:.2}] {worst:.2} {:9}", fastest_other.name())
        };
        println!(" {} {}", ratio(&c.plain, c.plain_holds()), ratio(&c.tuned, c.tuned_holds()));
    }
    let count = |holds: fn(&Comparison) -> bool| comparisons.iter().filter(|c| holds(c)).count();
    println!(
        "of {}: plain nest not slower than {PLAIN_LIMIT} times C: {}; tuned not below {TUNED_LIMIT} of the fastest other's speed: {} \
         (others marked !)",
        comparisons.len(),
        count(Comparison::plain_holds),
        count(Comparison::tuned_holds),
    );
}
