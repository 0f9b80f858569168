//! The difference between two groups of values, by ranks: exact for any distribution.

use super::quantile::{median, sorted};

/// The differences of all pairs of values of two groups, the second minus the first, in rising order.
///
/// The test of Mann and Whitney (Annals of Mathematical Statistics 18, 1947), turned into an interval (Hodges and Lehmann,
/// Annals of Mathematical Statistics 34, 1963). If both groups have the same distribution, all orders of their values are
/// equally likely, so a few extreme values, such as the mean of a disturbed launch, cannot cause a difference.
#[derive(Clone, Debug)]
pub struct RankDifference {
    differences: Vec<f64>,
    sizes: (usize, usize),
}

impl RankDifference {
    /// The differences between two groups; `None` if one is empty.
    pub fn from_samples(first: &[f64], second: &[f64]) -> Option<Self> {
        let differences = sorted(second.iter().flat_map(|b| first.iter().map(move |a| b - a)));
        (!differences.is_empty()).then_some(Self { differences, sizes: (first.len(), second.len()) })
    }

    /// The median of the differences.
    pub fn value(&self) -> f64 {
        median(&self.differences).unwrap_or(f64::NAN)
    }

    /// The levels of the same groups, as far apart as [`Self::value`]: the median of all values, with the second group moved to the
    /// first. The medians of the two groups would be another distance apart, even in the other direction.
    pub fn levels(&self, first: &[f64], second: &[f64]) -> Option<[f64; 2]> {
        let value = self.value();
        let moved = second.iter().map(|b| b - value);
        let level = median(&sorted(first.iter().copied().chain(moved)))?;
        Some([level, level + value])
    }

    /// The interval that misses the difference with probability `alpha` at most; `None` with too few values.
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let orders = orders(self.sizes);
        let all: f64 = orders.iter().sum();
        // The number of differences that may be left out at either end.
        let shares = orders.iter().scan(0.0, |sum, count| {
            *sum += count / all;
            Some(*sum)
        });
        let outside = shares.take_while(|share| *share <= alpha / 2.0).count().checked_sub(1)?;
        let last = self.differences.len() - 1;
        Some((self.differences[outside], self.differences[last - outside]))
    }
}

/// The number of orders of two groups of values with 0, 1, 2, ... pairs in which the second is smaller: the
/// coefficients of the Gaussian binomial.
fn orders((first, second): (usize, usize)) -> Vec<f64> {
    let mut counts = vec![0.0; first * second + 1];
    counts[0] = 1.0;
    for i in 1..=first {
        for at in (second + i..counts.len()).rev() {
            counts[at] -= counts[at - second - i];
        }
        for at in i..counts.len() {
            counts[at] += counts[at - i];
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn orders_are_those_of_the_tables() {
        assert_eq!(orders((2, 2)), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(orders((3, 5)).iter().sum::<f64>(), 56.0);
        let of_20 = orders((20, 20));
        assert_eq!((of_20[0], of_20[3], of_20.iter().sum::<f64>()), (1.0, 3.0, 137_846_528_820.0));
    }

    #[test]
    fn the_interval_is_that_of_r() {
        // R: wilcox.test(c(6, 8, 9, 12), c(1, 2, 4, 7), conf.int = TRUE) gives -1 and 11.
        let of = RankDifference::from_samples(&[1.0, 2.0, 4.0, 7.0], &[6.0, 8.0, 9.0, 12.0]).unwrap();
        assert_eq!((of.value(), of.interval(0.05)), (5.0, Some((-1.0, 11.0))));
        assert_eq!(of.interval(0.1), Some((1.0, 10.0)));
        assert_eq!(of.interval(0.02), None, "the most extreme of 70 orders, on both sides");
        assert!(RankDifference::from_samples(&[], &[1.0]).is_none());
    }

    #[test]
    fn levels_are_as_far_apart_as_the_difference() {
        let (first, second) = ([1.0, 2.0, 4.0, 7.0], [6.0, 8.0, 9.0, 12.0]);
        let of = RankDifference::from_samples(&first, &second).unwrap();
        // The second group moved by 5 is 1, 3, 4, 7; the two in the middle of all eight are 3 and 4.
        assert_eq!(of.levels(&first, &second), Some([3.5, 8.5]));
        // 16 of the 25 pairs rise, whereas the median falls from 9 to 8.
        let (first, second) = ([0.0, 0.0, 9.0, 9.0, 9.0], [1.0, 8.0, 8.0, 10.0, 10.0]);
        let of = RankDifference::from_samples(&first, &second).unwrap();
        let [base, new] = of.levels(&first, &second).unwrap();
        assert!(of.value() > 0.0 && new - base == of.value(), "{base} {new}");
    }
    #[test]
    fn disturbed_values_make_no_difference_more_often_than_alpha() {
        // Two of five launches have a mean that is up to 20 times as large: the worst case for a t test with few values.
        let mut random = Pcg64::seed_from_u64(5);
        let mut mean = || match random.random::<f64>() < 0.4 {
            true => 20.0 * random.random::<f64>(),
            false => 1.0 + 0.01 * random.random::<f64>(),
        };
        let misses = (0..4000).filter(|_| {
            let [first, second] = [(); 2].map(|()| (0..5).map(|_| mean()).collect::<Vec<f64>>());
            let of = RankDifference::from_samples(&first, &second).unwrap();
            of.interval(0.05).is_none_or(|(low, high)| low > 0.0 || high < 0.0)
        });
        assert!((50..=200).contains(&misses.count()));
    }
}
