//! The tables that are shipped, recorded on Zen 4 (AMD EPYC, 32 MiB of outer cache), on Zen 5 (the same), and
//! on two Intel Xeons (Emerald Rapids and later, 300 and 480 MB of outer cache). A row differs between
//! families if another way took 5% less time.

use std::sync::LazyLock;

use super::class::{Direction, Shape};
use crate::block_copy::{LONG, SHORT};
use crate::way::Way;

/// Processors with a separate table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Also for all others, for which it is a guess.
    Zen4,
    Zen5,
    Intel,
}

impl Family {
    pub fn this() -> Self {
        static THIS: LazyLock<Family> = LazyLock::new(|| Family::from_cpuid(signature()));
        *THIS
    }

    /// By vendor, and by the processor's signature (leaf 1 of the instruction `cpuid`).
    fn from_cpuid((vendor, signature): ([u8; 12], u32)) -> Self {
        let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
        let model = (signature >> 4 & 0xF) + (signature >> 12 & 0xF0);
        match (&vendor, family) {
            (b"AuthenticAMD", 0x1A) => Self::Zen5,
            // From Sapphire Rapids on: on earlier ones microcode makes gathering slow (Downfall).
            (b"GenuineIntel", 6) if model >= 0x8F => Self::Intel,
            _ => Self::Zen4,
        }
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
pub(super) fn way(family: Family, shape: Shape, size: usize, direction: Direction) -> Way {
    let (largest, unpacks) = (shape.sizes()[size], direction == Direction::Unpack);
    match shape {
        // At small distances the compiler unpacks by scatter instructions with AVX-512, which take twice the time of single
        // stores, and packs single values that are in no cache a third slower. Otherwise all ways are equal.
        Shape::Strided if largest <= SHORT => Way::Base,
        // The part of such a message and its array that stays in the caches is evicted before it is used
        // again. 16 MiB: 22 GB/s instead of 14 warm, 18 instead of 12 cold (Zen 4); 36 instead of 26 (Zen 5).
        Shape::Run if largest > 8 << 20 => Way::PastCaches,
        // Otherwise every line of the array is read before it is written. 2 MiB: as fast warm and 2.4 times
        // as fast cold; 5 MiB: twice as fast (Zen 4). 2 to 6 times as fast (Intel).
        Shape::Transposed if largest > 2 << 20 && unpacks => Way::PastCaches,
        Shape::Transposed | Shape::IndexedRecords | Shape::Runs => Way::Avx512,
        // 8 and 18 MiB of rows of 8 and 12 KiB, packed: with vectors up to a fifth slower (Zen 4).
        Shape::LongRows if family == Family::Zen4 => Way::Library,
        Shape::LongRows => Way::Instruction,
        _ => match family {
            Family::Zen4 => zen_4(shape, largest),
            Family::Zen5 => zen_5(shape, largest, unpacks),
            Family::Intel => intel(shape, largest, unpacks),
        },
    }
}

fn zen_4(shape: Shape, largest: usize) -> Way {
    match shape {
        // The library bypasses the caches too.
        Shape::Run if largest > 4 << 20 => Way::Library,
        // Vectors of 64 bytes lose a tenth to a quarter, depending on the places.
        Shape::Run => Way::Avx2,
        Shape::Strided | Shape::Listed if largest > LONG => Way::Avx2,
        // A vector across two cache lines costs twice, and one of 64 bytes always is such a vector. 4032
        // blocks of 64 bytes 4160 bytes apart: with vectors of 64, 32 and 16 bytes, packing reaches 5, 12 and
        // 12 GB/s, unpacking 5, 5 and 16. On Zen 5 they are equal within 5%.
        Shape::ManyPages if largest <= 64 => Way::Base,
        Shape::ManyPages => Way::Avx2,
        _ => Way::Avx512,
    }
}

fn zen_5(shape: Shape, largest: usize, unpacks: bool) -> Way {
    match shape {
        // 69 GB/s instead of 60 with vectors (64 KiB), 73 instead of 60 (1 MiB).
        Shape::Run if largest > 16 << 10 => Way::Instruction,
        // 58 GB/s instead of 53 with vectors of 32 bytes (1 to 4 KiB), 96 instead of 84 (16 KiB).
        Shape::Run if largest > 1 << 10 => Way::Avx512,
        Shape::Run => Way::Avx2,
        // 64 KiB and 256 KiB, warm and cold: 57 GB/s instead of 46 with vectors.
        Shape::Strided | Shape::Listed if largest > LONG && unpacks => Way::Instruction,
        // 256 KiB, warm and cold: 59 GB/s instead of 53 with vectors, and 57 by `memcpy`.
        Shape::Strided | Shape::Listed if largest > 2 << 10 => Way::Instruction,
        Shape::Strided | Shape::Listed if largest > LONG => Way::Avx2,
        // Half in the first-level cache: 64-byte vectors lose a tenth.
        Shape::Strided if (33..=128).contains(&largest) => Way::Avx2,
        // Blocks of 12 bytes take 0.8 of the time warm and 0.65 cold.
        Shape::Listed if largest == 16 && unpacks => Way::Masked,
        Shape::Listed if (33..=256).contains(&largest) => Way::Avx2,
        // 63 GB/s instead of 56 with 32-byte vectors.
        Shape::ManyPages if largest <= 128 => Way::Avx2,
        _ => Way::Avx512,
    }
}

fn intel(shape: Shape, largest: usize, unpacks: bool) -> Way {
    match shape {
        // 72 GB/s instead of 61 with vectors of 32 bytes (16 KiB).
        Shape::Run if largest > 4 << 10 => Way::Instruction,
        Shape::Run if largest <= 1 << 10 => Way::Avx2,
        Shape::Strided | Shape::Listed if largest > 4 << 10 => Way::Instruction,
        // Blocks of 3 KiB unpack 5% slower with vectors of 64 bytes.
        Shape::Strided | Shape::Listed if largest > 2 << 10 => Way::Avx2,
        // Lists of 500 to 16,000 values pack 6 to 24% faster, and equally fast if in no cache. Values of 8 bytes do not.
        Shape::Listed if largest <= 4 && !unpacks => Way::Gather,
        // If the array is in no cache, unpacking takes 0.4 to 0.7 of the time.
        Shape::Listed if largest <= 64 && unpacks => Way::Prefetch,
        // Blocks of 40 bytes unpack a tenth slower with vectors of 64 bytes, and pack a fifth faster.
        Shape::ManyPages if largest <= 16 || largest <= 64 && unpacks => Way::Base,
        _ => Way::Avx512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    #[test]
    fn families_are_known_by_vendor_and_signature() {
        let (amd, intel) = (*b"AuthenticAMD", *b"GenuineIntel");
        for (vendor, signature, family) in [
            (amd, 0x00B0_0F21, Family::Zen5),
            (amd, 0x00A1_0F11, Family::Zen4),
            // Zen 3 and a clone of Zen do not have a table.
            (amd, 0x00A0_0F11, Family::Zen4),
            (*b"HygonGenuine", 0x0090_0F22, Family::Zen4),
            // Ice Lake; Emerald Rapids; Granite Rapids.
            (intel, 0x0006_06A6, Family::Zen4),
            (intel, 0x000C_06F2, Family::Intel),
            (intel, 0x000A_06D1, Family::Intel),
            // No instruction `cpuid`.
            ([0; 12], 0, Family::Zen4),
        ] {
            assert_eq!(Family::from_cpuid((vendor, signature)), family, "{signature:x}");
        }
    }

    #[test]
    fn tables_have_only_ways_that_copy_the_class() {
        for (class, direction) in Class::all().flat_map(|class| Direction::ALL.map(|way| (class, way))) {
            for family in [Family::Zen4, Family::Zen5, Family::Intel] {
                let way = way(family, class.shape, class.size, direction);
                assert!(
                    !way.is_here() || class.ways(direction).contains(&way),
                    "{family:?}, {class}: {way:?}"
                );
            }
        }
    }

    #[test]
    fn families_have_their_own_ways() {
        for (shape, bytes, direction, ways) in [
            (Shape::Strided, 8192, Direction::Pack, [Way::Avx2, Way::Instruction, Way::Instruction]),
            (Shape::LongRows, 8192, Direction::Pack, [Way::Library, Way::Instruction, Way::Instruction]),
            (Shape::Listed, 12, Direction::Unpack, [Way::Avx512, Way::Masked, Way::Prefetch]),
        ] {
            let way = |family| way(family, shape, shape.class(bytes).size, direction);
            assert_eq!([Family::Zen4, Family::Zen5, Family::Intel].map(way), ways, "{shape:?}");
        }
    }
}
