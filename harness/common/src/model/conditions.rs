//! Under which conditions repetitions are made, and by which rule there are enough of them.

use serde::{Deserialize, Serialize};

/// Whether repetitions find their buffers in the cache.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// As the last repetition left it.
    #[default]
    Warm,
    /// The buffers are evicted before each repetition.
    Cold,
}

impl Cache {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

/// When a method has been measured enough, and what its figures rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Short blocks until the 95% intervals of all methods' medians are narrow: all blocks count
    #[default]
    Interval,
    /// That of bench-pcomm: attempts of 150 repetitions, until the mean's 90% interval is within 5%; the last one counts
    Pcomm,
}

impl Rule {
    /// Whether it is the one that a plan has which does not say.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Pcomm => "pcomm",
        }
    }
}

/// What brings communication forward while the application computes, and which cores it computes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Configuration {
    /// The MPI as it is, all cores compute
    #[default]
    Basic,
    /// Asynchronous progress is switched on, all cores compute
    Progress,
    /// The same, with one core of each rank left free for it
    Dedicated,
}

impl Configuration {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Progress => "progress",
            Self::Dedicated => "dedicated",
        }
    }
}
