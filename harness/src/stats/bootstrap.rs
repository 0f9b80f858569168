//! Intervals by resampling, for what has no formula.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::correlation::inflation;
use super::interval::MIN_ROUNDS;
use super::quantile::{median, quantile, sorted};

/// Resamples: the ends are then the 13th of 500 from either side, steady to a few percent of the width.
pub const RESAMPLES: usize = 500;

/// One seed for all, so that the same samples give the same interval.
const SEED: u64 = 0x6464_7462_656e_6368;

/// The 95% interval of the pack overhead (t_pp - t_reference) / t_pp, both times medians; `None` with fewer than six
/// rounds. Each round has the samples of the method and those of the reference; rounds come in their order.
///
/// Whole rounds are drawn, with replacement: samples of a block share its datatype, its place in time and so the
/// state of the machine, single samples drawn would make the interval far too narrow (Davison & Hinkley, "Bootstrap
/// Methods and their Application" (1997), chapters 3.8 and 5.3.1; Kalibera & Jones, "Rigorous Benchmarking in
/// Reasonable Time", ISMM 2013, for the hierarchy); and what a state does to both at once says nothing of their
/// ratio. The median is that of all samples of the rounds drawn, as the overhead itself is of all samples. Rounds drawn one
/// by one have lost the order in which they came, and with it what they share with the next: the percentile interval is
/// widened by the [`inflation`] of the rounds' own ratios, as a ratio's interval is.
pub fn overhead_interval(rounds: &[(&[f64], &[f64])]) -> Option<(f64, f64)> {
    if rounds.len() < MIN_ROUNDS
        || rounds.iter().any(|(method, reference)| method.is_empty() || reference.is_empty())
    {
        return None;
    }
    let method = Pool::new(rounds.iter().map(|round| round.0));
    let reference = Pool::new(rounds.iter().map(|round| round.1));
    let mut rng = Pcg64::seed_from_u64(SEED);
    let overhead = |drawn: &[usize]| {
        let t_pp = method.median(drawn);
        (t_pp - reference.median(drawn)) / t_pp
    };
    let draw = |_| {
        let mut drawn = vec![0_usize; rounds.len()];
        (0..rounds.len()).for_each(|_| drawn[rng.random_range(0..rounds.len())] += 1);
        overhead(&drawn)
    };
    let overheads = sorted((0..RESAMPLES).map(draw).filter(|overhead| overhead.is_finite()));
    let (low, high) = (quantile(&overheads, 0.025)?, quantile(&overheads, 0.975)?);
    let of_all = overhead(&vec![1; rounds.len()]);
    let by = inflation(&ratios(rounds)) - 1.0;
    let beyond = |distance: f64| by * distance.max(0.0);
    Some((low - beyond(of_all - low), high + beyond(high - of_all)))
}

/// The ratio of each round's two medians.
fn ratios(rounds: &[(&[f64], &[f64])]) -> Vec<f64> {
    let middle = |samples: &[f64]| median(&sorted(samples.iter().copied())).unwrap_or(f64::NAN);
    rounds.iter().map(|&(method, reference)| middle(method) / middle(reference)).collect()
}

/// All samples of some rounds, sorted once: the median of a resample is then found in one pass.
struct Pool {
    /// Each sample with its round's number, rising.
    samples: Vec<(f64, u32)>,
    /// Samples per round.
    lengths: Vec<usize>,
}

impl Pool {
    fn new<'a>(rounds: impl Iterator<Item = &'a [f64]>) -> Self {
        let (mut samples, mut lengths) = (Vec::new(), Vec::new());
        for (number, round) in rounds.enumerate() {
            let number = u32::try_from(number).expect("far fewer rounds than 2^32 fit in memory");
            samples.extend(round.iter().map(|&sample| (sample, number)));
            lengths.push(round.len());
        }
        samples.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self { samples, lengths }
    }

    /// The median where each round counts as often as it was drawn.
    fn median(&self, drawn: &[usize]) -> f64 {
        let total: usize = drawn.iter().zip(&self.lengths).map(|(times, length)| times * length).sum();
        let mut seen = 0;
        let mut at_rank = self.samples.iter().map(|&(sample, round)| {
            seen += drawn[round as usize];
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

    fn rounds<'a>(method: &'a [Vec<f64>], reference: &'a [Vec<f64>]) -> Vec<(&'a [f64], &'a [f64])> {
        method.iter().map(Vec::as_slice).zip(reference.iter().map(Vec::as_slice)).collect()
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
        let rounds = [(&[4.0; 3][..], &[1.0; 3][..]), (&[4.0; 5], &[1.0; 2])].repeat(3);
        assert_eq!(overhead_interval(&rounds), Some((0.75, 0.75)));
    }

    #[test]
    fn the_interval_holds_the_true_overhead_and_is_the_same_each_time() {
        let (method, reference) = (blocks(2.0, 30, 50, 1), blocks(1.0, 30, 50, 2));
        let interval = overhead_interval(&rounds(&method, &reference)).unwrap();
        assert!(interval.0 < 0.5 && 0.5 < interval.1, "{interval:?}");
        assert!(interval.1 - interval.0 < 0.06, "{interval:?}");
        assert_eq!(overhead_interval(&rounds(&method, &reference)), Some(interval));
    }

    #[test]
    fn rounds_that_differ_make_the_interval_wide() {
        let reference = vec![vec![1.0; 100]; 10];
        let method: Vec<_> = (0..10).map(|i| vec![if i % 2 == 0 { 2.0 } else { 4.0 }; 100]).collect();
        assert_eq!(overhead_interval(&rounds(&method, &reference)), Some((0.5, 0.75)));
        // The same times in another order: what lasts makes it wider.
        let method: Vec<_> = (0..10).map(|i| vec![if i < 5 { 2.0 } else { 4.0 }; 100]).collect();
        let (low, high) = overhead_interval(&rounds(&method, &reference)).unwrap();
        assert!(low < 0.45 && high > 0.75, "{low} {high}");
    }

    #[test]
    fn what_slows_both_alike_leaves_the_interval_narrow() {
        let slowness_of_rounds: Vec<f64> = (0..10).map(|i| f64::from(1 + i % 2)).collect();
        let of = |time: f64| {
            slowness_of_rounds.iter().map(|slowness| vec![time * slowness; 7]).collect::<Vec<_>>()
        };
        let (method, reference) = (of(4.0), of(1.0));
        assert_eq!(overhead_interval(&rounds(&method, &reference)), Some((0.75, 0.75)));
    }

    #[test]
    fn fewer_than_six_rounds_have_no_interval() {
        let round: (&[f64], &[f64]) = (&[1.0], &[1.0]);
        assert_eq!(overhead_interval(&[round; 5]), None);
        assert_eq!(overhead_interval(&[round; 6]), Some((0.0, 0.0)));
        let with_none: (&[f64], &[f64]) = (&[1.0], &[]);
        assert_eq!(overhead_interval(&[[round; 6], [with_none; 6]].concat()), None);
    }

    #[test]
    fn a_round_drawn_twice_counts_twice_in_the_median() {
        let pool = Pool::new([&[1.0, 2.0][..], &[3.0, 10.0]].into_iter());
        assert_eq!(pool.median(&[2, 0]), 1.5);
        assert_eq!(pool.median(&[1, 1]), 2.5);
        assert_eq!(pool.median(&[0, 2]), 6.5);
    }

    #[test]
    fn thousands_of_samples_take_no_noticeable_time() {
        let (method, reference) = (blocks(2.0, 100, 50, 1), blocks(1.0, 100, 50, 2));
        let start = Instant::now();
        overhead_interval(&rounds(&method, &reference));
        // Tens of milliseconds without optimisation; room for a busy machine.
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}
