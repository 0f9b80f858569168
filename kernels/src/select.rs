//! Which kernel copies blocks of a given size on this processor.

use crate::copy::{self, Any, Between, Exact};

/// Kernels for blocks at one distance: array, packed, bytes of a block, count, stride.
pub(crate) type Strided = unsafe fn(*mut u8, *mut u8, usize, usize, isize);

/// Kernels for blocks at listed places: array, packed, bytes of a block, offsets.
pub(crate) type Indexed = unsafe fn(*mut u8, *mut u8, usize, &[u32]);

/// An instruction set, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What every processor of the architecture has.
    Base,
    /// Vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Vectors of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// All that this architecture may have.
    #[cfg(target_arch = "x86_64")]
    pub const ALL: &[Self] = &[Self::Base, Self::Avx2, Self::Avx512];
    /// All that this architecture may have.
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

/// The kernels for one size of block in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    pub pack_strided: Strided,
    pub unpack_strided: Strided,
    pub pack_indexed: Indexed,
    pub unpack_indexed: Indexed,
    /// `8`, `17 to 32`, `any`: the sizes that these are for.
    pub sizes: &'static str,
}

impl Kernels {
    pub fn strided<const PACK: bool>(&self) -> Strided {
        if PACK { self.pack_strided } else { self.unpack_strided }
    }

    pub fn indexed<const PACK: bool>(&self) -> Indexed {
        if PACK { self.pack_indexed } else { self.unpack_indexed }
    }
}

/// A module with a copy of every loop for one instruction set, and the choice by size.
macro_rules! level {
    ($module:ident $(, $feature:literal)?) => {
        mod $module {
            use super::{copy, Any, Between, Exact, Kernels};
            use crate::copy::Block;

            $(#[target_feature(enable = $feature)])?
            unsafe fn strided<B: Block, const PACK: bool>(
                array: *mut u8, packed: *mut u8, bytes: usize, count: usize, stride: isize,
            ) {
                #[cfg(test)]
                crate::tests::ran::note(strided::<B, PACK> as *const ());
                // SAFETY: the caller's.
                unsafe { copy::strided::<B, PACK>(array, packed, bytes, count, stride) }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn indexed<B: Block, const PACK: bool>(
                array: *mut u8, packed: *mut u8, bytes: usize, offsets: &[u32],
            ) {
                #[cfg(test)]
                crate::tests::ran::note(indexed::<B, PACK> as *const ());
                // SAFETY: the caller's.
                unsafe { copy::indexed::<B, PACK>(array, packed, bytes, offsets) }
            }

            fn kernels<B: Block>(sizes: &'static str) -> Kernels {
                Kernels {
                    pack_strided: strided::<B, true>,
                    unpack_strided: strided::<B, false>,
                    pack_indexed: indexed::<B, true>,
                    unpack_indexed: indexed::<B, false>,
                    sizes,
                }
            }

            /// Sizes that applications have get a kernel of their own; others one for a range.
            pub fn of(bytes: usize) -> Kernels {
                macro_rules! exact {
                    ($size:literal) => { kernels::<Exact<$size>>(stringify!($size)) };
                }
                match bytes {
                    1 => exact!(1),
                    2 => exact!(2),
                    3 => exact!(3),
                    4 => exact!(4),
                    5..=7 => kernels::<Between<4>>("5 to 7"),
                    8 => exact!(8),
                    12 => exact!(12),
                    9..=15 => kernels::<Between<8>>("9 to 15"),
                    16 => exact!(16),
                    20 => exact!(20),
                    24 => exact!(24),
                    28 => exact!(28),
                    17..=31 => kernels::<Between<16>>("17 to 31"),
                    32 => exact!(32),
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
                    _ => kernels::<Any>("any"),
                }
            }
        }
    };
}

level!(base);
#[cfg(target_arch = "x86_64")]
level!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
level!(avx512, "avx512f,avx512vl");

/// The kernels for blocks of `bytes` bytes. Calling them needs a processor that has `level`.
pub(crate) fn kernels(bytes: usize, level: Level) -> Kernels {
    match level {
        Level::Base => base::of(bytes),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::of(bytes),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::of(bytes),
    }
}
