//! What two programs told of the same MPI: our ping-pong and that of the Intel MPI Benchmarks.

pub mod table;

use crate::stats::{self, Ratio};

/// What both told of messages of one size, a value of each launch, in seconds one way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Bytes of a message.
    pub bytes: u64,
    /// IMB's mean.
    pub imb_s: Vec<f64>,
    /// Our mean.
    pub mean_s: Vec<f64>,
    /// Our median.
    pub median_s: Vec<f64>,
}

impl Agreement {
    /// Ours over theirs, pair by pair; its interval needs six pairs.
    pub fn ratio(&self) -> Option<Ratio> {
        stats::paired_ratio(self.mean_s.iter().copied().zip(self.imb_s.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_six_pairs() {
        let of = |launches| Agreement {
            bytes: 8,
            imb_s: vec![1e-6; launches],
            mean_s: vec![1.1e-6; launches],
            median_s: vec![1e-6; launches],
        };
        let ratio = of(6).ratio().unwrap();
        assert!((ratio.value - 1.1).abs() < 1e-12 && ratio.interval.is_some());
        assert_eq!(of(5).ratio().unwrap().interval, None);
    }
}
