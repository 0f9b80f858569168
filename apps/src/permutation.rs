//! Random index lists that are the same on every rank and every machine.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, OnceLock};

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::words::fetch_to_write;

/// Indices, given or drawn; a part of a list is also one. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct IndexList {
    all: Arc<LazyList>,
    /// The indices that this part of the list has.
    range: Range<usize>,
}

/// The first entries of a shuffled `0..bound`. They are drawn when first used, because an exchange is built
/// before it is known whether there is enough memory for it.
#[derive(Debug)]
struct LazyList {
    seed: u64,
    stream: u64,
    bound: u32,
    count: usize,
    list: OnceLock<Vec<u32>>,
}

impl IndexList {
    /// The first `count` entries of a shuffled `0..bound`. Each `stream` of one `seed` gives another list;
    /// `count` is at most `bound`.
    pub fn drawn(seed: u64, stream: u64, bound: u32, count: usize) -> Self {
        let all = LazyList { seed, stream, bound, count, list: OnceLock::new() };
        Self { range: 0..count, all: Arc::new(all) }
    }

    /// A list of given indices.
    pub fn given(list: Vec<u32>) -> Self {
        let (bound, count) = (bound(&list) as u32, list.len());
        Self {
            all: Arc::new(LazyList { seed: 0, stream: 0, bound, count, list: list.into() }),
            range: 0..count,
        }
    }

    /// Only the entries `range` of this list.
    pub fn part(&self, range: Range<usize>) -> Self {
        let first = self.range.start;
        Self { range: first + range.start..first + range.end, ..self.clone() }
    }

    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The indices as 32-bit numbers, like in the applications.
    pub fn get(&self) -> &[u32] {
        let LazyList { seed, stream, bound, count, ref list } = *self.all;
        &list.get_or_init(|| index_list(seed, stream, bound, count))[self.range.clone()]
    }

    /// The indices, which are all below the bound of the list.
    pub fn indices(&self) -> Indices<'_> {
        Indices { list: self.get(), bound: self.all.bound as usize }
    }

    /// The displacements of blocks of `values` at these indices.
    pub fn displacements(&self, values: i64) -> Vec<i64> {
        self.get().iter().map(|&i| values * i64::from(i)).collect()
    }
}

/// The highest index plus one.
fn bound(list: &[u32]) -> usize {
    list.iter().max().map_or(0, |&most| most as usize + 1)
}

/// Indices that are all known to be below a bound. Loops need not check each one; the applications' loops do
/// not check either.
#[derive(Clone, Copy)]
pub(crate) struct Indices<'a> {
    list: &'a [u32],
    /// Greater than every index of the list.
    bound: usize,
}

impl<'a> Indices<'a> {
    /// The indices of any list; finds the bound by reading all of them.
    pub fn from_list(list: &'a [u32]) -> Self {
        Self { list, bound: bound(list) }
    }

    /// The indices for arrays of `length` elements.
    ///
    /// # Panics
    /// If the indices were made for longer arrays.
    pub fn within(self, length: usize) -> impl Iterator<Item = usize> + 'a {
        assert!(self.bound <= length, "indices below {} for {length} elements", self.bound);
        self.list.iter().map(|&i| i as usize)
    }

    /// Reads `from` at each index. A separate function, like its counterpart: if there are other loops next
    /// to it, the compiler keeps the address of the list in memory and reads it again for each value.
    ///
    /// # Panics
    /// If the indices were made for more elements.
    #[inline(never)]
    pub fn gather<T: Copy>(self, from: &[T], to: &mut [T]) {
        for (to, i) in to.iter_mut().zip(self.within(from.len())) {
            // SAFETY: `within` has compared the bound of all indices with the length.
            *to = unsafe { *from.get_unchecked(i) };
        }
    }

    /// Writes `to` at each index. Fetches the place `AHEAD` indices later into the cache, unless that is 0.
    ///
    /// # Panics
    /// If the indices were made for more elements.
    #[inline(never)]
    pub fn scatter<T: Copy, const AHEAD: usize>(self, from: &[T], to: &mut [T]) {
        for (k, (from, i)) in from.iter().zip(self.within(to.len())).enumerate() {
            if AHEAD > 0 {
                let later = self.list[(k + AHEAD).min(self.list.len() - 1)];
                fetch_to_write(to.as_ptr().wrapping_add(later as usize));
            }
            // SAFETY: `within` has compared the bound of all indices with the length.
            unsafe { *to.get_unchecked_mut(i) = *from };
        }
    }
}

/// The numbers `0..bound` in a random order.
pub(crate) fn shuffled(seed: u64, stream: u64, bound: usize) -> Vec<u32> {
    index_list(seed, stream, bound as u32, bound)
}

/// A random number in `range`, which is not empty.
pub(crate) fn number(seed: u64, stream: u64, range: RangeInclusive<usize>) -> usize {
    range.start() + index_list(seed, stream, (range.end() - range.start() + 1) as u32, 1)[0] as usize
}

/// The first `count` entries of a shuffled `0..bound`: unique and unsorted, like the original's lists. Unlike
/// the original's shuffle, Fisher-Yates favours no entry.
///
/// Only entries that the shuffle has moved are stored, so that a short list from a large range stays cheap.
fn index_list(seed: u64, stream: u64, bound: u32, count: usize) -> Vec<u32> {
    // PCG keeps streams apart only by seeding, so seed and stream are mixed by an odd multiplier.
    let mut random = Pcg64::seed_from_u64(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut moved: HashMap<u32, u32> = HashMap::new();
    let swap = |i: usize| {
        let i = i as u32;
        let from = below(&mut random, bound - i) + i;
        let here = moved.get(&i).copied().unwrap_or(i);
        moved.insert(from, here).unwrap_or(from)
    };
    (0..count).map(swap).collect()
}

/// A number below `bound`, drawn as 64 bits so that 32-bit machines get the same lists.
fn below(random: &mut impl Rng, bound: u32) -> u32 {
    random.random_range(0..u64::from(bound)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_unique_in_range_and_the_same_every_time() {
        for count in [0, 1, 400, 1000] {
            let list = index_list(7, 0, 1000, count);
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), count);
            assert!(sorted.iter().all(|&i| i < 1000));
            assert_eq!(list, index_list(7, 0, 1000, count));
        }
        assert_ne!(index_list(7, 0, 1000, 400), index_list(7, 1, 1000, 400));
        assert_ne!(index_list(7, 0, 1000, 400), index_list(8, 0, 1000, 400));
    }

    /// Results name their seed, so a list that changed with a version would break the comparison with older results.
    #[test]
    fn the_list_of_a_seed_is_this_one() {
        assert_eq!(index_list(1, 0, 3534, 6), [2968, 62, 404, 3474, 3140, 1684]);
    }

    #[test]
    fn the_shuffle_is_that_of_a_stored_array() {
        let (bound, count) = (500, 300);
        let mut random = Pcg64::seed_from_u64(3);
        let mut stored: Vec<u32> = (0..bound).collect();
        for i in 0..count {
            let from = below(&mut random, bound - i as u32) as usize + i;
            stored.swap(i, from);
        }
        assert_eq!(index_list(3, 0, bound, count), stored[..count]);
    }

    #[test]
    fn a_short_list_from_a_huge_range_needs_no_memory_for_the_range() {
        assert_eq!(IndexList::drawn(1, 0, u32::MAX, 5).get().len(), 5);
    }
}
