//! `aggregated:adaptive`: partitions are sent in persistent messages, as with a fixed mapping; but the mapping is
//! chosen from the measured cost of messages, and from when partitions became ready in earlier transfers.
//!
//! Some transfers are observed: the sender notes when each partition becomes ready. After the last of them it may
//! choose another mapping, and announces it to the receiver, which receives it when it starts the next transfer; both
//! know the time by the transfers' number. All other transfers are those of a fixed mapping, at the same cost.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::ops::Range;

use common::fine_grained::costs::Costs;
use common::fine_grained::merging::{self, MOST_MESSAGES, MessagePartitions};
use common::packing::Form;

use super::messages::ChannelMessages;
use super::{Channel, Mechanism, Role};
use crate::checked::request::Status;
use crate::checked::{CallError, Comm, Request, TeamCalls};
use crate::handoff::{Counters, ReadyTimes, Slot};
use crate::measure::local_clock::monotonic_s;

/// Transfers after which a mapping is chosen: these, and later regularly.
const FIRST_CHOICES: [u32; 3] = [2, 4, 8];
const NEXT_CHOICES: u32 = 64;
/// Transfers before each choice that are observed.
const OBSERVED: u32 = 2;
/// Observed transfers that a choice uses.
const REMEMBERED: usize = 8;

/// Bytes of a number in the announcement of a mapping.
const NUMBER: usize = size_of::<u32>();

fn chooses_after(transfer: u32) -> bool {
    FIRST_CHOICES.contains(&transfer) || (transfer > 0 && transfer.is_multiple_of(NEXT_CHOICES))
}

fn is_observed(transfer: u32) -> bool {
    (transfer..transfer + OBSERVED).any(chooses_after)
}

/// Number of plain transfers right after this one: they are not observed, and nothing is chosen or announced in them.
fn plain_after(transfer: u32) -> u32 {
    (transfer + 1..).take_while(|&next| !is_observed(next)).count() as u32
}

/// The state that changes from transfer to transfer.
struct AdaptiveState {
    /// Whether this transfer is observed; other transfers are like those of a fixed mapping.
    is_observed: bool,
    /// Number of following transfers that are like those of a fixed mapping.
    plain: u32,
    counters: Counters,
    messages: ChannelMessages,
    /// Number of the transfer, from 1.
    transfer: u32,
    runs: Vec<Range<usize>>,
    /// When partitions became ready in observed transfers.
    observed: VecDeque<Vec<f64>>,
    /// The ends of a mapping's runs, while they are sent to the receiver; empty if the mapping does not change.
    announced: Vec<u8>,
    announcement: Request,
}

pub struct AggregatedAdaptive<'a> {
    channel: Channel<'a>,
    comm: Comm,
    /// The communicator for announcements of mappings.
    control: Comm,
    costs: &'a Costs,
    threads: Vec<usize>,
    state: Slot<AdaptiveState>,
    /// The times of an observed transfer.
    ready_times: ReadyTimes,
    /// Time of a clock reading, in seconds.
    reading_s: f64,
}

impl<'a> AggregatedAdaptive<'a> {
    /// Collective over both ranks.
    pub fn new(channel: Channel<'a>, costs: &'a Costs, _: TeamCalls) -> Result<Self, CallError> {
        let (comm, control) = (channel.comm.duplicate()?, channel.comm.duplicate()?);
        let threads = channel.threads();
        let message = MessagePartitions { ranges: &channel.partitions, threads: &threads };
        let runs = match channel.role {
            Role::Sender => {
                let runs = merging::units(message, &[], costs);
                let announced = encoded(&runs);
                // SAFETY: all bytes of the list.
                unsafe { channel.envelope(announced.len(), 0, &control).send(announced.as_ptr()) }?;
                runs
            }
            Role::Receiver => receive_mapping(&channel, &control)?
                .ok_or_else(|| wrong("no mapping at all, where the first is announced".to_owned()))?,
        };
        let state = AdaptiveState {
            transfer: 0,
            is_observed: false,
            plain: 0,
            counters: Counters::new(&runs),
            messages: messages(&channel, &comm, &runs)?,
            runs,
            observed: VecDeque::with_capacity(REMEMBERED),
            announced: Vec::new(),
            announcement: Request::null(&control),
        };
        Ok(Self {
            ready_times: ReadyTimes::new(channel.partitions.len(), channel.of_thread.len()),
            state: Slot::new(state),
            channel,
            comm,
            control,
            costs,
            threads,
            reading_s: reading_s(),
        })
    }

    /// Marks a partition, and sends its message if that is complete.
    #[inline]
    fn mark(&self, state: &AdaptiveState, partition: usize) -> Result<(), CallError> {
        // SAFETY: only the thread that completed the run does this.
        state.counters.mark(partition).map_or(Ok(()), |run| unsafe { state.messages.start(run) })
    }

    /// The sender's part of a choice: makes it and announces the result.
    fn choose(&self, state: &mut AdaptiveState) -> Result<(), CallError> {
        let message = MessagePartitions { ranges: &self.channel.partitions, threads: &self.threads };
        let runs = merging::units(message, state.observed.make_contiguous(), self.costs);
        let stays = runs == state.runs;
        state.announced = if stays { Vec::new() } else { encoded(&runs) };
        let envelope = self.channel.envelope(state.announced.len(), 0, &self.control);
        let address = state.announced.as_mut_ptr();
        // SAFETY: all bytes of the list, which lives and does not change until the request is complete, at the next start.
        state.announcement = unsafe { Request::of_message(Form::Nonblocking, true, address, envelope) }?;
        if stays { Ok(()) } else { self.apply(state, runs) }
    }

    fn apply(&self, state: &mut AdaptiveState, runs: Vec<Range<usize>>) -> Result<(), CallError> {
        state.counters = Counters::new(&runs);
        let new = messages(&self.channel, &self.comm, &runs)?;
        state.runs = runs;
        std::mem::replace(&mut state.messages, new).free()
    }

    /// Begins a transfer that differs from the plain ones.
    ///
    /// # Safety
    /// As for [`Mechanism::start`].
    #[cold]
    unsafe fn begin(&self, state: &mut AdaptiveState) -> Result<(), CallError> {
        self.settle(state)?;
        state.transfer += 1;
        state.is_observed = is_observed(state.transfer);
        state.plain = if state.is_observed { 0 } else { plain_after(state.transfer) };
        // SAFETY: no thread is here, as the caller guarantees.
        unsafe { self.ready_times.begin() };
        Ok(())
    }

    /// Ends an observed transfer, at the sender.
    #[cold]
    fn conclude(&self, state: &mut AdaptiveState) -> Result<(), CallError> {
        if state.observed.len() == REMEMBERED {
            state.observed.pop_front();
        }
        state.observed.push_back(self.ready_times.all_s());
        if chooses_after(state.transfer) { self.choose(state) } else { Ok(()) }
    }

    /// Completes a choice made after the previous transfer.
    fn settle(&self, state: &mut AdaptiveState) -> Result<(), CallError> {
        if !chooses_after(state.transfer) {
            return Ok(());
        }
        match self.channel.role {
            Role::Sender => state.announcement.wait(),
            Role::Receiver => {
                let runs = receive_mapping(&self.channel, &self.control)?;
                runs.map_or(Ok(()), |runs| self.apply(state, runs))
            }
        }
    }
}

/// Time of a clock reading: the shortest of several, because the time between partitions must be known.
fn reading_s() -> f64 {
    const READINGS: u32 = 20;
    let row_s = || {
        let begin_s = monotonic_s();
        (1..READINGS).for_each(|_| {
            std::hint::black_box(monotonic_s());
        });
        (monotonic_s() - begin_s) / f64::from(READINGS)
    };
    (0..10).map(|_| row_s()).fold(f64::INFINITY, f64::min)
}

/// A persistent message per run.
fn messages(channel: &Channel<'_>, comm: &Comm, runs: &[Range<usize>]) -> Result<ChannelMessages, CallError> {
    ChannelMessages::new(channel, Form::Persistent, channel.bytes_of(runs).map(|range| (range, comm)))
}

/// The ends of a mapping's runs.
fn encoded(runs: &[Range<usize>]) -> Vec<u8> {
    runs.iter().flat_map(|run| (run.end as u32).to_ne_bytes()).collect()
}

/// Receives a mapping; `None` if it has not changed.
fn receive_mapping(channel: &Channel<'_>, control: &Comm) -> Result<Option<Vec<Range<usize>>>, CallError> {
    let mut received = vec![0u8; MOST_MESSAGES * NUMBER];
    let envelope = channel.envelope(received.len(), 0, control);
    // SAFETY: all bytes of the list, which is not used until the request is complete, here.
    let mut request =
        unsafe { Request::of_message(Form::Nonblocking, false, received.as_mut_ptr(), envelope) }?;
    let Status { source, tag, count, is_cancelled } = request.wait_for_status(channel.byte)?;
    let bytes = count.filter(|_| !is_cancelled).and_then(|count| received.get(..count));
    match bytes.filter(|_| (source, tag) == (envelope.peer as c_int, envelope.tag as c_int)) {
        Some(bytes) => decoded(bytes, channel.partitions.len()).map_err(wrong),
        None => Err(wrong(format!(
            "a message from rank {source} with tag {tag} and {count:?} bytes, where rank {} announces a mapping with tag {}",
            envelope.peer, envelope.tag
        ))),
    }
}

/// The mapping of this number of partitions, from a message with the ends of its runs; `None` for an empty
/// message. A message that is not such a mapping was not received as sent.
fn decoded(bytes: &[u8], partitions: usize) -> Result<Option<Vec<Range<usize>>>, String> {
    let (numbers, rest) = bytes.as_chunks::<NUMBER>();
    let ends = numbers.iter().map(|&bytes| u32::from_ne_bytes(bytes) as usize);
    let runs: Vec<_> = ends.scan(0, |start, end| Some(std::mem::replace(start, end)..end)).collect();
    let Some(last) = runs.last().filter(|_| rest.is_empty()) else {
        return if bytes.is_empty() { Ok(None) } else { Err(format!("a mapping of {} bytes", bytes.len())) };
    };
    match runs.iter().find(|run| run.is_empty() || run.end > partitions) {
        Some(run) => Err(format!("a mapping with a message of the partitions {run:?}, of {partitions}")),
        None if last.end < partitions => {
            Err(format!("a mapping of {} partitions, of {partitions}", last.end))
        }
        None => Ok(Some(runs)),
    }
}

/// The error for a message that is not a mapping.
fn wrong(detail: String) -> CallError {
    CallError::WrongData { call: "MPI_Irecv", detail }
}

impl Mechanism for AggregatedAdaptive<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        // SAFETY: no transfer is in progress, and no thread is here.
        let state = unsafe { self.state.get() };
        match state.plain.checked_sub(1) {
            Some(left) => (state.plain, state.transfer) = (left, state.transfer + 1),
            // SAFETY: as above.
            None => unsafe { self.begin(state) }?,
        }
        state.counters.reset();
        // SAFETY: as above.
        unsafe { state.messages.start_receives() }
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: no thread starts or waits in the meantime.
        let state = unsafe { self.state.share() };
        if !state.is_observed {
            return self.mark(state, partition);
        }
        let now_s = monotonic_s();
        // SAFETY: called by the thread of this number.
        unsafe { self.ready_times.note(thread, partition, now_s) };
        self.mark(state, partition)?;
        // A reading is taken between the call and the return.
        let spent_s = monotonic_s() - now_s + self.reading_s;
        // SAFETY: as above.
        unsafe { self.ready_times.spend(thread, spent_s) };
        Ok(())
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        let state = unsafe { self.state.get() };
        // SAFETY: as above.
        unsafe { state.messages.wait_all() }?;
        match state.is_observed && self.channel.role == Role::Sender {
            true => self.conclude(state),
            false => Ok(()),
        }
    }

    fn messages(&self) -> Option<usize> {
        // SAFETY: no thread starts or waits in the meantime, because barriers separate that from this.
        Some(unsafe { self.state.share() }.messages.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        // SAFETY: owned here, so no other thread has it.
        let state = unsafe { self.state.get() };
        self.settle(state)?;
        self.state.into_inner().messages.free()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_follows_transfers_that_were_observed_and_few_are() {
        assert!(!chooses_after(0), "nothing was observed, and nothing is announced");
        assert!(chooses_after(2) && is_observed(1) && is_observed(2) && !is_observed(5));
        assert!(chooses_after(128) && is_observed(127) && !is_observed(126));
        assert!((9..1000).filter(|&transfer| is_observed(transfer)).count() < 40);
        assert_eq!((plain_after(9), plain_after(61), plain_after(65)), (53, 1, 61));
        assert!((1..=10).filter(|&transfer| chooses_after(transfer)).count() == FIRST_CHOICES.len());
    }

    #[test]
    fn a_mapping_arrives_as_it_was_announced_and_what_is_none_is_wrong_data() {
        let runs = vec![0..1, 1..4, 4..8];
        assert_eq!((decoded(&encoded(&runs), 8), decoded(&[], 8)), (Ok(Some(runs)), Ok(None)));
        let bytes = |ends: &[u32]| ends.iter().flat_map(|end| end.to_ne_bytes()).collect::<Vec<_>>();
        for (wrong, what) in [
            (bytes(&[4, 4, 8]), "4..4"),
            (bytes(&[4, 2, 8]), "4..2"),
            (bytes(&[4, 9]), "4..9"),
            (bytes(&[0, 8]), "0..0"),
            (bytes(&[4, 7]), "7 partitions, of 8"),
            (bytes(&[8])[..3].to_vec(), "3 bytes"),
            ([bytes(&[8]), vec![0]].concat(), "5 bytes"),
        ] {
            let text = decoded(&wrong, 8).unwrap_err();
            assert!(text.contains(what), "{text}");
        }
    }
}
