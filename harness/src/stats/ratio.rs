//! Ratios of times that were measured side by side.

use super::interval::median_interval;
use super::quantile::{median, sorted};

/// A ratio with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median over the rounds.
    pub value: f64,
    /// Both ends of its interval; `None` with fewer than six rounds.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// Whether the interval lies within `precision` times the ratio on both sides.
    pub fn is_narrow(self, precision: f64) -> bool {
        let allowed = precision * self.value;
        let within = |(low, high)| self.value - low <= allowed && high - self.value <= allowed;
        self.interval.is_some_and(within)
    }
}

/// The ratio a / b of times that were measured in pairs, one pair a round; `None` without any pair of times above 0.
///
/// It is the median of the rounds' own ratios, with that median's interval: what slows a whole round down, another
/// process or the machine's mood, slows both times alike and leaves its ratio as it is. A ratio of two medians over
/// all rounds would compare a fast round of one with a slow one of the other. The interval needs no resampling, since
/// the rounds' ratios are independent of each other as samples within a round are not.
pub fn paired_ratio(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Ratio> {
    let ratios = sorted(pairs.into_iter().filter(|&(a, b)| a > 0.0 && b > 0.0).map(|(a, b)| a / b));
    Some(Ratio { value: median(&ratios)?, interval: median_interval(&ratios) })
}

/// The geometric mean, which ratios have: 2 and 1/2 make 1. `None` without values.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.into_iter().map(f64::ln).collect();
    Some(super::mean(&logarithms)?.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_slows_both_alike_leaves_the_ratio_as_it_is() {
        let moods = [1.0, 3.0, 1.0, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0, 1.0];
        let ratio = paired_ratio(moods.map(|mood| (3.0 * mood, 2.0 * mood))).unwrap();
        assert_eq!((ratio.value, ratio.interval), (1.5, Some((1.5, 1.5))));
        assert!(ratio.is_narrow(0.0));
    }

    #[test]
    fn rounds_that_differ_make_the_interval_wide() {
        let ratio = paired_ratio((0..20).map(|i| (if i < 10 { 1.0 } else { 1.1 }, 1.0))).unwrap();
        assert_eq!(ratio.interval, Some((1.0, 1.1)));
        assert!(!ratio.is_narrow(0.025) && ratio.is_narrow(0.05));
    }

    #[test]
    fn few_rounds_have_no_interval_and_none_has_no_ratio() {
        let ratio = paired_ratio([(2.0, 1.0); 5]).unwrap();
        assert_eq!(ratio, Ratio { value: 2.0, interval: None });
        assert!(!ratio.is_narrow(1.0));
        assert_eq!(paired_ratio([(0.0, 1.0), (1.0, 0.0)]), None, "the clock saw no time");
    }

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_1() {
        assert_eq!(geometric_mean([4.0, 0.25]), Some(1.0));
        assert_eq!(geometric_mean([]), None);
    }
}
