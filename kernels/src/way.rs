//! Ways to copy, and the instructions that they need.

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
        /// Listed blocks of 12 bytes, unpacked by one store that leaves out the bytes after each.
        Masked = "masked stores",
        /// Listed values of 4 bytes, packed by the processor's instruction for gathering.
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
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Masked | Self::Gather => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 | Self::Masked | Self::Gather => false,
        }
    }

    /// It, or if this processor does not have it, the widest vectors that it has.
    pub(crate) fn or_best(self) -> Self {
        if self.is_here() { self } else { Self::widest_vectors() }
    }

    fn widest_vectors() -> Self {
        [Self::Avx512, Self::Avx2].into_iter().find(|way| way.is_here()).unwrap_or(Self::Base)
    }

    /// The vectors of kernels for blocks that the way does not have an own kernel for.
    pub(crate) fn vectors(self) -> Self {
        match self {
            Self::Avx2 | Self::Avx512 => self,
            Self::PastCaches | Self::Masked | Self::Gather | Self::Prefetch => Self::widest_vectors(),
            Self::Base | Self::Library | Self::Instruction => Self::Base,
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
                Way::Avx512 | Way::Masked | Way::Gather => avx512,
                _ => true,
            };
            assert_eq!(way.is_here(), is_here, "{way:?}");
        }
        let widest = match has(&["avx2"]) {
            _ if avx512 => Way::Avx512,
            true => Way::Avx2,
            false => Way::Base,
        };
        assert_eq!(Way::widest_vectors(), widest);
    }
}
