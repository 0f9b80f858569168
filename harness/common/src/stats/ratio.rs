//! Ratios of times that were measured in the same rounds.

use super::interval::series_interval;
use super::quantile::{median, sorted};
use super::steady::halves_differ;

/// A ratio with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median over the rounds.
    pub value: f64,
    /// Both ends of its interval; `None` with fewer than six rounds.
    pub interval: Option<(f64, f64)>,
    /// Whether the first and the second half of the rounds differ, so that there is no verdict.
    pub unsteady: bool,
}

/// The ratio a / b of times that were measured in pairs, one pair per round, in the order of the rounds;
/// `None` without any pair of times above 0.
///
/// It is the median of the rounds' ratios, with that median's interval. Influences on a whole round, such as another
/// process or the machine's state, affect both times equally and leave their ratio unchanged. A ratio of two medians
/// over all rounds would compare a fast round of one with a slow round of the other. The remaining correlation from
/// round to round is 0.1 to 0.3 at most (0.35 to 0.67 for times), and widens the interval ([`series_interval`]).
pub fn paired_ratio(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Ratio> {
    let pairs = pairs.into_iter().filter(|&(a, b)| a > 0.0 && b > 0.0);
    let ratios: Vec<f64> = pairs.map(|(a, b)| a / b).collect();
    let value = median(&sorted(ratios.iter().copied()))?;
    Some(Ratio { value, interval: series_interval(&ratios), unsteady: halves_differ(&ratios) })
}

/// The geometric mean of ratios, because it is the right mean for ratios (2 and 1/2 give 1), with the
/// interval that follows from theirs; `None` without ratios. Each is given with both ends of its own
/// interval. They must be independent, as those of different processes are: half widths of logarithms then
/// add as squares. The ratios are not considered a sample of a larger set.
pub fn geometric_mean(ratios: impl IntoIterator<Item = (f64, (f64, f64))>) -> Option<(f64, (f64, f64))> {
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for (value, (low, high)) in ratios {
        sum += value.ln();
        squares += ((high / low).ln() / 2.0).powi(2);
        count += 1.0;
    }
    let (value, factor) = ((sum / count).exp(), (squares.sqrt() / count).exp());
    (count > 0.0).then_some((value, (value / factor, value * factor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_the_rounds_whatever_slows_both_alike() {
        let of_rounds = |times: &dyn Fn(i32) -> (f64, f64)| paired_ratio((0..20).map(times)).unwrap();
        let slow = |i: i32| f64::from(1 + i * 7 % 3);
        let alike = of_rounds(&|i| (3.0 * slow(i), 2.0 * slow(i)));
        assert_eq!((alike.value, alike.interval), (1.5, Some((1.5, 1.5))));
        let changing = of_rounds(&|i| (if i % 2 == 0 { 1.0 } else { 1.1 }, 1.0));
        assert_eq!((changing.interval, changing.unsteady), (Some((1.0, 1.1)), false));
        let halves = of_rounds(&|i| (if i < 10 { 1.0 } else { 1.1 }, 1.0));
        assert!(halves.interval.is_some_and(|(low, high)| low < 0.95 && high > 1.15) && halves.unsteady);
        let few = paired_ratio([(2.0, 1.0); 5]).unwrap();
        assert_eq!(few, Ratio { value: 2.0, interval: None, unsteady: false });
        assert_eq!(paired_ratio([(0.0, 1.0), (1.0, 0.0)]), None, "the clock saw no time");
    }
    #[test]
    fn the_geometric_mean_is_that_of_logarithms() {
        assert_eq!(geometric_mean([(4.0, (4.0, 4.0)), (0.25, (0.25, 0.25))]), Some((1.0, (1.0, 1.0))));
        assert_eq!(geometric_mean([]), None);
        // Each of the four half widths of the logarithms is ln 16: 2 ln 16 / 4 = ln 4.
        let (value, (low, high)) = geometric_mean([(2.0, (0.125, 32.0)); 4]).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(value, 2.0) && near(low, 0.5) && near(high, 8.0), "{value} {low} {high}");
    }
}
