//! The timed parts of methods, of all experiments.

use serde::{Deserialize, Serialize};

/// A timed part of a method.
#[derive(Clone, Default, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Datatypes made and committed.
    Create,
    /// Explicit packing at the origin.
    Pack,
    /// Send to end of the answer's receive.
    Communicate,
    /// Explicit unpacking at the origin.
    Unpack,
    /// Datatypes freed.
    Free,
    /// The whole ping-pong without creation.
    #[default]
    RoundTrip,
    /// Making what a partitioned transfer needs: requests, windows, communicators.
    Init,
    /// Computing, emulated: the thread that took longest.
    Compute,
    /// From the first partition that became ready to its arrival, in repetitions in which the receiver looked.
    FirstPartition,
    /// From the first partition that became ready to the last.
    Delay,
    /// From the last partition that became ready to the end at the receiver.
    AfterLast,
    /// From the start to the end, computing included: at the receiver of a transfer, on the rank of a halo that took
    /// longest.
    Total,
    /// A halo exchange: what it adds to the computing of the thread that computes longest of all ranks.
    Exchange,
    /// Time to solution of a partitioned transfer: from the start to the end at the receiver, without computing.
    Solution,
}

impl Phase {
    /// All phases, those of each experiment in the order in which they happen, its whole last.
    pub const ALL: [Self; 14] = [
        Self::Create,
        Self::Pack,
        Self::Communicate,
        Self::Unpack,
        Self::Free,
        Self::RoundTrip,
        Self::Init,
        Self::Compute,
        Self::FirstPartition,
        Self::Delay,
        Self::AfterLast,
        Self::Total,
        Self::Exchange,
        Self::Solution,
    ];

    /// The name in the `phase` column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Pack => "pack",
            Self::Communicate => "communicate",
            Self::Unpack => "unpack",
            Self::Free => "free",
            Self::RoundTrip => "round_trip",
            Self::Init => "init",
            Self::Compute => "compute",
            Self::FirstPartition => "first_partition",
            Self::Delay => "delay",
            Self::AfterLast => "after_last",
            Self::Total => "total",
            Self::Exchange => "exchange",
            Self::Solution => "solution",
        }
    }
}
