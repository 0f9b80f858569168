//! One transfer, and the readings of the common clock on both ranks.
//!
//! All threads are awake before the ranks agree on a time and wait for it. The first thread starts the transfer; after a barrier
//! each thread computes and marks its partitions, one after the other; after another barrier the first thread waits for the end.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use common::fine_grained::Emulation;
use common::kinds::partitioned::Setting;
use serde::{Deserialize, Serialize};

use super::watch::{ArrivalProbe, watch};
use crate::checked::threads::Lent;
use crate::checked::{CallError, Comm};
use crate::compute::compute;
use crate::measure::sync::Sync;
use crate::mechanism::{Mechanism, Role};
use crate::reporter::EventReporter;
use crate::team::{Member, Team, locked};

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

/// The data shared by the threads of a rank in a transfer.
pub struct TransferContext<'a> {
    /// The roles of this rank, one for each transfer: from rank 0 to rank 1, and possibly back.
    pub roles: &'a [Role],
    pub plan: &'a PartitionPlan,
    pub sync: &'a Sync,
    /// A communicator without any messages: probing it lets MPI progress others.
    pub watcher: &'a Comm,
    /// Computing time of each thread, in seconds.
    pub compute_s: &'a [f64],
    /// How late the last partition is, in seconds.
    pub delay_s: f64,
    /// The probe of a receiver that watches the message arrive and does not send, if any.
    pub arrival_probe: Option<&'a ArrivalProbe>,
    /// Reports a failed call, and ends all ranks.
    pub reporter: &'a EventReporter,
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
    /// From the agreed start to the end at the receiver, or the later end for both ways. A rank that is late for the
    /// start, which happens sometimes with more threads than cores, makes it longer.
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

/// A thread's own readings.
#[derive(Clone, Copy, Default)]
struct ThreadReadings {
    first_ready_s: f64,
    last_ready_s: f64,
    compute_s: f64,
}

/// Runs one transfer on this rank, or one each way at once.
pub fn run(
    context: &TransferContext<'_>,
    team: &Team,
    mechanisms: &[Box<dyn Mechanism + '_>],
) -> TransferReadings {
    let whole = Mutex::new(TransferReadings::default());
    let threads = Mutex::new(vec![ThreadReadings::default(); context.compute_s.len()]);
    // SAFETY: only the first thread, which initialised MPI, uses the context's communicators. Mechanisms are called as their functions
    // require, which the barriers below ensure, and were set up with permission for this team's threads to call MPI if they do.
    let lent = unsafe { (Lent::new(context), Lent::new(mechanisms)) };
    let reporter = context.reporter;
    let work = |member: Member<'_>| -> Result<(), CallError> {
        let (context, mechanisms) = (lent.0.get(), lent.1.get());
        // All threads are awake before ranks begin.
        member.barrier();
        if member.is_first() {
            let start_s = context.sync.agree(MARGIN)?;
            locked(&whole).start_s = start_s;
            context.sync.wait_until(start_s);
            // SAFETY: the previous transfer has ended, and all other threads wait at the next barrier.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.start() })?;
        }
        member.barrier();
        let of = |role: Role| {
            let all = context.roles.iter().zip(mechanisms).filter(move |(its, _)| **its == role);
            all.map(|(_, mechanism)| &**mechanism)
        };
        // SAFETY: after the barrier that follows the start; each thread with its own number.
        of(Role::Receiver).try_for_each(|mechanism| unsafe { mechanism.open(member.number) })?;
        for mechanism in of(Role::Sender) {
            let readings = mark(context, mechanism, member.number)?;
            locked(&threads)[member.number] = readings;
            // SAFETY: as above; all of the thread's partitions are marked.
            unsafe { mechanism.finish(member.number) }?;
        }
        for mechanism in of(Role::Receiver) {
            match context.arrival_probe {
                Some(arrival_probe) if member.is_first() => {
                    let arrived_s = watch(context, mechanism, arrival_probe)?;
                    locked(&whole).arrived_s = arrived_s;
                }
                None if mechanism.tests_arrival() => ask(context, mechanism, member.number)?,
                _ => {}
            }
        }
        member.barrier();
        if member.is_first() {
            // SAFETY: after the barrier that follows the last partition; the other threads have nothing left to do.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.close() })?;
            // SAFETY: as above.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.wait() })?;
            locked(&whole).end_s = context.sync.now_s();
        }
        Ok(())
    };
    team.run(|member| {
        if let Err(error) = work(member) {
            // The other threads, and the other rank, wait for this one.
            reporter.abort(error.outcome(error.to_string()));
        }
    });
    let (mut readings, threads) =
        (std::mem::take(&mut *locked(&whole)), std::mem::take(&mut *locked(&threads)));
    let marked =
        || threads.iter().zip(&context.plan.of_thread).filter(|(_, partitions)| !partitions.is_empty());
    let earliest = marked().min_by(|a, b| a.0.first_ready_s.total_cmp(&b.0.first_ready_s));
    if let Some((thread, partitions)) = earliest {
        (readings.first_ready_s, readings.first) = (thread.first_ready_s, partitions[0]);
    }
    readings.last_ready_s = marked().map(|(thread, _)| thread.last_ready_s).fold(0.0, f64::max);
    readings.compute_s = threads.iter().map(|thread| thread.compute_s).fold(0.0, f64::max);
    readings
}

/// A sender's thread: computes an equal share of its time before each of its partitions, and marks the partition.
fn mark(
    context: &TransferContext<'_>,
    mechanism: &dyn Mechanism,
    thread: usize,
) -> Result<ThreadReadings, CallError> {
    let (partitions, compute_s) = (&context.plan.of_thread[thread], context.compute_s[thread]);
    let share_s = compute_s / partitions.len().max(1) as f64;
    let late = context.plan.ranges.len() - 1;
    let mut readings = ThreadReadings::default();
    if partitions.is_empty() {
        readings.compute_s = compute(compute_s, context.plan.emulation);
    }
    for (i, &partition) in partitions.iter().enumerate() {
        let time_s = if partition == late { share_s + context.delay_s } else { share_s };
        readings.compute_s += compute(time_s, context.plan.emulation);
        if i == 0 {
            readings.first_ready_s = context.sync.now_s();
        }
        if i + 1 == partitions.len() {
            readings.last_ready_s = context.sync.now_s();
        }
        // SAFETY: one of the thread's own partitions, once in a transfer; it is filled again after the transfer.
        unsafe { mechanism.ready(thread, partition) }?;
    }
    Ok(readings)
}

/// A receiver's thread: tests each of its partitions until it has arrived.
fn ask(context: &TransferContext<'_>, mechanism: &dyn Mechanism, thread: usize) -> Result<(), CallError> {
    for &partition in &context.plan.of_thread[thread] {
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
