//! One transfer, and the readings of the common clock on both ranks.
//!
//! All threads are awake before the ranks agree on a time and wait for it. The first thread starts the transfer; after a barrier
//! each thread computes and marks its partitions, one after the other; after another barrier the first thread waits for the end.

use std::ops::Range;
use std::time::Duration;

use common::fine_grained::Emulation;
use common::kinds::partitioned::Setting;
use serde::{Deserialize, Serialize};

use super::PartitionedTransfers;
use super::watch::watch;
use crate::checked::CallError;
use crate::checked::threads::Lent;
use crate::compute::compute;
use crate::mechanism::{Mechanism, Role};
use crate::payload::ArrivalProbe;

/// Time from the agreement on a start to the start: longer than the message about it takes, also over TCP.
const MARGIN: Duration = Duration::from_micros(50);

/// Which thread finishes which partition, and how.
pub struct PartitionPlan {
    pub ranges: Vec<Range<usize>>,
    /// Partitions of each thread, in the order in which they become ready.
    pub of_thread: Vec<Vec<usize>>,
    /// How threads spend their computing time.
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

/// Readings of one rank in one transfer, in seconds of the common time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TransferReadings {
    /// The agreed time of the start.
    pub start_s: f64,
    /// When [`Mechanism::wait`] returned.
    pub end_s: f64,
    /// At the sender: when the first partition became ready, and its number.
    pub first_ready_s: f64,
    pub first: usize,
    /// At the sender: when the last partition became ready.
    pub last_ready_s: f64,
    /// At the sender: computing time of the thread that took longest.
    pub compute_s: f64,
    /// At a receiver that watched: when each partition was seen to have arrived, if it was.
    pub arrived_s: Vec<Option<f64>>,
}

/// The times of a transfer, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferTimes {
    /// From the agreed start to the end at the receiver, or the later end for both ways. A rank that is late
    /// for the start, which happens sometimes with more threads than cores, makes it longer.
    pub total_s: f64,
    /// Computing time of the thread that took longest, at the sender or on both ranks.
    pub compute_s: f64,
    /// From the first partition to the last, for the sender that took longer.
    pub delay_s: f64,
    /// From the last partition of all to the end.
    pub after_last_s: f64,
}

/// The times from the readings of both ranks.
pub fn transfer_times(pair: &[TransferReadings; 2], both_ways: bool) -> TransferTimes {
    let (senders, receivers) = if both_ways { (&pair[..], &pair[..]) } else { (&pair[..1], &pair[1..]) };
    let most = |of: &[TransferReadings], time: fn(&TransferReadings) -> f64| {
        of.iter().map(time).fold(f64::NEG_INFINITY, f64::max)
    };
    let end_s = most(receivers, |readings| readings.end_s);
    TransferTimes {
        total_s: end_s - most(receivers, |readings| readings.start_s),
        compute_s: most(senders, |readings| readings.compute_s),
        delay_s: most(senders, |readings| readings.last_ready_s - readings.first_ready_s),
        after_last_s: end_s - most(senders, |readings| readings.last_ready_s),
    }
}

/// From the first partition that became ready to its arrival, in seconds, if that was observed; and the share of all
/// bytes that had arrived when the last partition became ready. `None` for a transfer that was not watched.
pub fn early_bird(
    [sender, receiver]: &[TransferReadings; 2],
    plan: &PartitionPlan,
) -> Option<(Option<f64>, f64)> {
    let first_s = *receiver.arrived_s.get(sender.first)?;
    let is_early = |time: &Option<f64>| time.is_some_and(|time| time < sender.last_ready_s);
    let early = receiver.arrived_s.iter().zip(&plan.ranges).filter(|(time, _)| is_early(time));
    let early: usize = early.map(|(_, range)| range.len()).sum();
    let all: usize = plan.ranges.iter().map(Range::len).sum();
    Some((first_s.map(|time| time - sender.first_ready_s), early as f64 / all.max(1) as f64))
}

/// Runs one transfer on this rank, or one each way at once. Threads compute for these times in seconds; a
/// receiver that does not send may watch the message arrive.
pub fn run(
    bench: &PartitionedTransfers<'_>,
    mechanisms: &[Box<dyn Mechanism + '_>],
    compute_s: &[f64],
    arrival_probe: Option<&ArrivalProbe>,
) -> TransferReadings {
    // SAFETY: only the first thread, which initialised MPI, uses the communicators of the case. Mechanisms are called as their functions
    // require, which the barriers below ensure, and were set up with permission for this team's threads to call MPI if they do.
    let lent = unsafe { (Lent::new(bench), Lent::new(mechanisms), Lent::new(&arrival_probe)) };
    let mut results = bench.team.results(&bench.job.reporter, |member| {
        let (bench, mechanisms, arrival_probe) = (lent.0.get(), lent.1.get(), *lent.2.get());
        let mut readings = TransferReadings::default();
        // All threads are awake before ranks begin.
        member.barrier();
        if member.is_first() {
            readings.start_s = bench.sync.agree(MARGIN)?;
            bench.sync.wait_until(readings.start_s);
            // SAFETY: the previous transfer has ended, and all other threads wait at the next barrier.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.start() })?;
        }
        member.barrier();
        let of = |role: Role| {
            let all = bench.roles.iter().zip(mechanisms).filter(move |(its, _)| **its == role);
            all.map(|(_, mechanism)| &**mechanism)
        };
        // SAFETY: after the barrier that follows the start; each thread with its own number.
        of(Role::Receiver).try_for_each(|mechanism| unsafe { mechanism.open(member.number) })?;
        for mechanism in of(Role::Sender) {
            mark(bench, mechanism, member.number, compute_s[member.number], &mut readings)?;
            // SAFETY: as above; all of the thread's partitions are marked.
            unsafe { mechanism.finish(member.number) }?;
        }
        for mechanism in of(Role::Receiver) {
            match arrival_probe {
                Some(arrival_probe) if member.is_first() => {
                    readings.arrived_s = watch(bench, mechanism, compute_s, arrival_probe)?;
                }
                None if mechanism.tests_arrival() => ask(bench, mechanism, member.number)?,
                _ => {}
            }
        }
        member.barrier();
        if member.is_first() {
            // SAFETY: after the barrier that follows the last partition; the other threads have nothing left to do.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.close() })?;
            // SAFETY: as above.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.wait() })?;
            readings.end_s = bench.sync.now_s();
        }
        Ok(readings)
    });
    let all = || results.iter().zip(&bench.plan.of_thread);
    let marked = || all().filter(|(_, partitions)| !partitions.is_empty()).map(|(thread, _)| thread);
    let earliest = marked().min_by(|a, b| a.first_ready_s.total_cmp(&b.first_ready_s));
    let (first_ready_s, first) = earliest.map_or((0.0, 0), |thread| (thread.first_ready_s, thread.first));
    let last_ready_s = marked().map(|thread| thread.last_ready_s).fold(0.0, f64::max);
    let compute_s = results.iter().map(|thread| thread.compute_s).fold(0.0, f64::max);
    TransferReadings { first_ready_s, first, last_ready_s, compute_s, ..results.swap_remove(0) }
}

/// A sender's thread: computes an equal share of its time before each of its partitions, and marks the partition.
fn mark(
    bench: &PartitionedTransfers<'_>,
    mechanism: &dyn Mechanism,
    thread: usize,
    compute_s: f64,
    readings: &mut TransferReadings,
) -> Result<(), CallError> {
    let PartitionPlan { ranges, of_thread, emulation } = &bench.plan;
    let partitions = &of_thread[thread];
    let share_s = compute_s / partitions.len().max(1) as f64;
    let late = ranges.len() - 1;
    if partitions.is_empty() {
        readings.compute_s = compute(compute_s, *emulation);
    }
    for (i, &partition) in partitions.iter().enumerate() {
        let delay_s = if partition == late { bench.sampler.last_partition_delay_s } else { 0.0 };
        readings.compute_s += compute(share_s + delay_s, *emulation);
        if i == 0 {
            (readings.first_ready_s, readings.first) = (bench.sync.now_s(), partition);
        }
        if i + 1 == partitions.len() {
            readings.last_ready_s = bench.sync.now_s();
        }
        // SAFETY: one of the thread's own partitions, once in a transfer; it is filled again after the transfer.
        unsafe { mechanism.ready(thread, partition) }?;
    }
    Ok(())
}

/// A receiver's thread: tests each of its partitions until it has arrived.
fn ask(bench: &PartitionedTransfers<'_>, mechanism: &dyn Mechanism, thread: usize) -> Result<(), CallError> {
    for &partition in &bench.plan.of_thread[thread] {
        // SAFETY: one of the thread's own partitions, during a transfer, until it has arrived.
        while !unsafe { mechanism.arrived(thread, partition) }? {
            std::hint::spin_loop();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_of_two_ways_is_the_end_of_both() {
        let rank = |first_ready_s, last_ready_s, end_s, compute_s| TransferReadings {
            start_s: 1.0,
            first_ready_s,
            last_ready_s,
            end_s,
            compute_s,
            ..TransferReadings::default()
        };
        let pair = [rank(2.0, 3.0, 8.0, 1.5), rank(2.0, 5.0, 6.0, 3.5)];
        let one_way = TransferTimes { total_s: 5.0, compute_s: 1.5, delay_s: 1.0, after_last_s: 3.0 };
        assert_eq!(transfer_times(&pair, false), one_way, "what rank 0 sends ends at rank 1");
        let both = TransferTimes { total_s: 7.0, compute_s: 3.5, delay_s: 3.0, after_last_s: 3.0 };
        assert_eq!(transfer_times(&pair, true), both);
    }
}
