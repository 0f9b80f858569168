//! The measurement: each repetition has the communication by itself, the computation by itself, and both at
//! once. These parts follow each other within milliseconds, so the machine's state is the same for all three.
//!
//! All ranks begin a part at an agreed time. It lasts from the first rank's start to the last one's end.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use common::model::Phase;
use common::model::event::Block;
use common::stats;

use super::computation::{Computation, Times};
use super::traffic::Traffic;
use crate::checked::{CallError, Comm};
use crate::measure::offset::Interpolation;
use crate::measure::sync::Sync;

/// Time from the agreement on a start to the start: longer than the message about it takes.
const MARGIN: Duration = Duration::from_micros(50);

/// The data shared by all methods of a case, except for the communication.
pub struct Cell {
    /// The common time of all ranks.
    pub sync: Sync,
    pub computation: Computation,
    /// Time between two calls of `MPI_Test` within the computation, if there are any.
    pub test_every: Option<Duration>,
}

/// One rank's times of a repetition, in seconds; starts and ends are by its own clock until they are converted.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct OverlapReadings {
    /// Start and end of the communication by itself.
    pub communication: [f64; 2],
    /// How long the computation took by itself.
    pub computation: Times,
    /// Start and end of both at once.
    pub overlapped: [f64; 2],
    /// The call, with packing.
    pub call_s: f64,
    pub compute_s: f64,
    /// The wait, with unpacking.
    pub wait_s: f64,
    /// The rim after the wait.
    pub rim_after_s: f64,
    /// How late the parts began relative to the agreed times; the latest of the three.
    pub late_s: f64,
}

impl OverlapReadings {
    /// The same with starts and ends in the common time.
    pub fn converted(self, clock: &Interpolation) -> Self {
        let both = |times_s: [f64; 2]| times_s.map(|time_s| clock.remote_s(time_s));
        Self { communication: both(self.communication), overlapped: both(self.overlapped), ..self }
    }
}

impl Cell {
    /// One repetition. If it does not count, all bytes of its first communication are compared.
    pub fn repeat<T: Traffic>(
        &self,
        traffic: &mut T,
        active: &mut T::Active,
        counts: bool,
    ) -> Result<OverlapReadings, CallError> {
        let (communication, first_late_s) = self.communicate(traffic, active)?;
        traffic.look();
        if !counts {
            traffic.compare();
        }
        let second_late_s = self.begin()?;
        let computation = self.computation.times();
        traffic.renew(active)?;
        let third_late_s = self.begin()?;
        let started_s = self.sync.local_s();
        traffic.start(active)?;
        let called_s = self.sync.local_s();
        match self.test_every {
            None => self.computation.run(),
            Some(every) => self.computation.run_and_poll(every, &mut || traffic.test(active))?,
        }
        let computed_s = self.sync.local_s();
        traffic.wait(active)?;
        let waited_s = self.sync.local_s();
        let ended_s = if self.computation.has_rim {
            self.computation.run_rim();
            self.sync.local_s()
        } else {
            waited_s
        };
        traffic.look();
        Ok(OverlapReadings {
            communication,
            computation,
            overlapped: [started_s, ended_s],
            call_s: called_s - started_s,
            compute_s: computed_s - called_s,
            wait_s: waited_s - computed_s,
            rim_after_s: ended_s - waited_s,
            late_s: first_late_s.max(second_late_s).max(third_late_s),
        })
    }

    /// Start and end of the communication by itself, started and waited for at once, by this rank's clock; and how late it began.
    pub fn communicate<T: Traffic>(
        &self,
        traffic: &mut T,
        active: &mut T::Active,
    ) -> Result<([f64; 2], f64), CallError> {
        traffic.renew(active)?;
        let late_s = self.begin()?;
        let started_s = self.sync.local_s();
        traffic.start(active)?;
        traffic.wait(active)?;
        Ok(([started_s, self.sync.local_s()], late_s))
    }

    /// How long the computation takes by itself.
    pub fn compute(&self) -> Result<Times, CallError> {
        self.begin()?;
        Ok(self.computation.times())
    }

    /// All ranks continue at the same time. Returns how late this one is, in seconds.
    fn begin(&self) -> Result<f64, CallError> {
        Ok(self.sync.wait_until(self.sync.agree(MARGIN)?))
    }

    /// Checks that a communication which all ranks must have begun before any of them ends it behaves so: rank `late`
    /// deliberately begins it long after the others. Returns the error on this rank, if any. Collective.
    pub fn expect_all<T: Traffic>(
        &mut self,
        traffic: &mut T,
        active: &mut T::Active,
        world: &Comm,
        late: usize,
    ) -> Result<Option<String>, CallError> {
        /// Long compared with the time of a rank that does not wait for the others.
        const DELAY: Duration = Duration::from_millis(2);
        self.sync.again()?;
        // Also long compared with the error of two clocks.
        let delay_s = DELAY.as_secs_f64().max(4.0 * self.sync.facts()?.error_s);
        let agreed_s = self.sync.agree(MARGIN)?;
        let is_late = world.rank()? == late;
        self.sync.wait_until(agreed_s + if is_late { delay_s } else { 0.0 });
        let begun_s = self.sync.now_s();
        traffic.start(active)?;
        traffic.wait(active)?;
        let ended_s = self.sync.now_s();
        let last_s = world.maxima(&[begun_s])?[0];
        // The clocks of two ranks each have this error.
        let early_s = last_s - ended_s - 2.0 * self.sync.facts()?.error_s;
        Ok((early_s > 0.0).then(|| {
            format!("its wait ended {:.0} us before the last rank, {late}, had begun", early_s * 1e6)
        }))
    }
}

/// The times of repetitions over all ranks, at rank 0; `None` elsewhere. Collective.
pub fn collected(world: &Comm, mine: &[OverlapReadings], has_rim: bool) -> Result<Option<Block>, CallError> {
    let all = world.gather(bytemuck::cast_slice(mine))?;
    let ranks: Vec<Vec<OverlapReadings>> =
        all.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
    Ok((!ranks.is_empty()).then(|| block(&ranks, has_rim)))
}

/// The samples of repetitions, from the readings of each rank.
fn block(ranks: &[Vec<OverlapReadings>], has_rim: bool) -> Block {
    let late = |readings: &Vec<OverlapReadings>| {
        stats::median(&stats::sorted(readings.iter().map(|readings| readings.late_s))).unwrap_or_default()
    };
    let start_late_s = ranks.iter().map(late).collect();
    let mut block = Block { batch: 1, start_late_s, ..Block::default() };
    for i in 0..ranks.iter().map(Vec::len).min().unwrap_or(0) {
        let each = || ranks.iter().map(|readings| readings[i]);
        let longest = |time: fn(OverlapReadings) -> f64| each().map(time).fold(0.0, f64::max);
        let between = |span: fn(OverlapReadings) -> [f64; 2]| {
            let first = each().map(|readings| span(readings)[0]).fold(f64::INFINITY, f64::min);
            let last = each().map(|readings| span(readings)[1]).fold(f64::NEG_INFINITY, f64::max);
            last - first
        };
        block.times[Phase::CommunicationAlone].push(between(|readings| readings.communication));
        let computations = each().map(|readings| readings.computation);
        let slowest = computations.max_by(|a, b| a.whole_s.total_cmp(&b.whole_s)).unwrap_or_default();
        block.times[Phase::ComputationAlone].push(slowest.whole_s);
        if has_rim {
            block.times[Phase::RimAlone].push(slowest.rim_s);
            block.times[Phase::Rim].push(longest(|readings| readings.rim_after_s));
        }
        block.times[Phase::Call].push(longest(|readings| readings.call_s));
        block.times[Phase::Compute].push(longest(|readings| readings.compute_s));
        block.times[Phase::Wait].push(longest(|readings| readings.wait_s));
        block.times[Phase::InMpi].push(longest(|readings| readings.call_s + readings.wait_s));
        block.times[Phase::Overlapped].push(between(|readings| readings.overlapped));
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_lasts_from_the_first_start_to_the_last_end_and_the_slowest_rank_counts() {
        // Each reading of both ranks.
        let of = |rank: usize| OverlapReadings {
            communication: [[1.0, 3.0], [1.5, 3.5]][rank],
            computation: Times { whole_s: [5.0, 4.0][rank], rim_s: [1.0, 2.0][rank] },
            overlapped: [[10.0, 16.0], [10.25, 15.0]][rank],
            call_s: [0.5, 1.0][rank],
            compute_s: [5.0, 3.5][rank],
            wait_s: [0.5, 0.25][rank],
            rim_after_s: [1.5, 2.5][rank],
            late_s: [0.25, 0.125][rank],
        };
        let [without_rim, block] = [false, true].map(|has_rim| block(&[vec![of(0)], vec![of(1)]], has_rim));
        assert!(without_rim.times[Phase::Rim].is_empty() && without_rim.times[Phase::RimAlone].is_empty());
        assert_eq!(block.start_late_s, [0.25, 0.125]);
        let times = [
            (Phase::CommunicationAlone, 2.5),
            (Phase::ComputationAlone, 5.0),
            (Phase::RimAlone, 1.0),
            (Phase::Rim, 2.5),
            (Phase::Call, 1.0),
            (Phase::Compute, 5.0),
            (Phase::Wait, 0.5),
            (Phase::InMpi, 1.25),
            (Phase::Overlapped, 6.0),
        ];
        for (phase, time) in times {
            assert_eq!(block.times[phase], [time], "{phase:?}");
        }
    }
}
