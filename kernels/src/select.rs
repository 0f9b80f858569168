//! The choice of the kernel that copies blocks of a given size on this processor.

use crate::block_copy::{Between, Exact, LONG, Long, MEDIUM, Medium, Streamed};
use crate::indexed_records::Group;
use crate::loops::{self, Grid};

/// Kernels for blocks in loops: array, packed, bytes of a block, loops.
pub(crate) type StridedKernel = unsafe fn(*mut u8, *mut u8, usize, Grid);

/// Kernels for blocks at listed places: array, packed, bytes of a block, bytes from block to block in the packed stream,
/// offsets.
pub(crate) type IndexedKernel = unsafe fn(*mut u8, *mut u8, usize, usize, &[u32]);

/// Kernels for runs of any lengths: array, packed, offsets, packed ends.
pub(crate) type RunsKernel = unsafe fn(*mut u8, *mut u8, &[i64], &[usize]);

/// Kernels for some words of records by index: array, packed, bytes of a record in the packed stream, words,
/// indices.
pub(crate) type RecordsKernel = unsafe fn(*mut u8, *mut u8, usize, &Group, &[u32]);

/// An instruction set, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The instructions that every processor of the architecture has.
    Base,
    /// Vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Vectors of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// All levels that this architecture may have.
    #[cfg(target_arch = "x86_64")]
    pub const ALL: &[Self] = &[Self::Base, Self::Avx2, Self::Avx512];
    /// All levels that this architecture may have.
    #[cfg(not(target_arch = "x86_64"))]
    pub const ALL: &[Self] = &[Self::Base];

    /// Whether this processor has it.
    pub fn is_here(self) -> bool {
        match self {
            Self::Base => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl"),
        }
    }

    /// The largest that this processor has.
    pub fn best() -> Self {
        Self::ALL.iter().rev().copied().find(|level| level.is_here()).unwrap_or(Self::Base)
    }

    /// The name in explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "AVX-512",
        }
    }
}

/// A kernel for either direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<K> {
    pub pack: K,
    pub unpack: K,
}

impl<K: Copy> Pair<K> {
    /// The kernel for the direction of `PACK`.
    pub fn of<const PACK: bool>(&self) -> K {
        if PACK { self.pack } else { self.unpack }
    }
}

/// The kernels for one size of block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    pub strided: Pair<StridedKernel>,
    pub transposed: Pair<StridedKernel>,
    pub indexed: Pair<IndexedKernel>,
    /// `8`, `17 to 31`, `1024 and more`: the sizes that these are for.
    pub sizes: &'static str,
    /// The instruction set that they need.
    pub level: Level,
}

/// A module with a copy of every loop for one instruction set, and the choice by size.
macro_rules! level {
    ($module:ident, $level:ident $(, $feature:literal)?) => {
        mod $module {
            use super::*;
            use crate::block_copy::BlockCopy;

            $(#[target_feature(enable = $feature)])?
            unsafe fn strided<B: BlockCopy, const PACK: bool>(
                array: *mut u8, packed: *mut u8, bytes: usize, grid: Grid,
            ) {
                #[cfg(test)]
                crate::tests::ran::note(strided::<B, PACK> as *const ());
                // SAFETY: guaranteed by the caller.
                unsafe { loops::strided::<B, PACK>(array, packed, bytes, grid) }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn transposed<B: BlockCopy, const PACK: bool, const STREAM: bool>(
                array: *mut u8, packed: *mut u8, bytes: usize, grid: Grid,
            ) {
                #[cfg(test)]
                crate::tests::ran::note(transposed::<B, PACK, STREAM> as *const ());
                // SAFETY: guaranteed by the caller.
                unsafe { loops::transposed::<B, PACK, STREAM>(array, packed, bytes, grid) }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn indexed<B: BlockCopy, const PACK: bool>(
                array: *mut u8, packed: *mut u8, bytes: usize, packed_step: usize, offsets: &[u32],
            ) {
                #[cfg(test)]
                crate::tests::ran::note(indexed::<B, PACK> as *const ());
                // SAFETY: guaranteed by the caller.
                unsafe { loops::indexed::<B, PACK>(array, packed, bytes, packed_step, offsets) }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn run_list<const PACK: bool>(
                array: *mut u8, packed: *mut u8, offsets: &[i64], ends: &[usize],
            ) {
                #[cfg(test)]
                crate::tests::ran::note(run_list::<PACK> as *const ());
                // SAFETY: guaranteed by the caller.
                unsafe { loops::runs::<PACK>(array, packed, offsets, ends) }
            }

            /// The kernel for runs of any lengths.
            pub fn runs() -> Pair<RunsKernel> {
                Pair { pack: run_list::<true>, unpack: run_list::<false> }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn record_words<T: Copy + 'static, const G: usize, const PACK: bool>(
                array: *mut u8, packed: *mut u8, record: usize, group: &Group, indices: &[u32],
            ) {
                #[cfg(test)]
                crate::tests::ran::note(record_words::<T, G, PACK> as *const ());
                // SAFETY: guaranteed by the caller.
                unsafe { loops::words::<T, G, PACK>(array, packed, record, group, indices) }
            }

            /// The kernel for `group` words of `bytes` bytes.
            pub fn words(bytes: usize, group: usize) -> Pair<RecordsKernel> {
                macro_rules! of {
                    ($word:ty, $group:literal) => {
                        Pair {
                            pack: record_words::<$word, $group, true>,
                            unpack: record_words::<$word, $group, false>,
                        }
                    };
                }
                match (bytes, group) {
                    (4, 1) => of!(u32, 1),
                    (4, 2) => of!(u32, 2),
                    (4, 3) => of!(u32, 3),
                    (4, 4) => of!(u32, 4),
                    (4, 5) => of!(u32, 5),
                    (8, 1) => of!(u64, 1),
                    (8, 2) => of!(u64, 2),
                    (8, 3) => of!(u64, 3),
                    (8, 4) => of!(u64, 4),
                    (8, 5) => of!(u64, 5),
                    _ => unreachable!("words have 4 or 8 bytes, and groups 1 to 5 words"),
                }
            }

            fn kernels<B: BlockCopy>(sizes: &'static str) -> Kernels {
                Kernels {
                    strided: Pair { pack: strided::<B, true>, unpack: strided::<B, false> },
                    transposed: Pair {
                        pack: transposed::<B, true, false>,
                        unpack: transposed::<B, false, false>,
                    },
                    indexed: Pair { pack: indexed::<B, true>, unpack: indexed::<B, false> },
                    sizes,
                    level: Level::$level,
                }
            }

            /// For sizes that can be written past the caches, in messages of `message` bytes.
            fn streaming<B: BlockCopy>(sizes: &'static str, message: usize) -> Kernels {
                let mut kernels = kernels::<B>(sizes);
                if cfg!(target_arch = "x86_64") && message >= STREAM_TRANSPOSED {
                    kernels.transposed.unpack = transposed::<B, false, true>;
                }
                kernels
            }

            /// Sizes that applications use have their own kernel; the others have one per range.
            pub fn of(bytes: usize, message: usize) -> Kernels {
                macro_rules! exact {
                    ($size:literal) => { kernels::<Exact<$size>>(stringify!($size)) };
                }
                match bytes {
                    1 => exact!(1),
                    2 => exact!(2),
                    3 => exact!(3),
                    4 => exact!(4),
                    5..=7 => kernels::<Between<4>>("5 to 7"),
                    8 => streaming::<Exact<8>>("8", message),
                    12 => exact!(12),
                    9..=15 => kernels::<Between<8>>("9 to 15"),
                    16 => streaming::<Exact<16>>("16", message),
                    20 => exact!(20),
                    24 => exact!(24),
                    28 => exact!(28),
                    17..=31 => kernels::<Between<16>>("17 to 31"),
                    32 => streaming::<Exact<32>>("32", message),
                    36 => exact!(36),
                    40 => exact!(40),
                    48 => exact!(48),
                    56 => exact!(56),
                    33..=63 => kernels::<Between<32>>("33 to 63"),
                    64 => exact!(64),
                    72 => exact!(72),
                    80 => exact!(80),
                    96 => exact!(96),
                    65..=127 => kernels::<Between<64>>("65 to 127"),
                    128 => exact!(128),
                    129..=255 => kernels::<Between<128>>("129 to 255"),
                    MEDIUM..LONG => kernels::<Medium>("256 to 1023"),
                    STREAM_BLOCK.. if cfg!(target_arch = "x86_64") && message >= STREAM_LONG => kernels::<Streamed>(PAST_CACHES),
                    LONG.. => kernels::<Long>("1024 and more"),
                    0 => unreachable!("nothing is not copied"),
                }
            }
        }
    };
}

level!(base, Base);
#[cfg(target_arch = "x86_64")]
level!(avx2, Avx2, "avx2");
#[cfg(target_arch = "x86_64")]
level!(avx512, Avx512, "avx512f,avx512vl");

/// The target for which kernels are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The processor's instruction set.
    pub level: Level,
    /// Bytes of the whole message.
    pub message: usize,
}

/// From this message size on, in bytes, the longest blocks are written past the caches: the part of such a message
/// and its array that stays in the caches is evicted before it is used again. Zen 4 with 32 MiB of outer cache, 16
/// MiB contiguous: 22 GB/s instead of 14 warm, 18 instead of 12 cold; 4 MiB: 27 instead of 40 warm.
const STREAM_LONG: usize = 8 << 20;

/// Minimum size of such blocks, in bytes: rows of 8 KiB lost up to a third of their speed.
const STREAM_BLOCK: usize = 64 << 10;

/// Like [`STREAM_LONG`], for transposed blocks, which otherwise read every line of the array before they write it: at
/// 2 MiB as fast warm and 2.4 times as fast cold, at 5 MiB twice as fast.
const STREAM_TRANSPOSED: usize = 2 << 20;

/// The sizes that are written past the caches, in explanations.
pub(crate) const PAST_CACHES: &str = "65536 and more, streamed";

/// The kernels for blocks of `bytes` bytes. Calling them needs a processor that has the target's level.
pub(crate) fn kernels(bytes: usize, target: Target) -> Kernels {
    let Target { level, message } = target;
    match level {
        Level::Base => base::of(bytes, message),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::of(bytes, message),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::of(bytes, message),
    }
}

/// The kernels for runs of any lengths. Calling them needs a processor that has `level`.
pub(crate) fn runs(level: Level) -> Pair<RunsKernel> {
    match level {
        Level::Base => base::runs(),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::runs(),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::runs(),
    }
}

/// The kernels for `group` words of `bytes` bytes of records by index. Calling them needs a processor that has `level`.
pub(crate) fn words(bytes: usize, group: usize, level: Level) -> Pair<RecordsKernel> {
    match level {
        Level::Base => base::words(bytes, group),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::words(bytes, group),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::words(bytes, group),
    }
}
