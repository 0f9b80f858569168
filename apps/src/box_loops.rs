//! An application's own loops over a box of one of its arrays: what its message between two ranks and its halo exchange
//! have in common, whole or a thread's share of it.

use std::ops::Range;

use crate::Arrays;

/// The loops, value by value, for the indices that are sent of each dimension, the slowest first. Those of a value (the
/// components at a point) are all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxLoops {
    /// Packs these indices of an array.
    pub pack: fn(&Arrays, usize, &[Range<usize>], &mut [u8]),
    /// Unpacks to these indices of an array.
    pub unpack: fn(&[u8], &mut Arrays, usize, &[Range<usize>]),
}
