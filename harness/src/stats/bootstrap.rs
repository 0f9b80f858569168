//! Intervals by resampling, for what has no formula.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::quantile::{quantile, sorted};

/// Resamples: the ends are then the 13th of 500 from either side, steady to a few percent of the width.
pub const RESAMPLES: usize = 500;

/// One seed for all, so that the same samples give the same interval.
const SEED: u64 = 0x6464_7462_656e_6368;

/// The 95% percentile interval of the pack overhead (t_pp - t_reference) / t_pp, both times medians; `None` with
/// fewer than two blocks on either side.
///
/// Whole blocks are drawn, with replacement, for samples of a block share its datatype, its place in time and so
/// the state of the machine: single samples drawn would make the interval far too narrow (Davison & Hinkley,
/// "Bootstrap Methods and their Application" (1997), chapters 3.8 and 5.3.1; Kalibera & Jones, "Rigorous
/// Benchmarking in Reasonable Time", ISMM 2013, for the hierarchy). The median is that of all samples of the
/// blocks drawn, as the overhead itself is of all samples.
pub fn overhead_interval(method_blocks: &[&[f64]], reference_blocks: &[&[f64]]) -> Option<(f64, f64)> {
    let method = Pool::new(method_blocks)?;
    let reference = Pool::new(reference_blocks)?;
    let mut rng = Pcg64::seed_from_u64(SEED);
    let overhead = |_| {
        let t_pp = method.resampled_median(&mut rng);
        (t_pp - reference.resampled_median(&mut rng)) / t_pp
    };
    let overheads = sorted((0..RESAMPLES).map(overhead).filter(|overhead| overhead.is_finite()));
    Some((quantile(&overheads, 0.025)?, quantile(&overheads, 0.975)?))
}

/// All samples of some blocks, sorted once: a resample then only counts how often each block was drawn, and its
/// median is found in one pass.
struct Pool {
    /// Each sample with its block's number, rising.
    samples: Vec<(f64, u32)>,
    /// Samples per block.
    lengths: Vec<usize>,
}

impl Pool {
    fn new(blocks: &[&[f64]]) -> Option<Self> {
        let blocks: Vec<_> = blocks.iter().filter(|block| !block.is_empty()).collect();
        if blocks.len() < 2 {
            return None;
        }
        let with_number = |(number, block): (usize, &&&[f64])| {
            let number = u32::try_from(number).expect("far fewer blocks than 2^32 fit in memory");
            block.iter().map(move |&sample| (sample, number)).collect::<Vec<_>>()
        };
        let mut samples: Vec<_> = blocks.iter().enumerate().flat_map(with_number).collect();
        samples.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Some(Self { samples, lengths: blocks.iter().map(|block| block.len()).collect() })
    }

    fn resampled_median(&self, rng: &mut Pcg64) -> f64 {
        let mut drawn = vec![0_usize; self.lengths.len()];
        let mut total = 0;
        for _ in 0..self.lengths.len() {
            let block = rng.random_range(0..self.lengths.len());
            drawn[block] += 1;
            total += self.lengths[block];
        }
        let mut seen = 0;
        let mut at_rank = self.samples.iter().map(|&(sample, block)| {
            seen += drawn[block as usize];
            (seen, sample)
        });
        // Ranks from 1; with an odd number both are the same.
        let (low, high) = (total.div_ceil(2), total / 2 + 1);
        let (seen, lower) = at_rank.find(|&(seen, _)| seen >= low).expect("the rank is within the total");
        if seen >= high {
            return lower;
        }
        let (_, upper) = at_rank.find(|&(seen, _)| seen >= high).expect("the rank is within the total");
        f64::midpoint(lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn slices(blocks: &[Vec<f64>]) -> Vec<&[f64]> {
        blocks.iter().map(Vec::as_slice).collect()
    }

    /// Blocks of samples around `centre`, each block a little off.
    fn blocks(centre: f64, count: usize, length: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut spread = |width: f64| centre * width * (rng.random_range(0..2001) as f64 / 1000.0 - 1.0);
        (0..count)
            .map(|_| {
                let off = spread(0.05);
                (0..length).map(|_| centre + off + spread(0.02)).collect()
            })
            .collect()
    }

    #[test]
    fn constant_times_have_an_interval_of_one_point() {
        let (method, reference) = ([&[4.0; 3][..], &[4.0; 5]], [&[1.0; 3][..], &[1.0; 2]]);
        assert_eq!(overhead_interval(&method, &reference), Some((0.75, 0.75)));
    }

    #[test]
    fn the_interval_holds_the_true_overhead_and_is_the_same_each_time() {
        let (method, reference) = (blocks(2.0, 30, 50, 1), blocks(1.0, 30, 50, 2));
        let interval = overhead_interval(&slices(&method), &slices(&reference)).unwrap();
        assert!(interval.0 < 0.5 && 0.5 < interval.1, "{interval:?}");
        assert!(interval.1 - interval.0 < 0.05, "{interval:?}");
        assert_eq!(overhead_interval(&slices(&method), &slices(&reference)), Some(interval));
    }

    #[test]
    fn blocks_that_differ_make_the_interval_wide() {
        let method: Vec<_> = (0..10).map(|i| vec![if i < 5 { 2.0 } else { 4.0 }; 100]).collect();
        let reference = vec![vec![1.0; 100]; 10];
        assert_eq!(overhead_interval(&slices(&method), &slices(&reference)), Some((0.5, 0.75)));
    }

    #[test]
    fn one_block_has_no_interval() {
        let two = [&[1.0][..], &[2.0]];
        assert_eq!(overhead_interval(&two[..1], &two), None);
        assert_eq!(overhead_interval(&two, &[&[1.0], &[]]), None);
    }

    #[test]
    fn a_block_drawn_twice_counts_twice_in_the_median() {
        let pool = Pool::new(&[&[1.0, 2.0], &[3.0, 10.0]]).unwrap();
        let mut rng = Pcg64::seed_from_u64(7);
        let medians = sorted((0..100).map(|_| pool.resampled_median(&mut rng)));
        let mut distinct = medians;
        distinct.dedup();
        assert_eq!(distinct, [1.5, 2.5, 6.5]);
    }

    #[test]
    fn thousands_of_samples_take_no_noticeable_time() {
        let (method, reference) = (blocks(2.0, 100, 50, 1), blocks(1.0, 100, 50, 2));
        let start = Instant::now();
        overhead_interval(&slices(&method), &slices(&reference));
        // Tens of milliseconds without optimisation; room for a busy machine.
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}
