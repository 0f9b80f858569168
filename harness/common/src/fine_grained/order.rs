//! The order in which the partitions of a message become ready.
//!
//! As in the benchmark of HLRS (Schneewind & Niethammer, "Benchmarking the State of MPI Partitioned
//! Communication in Open MPI", EuroMPI 2024, section 4.2, and its code), an order defines when each *byte* of
//! the buffer is written, and a partition is ready when its last byte is written.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Default distance in bytes between bytes written one after the other: the stride HLRS measured with.
const DEFAULT_STRIDE_BYTES: u64 = 16 * 1024;

/// Default size of a burst in bytes, from HLRS' measurements.
const DEFAULT_BURST_BYTES: u64 = 1024;

/// The order in which the bytes of a message are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteOrder {
    /// From the first byte to the last.
    #[default]
    Linear,
    /// From the last byte to the first.
    Reverse,
    /// Bytes in random order: all partitions become ready near the end.
    Random,
    /// Bytes 0, g, 2 g, ..., then 1, g + 1, ...: like a matrix with rows of g bytes, written column by column.
    Strided {
        /// The distance g. 0, which cannot be given as text, counts as 1.
        bytes: u64,
    },
    /// Blocks in random order, each from its first byte to its last.
    Burst {
        /// Bytes of a block. 0, which cannot be given as text, counts as 1.
        bytes: u64,
    },
    /// Partitions are cells of a grid, numbered row by row and written column by column, each from its first
    /// byte to its last.
    ///
    /// The grid is as square as possible: the number of rows is the square root of the number of partitions, rounded
    /// down, with as few columns as needed; the last row may be shorter. This is the paper's exchange of neighbours in
    /// two dimensions. The paper's code uses [`WriteOrder::Strided`] for it: with rows of equal size and a stride of
    /// one row of the grid, partitions become ready in the same order. With any other stride the two differ.
    Neighbourhood,
}

/// The bytes of partition `p` of `partitions`: from p * bytes / partitions, rounded down, to the start of the
/// next one. Sizes differ by one byte at most, and together the partitions cover the message.
///
/// # Panics
/// If there is no partition `p`, or if it exceeds the address space.
pub fn partition(bytes: u64, partitions: usize, p: usize) -> Range<usize> {
    assert!(p < partitions, "partition {p} of {partitions}");
    let start = |p: usize| {
        let start = p as u128 * u128::from(bytes) / partitions as u128;
        usize::try_from(start).expect("a message is within the address space")
    };
    start(p)..start(p + 1)
}

/// The partition that contains byte `byte`.
fn holder(bytes: u64, partitions: usize, byte: u64) -> usize {
    // The largest p with p * bytes / partitions <= byte, rounded down: p * bytes < (byte + 1) * partitions.
    let p = ((u128::from(byte) + 1) * partitions as u128 - 1) / u128::from(bytes);
    usize::try_from(p).expect("no more than there are partitions")
}

impl WriteOrder {
    /// Every partition once, in the order in which they become ready; `seed` decides the random orders.
    ///
    /// Partitions without bytes exist if the message has fewer bytes than partitions. They come first in any
    /// order, by rising index.
    ///
    /// # Panics
    /// If the message exceeds the address space.
    pub fn permutation(&self, bytes: u64, partitions: usize, seed: u64) -> Vec<usize> {
        let range = |p: usize| partition(bytes, partitions, p);
        let (mut order, mut written): (Vec<usize>, Vec<usize>) =
            (0..partitions).partition(|&p| range(p).is_empty());
        match *self {
            Self::Linear => {}
            Self::Reverse => written.reverse(),
            Self::Random => written = burst(bytes, partitions, 1, written.len(), seed),
            Self::Burst { bytes: block } => {
                written = burst(bytes, partitions, block.max(1), written.len(), seed);
            }
            Self::Strided { bytes: stride } => {
                written.sort_unstable_by_key(|&p| last_strided(range(p), stride.max(1)));
            }
            Self::Neighbourhood => {
                let columns = partitions.div_ceil(partitions.isqrt().max(1)).max(1);
                written.sort_unstable_by_key(|&p| (p % columns, p / columns));
            }
        }
        order.append(&mut written);
        order
    }
}

/// When the last byte of a non-empty partition is written: the pass, and the step within it.
fn last_strided(range: Range<usize>, stride: u64) -> (u64, u64) {
    let last = range.end as u64 - 1;
    // The last pass writes the bytes before each multiple of the stride. A range without any such byte has no
    // multiple inside either, so later bytes are in later passes.
    let in_last_pass = (last + 1) / stride * stride;
    let byte = if in_last_pass > range.start as u64 { in_last_pass - 1 } else { last };
    (byte % stride, byte / stride)
}

/// The `count` partitions that have bytes, in the order in which they become ready when blocks are shuffled.
///
/// The Fisher-Yates shuffle decides the last place first, then the one before it. So a partition's place is
/// known as soon as one of its blocks is drawn, and once all partitions are placed the rest of the shuffle is
/// skipped. For a few hundred partitions of a large message this takes a few thousand steps instead of many
/// millions. Only blocks that were moved are stored.
fn burst(bytes: u64, partitions: usize, block: u64, count: usize, seed: u64) -> Vec<usize> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut moved: HashMap<u64, u64> = HashMap::new();
    let mut is_placed = vec![false; partitions];
    let mut backwards = Vec::with_capacity(count);
    let mut place = bytes.div_ceil(block);
    while backwards.len() < count {
        place -= 1;
        let drawn = random.random_range(0..=place);
        let here = moved.remove(&place).unwrap_or(place);
        let block_here = if drawn == place { here } else { moved.insert(drawn, here).unwrap_or(drawn) };
        let first = block_here * block;
        let last = first.saturating_add(block - 1).min(bytes - 1);
        // Within a block, the partition that ends last is ready last.
        for p in (holder(bytes, partitions, first)..=holder(bytes, partitions, last)).rev() {
            let is_empty = partition(bytes, partitions, p).is_empty();
            if !is_empty && !std::mem::replace(&mut is_placed[p], true) {
                backwards.push(p);
            }
        }
    }
    backwards.reverse();
    backwards
}

impl fmt::Display for WriteOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Reverse => f.write_str("reverse"),
            Self::Random => f.write_str("random"),
            Self::Strided { bytes } => write!(f, "strided:{bytes}"),
            Self::Burst { bytes } => write!(f, "burst:{bytes}"),
            Self::Neighbourhood => f.write_str("neighbourhood"),
        }
    }
}

/// As displayed. The default sizes of `strided` and `burst` are those of HLRS, 16384 and 1024 bytes.
impl FromStr for WriteOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, size) = match text.split_once(':') {
            Some((name, size)) => (name, Some(size)),
            None => (text, None),
        };
        let bytes = |default: u64| match size {
            None => Ok(default),
            Some(size) => size.parse().ok().filter(|&bytes| bytes > 0).ok_or_else(|| {
                format!("order {text:?}: {size:?} must be a number of bytes, such as {name}:{default}")
            }),
        };
        let order = match name {
            "linear" => Self::Linear,
            "reverse" => Self::Reverse,
            "random" => Self::Random,
            "neighbourhood" => Self::Neighbourhood,
            "strided" => return Ok(Self::Strided { bytes: bytes(DEFAULT_STRIDE_BYTES)? }),
            "burst" => return Ok(Self::Burst { bytes: bytes(DEFAULT_BURST_BYTES)? }),
            _ => {
                return Err(format!(
                    "unknown order {text:?}; known: linear, reverse, random, strided:BYTES, burst:BYTES \
                     and neighbourhood"
                ));
            }
        };
        match size {
            None => Ok(order),
            Some(_) => Err(format!("order {text:?}: {name} takes no number")),
        }
    }
}

#[cfg(test)]
mod tests;
