//! The 95% interval of a median, without any assumption about the distribution.

use super::correlation::inflation;
use super::quantile::{median, sorted};

/// Minimum rounds for any conclusion: with fewer there is no interval of the median.
pub const MIN_ROUNDS: usize = 6;

/// Minimum rounds of a case: from ten on, the interval excludes the lowest and the highest median, so that
/// one disturbed block does not decide.
pub const LEAST_ROUNDS: usize = 10;

/// Rounds after which a measurement may end because its interval is narrow.
const FIRST_TEST: usize = 24;

/// Probability that the median is beyond one given end of its interval.
const TAIL: f64 = 0.025;

/// The normal distribution's quantile at 1 - [`TAIL`].
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// Up to this number of samples the binomial distribution itself is summed: 0.5 to this power is still a
/// normal floating-point number, and beyond it the normal approximation is wrong by one rank at most.
const EXACT_UP_TO: usize = 1000;

/// The 95% interval of the median of sorted samples; `None` below 6, where none exists.
///
/// The number of samples below the median is binomial with p = 1/2 for any distribution, so two order
/// statistics enclose the median with at least that probability: Le Boudec, "Performance Evaluation of
/// Computer and Communication Systems" (2010), theorem 2.1 and appendix A. Samples must be independent. Those
/// of one block are not, and neither are consecutive blocks; see [`series_interval`].
pub fn median_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let rank = lower_rank(sorted.len())?;
    Some((sorted[rank - 1], sorted[sorted.len() - rank]))
}

/// The largest rank, from 1, with at most [`TAIL`] of the binomial distribution below it.
fn lower_rank(n: usize) -> Option<usize> {
    if n > EXACT_UP_TO {
        let n = n as f64;
        return Some(((n - NORMAL_QUANTILE * n.sqrt()) / 2.0).floor() as usize);
    }
    let mut chance = 0.5_f64.powi(n as i32);
    let mut below = chance;
    let mut rank = 0;
    while below <= TAIL {
        rank += 1;
        chance *= (n + 1 - rank) as f64 / rank as f64;
        below += chance;
    }
    (rank > 0).then_some(rank)
}

/// The 95% interval of the median of values in the order in which they were measured, which may be correlated; `None` below 6.
///
/// It is the interval of independent values with its ends moved away from the median by their [`inflation`].
/// Times and ratios are above 0; their ends move on the logarithmic scale, so that no end is below 0. If any
/// value is not above 0, ends move on the linear scale.
pub fn series_interval(series: &[f64]) -> Option<(f64, f64)> {
    let values = sorted(series.iter().copied());
    let (low, high) = median_interval(&values)?;
    let (middle, inflation) = (median(&values)?, inflation(series));
    if values[0] > 0.0 {
        return Some((middle * (low / middle).powf(inflation), middle * (high / middle).powf(inflation)));
    }
    Some((middle - inflation * (middle - low), middle + inflation * (high - middle)))
}

/// The 95% interval of the median of samples in blocks, in the order of the blocks; `None` below 6 blocks with samples.
///
/// Samples of a block share its datatype, its time, and so the state of the machine: counted individually,
/// they would make the interval far too narrow. So each block counts once, by its median, and the interval is
/// that of the blocks' medians, widened to include the median of all samples if that is outside.
pub fn blocks_interval<B: AsRef<[f64]>>(blocks: &[B]) -> Option<(f64, f64)> {
    let samples = |block: &B| sorted(block.as_ref().iter().copied());
    let medians: Vec<f64> = blocks.iter().filter_map(|block| median(&samples(block))).collect();
    let (low, high) = series_interval(&medians)?;
    let all = overall_median(blocks)?;
    Some((low.min(all), high.max(all)))
}

/// Whether the interval of the median is within `precision` times the median on both sides, and was without the last
/// sixth of the blocks: stopping at the first narrow interval means stopping when it is too narrow by chance.
pub fn is_narrow<B: AsRef<[f64]>>(blocks: &[B], precision: f64) -> bool {
    let before = &blocks[..blocks.len() - blocks.len().div_ceil(6)];
    is_narrow_now(blocks, precision) && is_narrow_now(before, precision)
}

fn is_narrow_now<B: AsRef<[f64]>>(blocks: &[B], precision: f64) -> bool {
    let (Some((low, high)), Some(median)) = (blocks_interval(blocks), overall_median(blocks)) else {
        return false;
    };
    let allowed = precision * median;
    median - low <= allowed && high - median <= allowed
}

/// Whether to check the interval after this number of rounds: from the 24th on, about every twentieth of
/// them. Fewer rounds do not show their correlation well enough to end a measurement. Later rounds change
/// little each, and checking takes longer with more blocks.
pub fn is_time_to_test(rounds: usize) -> bool {
    rounds >= FIRST_TEST && rounds.is_multiple_of(1 + rounds / 20)
}

fn overall_median<B: AsRef<[f64]>>(blocks: &[B]) -> Option<f64> {
    median(&sorted(blocks.iter().flat_map(|block| block.as_ref().iter().copied())))
}

/// Whether two intervals have no point in common, so that the true values differ.
pub(super) fn disjoint(a: (f64, f64), b: (f64, f64)) -> bool {
    a.1 < b.0 || b.1 < a.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(n: usize) -> Option<(f64, f64)> {
        median_interval(&(1..=n).map(|i| i as f64).collect::<Vec<_>>())
    }

    #[test]
    fn ranks_are_those_of_the_published_table_and_of_its_approximation() {
        let table = [(5, None), (6, Some((1.0, 6.0))), (10, Some((2.0, 9.0))), (20, Some((6.0, 15.0)))];
        let table = table.into_iter().chain([(100, Some((40.0, 61.0))), (10_000, Some((4902.0, 5099.0)))]);
        table.for_each(|(n, expected)| assert_eq!(ranks(n), expected, "{n}"));
        let [exact, next] = [0, 1].map(|more| lower_rank(EXACT_UP_TO + more).unwrap());
        assert!(next.abs_diff(exact) <= 1, "{exact} {next}");
        assert!(!is_narrow(&[[1.0]; 5], 0.5), "five have no interval");
        assert!(disjoint((2.1, 3.0), (1.0, 2.0)) && !disjoint((1.0, 2.0), (2.0, 3.0)), "two that touch");
    }

    #[test]
    fn an_interval_is_narrow_only_if_both_sides_are() {
        let mut blocks = vec![[1.0; 3]; 20];
        assert!(is_narrow(&blocks, 0.0));
        blocks.iter_mut().skip(1).step_by(3).for_each(|block| block.fill(1.2));
        assert!(!is_narrow(&blocks, 0.1));
        assert!(is_narrow(&blocks, 0.25));
        // The same blocks, with similar ones in a row.
        blocks.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert!(!is_narrow(&blocks, 0.25));
        blocks.iter_mut().for_each(|block| block.fill(1.0));
        blocks.iter_mut().skip(1).step_by(3).for_each(|block| block.fill(0.8));
        assert!(!is_narrow(&blocks, 0.1));
        // One that has just become narrow is not known to be: five blocks have no interval.
        assert!(is_narrow_now(&[[1.0]; 6], 0.2) && !is_narrow(&[[1.0]; 6], 0.2));
    }

    #[test]
    fn few_rounds_end_no_measurement() {
        let tests: Vec<usize> = (0..60).filter(|&rounds| is_time_to_test(rounds)).collect();
        assert_eq!(tests[..5], [24, 26, 28, 30, 32]);
        assert_eq!(tests[tests.len() - 3..], [51, 54, 57]);
    }

    #[test]
    fn ends_stay_above_0_where_all_values_do_and_move_as_they_are_where_not() {
        let times: Vec<f64> = (0..12).map(|i| if i < 6 { 1.0 } else { 1000.0 }).collect();
        let (low, high) = series_interval(&times).unwrap();
        assert!(low > 0.0 && low < 1.0 && high > 1000.0);
        let moved: Vec<f64> = times.iter().map(|time| time - 2.0).collect();
        let (low, high) = series_interval(&moved).unwrap();
        assert!(low < -1.0 && high > 998.0);
    }

    #[test]
    fn many_alike_samples_in_few_blocks_are_few_and_all_samples_have_their_median_within() {
        // Every so many of the blocks, from one on, have as many samples of 9, the others have one of 1.
        let of = |blocks: usize, every: usize, from: usize, samples: usize| {
            let block = |i: usize| if i % every == from { vec![9.0; samples] } else { vec![1.0] };
            blocks_interval(&(0..blocks).map(block).collect::<Vec<_>>())
        };
        assert!(of(6, 6, 0, 1000).is_some_and(|(low, high)| low == 1.0 && high >= 9.0));
        assert_eq!((of(5, 6, 0, 1000), blocks_interval(&[vec![], vec![1.0; 1000]])), (None, None));
        // Most samples are 9, most blocks are 1.
        assert_eq!((of(11, 2, 1, 100), of(30, 6, 3, 100)), (Some((1.0, 9.0)), Some((1.0, 9.0))));
    }
}
