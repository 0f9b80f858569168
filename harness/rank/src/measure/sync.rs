//! A common time for all ranks, for intervals that begin on one rank and end on another: the time of rank 0.
//!
//! The first rank of each host is its reference. References learn the time from each other in a
//! [`tree`](super::tree): a message goes there and back several times, all pairs of a round at once. Then
//! each host's ranks get it from their reference: in the same way, or directly if they read the same clock of
//! the kernel, which messages confirm. Ranks of a single such host need no synchronisation.
//!
//! [`Sync::begin`] and [`Sync::end`] enclose a block. Its times are converted afterwards; times that are needed at once, such
//! as a common start, use the last observation and the drift so far. They are observed again for each block, not for each
//! start: an observation takes as long as tens of messages, and a block is too short for the drift to matter.

use std::time::Duration;

use common::model::event::ClockFacts;

use super::clock_exchange::{ClockGroup, Learn};
use super::local_clock::{LocalClock, VirtualClocks};
use super::offset::{Extrapolation, Interpolation, LONG_ENOUGH_S, Offset, Residual};
use crate::checked::{CallError, Comm};
use crate::team::spin_until;

/// Exchanges, the best of which counts: one undisturbed one among them is enough.
const MESSAGES: usize = 15;
/// The same for the first observations, on which the drift depends for long.
const FIRST_MESSAGES: usize = 100;
/// Exchanges with rank 0 that show the error of the time. Ranks with their own clocks do them one after the
/// other: for a hundred hosts over TCP this takes about 20 ms in total.
const CHECKS: usize = 10;

/// The common time, as known to this rank.
pub struct Sync {
    all: ClockGroup,
    host: ClockGroup,
    /// The references of all hosts, on each of them.
    references: Option<ClockGroup>,
    /// Whether all ranks read the same clock of one kernel.
    shares_clock: bool,
    /// Whether all ranks of this host do.
    host_shares_clock: bool,
    /// For each rank, whether it learns the time by messages; the others take it directly from their reference.
    asking: Vec<bool>,
    pub clock: LocalClock,
    /// Rank 0's clock, as known to this rank.
    pub zero: Extrapolation,
    residual_s: Option<f64>,
}

/// A block that has begun.
#[must_use = "its times are known when it ends"]
pub struct ClockWindow {
    first: Offset,
}

impl Sync {
    /// Synchronises the ranks of `comm`; collective. Takes a tenth of a second if clocks are not shared, so that the drift is known.
    pub fn new(comm: &Comm) -> Result<Self, CallError> {
        // Invalid values were refused when the process began.
        Self::by(comm, VirtualClocks::of_environment().unwrap_or_default())
    }

    /// The same with these virtual clocks, if any.
    pub fn by(comm: &Comm, clocks: Option<VirtualClocks>) -> Result<Self, CallError> {
        let rank = comm.rank()?;
        let host = match clocks.and_then(|clocks| clocks.ranks_per_host) {
            Some(ranks) => comm.split(rank / ranks, rank)?,
            None => comm.split_shared()?,
        };
        let is_reference = host.rank()? == 0;
        let references = comm.split(usize::from(!is_reference), rank)?;
        let mut sync = Self {
            all: ClockGroup::new(comm.duplicate()?)?,
            host: ClockGroup::new(host)?,
            references: if is_reference { Some(ClockGroup::new(references)?) } else { None },
            shares_clock: false,
            host_shares_clock: false,
            asking: Vec::new(),
            clock: clocks.map_or_else(LocalClock::default, |clocks| clocks.of_rank(rank)),
            zero: Extrapolation::default(),
            residual_s: None,
        };
        sync.host_shares_clock = clocks.is_none() && sync.confirm_clock_of_host()?;
        let is_alone = sync.host_shares_clock && sync.host.ranks == sync.all.ranks;
        sync.shares_clock = comm.everywhere(is_alone)?;
        if !sync.shares_clock {
            let mut asking = vec![0.0; sync.all.ranks];
            asking[sync.all.rank] = f64::from(u8::from(is_reference || !sync.host_shares_clock));
            sync.asking = sync.all.comm.maxima(&asking)?.into_iter().map(|flag| flag > 0.0).collect();
            sync.synchronise(FIRST_MESSAGES, |_, first| Extrapolation::new(first))?;
            std::thread::sleep(Duration::from_secs_f64(LONG_ENOUGH_S));
            sync.synchronise(FIRST_MESSAGES, Extrapolation::then)?;
            sync.residual_s = sync.residual_s()?;
        }
        Ok(sync)
    }

    /// Synchronises again; collective.
    pub fn again(&mut self) -> Result<(), CallError> {
        self.synchronise(MESSAGES, Extrapolation::then)
    }

    /// Synchronises at the beginning of a block; collective.
    pub fn begin(&mut self) -> Result<ClockWindow, CallError> {
        self.again()?;
        Ok(ClockWindow { first: self.zero.now })
    }

    /// Synchronises at its end, and returns the conversion of times from [`Sync::local_s`] in between; collective.
    pub fn end(&mut self, window: ClockWindow) -> Result<Interpolation, CallError> {
        self.again()?;
        Ok(Interpolation::between(window.first, self.zero.now))
    }

    /// The error bound of the clocks at the last synchronisation, and the error observed at the first; the
    /// maximum over ranks. Collective.
    pub fn facts(&self) -> Result<ClockFacts, CallError> {
        let worst = self.all.comm.maxima(&[self.zero.now.error_s])?[0];
        Ok(ClockFacts { shared: self.shares_clock, error_s: worst, residual_s: self.residual_s })
    }

    /// The current error of the common time according to further messages between rank 0 and each rank; the
    /// maximum over ranks, `None` if they read the same clock. Collective.
    pub fn residual(&self) -> Result<Option<Residual>, CallError> {
        if self.shares_clock {
            return Ok(None);
        }
        let mut mine = Residual::NONE;
        for other in (1..self.all.ranks).filter(|&other| self.asking[other]) {
            if self.all.rank == 0 {
                self.all.answer(self.clock, &self.zero, other, CHECKS)?;
            } else if self.all.rank == other {
                let offset = self.all.ask(self.clock, 0, CHECKS)?;
                mine = offset.map_or(mine, |offset| self.zero.residual(offset));
            }
        }
        let worst = self.all.comm.maxima(&[mine.off_s, mine.beyond_s])?;
        Ok(Some(Residual { off_s: worst[0], beyond_s: worst[1] }))
    }

    /// The same without the bound, in the form used for blocks. Collective.
    pub fn residual_s(&self) -> Result<Option<f64>, CallError> {
        Ok(self.residual()?.map(|residual| residual.off_s))
    }

    /// This rank's own clock, in seconds: for times that are converted afterwards.
    #[inline]
    pub fn local_s(&self) -> f64 {
        self.clock.now_s()
    }

    /// The common time now, in seconds.
    #[inline]
    pub fn now_s(&self) -> f64 {
        self.zero.remote_s(self.local_s())
    }

    /// Waits for a common time. Returns how late this rank is in seconds: it may have arrived late, or lost its core.
    pub fn wait_until(&self, time_s: f64) -> f64 {
        let mut now_s = self.now_s();
        spin_until(|| {
            now_s = self.now_s();
            now_s >= time_s
        });
        now_s - time_s
    }

    /// Agrees on a time shortly after all ranks have arrived; collective.
    pub fn agree(&self, margin: Duration) -> Result<f64, CallError> {
        self.all.comm.barrier()?;
        let [time_s] = self.all.comm.broadcast([self.now_s() + margin.as_secs_f64()])?;
        Ok(time_s)
    }

    fn synchronise(&mut self, count: usize, learn: Learn) -> Result<(), CallError> {
        if self.shares_clock {
            return Ok(());
        }
        if let Some(references) = &self.references {
            references.spread(self.clock, &mut self.zero, count, learn)?;
        }
        if !self.host_shares_clock {
            return self.host.spread(self.clock, &mut self.zero, count, learn);
        }
        let Offset { at_s, ahead_s, error_s } = self.zero.now;
        let [at_s, ahead_s, error_s] = self.host.comm.broadcast([at_s, ahead_s, error_s])?;
        if self.host.rank > 0 {
            self.zero = learn(self.zero, Offset { at_s, ahead_s, error_s });
        }
        Ok(())
    }

    /// Whether the ranks of this host read the same clock: containers may have their own clocks.
    fn confirm_clock_of_host(&self) -> Result<bool, CallError> {
        let mut of_reference = Extrapolation::default();
        self.host.spread(self.clock, &mut of_reference, MESSAGES, |_, first| Extrapolation::new(first))?;
        let Offset { ahead_s, error_s, .. } = of_reference.now;
        self.host.comm.everywhere(ahead_s.abs() <= error_s)
    }
}
