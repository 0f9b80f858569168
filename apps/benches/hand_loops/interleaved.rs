//! All loops in one run: short blocks in turn, because the machine changes while one measures, at several places of the
//! arrays, because where they begin changes times, too.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::case::{Case, Direction, Variant};

/// A block lasts at least so long, so that the clock's own cost vanishes in it.
const BLOCK: Duration = Duration::from_micros(100);

/// Draws of where arrays and buffers begin.
const PLACEMENTS: usize = 6;

/// Seed of these draws.
const SEED: u64 = 9;

/// Rounds of blocks at one placement.
const ROUNDS: usize = 24;

/// A placement does not last longer than this, but has [`LEAST_ROUNDS`].
const LIMIT: Duration = Duration::from_millis(400);

/// Rounds of the slowest cases: with all placements there are then enough ratios for an interval.
const LEAST_ROUNDS: usize = 4;

/// The plain nest is to take at most so many times the time of its twin.
const PLAIN_LIMIT: f64 = 1.10;

/// The tuned loops are to have at least this share of the speed of the fastest rival.
const TUNED_LIMIT: f64 = 0.95;

/// The median of some ratios, its interval of about 95%, and the median at the placement that is worst for us.
struct Ratio {
    median: f64,
    low: f64,
    high: f64,
    worst: f64,
    /// The rival that was the fastest at most placements.
    rival: Variant,
}

/// The comparison of one case in one direction.
pub struct Comparison {
    name: String,
    direction: Direction,
    bytes: usize,
    /// Median times, in the order of [`Variant::ALL`].
    times_s: Vec<f64>,
    /// The plain nest's time over that of the faster twin.
    plain: Ratio,
    /// The fastest rival's time over that of the tuned loops.
    tuned: Ratio,
}

/// Times of one placement: of each variant, in each round.
type Rounds = Vec<Vec<f64>>;

impl Comparison {
    /// Measures.
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
        let rivals = [Variant::Plain, Variant::C(2)];
        Self {
            name: case.name.clone(),
            direction,
            bytes: case.bytes(),
            times_s: (0..Variant::ALL.len()).map(time).collect(),
            plain: Ratio::of(&placements, Variant::Plain, &twins, |own, rival| own / rival, f64::max),
            tuned: Ratio::of(&placements, Variant::Tuned, &rivals, |own, rival| rival / own, f64::min),
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
    /// Of one variant and its fastest rival. At each placement the rival is chosen by the even rounds, and compared with in
    /// the odd ones: the fastest of several noisy ones is otherwise a lucky one.
    fn of(
        placements: &[Rounds],
        own: Variant,
        rivals: &[Variant],
        ratio: impl Fn(f64, f64) -> f64,
        worse: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let own = index(own);
        let (mut all, mut medians, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
        for rounds in placements {
            let even = |variant: Variant| -> f64 {
                let even: Vec<f64> = rounds[index(variant)].iter().copied().step_by(2).collect();
                quantile(&even, 0.5)
            };
            let rival =
                *rivals.iter().min_by(|a, b| even(**a).total_cmp(&even(**b))).expect("there are rivals");
            let pairs = rounds[own].iter().zip(&rounds[index(rival)]).skip(1).step_by(2);
            let ratios: Vec<f64> = pairs.map(|(&own, &rival)| ratio(own, rival)).collect();
            medians.push(quantile(&ratios, 0.5));
            all.extend(ratios);
            chosen.push(rival);
        }
        let times_chosen = |rival: &Variant| chosen.iter().filter(|other| *other == rival).count();
        // Ranks of a sign test: the median of n ratios lies between these two in 95% of cases.
        let half = 0.98 / (all.len() as f64).sqrt();
        Self {
            median: quantile(&all, 0.5),
            low: quantile(&all, (0.5 - half).max(0.0)),
            high: quantile(&all, (0.5 + half).min(1.0)),
            worst: medians.into_iter().reduce(worse).expect("there are placements"),
            rival: *rivals.iter().max_by_key(|rival| times_chosen(rival)).expect("there are rivals"),
        }
    }
}

fn index(variant: Variant) -> usize {
    Variant::ALL.iter().position(|other| *other == variant).expect("all are listed")
}

/// Blocks of all variants in turn, where the arrays lie now.
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
            // Forwards and backwards in turn, so that no variant always follows the same one, and once untimed: what the
            // last block left in the caches is not this one's doing.
            let turn = if round % 4 < 2 { turn } else { variants.len() - 1 - turn };
            let i = (turn + round / 2) % variants.len();
            time(variants[i], 1);
            samples[i].push(time(variants[i], repetitions[i]).as_secs_f64() / f64::from(repetitions[i]));
        }
    }
    samples
}

/// The value below which a share `p` of the samples lies, the nearest sample.
fn quantile(samples: &[f64], p: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * p).round() as usize]
}

/// Prints the comparisons.
pub fn print(comparisons: &[Comparison]) {
    println!(
        "Times in us: medians over {PLACEMENTS} placements of arrays and buffers. Ratios: medians over rounds, their"
    );
    println!(
        "intervals, and the median at the worst placement. plain/C: over the faster of -O2 and -O3. rival/tuned: the"
    );
    println!("faster of the plain nest and C with a memcpy for each run (-O3 -march=native).");
    print!("{:38} {:6} {:>9}", "test", "", "bytes");
    Variant::ALL.iter().for_each(|variant| print!(" {:>9}", variant.name()));
    println!("   {:34}   rival/tuned", "plain/C");
    for c in comparisons {
        let direction = if c.direction == Direction::Pack { "pack" } else { "unpack" };
        print!("{:38} {direction:6} {:>9}", c.name, c.bytes);
        c.times_s.iter().for_each(|time_s| print!(" {:>9.3}", time_s * 1e6));
        let ratio = |ratio: &Ratio, holds: bool| {
            let Ratio { median, low, high, worst, rival } = ratio;
            let mark = if holds { ' ' } else { '!' };
            format!("{mark} {median:.2} [{low:.2}, {high:.2}] {worst:.2} {:9}", rival.name())
        };
        println!(" {} {}", ratio(&c.plain, c.plain_holds()), ratio(&c.tuned, c.tuned_holds()));
    }
    let count = |holds: fn(&Comparison) -> bool| comparisons.iter().filter(|c| holds(c)).count();
    println!(
        "of {}: plain nest not slower than {PLAIN_LIMIT} times C: {}; tuned not below {TUNED_LIMIT} of its fastest rival: {} \
         (others marked !)",
        comparisons.len(),
        count(Comparison::plain_holds),
        count(Comparison::tuned_holds),
    );
}
