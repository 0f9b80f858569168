//! The kernels, by the size of a block and the way to copy it.

use crate::block_copy::{
    Between, BlockCopy, Exact, Instruction, LONG, Library, Long, MEDIUM, Medium, Streamed,
};
use crate::indexed_records::Group;
use crate::loops::{self, Grid};
use crate::way::Way;
#[cfg(target_arch = "x86_64")]
use crate::{block_copy::Masked, gather};

/// Kernels for blocks in loops: array, packed, bytes of a block, loops.
pub(crate) type StridedKernel = unsafe fn(*mut u8, *mut u8, usize, &Grid);

/// Kernels for blocks at listed places: array, packed, bytes of a block, bytes from block to block in the
/// packed stream, offsets.
pub(crate) type IndexedKernel = unsafe fn(*mut u8, *mut u8, usize, usize, &[u32]);

/// Kernels for runs of any lengths: array, packed, offsets, packed ends.
pub(crate) type RunsKernel = unsafe fn(*mut u8, *mut u8, &[i64], &[usize]);

/// Kernels for some words of records by index: array, packed, bytes of a record in the packed stream, words,
/// indices.
pub(crate) type RecordsKernel = unsafe fn(*mut u8, *mut u8, usize, &Group, &[u32]);

/// Kernels for records of particles: array, packed, positions and single words, indices.
pub(crate) type ParticlesKernel = unsafe fn(*mut u8, *mut u8, [&Group; 2], &[u32]);

/// A kernel for either direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<K> {
    pub pack: K,
    pub unpack: K,
}

impl<K: Copy> Pair<K> {
    /// The kernel for the direction of `PACK`.
    pub fn in_direction<const PACK: bool>(&self) -> K {
        if PACK { self.pack } else { self.unpack }
    }

    /// The kernels of one way for packing, and of another for unpacking.
    pub fn by(ways: Pair<Way>, kernels: impl Fn(Way) -> Self) -> Self {
        Self { pack: kernels(ways.pack).pack, unpack: kernels(ways.unpack).unpack }
    }
}

/// Calls `$make` for the kind of block of `$bytes` bytes, with the sizes that share it. Sizes that
/// applications use have their own kernel; the others have one per range. Long blocks are copied in parts of
/// `$part` bytes. `$constant` is one more constant of `$make`.
macro_rules! by_size {
    ($bytes:expr, $part:literal, $make:ident $(, $constant:tt)?) => {{
        macro_rules! exact {
            ($size:literal) => {
                $make::<Exact<$size> $(, $constant)?>(stringify!($size))
            };
        }
        match $bytes {
            1 => exact!(1),
            2 => exact!(2),
            3 => exact!(3),
            4 => exact!(4),
            5..=7 => $make::<Between<4, 4> $(, $constant)?>("5 to 7"),
            8 => exact!(8),
            12 => exact!(12),
            9..=15 => $make::<Between<8, 8> $(, $constant)?>("9 to 15"),
            16 => exact!(16),
            20 => exact!(20),
            24 => exact!(24),
            28 => exact!(28),
            17..=31 => $make::<Between<16, 16> $(, $constant)?>("17 to 31"),
            32 => exact!(32),
            36 => exact!(36),
            40 => exact!(40),
            48 => exact!(48),
            56 => exact!(56),
            33..=63 => $make::<Between<32, 32> $(, $constant)?>("33 to 63"),
            64 => exact!(64),
            72 => exact!(72),
            80 => exact!(80),
            96 => exact!(96),
            // A third access that crosses a line boundary costs more than it copies.
            65..=95 => $make::<Between<64, 32> $(, $constant)?>("65 to 95"),
            97..=127 => $make::<Between<64, 64> $(, $constant)?>("97 to 127"),
            128 => exact!(128),
            129..=255 => $make::<Between<128, 128> $(, $constant)?>("129 to 255"),
            MEDIUM..LONG => $make::<Medium $(, $constant)?>("256 to 1023"),
            LONG.. => $make::<Long<$part> $(, $constant)?>("1024 and more"),
            0 => unreachable!("nothing is not copied"),
        }
    }};
}

/// Calls the macro `$make` with the type of words of `$bytes` bytes, a number of words, and that with a position before them.
macro_rules! by_words {
    ($bytes:expr, $words:expr, $make:ident) => {
        match ($bytes, $words) {
            (4, 1) => $make!(u32, 1, 4),
            (4, 2) => $make!(u32, 2, 5),
            (4, 3) => $make!(u32, 3, 6),
            (4, 4) => $make!(u32, 4, 7),
            (4, 5) => $make!(u32, 5, 8),
            (8, 1) => $make!(u64, 1, 4),
            (8, 2) => $make!(u64, 2, 5),
            (8, 3) => $make!(u64, 3, 6),
            (8, 4) => $make!(u64, 4, 7),
            (8, 5) => $make!(u64, 5, 8),
            _ => unreachable!("words have 4 or 8 bytes, and groups 1 to 5 words"),
        }
    };
}

/// The sizes of blocks that have the same kernel as those of `bytes` bytes.
pub(crate) fn sizes(bytes: usize) -> &'static str {
    fn itself<B: BlockCopy>(sizes: &'static str) -> &'static str {
        sizes
    }
    by_size!(bytes, 32, itself)
}

/// A loop, compiled for an instruction set: `[feature] name[generics][their names](arguments) { body }`.
macro_rules! kernel {
    ([$($feature:literal)?] $name:ident[$($generic:tt)*][$($parameter:ident),*]($($argument:ident: $type:ty,)*) $body:block) => {
        $(#[target_feature(enable = $feature)])?
        unsafe fn $name<$($generic)*>($($argument: $type),*) {
            #[cfg(test)]
            crate::tests::ran::note($name::<$($parameter),*> as *const ());
            // SAFETY: guaranteed by the caller.
            unsafe { $body }
        }
    };
}

/// A module with a copy of every loop for one instruction set, and the choice by size. Long blocks are copied
/// in parts of `$part` bytes.
macro_rules! level {
    ($module:ident, $part:literal $(, $feature:literal)?) => {
        pub(crate) mod $module {
            use super::*;

            kernel! { [$($feature)?] strided_loop[B: BlockCopy, const PACK: bool][B, PACK](
                array: *mut u8, packed: *mut u8, bytes: usize, grid: &Grid,
            ) {
                if (grid.inner.count, grid.outer.count) == (1, 1) {
                    loops::block::<B, PACK>(array, packed, bytes);
                } else if !B::small_strides::<PACK>(array, packed, grid) {
                    loops::strided::<B, PACK>(array, packed, bytes, grid);
                }
            } }

            kernel! { [$($feature)?] transposed_loop[B: BlockCopy, const PACK: bool, const STREAM: bool][B, PACK, STREAM](
                array: *mut u8, packed: *mut u8, bytes: usize, grid: &Grid,
            ) { loops::transposed::<B, PACK, STREAM>(array, packed, bytes, grid) } }

            kernel! { [$($feature)?] indexed_loop[B: BlockCopy, const PACK: bool, const AHEAD: usize][B, PACK, AHEAD](
                array: *mut u8, packed: *mut u8, bytes: usize, packed_step: usize, offsets: &[u32],
            ) { loops::indexed::<B, PACK, AHEAD>(array, packed, bytes, packed_step, offsets) } }

            kernel! { [$($feature)?] run_list[const PACK: bool][PACK](
                array: *mut u8, packed: *mut u8, offsets: &[i64], ends: &[usize],
            ) { loops::runs::<PACK>(array, packed, offsets, ends) } }

            kernel! { [$($feature)?] record_words[T: Copy + 'static, const G: usize, const PACK: bool][T, G, PACK](
                array: *mut u8, packed: *mut u8, record: usize, group: &Group, indices: &[u32],
            ) { loops::words::<T, G, PACK>(array, packed, record, group, indices) } }

            kernel! { [$($feature)?] particle_loop[
                T: Copy + 'static, const N: usize, const W: usize, const PACK: bool, const EVEN: bool
            ][T, N, W, PACK, EVEN](array: *mut u8, packed: *mut u8, groups: [&Group; 2], indices: &[u32],) {
                loops::particles::<T, N, W, PACK, EVEN>(array, packed, groups, indices)
            } }

            pub fn strided_of<B: BlockCopy>(_: &'static str) -> Pair<StridedKernel> {
                Pair { pack: strided_loop::<B, true>, unpack: strided_loop::<B, false> }
            }

            pub fn transposed_of<B: BlockCopy, const STREAM: bool>(_: &'static str) -> Pair<StridedKernel> {
                Pair { pack: transposed_loop::<B, true, false>, unpack: transposed_loop::<B, false, STREAM> }
            }

            pub fn indexed_of<B: BlockCopy, const AHEAD: usize>(_: &'static str) -> Pair<IndexedKernel> {
                Pair { pack: indexed_loop::<B, true, AHEAD>, unpack: indexed_loop::<B, false, AHEAD> }
            }

            pub fn strided(bytes: usize) -> Pair<StridedKernel> {
                by_size!(bytes, $part, strided_of)
            }

            pub fn transposed(bytes: usize) -> Pair<StridedKernel> {
                by_size!(bytes, $part, transposed_of, false)
            }

            pub fn indexed(bytes: usize) -> Pair<IndexedKernel> {
                by_size!(bytes, $part, indexed_of, 0)
            }

            pub fn runs() -> Pair<RunsKernel> {
                Pair { pack: run_list::<true>, unpack: run_list::<false> }
            }

            pub fn particles(bytes: usize, singles: usize, is_even: bool) -> Pair<ParticlesKernel> {
                macro_rules! of {
                    ($word:ty, $singles:literal, $words:literal) => {
                        match is_even {
                            true => Pair {
                                pack: particle_loop::<$word, $singles, $words, true, true>,
                                unpack: particle_loop::<$word, $singles, $words, false, true>,
                            },
                            false => Pair {
                                pack: particle_loop::<$word, $singles, $words, true, false>,
                                unpack: particle_loop::<$word, $singles, $words, false, false>,
                            },
                        }
                    };
                }
                by_words!(bytes, singles, of)
            }

            pub fn words(bytes: usize, group: usize) -> Pair<RecordsKernel> {
                macro_rules! of {
                    ($word:ty, $group:literal, $with_position:literal) => {
                        Pair {
                            pack: record_words::<$word, $group, true>,
                            unpack: record_words::<$word, $group, false>,
                        }
                    };
                }
                by_words!(bytes, group, of)
            }
        }
    };
}

level!(base, 32);
#[cfg(target_arch = "x86_64")]
level!(avx2, 32, "avx2");
#[cfg(target_arch = "x86_64")]
level!(avx512, 64, "avx512f,avx512vl");

/// Calls a function of the module for the vectors of a way.
macro_rules! with_vectors {
    ($way:expr, $function:ident ( $($argument:expr),* )) => {
        match $way.vectors() {
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => avx2::$function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => avx512::$function($($argument),*),
            _ => base::$function($($argument),*),
        }
    };
}

/// The kernels for blocks of `bytes` bytes in loops. Here and below, calling a kernel needs a processor that
/// [has](Way::is_here) the way; a way that cannot copy such blocks is replaced.
pub(crate) fn strided(bytes: usize, way: Way) -> Pair<StridedKernel> {
    match way {
        Way::Library => base::strided_of::<Library>(""),
        Way::Instruction if bytes >= LONG => base::strided_of::<Instruction>(""),
        Way::PastCaches if bytes >= LONG => base::strided_of::<Streamed>(""),
        way => with_vectors!(way, strided(bytes)),
    }
}

/// The kernels for blocks in two loops, several rows at once.
pub(crate) fn transposed(bytes: usize, way: Way) -> Pair<StridedKernel> {
    match (way, bytes) {
        (Way::PastCaches, 8) => base::transposed_of::<Exact<8>, true>(""),
        (Way::PastCaches, 16) => base::transposed_of::<Exact<16>, true>(""),
        (Way::PastCaches, 32) => base::transposed_of::<Exact<32>, true>(""),
        (way, bytes) => with_vectors!(way, transposed(bytes)),
    }
}

/// The kernels for blocks at listed places.
pub(crate) fn indexed(bytes: usize, way: Way) -> Pair<IndexedKernel> {
    match (way, bytes) {
        (Way::Library, _) => base::indexed_of::<Library, 0>(""),
        (Way::Instruction, LONG..) => base::indexed_of::<Instruction, 0>(""),
        (Way::Prefetch, ..=64) => {
            use base::indexed_of;
            by_size!(bytes, 32, indexed_of, AHEAD)
        }
        #[cfg(target_arch = "x86_64")]
        (Way::Masked, 12) => avx512::indexed_of::<Masked, 0>(""),
        #[cfg(target_arch = "x86_64")]
        (Way::Gather, 4) => Pair { pack: gather::words, ..avx512::indexed(4) },
        (way, bytes) => with_vectors!(way, indexed(bytes)),
    }
}

/// The distance of prefetching, in blocks of a list.
const AHEAD: usize = 32;

/// The kernels for runs of any lengths.
pub(crate) fn runs(way: Way) -> Pair<RunsKernel> {
    with_vectors!(way, runs())
}

/// The kernels for records of a position and `singles` single words of `bytes` bytes, for even indices or for any.
pub(crate) fn particles(bytes: usize, singles: usize, is_even: bool, way: Way) -> Pair<ParticlesKernel> {
    with_vectors!(way, particles(bytes, singles, is_even))
}

/// The kernels for `group` words of `bytes` bytes of records by index.
pub(crate) fn words(bytes: usize, group: usize, way: Way) -> Pair<RecordsKernel> {
    with_vectors!(way, words(bytes, group))
}
