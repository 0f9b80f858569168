//! Round trips and the time without packing, block by block.

use crate::model::Phase;
use crate::model::event::Block;

/// The round trips of a block whose packing is known: those in parts; or all of a batch, whose packing is timed separately.
pub fn with_packing(block: &Block) -> Vec<f64> {
    let times = &block.times;
    if times[Phase::InParts].is_empty() { &times[Phase::RoundTrip] } else { &times[Phase::InParts] }.clone()
}

/// Round trips without packing and unpacking: `net`, or for a batch the difference of the means.
pub fn without_packing(block: &Block) -> Vec<f64> {
    let times = &block.times;
    if !times[Phase::InParts].is_empty() {
        return times[Phase::Net].clone();
    }
    less(block, Phase::RoundTrip, &[Phase::Pack, Phase::PeerUnpack, Phase::PeerPack, Phase::Unpack])
}

/// A block's halo exchanges without packing and unpacking, each of the rank that took longest.
pub fn exchange_without_packing(block: &Block) -> Vec<f64> {
    less(block, Phase::Exchange, &[Phase::Pack, Phase::Unpack])
}

/// A phase minus others, repetition by repetition.
fn less(block: &Block, whole: Phase, parts: &[Phase]) -> Vec<f64> {
    let packing = |i: usize| parts.iter().filter_map(|&part| block.times[part].get(i)).sum::<f64>();
    block.times[whole].iter().enumerate().map(|(i, whole)| whole - packing(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Times;

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
