//! Rust against C in one run: short blocks in turn, because the machine changes while one measures.

use std::time::{Duration, Instant};

use crate::case::{Case, Direction, Variant};
use crate::twins::QUALIFIERS;

/// A block lasts at least so long, so that the clock's own cost vanishes in it.
const BLOCK: Duration = Duration::from_micros(100);

/// Rounds of blocks of one case: enough for quartiles.
const ROUNDS: usize = 61;

/// A case does not last longer than this, but has [`LEAST_ROUNDS`].
const LIMIT: Duration = Duration::from_secs(2);

/// Rounds of the slowest cases.
const LEAST_ROUNDS: usize = 15;

/// A lower quartile of the ratio above this is more than the noise of two equal loops.
const SLOWER: f64 = 1.03;

/// The comparison of one case in one direction.
pub struct Comparison {
    name: String,
    direction: Direction,
    bytes: usize,
    rust_s: f64,
    c_s: f64,
    qualifier: &'static str,
    memcpy_s: f64,
    /// Lower quartile, median and upper quartile of Rust / C, round by round.
    ratio: [f64; 3],
}

impl Comparison {
    /// Measures.
    pub fn of(case: &mut Case, direction: Direction) -> Self {
        let variants = [Variant::Rust, Variant::C(0), Variant::C(1), Variant::Memcpy];
        let mut time = |variant, repetitions: u32| {
            let start = Instant::now();
            (0..repetitions).for_each(|_| case.run(direction, variant));
            start.elapsed()
        };
        let repetitions = variants.map(|variant| {
            let once = (0..5).map(|_| time(variant, 1)).min().expect("five times").as_nanos().max(1);
            BLOCK.as_nanos().div_ceil(once) as u32
        });
        let mut samples = [(); 4].map(|()| Vec::with_capacity(ROUNDS));
        let start = Instant::now();
        for round in 0..ROUNDS {
            if round >= LEAST_ROUNDS && start.elapsed() > LIMIT {
                break;
            }
            for turn in 0..variants.len() {
                // Forwards and backwards in turn, so that no variant always follows the same one, and once untimed:
                // what the last block left in the caches is not this one's doing.
                let turn = if round % 2 == 0 { turn } else { variants.len() - 1 - turn };
                let i = (turn + round / 2) % variants.len();
                time(variants[i], 1);
                samples[i].push(time(variants[i], repetitions[i]).as_secs_f64() / f64::from(repetitions[i]));
            }
        }
        let medians = [0, 1, 2, 3].map(|i| quantile(&samples[i], 0.5));
        let c = if medians[1] < medians[2] { 1 } else { 2 };
        let ratios: Vec<f64> = samples[0].iter().zip(&samples[c]).map(|(rust, c)| rust / c).collect();
        Self {
            name: case.name.clone(),
            direction,
            bytes: case.bytes(),
            rust_s: medians[0],
            c_s: medians[c],
            qualifier: QUALIFIERS[c - 1],
            memcpy_s: medians[3],
            ratio: [0.25, 0.5, 0.75].map(|p| quantile(&ratios, p)),
        }
    }
}

/// The value below which a share `p` of the samples lies, the nearest sample.
fn quantile(samples: &[f64], p: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * p).round() as usize]
}

/// Prints the comparisons; C is the faster of its two compilations.
pub fn print(comparisons: &[Comparison]) {
    println!(
        "\nMedians of interleaved blocks; Rust / C round by round, with its quartiles; C compiled with -O3"
    );
    println!("-march=native, the faster of plain and restrict pointers.");
    println!(
        "{:42} {:6} {:>9} {:>10} {:>10} {:>8} {:>10} {:>22} {:>12}",
        "test", "", "bytes", "rust us", "C us", "", "memcpy us", "rust / C", "rust/memcpy"
    );
    for c in comparisons {
        println!(
            "{:42} {:6} {:>9} {:>10.3} {:>10.3} {:>8} {:>10.3}   {:.2} ({:.2} to {:.2}){} {:>10.2}",
            c.name,
            if c.direction == Direction::Pack { "pack" } else { "unpack" },
            c.bytes,
            c.rust_s * 1e6,
            c.c_s * 1e6,
            c.qualifier,
            c.memcpy_s * 1e6,
            c.ratio[1],
            c.ratio[0],
            c.ratio[2],
            if c.ratio[0] > SLOWER { " !" } else { "  " },
            c.rust_s / c.memcpy_s,
        );
    }
    let slower = comparisons.iter().filter(|c| c.ratio[0] > SLOWER).count();
    println!("{slower} of {} are slower than C (marked !)", comparisons.len());
}
