//! Ways to copy, and the instruction sets that they need.

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
    const ALL: &[Self] = &[Self::Base, Self::Avx2, Self::Avx512];
    /// All levels that this architecture may have.
    #[cfg(not(target_arch = "x86_64"))]
    const ALL: &[Self] = &[Self::Base];

    /// Whether this processor has it.
    fn is_here(self) -> bool {
        match self {
            Self::Base => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl"),
        }
    }

    /// The largest that this processor has.
    fn best() -> Self {
        Self::ALL.iter().rev().copied().find(|level| level.is_here()).unwrap_or(Self::Base)
    }
}

named! {
    /// A way to copy the blocks of a class of operations.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Way {
        /// Vectors of 16 bytes, which every processor of the architecture has.
        Base = "16-byte vectors",
        /// Vectors of 32 bytes.
        Avx2 = "32-byte vectors",
        /// Vectors of 64 bytes.
        Avx512 = "64-byte vectors",
        /// The C library's `memcpy`.
        Library = "memcpy",
        /// The processor's instruction for copying, `rep movsb`.
        Instruction = "rep movsb",
        /// Whole cache lines, written past the caches.
        PastCaches = "past the caches",
        /// Short listed blocks, with prefetching.
        Prefetch = "prefetching",
        /// Listed values, by the processor's instructions for gathering and scattering.
        Gather = "gather instructions",
    }
}

impl Way {
    /// Whether this processor has the instructions.
    pub fn is_here(self) -> bool {
        match self {
            Self::Base | Self::Library | Self::Prefetch => true,
            Self::Instruction | Self::PastCaches => cfg!(target_arch = "x86_64"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Level::Avx2.is_here(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Gather => Level::Avx512.is_here(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 | Self::Gather => false,
        }
    }

    /// It, or if this processor does not have it, the widest vectors that it has.
    pub(crate) fn or_best(self) -> Self {
        if self.is_here() { self } else { Self::from_level(Level::best()) }
    }

    fn from_level(level: Level) -> Self {
        match level {
            Level::Base => Self::Base,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Self::Avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Self::Avx512,
        }
    }

    /// The instruction set of kernels for blocks that the way does not have an own kernel for.
    pub(crate) fn level(self) -> Level {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Level::Avx512,
            Self::PastCaches | Self::Gather | Self::Prefetch => Level::best(),
            _ => Level::Base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks the system instead of the processor: if the detection failed, other tests would pass without these kernels.
    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[cfg_attr(miri, ignore = "reads a file")]
    fn every_instruction_set_of_the_machine_is_used() {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap();
        let has =
            |names: &[&str]| names.iter().all(|name| flags.split_whitespace().any(|flag| flag == *name));
        let avx512 = has(&["avx512f", "avx512vl"]);
        for way in Way::ALL {
            let is_here = match way {
                Way::Avx2 => has(&["avx2"]),
                Way::Avx512 | Way::Gather => avx512,
                _ => true,
            };
            assert_eq!(way.is_here(), is_here, "{way:?}");
        }
        let best = if avx512 {
            Level::Avx512
        } else if has(&["avx2"]) {
            Level::Avx2
        } else {
            Level::Base
        };
        assert_eq!(Level::best(), best);
    }
}
