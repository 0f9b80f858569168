//! One time for all ranks, for what begins on one and ends on another.
//!
//! Every rank learns by how much its clock differs from rank 0's: a message goes there and back, and rank 0's reading lies,
//! as far as one can know, in the middle (Cristian 1989); of several exchanges the shortest counts, and half of it is how
//! far off the middle can be. Done anew before each block, so that the drift between two of them is known too. Ranks of
//! one host that read one clock of the kernel need none of that: they differ by nothing, which the exchange confirms.

use std::time::Duration;

use datatypes::Element;
use ddtbench::event::ClockFacts;

use crate::checked::{CallError, Comm, Datatype, Envelope};
use crate::team::spin_until;

/// Exchanges of which the shortest counts: one undisturbed exchange among them is enough.
const EXCHANGES: usize = 15;
/// Tag of the exchanges, on a communicator of their own.
const TAG: usize = 0;
/// Time between two synchronisations from which on their difference says something about the drift.
const LONG_ENOUGH: f64 = 0.1;

/// The common time, as this rank knows it.
pub struct Sync {
    comm: Comm,
    rank: usize,
    byte: Datatype,
    shares_clock: bool,
    /// By how much rank 0's time is ahead of this rank's, when that was found out, and how far off it can be.
    offset_s: f64,
    found_at_s: f64,
    error_s: f64,
    /// Seconds that rank 0 gains per second.
    drift: f64,
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
            offset_s: 0.0,
            found_at_s: 0.0,
            error_s: 0.0,
            drift: 0.0,
        };
        sync.exchange(ranks)?;
        // Containers of one host may have clocks of their own.
        let is_equal = of_host == ranks && sync.offset_s.abs() <= sync.error_s;
        sync.shares_clock = comm.minima(&[f64::from(u8::from(is_equal))])?[0] > 0.0;
        if sync.shares_clock {
            (sync.offset_s, sync.error_s) = (0.0, 0.0);
        }
        Ok(sync)
    }

    /// Synchronises anew; collective.
    pub fn again(&mut self) -> Result<(), CallError> {
        if self.shares_clock {
            return Ok(());
        }
        let before = (self.offset_s, self.found_at_s);
        let ranks = self.comm.size()?;
        self.exchange(ranks)?;
        let passed = self.found_at_s - before.1;
        if passed >= LONG_ENOUGH {
            self.drift = (self.offset_s - before.0) / passed;
        }
        Ok(())
    }

    /// What is known of the clocks; the worst of all ranks. Collective.
    pub fn facts(&self) -> Result<ClockFacts, CallError> {
        let worst = -self.comm.minima(&[-self.error_s])?[0];
        Ok(ClockFacts { shared: self.shares_clock, error_s: worst })
    }

    /// The common time now, in seconds.
    #[inline]
    pub fn now_s(&self) -> f64 {
        let local = local_s();
        local + self.offset_s + self.drift * (local - self.found_at_s)
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

    /// Finds each rank's offset, one rank after the other.
    fn exchange(&mut self, ranks: usize) -> Result<(), CallError> {
        for other in 1..ranks {
            if self.rank == 0 {
                for _ in 0..EXCHANGES {
                    self.receive(other)?;
                    self.send(other, local_s())?;
                }
            } else if self.rank == other {
                let mut shortest = f64::INFINITY;
                for _ in 0..EXCHANGES {
                    let asked = local_s();
                    self.send(0, asked)?;
                    let theirs = self.receive(0)?;
                    let heard = local_s();
                    if heard - asked < shortest {
                        shortest = heard - asked;
                        self.offset_s = theirs - (asked + heard) / 2.0;
                        self.found_at_s = heard;
                        self.error_s = shortest / 2.0;
                    }
                }
            }
        }
        Ok(())
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
