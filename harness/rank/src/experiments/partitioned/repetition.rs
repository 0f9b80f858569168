//! One transfer, and the readings of the common clock on both ranks.
//!
//! All threads are there before the ranks agree on a time and wait for it. The first thread starts the transfer; after a
//! barrier each thread computes and marks its partitions, one after the other; after another barrier the first thread
//! waits for the end.

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

/// From the agreement on a time to that time: longer than the message with it takes, also over TCP.
const MARGIN: Duration = Duration::from_micros(50);

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
    /// Computing of each thread, in seconds.
    pub compute_s: &'a [f64],
    /// By how much the last partition is late, in seconds.
    pub delay_s: f64,
    /// What a receiver that does not send looks for as it comes, if anything.
    pub arrival_probe: Option<&'a ArrivalProbe>,
    /// Reports a failed call, which ends all ranks.
    pub reporter: &'a EventReporter,
}

/// Readings of one rank in one transfer, in seconds of the common time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Readings {
    /// The time that was agreed on for the start.
    pub start_s: f64,
    /// When [`Mechanism::wait`] returned.
    pub end_s: f64,
    /// Of the sender: when the first partition became ready, and which it was.
    pub first_ready_s: f64,
    pub first: usize,
    /// Of the sender: when the last partition became ready.
    pub last_ready_s: f64,
    /// Of the sender: computing of the thread that took longest.
    pub compute_s: f64,
    /// Of a receiver that looked: when each partition was there, if it was seen.
    pub arrived_s: Vec<Option<f64>>,
}

/// What a transfer took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferTimes {
    /// From the agreed start to the end at the receiver, or at the later of the two. A rank that comes late to it, as one does
    /// now and then where there are more threads than cores, takes that much longer.
    pub total_s: f64,
    /// Computing of the thread that took longest, at the sender or of both ranks.
    pub compute_s: f64,
    /// From the first partition to the last, of the sender that took longer.
    pub delay_s: f64,
    /// From the last partition of all to the end.
    pub after_last_s: f64,
}

/// What the readings of both ranks say.
pub fn transfer_times(pair: &[Readings; 2], both_ways: bool) -> TransferTimes {
    let (senders, receivers) = if both_ways { (&pair[..], &pair[..]) } else { (&pair[..1], &pair[1..]) };
    let most =
        |of: &[Readings], time: fn(&Readings) -> f64| of.iter().map(time).fold(f64::NEG_INFINITY, f64::max);
    let end_s = most(receivers, |readings| readings.end_s);
    TransferTimes {
        total_s: end_s - most(receivers, |readings| readings.start_s),
        compute_s: most(senders, |readings| readings.compute_s),
        delay_s: most(senders, |readings| readings.last_ready_s - readings.first_ready_s),
        after_last_s: end_s - most(senders, |readings| readings.last_ready_s),
    }
}

/// From the first partition that became ready to its arrival, in seconds, if that was seen; and the share of all bytes
/// that were there when the last partition became ready. `None` of a transfer at which nobody looked.
pub fn early_bird([sender, receiver]: &[Readings; 2], plan: &PartitionPlan) -> Option<(Option<f64>, f64)> {
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
pub fn run(context: &TransferContext<'_>, team: &Team, mechanisms: &[Box<dyn Mechanism + '_>]) -> Readings {
    let whole = Mutex::new(Readings::default());
    let threads = Mutex::new(vec![ThreadReadings::default(); context.compute_s.len()]);
    // SAFETY: the first thread is the one that initialised MPI, and alone uses the context's communicators. Mechanisms are called
    // as their functions ask for, which the barriers below see to, and were made with leave for this team's threads to call
    // MPI where these do.
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
            // SAFETY: the transfer before has ended, and all other threads wait at the next barrier.
            mechanisms.iter().try_for_each(|mechanism| unsafe { mechanism.start() })?;
        }
        member.barrier();
        let of = |role: Role| {
            let all = context.roles.iter().zip(mechanisms).filter(move |(its, _)| **its == role);
            all.map(|(_, mechanism)| &**mechanism)
        };
        // SAFETY: behind the barrier after the start; each thread with its own number.
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
                None if mechanism.asks() => ask(context, mechanism, member.number)?,
                _ => {}
            }
        }
        member.barrier();
        if member.is_first() {
            // SAFETY: behind the barrier after the last partition, and the others have nothing left to do.
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

/// A sender's thread: computes an equal share of its time before each of its partitions, and marks it.
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
        // SAFETY: a partition of the thread's own, once in a transfer; it is filled again after the transfer.
        unsafe { mechanism.ready(thread, partition) }?;
    }
    Ok(readings)
}

/// A receiver's thread: asks for each of its partitions until it is there.
fn ask(context: &TransferContext<'_>, mechanism: &dyn Mechanism, thread: usize) -> Result<(), CallError> {
    for &partition in &context.plan.of_thread[thread] {
        // SAFETY: a partition of the thread's own, during a transfer, until it is there.
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
        let rank = |first_ready_s, last_ready_s, end_s, compute_s| Readings {
            start_s: 1.0,
            first_ready_s,
            last_ready_s,
            end_s,
            compute_s,
            ..Readings::default()
        };
        let pair = [rank(2.0, 3.0, 8.0, 1.5), rank(2.0, 5.0, 6.0, 3.5)];
        let one_way = TransferTimes { total_s: 5.0, compute_s: 1.5, delay_s: 1.0, after_last_s: 3.0 };
        assert_eq!(transfer_times(&pair, false), one_way, "what rank 0 sends ends at rank 1");
        let both = TransferTimes { total_s: 7.0, compute_s: 3.5, delay_s: 3.0, after_last_s: 3.0 };
        assert_eq!(transfer_times(&pair, true), both);
    }
}
