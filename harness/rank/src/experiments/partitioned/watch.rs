//! A receiver that watches its memory during a transfer: which partitions have arrived, and when.
//!
//! Not every mechanism can report this, so the memory is read: a partition has arrived when its last word is that of
//! this transfer. This is done in separate repetitions, which are not timed otherwise.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::repetition::TransferContext;
use crate::checked::CallError;
use crate::mechanism::Mechanism;
use crate::pattern::Pattern;

/// Bytes that show whether a partition has arrived: the last word of a pattern differs from one transfer to the next.
const LAST: usize = 4;
/// Time after all computing at which watching ends: data that never arrives, or arrives wrong, is detected when bytes are compared.
const PATIENCE: Duration = Duration::from_secs(2);

/// A sender's threads may compute for longer than a receiver's; hardly ever by more than this factor.
const LONGER: f64 = 4.0;

/// The values that a receiver expects in its memory.
pub struct ArrivalProbe {
    pattern: Pattern,
    ends: Vec<Range<usize>>,
}

impl ArrivalProbe {
    /// The partitions of a transfer with the data `pattern`.
    pub fn new(pattern: Pattern, partitions: &[Range<usize>]) -> Self {
        let end = |range: &Range<usize>| range.end.saturating_sub(LAST).max(range.start)..range.end;
        Self { pattern, ends: partitions.iter().map(end).collect() }
    }
}

/// Watches until all partitions have arrived; returns when each was first seen, in seconds of the common time.
pub fn watch(
    context: &TransferContext<'_>,
    mechanism: &dyn Mechanism,
    arrival_probe: &ArrivalProbe,
) -> Result<Vec<Option<f64>>, CallError> {
    let mut arrived_s = vec![None; arrival_probe.ends.len()];
    let mut left: Vec<usize> = (0..arrival_probe.ends.len()).collect();
    let is_there = |end: &Range<usize>| {
        end.clone().all(|at| {
            // SAFETY: a byte of the message, which lives as long as the transfer and which only this Rust code accesses
            // in the meantime. MPI may write it at the same time, hence an atomic load.
            let byte = unsafe { AtomicU8::from_ptr(context.memory.wrapping_add(at)) };
            byte.load(Ordering::Relaxed) == arrival_probe.pattern.byte(at)
        })
    };
    let start = Instant::now();
    let compute_s = context.compute_s.iter().copied().fold(0.0, f64::max) + context.delay_s;
    let patience = PATIENCE + Duration::from_secs_f64(LONGER * compute_s);
    while start.elapsed() < patience {
        left.retain(|&partition| {
            let is_there = is_there(&arrival_probe.ends[partition]);
            if is_there {
                arrived_s[partition] = Some(context.sync.now_s());
            }
            !is_there
        });
        if left.is_empty() {
            break;
        }
        // SAFETY: only one thread watches, and during watching none tests partitions.
        if !unsafe { mechanism.bring() }? {
            context.watcher.probe_any()?;
        }
    }
    // Partitions that were not seen must be received as well, especially those without bytes, which count as arrived
    // from the beginning. SAFETY: as above.
    while unsafe { mechanism.bring() }? {}
    Ok(arrived_s)
}
