//! Overheads: the share of a whole that another time does not explain, with its interval.

use super::ratios::Rounds;
use crate::model::Phase;
use crate::model::event::Block;
use crate::stats;

/// An overhead (t - t_net) / t of medians, with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// The share of the time that is overhead.
    pub value: f64,
    /// Both ends of the interval.
    pub interval: (f64, f64),
}

impl Overhead {
    /// Over the rounds that have both times: only what ran side by side is compared. `None` without an interval, or
    /// where the clock saw no time at all.
    pub fn of(whole: &Rounds, net: &Rounds) -> Option<Self> {
        let both: Vec<(&[f64], &[f64])> =
            whole.iter().filter_map(|(round, t)| Some((&t[..], &net.get(round)?[..]))).collect();
        let t = stats::median(&stats::sorted(both.iter().flat_map(|both| both.0).copied()))?;
        let t_net = stats::median(&stats::sorted(both.iter().flat_map(|both| both.1).copied()))?;
        let value = (t - t_net) / t;
        let interval = stats::overhead_interval(&both)?;
        value.is_finite().then_some(Self { value, interval })
    }
}

/// The round trips of a block whose packing is known: those in parts, or of a batch, whose packing is timed by itself, all.
pub fn with_packing(block: &Block) -> Vec<f64> {
    let times = &block.times;
    if times[Phase::InParts].is_empty() { &times[Phase::RoundTrip] } else { &times[Phase::InParts] }.clone()
}

/// What packing and unpacking leave of these: `net`, or of a batch the difference of the means.
pub fn without_packing(block: &Block) -> Vec<f64> {
    let times = &block.times;
    if !times[Phase::InParts].is_empty() {
        return times[Phase::Net].clone();
    }
    less(block, Phase::RoundTrip, &[Phase::Pack, Phase::PeerUnpack, Phase::PeerPack, Phase::Unpack])
}

/// What packing and unpacking, each of the rank that took longest, leave of a block's halo exchanges.
pub fn exchange_without_packing(block: &Block) -> Vec<f64> {
    less(block, Phase::Exchange, &[Phase::Pack, Phase::Unpack])
}

/// A whole less its parts, repetition by repetition.
fn less(block: &Block, whole: Phase, parts: &[Phase]) -> Vec<f64> {
    let packing = |i: usize| parts.iter().filter_map(|&part| block.times[part].get(i)).sum::<f64>();
    block.times[whole].iter().enumerate().map(|(i, whole)| whole - packing(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Times;

    #[test]
    fn only_rounds_that_have_both_times_are_compared() {
        let whole: Rounds = (0..12).map(|i| (i, vec![4.0; 3])).collect();
        let net: Rounds = (6..18).map(|i| (i, vec![if i < 12 { 1.0 } else { 3.0 }; 2])).collect();
        let overhead = Overhead::of(&whole, &net).unwrap();
        assert_eq!((overhead.value, overhead.interval), (0.75, (0.75, 0.75)));
        assert_eq!(Overhead::of(&whole, &Rounds::new()), None);
    }

    #[test]
    fn of_a_batch_packing_is_taken_off_the_mean() {
        let times = [
            (Phase::Pack, vec![1.0, 2.0]),
            (Phase::PeerPack, vec![1.0, 1.0]),
            (Phase::Unpack, vec![0.5, 0.5]),
            (Phase::RoundTrip, vec![10.0, 20.0]),
        ];
        let mut block = Block { batch: 8, times: Times::from(times), ..Block::default() };
        assert_eq!(without_packing(&block), [7.5, 16.5]);
        assert_eq!(with_packing(&block), [10.0, 20.0]);
        (block.times[Phase::Net], block.times[Phase::InParts]) = (vec![3.0], vec![12.0]);
        assert_eq!((with_packing(&block), without_packing(&block)), (vec![12.0], vec![3.0]));
        block.times[Phase::Exchange] = vec![8.0, 9.0];
        assert_eq!(exchange_without_packing(&block), [6.5, 6.5]);
    }
}
