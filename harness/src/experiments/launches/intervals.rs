//! Intervals of figures over launches, each on the scale of its quantity.

use crate::model::Quantity;
use crate::stats::launches;

/// The 95% interval of a quantity with one value per launch.
pub(super) fn interval(quantity: Quantity, values: &[f64]) -> Option<(f64, f64)> {
    let scale = TimeScale::for_quantity(quantity);
    launches::location(&scale.to(values)).interval.map(|interval| scale.of_other_runs(interval))
}

/// The scale on which a quantity has its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeScale {
    /// A ratio of times of two methods: other runs differ by more than launches of one run do.
    Ratio,
    /// 1 minus such a ratio. The interval is that of the ratio, which is above 0, so that no end exceeds 1.
    RestOfRatio,
    /// 1 minus a share that is above 0.
    RestOfShare,
    /// Its own.
    Plain,
}

impl TimeScale {
    fn for_quantity(quantity: Quantity) -> Self {
        match quantity {
            Quantity::TimeOver | Quantity::TimeOverFastest | Quantity::MeanOver | Quantity::Gain => {
                Self::Ratio
            }
            Quantity::OverheadReference | Quantity::OverheadPack | Quantity::Speedup => Self::RestOfRatio,
            Quantity::Availability | Quantity::EarlyBird => Self::RestOfShare,
            _ => Self::Plain,
        }
    }

    fn to(self, values: &[f64]) -> Vec<f64> {
        let rest = |value: &f64| 1.0 - value;
        match self {
            Self::Ratio | Self::Plain => values.to_vec(),
            Self::RestOfRatio | Self::RestOfShare => values.iter().map(rest).collect(),
        }
    }

    /// The quantity's interval for other runs, from that of the launches of one run on this scale.
    fn of_other_runs(self, interval: (f64, f64)) -> (f64, f64) {
        // Without logarithms, because a share is 0, the lower end may be below 0.
        let rest = |(low, high): (f64, f64)| (1.0 - high, 1.0 - low.max(0.0));
        match self {
            Self::Ratio => launches::of_other_runs(interval),
            Self::RestOfRatio => rest(launches::of_other_runs(interval)),
            Self::RestOfShare => rest(interval),
            Self::Plain => interval,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_of_an_overhead_exceeds_1() {
        // The ratios 0.5, 0.4, 0.3: logarithms -0.6931, -0.9163, -1.2040 with the mean -0.9378 and s = 0.2561; 4.3027 s / sqrt(3)
        // is 0.6362, so that the ratio is between 0.2072 and 0.7396, and 1% more at both ends.
        let values = [0.5, 0.6, 0.7];
        let (low, high) = interval(Quantity::OverheadReference, &values).unwrap();
        assert!((low - 0.2530).abs() < 2e-4 && (high - 0.7948).abs() < 2e-4, "{low} {high}");
        // Two states of the machine: on the scale of overheads the interval would be 7 to 154%.
        let (low, high) = interval(Quantity::OverheadReference, &[0.31, 0.33, 0.92]).unwrap();
        assert!(low < 0.0 && high > 0.92 && high < 1.0, "{low} {high}");
        for quantity in
            [Quantity::OverheadPack, Quantity::Speedup, Quantity::Availability, Quantity::EarlyBird]
        {
            let (_, high) = interval(quantity, &[0.3, 0.5, 0.99]).unwrap();
            assert!(0.99 < high && high < 1.0, "{quantity:?}: {high}");
        }
        assert_eq!(interval(Quantity::EarlyBird, &[1.0, 1.0, 0.4]).unwrap().1, 1.0, "all bytes are early");
    }

    #[test]
    fn a_contiguous_message_with_another_protocol_has_an_overhead_below_0() {
        let (low, high) = interval(Quantity::OverheadReference, &[-1.7, -1.75, -1.72]).unwrap();
        assert!((low + 1.8143).abs() < 2e-4 && (high + 1.6352).abs() < 2e-4, "{low} {high}");
    }

    #[test]
    fn ratios_are_wider_and_other_quantities_are_not() {
        let values = [1.0, 1.1, 1.05, 1.2, 1.15, 1.3];
        assert_eq!(interval(Quantity::TimeOver, &values), Some((1.0 / 1.01, 1.3 * 1.01)));
        assert_eq!(interval(Quantity::Bandwidth, &values), Some((1.0, 1.3)));
    }
}
