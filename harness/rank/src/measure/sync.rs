//! One time for all ranks, for what begins on one and ends on another.
//!
//! Every rank learns by how much its clock differs from rank 0's: a message goes there and back several times
//! ([`Offset`]). Done anew before each block, so that the drift between two of them is known too. Ranks of one host that read
//! one clock of the kernel need none of that: they differ by nothing, which the exchange confirms.

use std::time::Duration;

use datatypes::Element;
use ddtbench::model::event::ClockFacts;

use super::offset::{Offset, ThereAndBack};
use crate::checked::{CallError, Comm, Datatype, Envelope};
use crate::team::spin_until;

/// Exchanges of which the shortest counts: one undisturbed exchange among them is enough.
const EXCHANGES: usize = 15;
/// Tag of the exchanges, on a communicator of their own.
const TAG: usize = 0;

/// The common time, as this rank knows it.
pub struct Sync {
    comm: Comm,
    rank: usize,
    byte: Datatype,
    shares_clock: bool,
    /// Rank 0's clock, as this rank knows it.
    zero: Offset,
}

/// This process's monotonic clock, in seconds since an instant that all processes of one host share.
pub fn local_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer lives through the call, which fills it; a monotonic clock exists on every system that we run on.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

impl Sync {
    /// Synchronises the ranks of `comm`; collective.
    pub fn new(comm: &Comm) -> Result<Self, CallError> {
        let (rank, ranks) = (comm.rank()?, comm.size()?);
        let of_host = comm.split_shared()?.size()?;
        let mut sync = Self {
            comm: comm.duplicate()?,
            rank,
            byte: Datatype::predefined(Element::Byte),
            shares_clock: false,
            zero: Offset::default(),
        };
        sync.zero = Offset::of(&sync.exchange(ranks)?).unwrap_or_default();
        // Containers of one host may have clocks of their own.
        let is_equal = of_host == ranks && sync.zero.offset_s.abs() <= sync.zero.error_s;
        sync.shares_clock = comm.minima(&[f64::from(u8::from(is_equal))])?[0] > 0.0;
        if sync.shares_clock {
            sync.zero = Offset::default();
        }
        Ok(sync)
    }

    /// Synchronises anew; collective.
    pub fn again(&mut self) -> Result<(), CallError> {
        if self.shares_clock {
            return Ok(());
        }
        let exchanges = self.exchange(self.comm.size()?)?;
        self.zero = self.zero.again(&exchanges);
        Ok(())
    }

    /// What is known of the clocks; the worst of all ranks. Collective.
    pub fn facts(&self) -> Result<ClockFacts, CallError> {
        let worst = -self.comm.minima(&[-self.zero.error_s])?[0];
        Ok(ClockFacts { shared: self.shares_clock, error_s: worst })
    }

    /// The common time now, in seconds.
    #[inline]
    pub fn now_s(&self) -> f64 {
        self.zero.theirs_s(local_s())
    }

    /// Waits for a common time.
    pub fn wait_until(&self, time_s: f64) {
        spin_until(|| self.now_s() >= time_s);
    }

    /// Agrees on a time shortly after all ranks are here; collective.
    pub fn agree(&self, margin: Duration) -> Result<f64, CallError> {
        self.comm.barrier()?;
        let [time_s] = self.comm.broadcast([self.now_s() + margin.as_secs_f64()])?;
        Ok(time_s)
    }

    /// Each rank asks rank 0 for its time, one rank after the other; gives what this one learned.
    fn exchange(&self, ranks: usize) -> Result<Vec<ThereAndBack>, CallError> {
        let mut exchanges = Vec::new();
        for other in 1..ranks {
            if self.rank == 0 {
                for _ in 0..EXCHANGES {
                    self.receive(other)?;
                    self.send(other, local_s())?;
                }
            } else if self.rank == other {
                exchanges.reserve(EXCHANGES);
                for _ in 0..EXCHANGES {
                    let asked_s = local_s();
                    self.send(0, asked_s)?;
                    let theirs_s = self.receive(0)?;
                    exchanges.push(ThereAndBack { asked_s, theirs_s, heard_s: local_s() });
                }
            }
        }
        Ok(exchanges)
    }

    fn send(&self, to: usize, value: f64) -> Result<(), CallError> {
        let bytes = value.to_ne_bytes();
        // SAFETY: eight bytes.
        unsafe { self.envelope(to).send(bytes.as_ptr()) }
    }

    fn receive(&self, from: usize) -> Result<f64, CallError> {
        let mut bytes = [0u8; 8];
        // SAFETY: eight bytes.
        unsafe { self.envelope(from).receive(bytes.as_mut_ptr()) }?;
        Ok(f64::from_ne_bytes(bytes))
    }

    fn envelope(&self, peer: usize) -> Envelope<'_> {
        Envelope { count: 8, datatype: &self.byte, peer, tag: TAG, comm: &self.comm }
    }
}
