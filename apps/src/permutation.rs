//! Random index lists that are the same on every rank and every machine.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The first `count` entries of a shuffled `0..bound`: unique and unsorted, as the original's lists are. Each
/// `stream` of one seed gives another list. Unlike the original's shuffle, Fisher-Yates favours no entry.
pub fn index_list(seed: u64, stream: u64, bound: usize, count: usize) -> Vec<usize> {
    // PCG keeps streams apart only by seeding, so seed and stream are mixed by an odd multiplier.
    let mut random = Pcg64::seed_from_u64(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut list: Vec<usize> = (0..bound).collect();
    for i in 0..count {
        let from = below(&mut random, bound - i) + i;
        list.swap(i, from);
    }
    list.truncate(count);
    list
}

/// A number below `bound`, drawn as 64 bits so that 32-bit machines get the same lists.
fn below(random: &mut impl Rng, bound: usize) -> usize {
    random.random_range(0..bound as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_unique_in_range_and_the_same_every_time() {
        let list = index_list(7, 0, 1000, 400);
        let mut sorted = list.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 400);
        assert!(sorted.iter().all(|&i| i < 1000));
        assert_eq!(list, index_list(7, 0, 1000, 400));
        assert_ne!(list, index_list(7, 1, 1000, 400));
    }
}
