//! The table that is shipped, recorded on Zen 4 (AMD EPYC, 32 MiB of outer cache).

use super::class::{Direction, Shape};
use crate::block_copy::LONG;
use crate::way::Way;

/// The way for a class; the processor may lack it.
pub(super) fn way(shape: Shape, size: usize, direction: Direction) -> Way {
    let largest = shape.sizes().get(size).copied().unwrap_or(usize::MAX);
    match shape {
        // The part of such a message and its array that stays in the caches is evicted before it is used again. 16 MiB:
        // 22 GB/s instead of 14 warm, 18 instead of 12 cold.
        Shape::Run if largest > 8 << 20 => Way::PastCaches,
        // The library bypasses the caches too.
        Shape::Run if largest > 4 << 20 => Way::Library,
        // Vectors of 64 bytes lose a tenth to a quarter, depending on the places.
        Shape::Run => Way::Avx2,
        Shape::Strided | Shape::Listed if largest > LONG => Way::Avx2,
        // A vector across two cache lines costs twice, and one of 64 bytes always is such a vector. 4032 blocks of 64
        // bytes 4160 bytes apart: with vectors of 64, 32 and 16 bytes, packing reaches 5, 12 and 12 GB/s, unpacking 5,
        // 5 and 16.
        Shape::ManyPages if largest <= 64 => Way::Base,
        Shape::ManyPages => Way::Avx2,
        // Otherwise every line of the array is read before it is written. 2 MiB: as fast warm and 2.4 times as fast cold;
        // 5 MiB: twice as fast.
        Shape::Transposed if largest > 2 << 20 && direction == Direction::Unpack => Way::PastCaches,
        _ => Way::Avx512,
    }
}
