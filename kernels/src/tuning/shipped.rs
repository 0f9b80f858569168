//! The tables that are shipped, recorded on Zen 4 (AMD EPYC, 32 MiB of outer cache) and on Zen 5 (the same).

use std::sync::LazyLock;

use super::class::{Direction, Shape};
use crate::block_copy::{LONG, SHORT};
use crate::way::Way;

/// Processors with a separate table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Also for all others, for which it is a guess.
    Zen4,
    Zen5,
}

impl Family {
    fn this() -> Self {
        static THIS: LazyLock<Family> = LazyLock::new(|| Family::of(signature()));
        *THIS
    }

    /// By vendor, and by the processor's signature (leaf 1 of the instruction `cpuid`).
    fn of((vendor, signature): ([u8; 12], u32)) -> Self {
        let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
        if &vendor == b"AuthenticAMD" && family == 0x1A { Self::Zen5 } else { Self::Zen4 }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn signature() -> ([u8; 12], u32) {
    use std::arch::x86_64::__cpuid;
    let vendor = __cpuid(0);
    let words = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    (std::array::from_fn(|i| words[i / 4][i % 4]), __cpuid(1).eax)
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn signature() -> ([u8; 12], u32) {
    Default::default()
}

/// The way for a class; the processor may lack it.
pub(super) fn way(shape: Shape, size: usize, direction: Direction) -> Way {
    of_family(Family::this(), shape, size, direction)
}

fn of_family(family: Family, shape: Shape, size: usize, direction: Direction) -> Way {
    let largest = shape.sizes().get(size).copied().unwrap_or(usize::MAX);
    match (shape, family) {
        // At small distances the compiler unpacks by scatter instructions with AVX-512, which take twice the time of single
        // stores, and packs single values that are in no cache a third slower. Otherwise all ways are equal.
        (Shape::Strided, _) if largest <= SHORT => Way::Base,
        // The part of such a message and its array that stays in the caches is evicted before it is used again. 16 MiB:
        // 22 GB/s instead of 14 warm, 18 instead of 12 cold (Zen 4); 36 instead of 26 (Zen 5).
        (Shape::Run, _) if largest > 8 << 20 => Way::PastCaches,
        // 69 GB/s instead of 60 with vectors (64 KiB), 73 instead of 60 (1 MiB).
        (Shape::Run, Family::Zen5) if largest > 16 << 10 => Way::Instruction,
        // 58 GB/s instead of 53 with vectors of 32 bytes (1 to 4 KiB), 96 instead of 84 (16 KiB).
        (Shape::Run, Family::Zen5) if largest > 1 << 10 => Way::Avx512,
        // The library bypasses the caches too.
        (Shape::Run, Family::Zen4) if largest > 4 << 20 => Way::Library,
        // Vectors of 64 bytes lose a tenth to a quarter, depending on the places.
        (Shape::Run, _) => Way::Avx2,
        // 64 KiB and 256 KiB, warm and cold: 57 GB/s instead of 46 with vectors.
        (Shape::Strided | Shape::Listed, Family::Zen5)
            if largest > LONG && direction == Direction::Unpack =>
        {
            Way::Instruction
        }
        // 256 KiB, warm and cold: 59 GB/s instead of 53 with vectors, and 57 by `memcpy`.
        (Shape::Strided | Shape::Listed, Family::Zen5) if largest > 2 << 10 => Way::Instruction,
        // 63 GB/s instead of 56 with 32-byte vectors.
        (Shape::ManyPages, Family::Zen5) if largest > 128 => Way::Avx512,
        // Half in the first-level cache: 64-byte vectors lose a tenth.
        (Shape::Strided, Family::Zen5) if (33..=128).contains(&largest) => Way::Avx2,
        (Shape::Listed, Family::Zen5) if (33..=256).contains(&largest) => Way::Avx2,
        (Shape::Strided | Shape::Listed, _) if largest > LONG => Way::Avx2,
        // A vector across two cache lines costs twice, and one of 64 bytes always is such a vector. 4032 blocks of 64
        // bytes 4160 bytes apart: with vectors of 64, 32 and 16 bytes, packing reaches 5, 12 and 12 GB/s, unpacking 5,
        // 5 and 16 (Zen 4). On Zen 5 they are equal within 5%.
        (Shape::ManyPages, Family::Zen4) if largest <= 64 => Way::Base,
        (Shape::ManyPages, _) => Way::Avx2,
        // Otherwise every line of the array is read before it is written. 2 MiB: as fast warm and 2.4 times as fast cold;
        // 5 MiB: twice as fast.
        (Shape::Transposed, _) if largest > 2 << 20 && direction == Direction::Unpack => Way::PastCaches,
        _ => Way::Avx512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_signature() {
        let amd = *b"AuthenticAMD";
        assert_eq!(Family::of((amd, 0x00B0_0F21)), Family::Zen5);
        assert_eq!(Family::of((amd, 0x00A1_0F11)), Family::Zen4);
        assert_eq!(Family::of((*b"GenuineIntel", 0x00B0_0F21)), Family::Zen4);
        assert_eq!(Family::of(Default::default()), Family::Zen4);
    }

    #[test]
    fn long_rows_have_the_way_of_their_family() {
        let rows = Shape::Strided.class(4096).size;
        let way = |family| of_family(family, Shape::Strided, rows, Direction::Pack);
        assert_eq!((way(Family::Zen4), way(Family::Zen5)), (Way::Avx2, Way::Instruction));
    }
}
