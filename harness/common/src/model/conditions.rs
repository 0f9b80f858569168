//! The conditions of repetitions, and the rule by which there are enough of them.

use serde::{Deserialize, Serialize};

/// Prefixes of variables that control an MPI, its transports or libraries it calls, or that replace the real clocks.
pub const SETTING_PREFIXES: &str = "MPIR_CVAR_ MPIR_PARAM_ MPICH_ MPIEXEC_ HYDRA_ OMPI_MCA_ PRTE_MCA_ PMIX_MCA_ I_MPI_ \
     MV2_ UCX_ FI_ PSM LD_PRELOAD GLIBC_TUNABLES MALLOC_ DDTBENCH_VIRTUAL_CLOCK";

named! {
    /// Whether repetitions find their buffers in the cache.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum Cache {
        /// The buffers stay as the last repetition left them.
        #[default]
        Warm = "warm",
        /// The buffers are evicted before each repetition.
        Cold = "cold",
    }
}

named! {
    /// The memory of arrays and packed messages.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum MemoryKind {
        /// Usual memory of the process.
        #[default]
        Host = "host",
        /// Memory of a device.
        Device = "device",
        /// Memory whose pages move between host and device.
        Managed = "managed",
        /// Host memory that stays in place, and that the device sees.
        Pinned = "pinned",
        /// Memory of a device simulated on the host, to count copies: times mean nothing.
        Simulated = "simulated",
    }
}

/// Why `--cache cold` is refused for data that is not in usual memory.
pub const COLD_DEVICE: &str = "must be warm for data on a device";

impl MemoryKind {
    /// Whether it is usual memory.
    pub fn is_host(&self) -> bool {
        *self == Self::Host
    }

    /// Whether the host cannot use it in the usual way.
    pub fn is_on_device(&self) -> bool {
        matches!(self, Self::Device | Self::Managed | Self::Simulated)
    }
}

/// The conditions of a case besides its MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conditions {
    pub cache: Cache,
    pub memory: MemoryKind,
}

impl Conditions {
    /// Both as text; usual memory is not mentioned.
    pub fn text(self) -> String {
        let memory =
            if self.memory.is_host() { String::new() } else { format!(", {} memory", self.memory.name()) };
        self.cache.name().to_owned() + &memory
    }
}

named! {
    /// When a method has been measured enough, and what its figures rest on.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
    #[serde(rename_all = "snake_case")]
    pub enum Rule {
        /// Short blocks until the 95% intervals of all methods' medians are narrow: all blocks count
        #[default]
        Interval = "interval",
        /// That of bench-pcomm: attempts of 150 repetitions, until the mean's 90% interval is within 5%; the last one counts
        Pcomm = "pcomm",
    }
}

impl Rule {
    /// Whether it is the default of a plan.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

named! {
    /// The source of progress while the application computes, and the cores it computes on.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
    pub enum Configuration {
        /// The MPI as it is, all cores compute
        #[default]
        Basic = "basic",
        /// Asynchronous progress is switched on, all cores compute
        Progress = "progress",
        /// The same, with one core of each rank left free for it
        Dedicated = "dedicated",
    }
}
