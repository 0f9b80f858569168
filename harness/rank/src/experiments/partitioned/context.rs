//! What the threads of a rank share in a transfer, and who of them finishes what.

use std::ops::Range;

use common::fine_grained::Emulation;
use common::kinds::partitioned::Setting;

use crate::checked::Comm;
use crate::measure::sync::Sync;
use crate::mechanism::Role;
use crate::reporter::EventReporter;

/// Who finishes which partition, and how.
pub struct PartitionPlan {
    /// Bytes of each partition.
    pub ranges: Vec<Range<usize>>,
    /// Partitions of each thread, in the order in which they become ready.
    pub of_thread: Vec<Vec<usize>>,
    /// How computing time passes.
    pub emulation: Emulation,
}

impl PartitionPlan {
    pub fn new(setting: &Setting, seed: u64) -> Self {
        Self {
            ranges: setting.ranges(),
            of_thread: setting.of_thread(seed),
            emulation: setting.computing.emulation,
        }
    }
}

/// What the threads of a rank share in a transfer.
pub struct TransferContext<'a> {
    /// What this rank is in each of the transfers: one from rank 0 to rank 1, and perhaps one back.
    pub roles: &'a [Role],
    pub plan: &'a PartitionPlan,
    pub sync: &'a Sync,
    /// On which nothing is ever sent: asking it for messages brings others forward.
    pub watcher: &'a Comm,
    /// The message that is looked at.
    pub memory: *mut u8,
    /// Reports a failed call, which ends all ranks.
    pub reporter: &'a EventReporter,
}
