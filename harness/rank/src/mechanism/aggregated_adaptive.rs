//! `aggregated:adaptive`: partitions travel in persistent messages, as with a mapping that is fixed beforehand; but the mapping
//! is chosen from what messages cost here, and from when partitions became ready in transfers before.
//!
//! Some transfers are observed: the sender notes when each partition becomes ready. After the last of them it may choose
//! another mapping, and tells the receiver, which hears of it when it starts the next transfer; both know by the transfers'
//! number when that is. All other transfers are those of a fixed mapping, and cost as much.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use ddtbench::partitioned::costs::Costs;
use ddtbench::partitioned::merging::{self, MOST_MESSAGES, Message};

use super::aggregated::Units;
use super::persistent::Requests;
use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, Comm, Request};
use crate::measure::sync::local_s;
use crate::slots::Slot;

/// Transfers after which a mapping is chosen: these, and every so many.
const FIRST_CHOICES: [u32; 3] = [2, 4, 8];
const NEXT_CHOICES: u32 = 64;
/// Transfers before each choice that are observed.
const OBSERVED: u32 = 2;
/// Observed transfers that a choice rests on.
const REMEMBERED: usize = 8;

/// Bytes of a number when a mapping is told.
const NUMBER: usize = size_of::<u32>();

fn chooses_after(transfer: u32) -> bool {
    FIRST_CHOICES.contains(&transfer) || (transfer > 0 && transfer.is_multiple_of(NEXT_CHOICES))
}

fn is_observed(transfer: u32) -> bool {
    (transfer..transfer + OBSERVED).any(chooses_after)
}

/// Transfers right after a number, itself not observed, in which there is nothing to observe, to choose or to hear.
fn plain_after(transfer: u32) -> u32 {
    (transfer + 1..).take_while(|&next| !is_observed(next)).count() as u32
}

/// What changes from transfer to transfer.
struct State {
    /// Whether this transfer is observed; what is not is that of a fixed mapping.
    is_observed: bool,
    /// Transfers that follow in which nothing but that of a fixed mapping is to be done.
    plain: u32,
    units: Units,
    requests: Requests,
    /// Number of the transfer, from 1.
    transfer: u32,
    runs: Vec<Range<usize>>,
    /// When partitions became ready in transfers that were observed.
    observed: VecDeque<Vec<f64>>,
    /// The ends of a mapping's runs on their way to the receiver, or none where it stays.
    told: Vec<u8>,
    telling: Request,
}

/// Time that a thread has spent within the mechanism in this transfer, on a cache line of its own.
#[repr(align(64))]
struct Spent(Slot<f64>);

pub struct AggregatedAdaptive<'a> {
    channel: Channel<'a>,
    comm: Comm,
    /// Where mappings are told.
    control: Comm,
    costs: &'a Costs,
    threads: Vec<usize>,
    state: Slot<State>,
    /// When each partition became ready, as the bits of seconds; without the time that its thread had spent here.
    ready_s: Vec<AtomicU64>,
    spent: Vec<Spent>,
    /// What a reading of the clock takes, in seconds.
    reading_s: f64,
}

// SAFETY: the pointer to the message is only passed to MPI; all else is atomic, or guarded by who it belongs to.
unsafe impl Sync for AggregatedAdaptive<'_> {}

impl<'a> AggregatedAdaptive<'a> {
    /// Collective over both ranks.
    pub fn new(channel: Channel<'a>, costs: &'a Costs) -> Result<Self, CallError> {
        let (comm, control) = (channel.comm.duplicate()?, channel.comm.duplicate()?);
        let threads = channel.threads();
        let message = Message { ranges: &channel.partitions, threads: &threads };
        let runs = match channel.role {
            Role::Sender => {
                let runs = merging::units(message, &[], costs);
                let told = encoded(&runs);
                // SAFETY: all bytes of the list.
                unsafe { channel.envelope(told.len(), 0, &control).send(told.as_ptr()) }?;
                runs
            }
            Role::Receiver => hear(&channel, &control)?.unwrap_or_default(),
        };
        let state = State {
            transfer: 0,
            is_observed: false,
            plain: 0,
            units: Units::new(&channel, &runs),
            requests: requests(&channel, &comm, &runs)?,
            runs,
            observed: VecDeque::with_capacity(REMEMBERED),
            told: Vec::new(),
            telling: Request::null(),
        };
        Ok(Self {
            ready_s: channel.partitions.iter().map(|_| AtomicU64::new(0)).collect(),
            spent: channel.of_thread.iter().map(|_| Spent(Slot::new(0.0))).collect(),
            state: Slot::new(state),
            channel,
            comm,
            control,
            costs,
            threads,
            reading_s: reading_s(),
        })
    }

    /// Marks a partition, and sends what is complete with it.
    #[inline]
    fn mark(&self, state: &State, partition: usize) -> Result<(), CallError> {
        state.units.mark(partition).map_or(Ok(()), |unit| state.requests.start(unit))
    }

    /// The sender's part of a choice: what it was and what becomes of it.
    fn choose(&self, state: &mut State) -> Result<(), CallError> {
        let message = Message { ranges: &self.channel.partitions, threads: &self.threads };
        let runs = merging::units(message, state.observed.make_contiguous(), self.costs);
        let stays = runs == state.runs;
        state.told = if stays { Vec::new() } else { encoded(&runs) };
        // SAFETY: all bytes of the list, which lives and stays as it is until the request is complete, at the next start.
        let telling = unsafe {
            Request::send(state.told.as_ptr(), self.channel.envelope(state.told.len(), 0, &self.control))
        };
        state.telling = telling?;
        if stays { Ok(()) } else { self.apply(state, runs) }
    }

    fn apply(&self, state: &mut State, runs: Vec<Range<usize>>) -> Result<(), CallError> {
        state.units = Units::new(&self.channel, &runs);
        let new = requests(&self.channel, &self.comm, &runs)?;
        state.runs = runs;
        std::mem::replace(&mut state.requests, new).free()
    }

    /// Begins a transfer that is not like those around it.
    #[cold]
    fn begin(&self, state: &mut State) -> Result<(), CallError> {
        self.settle(state)?;
        state.transfer += 1;
        state.is_observed = is_observed(state.transfer);
        state.plain = if state.is_observed { 0 } else { plain_after(state.transfer) };
        // SAFETY: one thread starts, and no other is here.
        self.spent.iter().for_each(|spent| unsafe { *spent.0.get() = 0.0 });
        Ok(())
    }

    /// Ends a transfer that was observed, at the sender.
    #[cold]
    fn conclude(&self, state: &mut State) -> Result<(), CallError> {
        if state.observed.len() == REMEMBERED {
            state.observed.pop_front();
        }
        let ready_s = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        state.observed.push_back(self.ready_s.iter().map(ready_s).collect());
        if chooses_after(state.transfer) { self.choose(state) } else { Ok(()) }
    }

    /// What is left of a choice after the transfer before.
    fn settle(&self, state: &mut State) -> Result<(), CallError> {
        if !chooses_after(state.transfer) {
            return Ok(());
        }
        match self.channel.role {
            Role::Sender => state.telling.wait(),
            Role::Receiver => {
                let runs = hear(&self.channel, &self.control)?;
                runs.map_or(Ok(()), |runs| self.apply(state, runs))
            }
        }
    }
}

/// What a reading of the clock takes: the shortest of some in a row, since what lies between partitions is to be known.
fn reading_s() -> f64 {
    const READINGS: u32 = 20;
    let row_s = || {
        let begin_s = local_s();
        (1..READINGS).for_each(|_| {
            std::hint::black_box(local_s());
        });
        (local_s() - begin_s) / f64::from(READINGS)
    };
    (0..10).map(|_| row_s()).fold(f64::INFINITY, f64::min)
}

/// A persistent request per run.
fn requests(channel: &Channel<'_>, comm: &Comm, runs: &[Range<usize>]) -> Result<Requests, CallError> {
    Requests::new(channel, super::aggregated::ranges(channel, runs).map(|range| (range, comm)))
}

/// Where the runs of a mapping end.
fn encoded(runs: &[Range<usize>]) -> Vec<u8> {
    runs.iter().flat_map(|run| (run.end as u32).to_ne_bytes()).collect()
}

/// Receives a mapping; `None` if it stays as it was.
fn hear(channel: &Channel<'_>, control: &Comm) -> Result<Option<Vec<Range<usize>>>, CallError> {
    let mut told = vec![0u8; MOST_MESSAGES * NUMBER];
    // A run has one end at least, so that a zero is where the list ends.
    // SAFETY: all bytes of the list; a shorter message leaves the rest as it is.
    unsafe { channel.envelope(told.len(), 0, control).receive(told.as_mut_ptr()) }?;
    let (numbers, _) = told.as_chunks::<NUMBER>();
    let ends = numbers.iter().map(|&bytes| u32::from_ne_bytes(bytes) as usize).take_while(|&end| end > 0);
    let runs: Vec<_> = ends.scan(0, |start, end| Some(std::mem::replace(start, end)..end)).collect();
    Ok((!runs.is_empty()).then_some(runs))
}

impl Mechanism for AggregatedAdaptive<'_> {
    fn start(&self) -> Result<(), CallError> {
        // SAFETY: one thread starts, and no other is here.
        let state = unsafe { self.state.get() };
        match state.plain.checked_sub(1) {
            Some(left) => (state.plain, state.transfer) = (left, state.transfer + 1),
            None => self.begin(state)?,
        }
        state.units.reset();
        state.requests.start_receives()
    }

    #[inline]
    fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: nobody starts or waits meanwhile.
        let state = unsafe { self.state.share() };
        if !state.is_observed {
            return self.mark(state, partition);
        }
        // SAFETY: the thread's own.
        let spent_s = unsafe { self.spent[thread].0.get() };
        let now_s = local_s();
        self.ready_s[partition].store((now_s - *spent_s).to_bits(), Ordering::Relaxed);
        self.mark(state, partition)?;
        // A reading ends before it returns, and begins after it was called.
        *spent_s += local_s() - now_s + self.reading_s;
        Ok(())
    }

    fn wait(&self) -> Result<(), CallError> {
        // SAFETY: one thread waits, after a barrier of all.
        let state = unsafe { self.state.get() };
        state.requests.wait_all()?;
        match state.is_observed && self.channel.role == Role::Sender {
            true => self.conclude(state),
            false => Ok(()),
        }
    }

    fn messages(&self) -> Option<usize> {
        // SAFETY: nobody starts or waits meanwhile.
        Some(unsafe { self.state.share() }.requests.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        // SAFETY: both ranks are done, and nobody else has it.
        let state = unsafe { self.state.get() };
        self.settle(state)?;
        self.state.into_inner().requests.free()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_follows_transfers_that_were_observed_and_few_are() {
        assert!(!chooses_after(0), "nothing was observed, and nothing is told");
        assert!(chooses_after(2) && is_observed(1) && is_observed(2) && !is_observed(5));
        assert!(chooses_after(128) && is_observed(127) && !is_observed(126));
        assert!((9..1000).filter(|&transfer| is_observed(transfer)).count() < 40);
        assert_eq!((plain_after(9), plain_after(61), plain_after(65)), (53, 1, 61));
        assert!((1..=10).filter(|&transfer| chooses_after(transfer)).count() == FIRST_CHOICES.len());
    }
}
