//! A receiver that watches its memory during a transfer: which partitions have arrived, and when.
//!
//! Not every mechanism can report this, so the memory is read: a partition has arrived when its last word is
//! that of this transfer. This is done in separate repetitions, which are not timed otherwise.

use std::time::{Duration, Instant};

use super::PartitionedTransfers;
use crate::checked::CallError;
use crate::mechanism::Mechanism;
use crate::payload::ArrivalProbe;

/// Time after all computing at which watching ends: data that never arrives, or arrives wrong, is detected when bytes are compared.
const PATIENCE: Duration = Duration::from_secs(2);

/// A sender's threads may compute for longer than a receiver's; hardly ever by more than this factor.
const LONGER: f64 = 4.0;

/// Watches until all partitions have arrived; returns when each was first seen, in seconds of the common time.
pub fn watch(
    bench: &PartitionedTransfers<'_>,
    mechanism: &dyn Mechanism,
    compute_s: &[f64],
    arrival_probe: &ArrivalProbe,
) -> Result<Vec<Option<f64>>, CallError> {
    let mut left: Vec<usize> = arrival_probe.messages().collect();
    let mut arrived_s = vec![None; left.len()];
    let start = Instant::now();
    let longest_s = compute_s.iter().copied().fold(0.0, f64::max);
    let compute_s = longest_s + bench.sampler.last_partition_delay_s;
    let patience = PATIENCE + Duration::from_secs_f64(LONGER * compute_s);
    while start.elapsed() < patience {
        left.retain(|&partition| {
            // SAFETY: the message lives as long as the transfer, and only MPI writes it in the meantime.
            let has_arrived = unsafe { arrival_probe.has_arrived(partition) };
            if has_arrived {
                arrived_s[partition] = Some(bench.sync.now_s());
            }
            !has_arrived
        });
        if left.is_empty() {
            break;
        }
        // SAFETY: only one thread watches, and during watching none tests partitions.
        if !unsafe { mechanism.bring() }? {
            bench.watcher.probe_any()?;
        }
    }
    // Partitions that were not seen must be received as well, especially those without bytes, which count as
    // arrived from the beginning. SAFETY: as above.
    while unsafe { mechanism.bring() }? {}
    Ok(arrived_s)
}
