//! The interface of the schedule: several methods of one case, each verified, timed in blocks, and freed.

use std::time::Instant;

use apps::Side;
use common::model::event::Block;

use super::job::Job;

/// The work of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Repetitions before the first sample: the first ones find the previous method's lines in the caches.
    pub untimed: u32,
    pub samples: usize,
    /// Repetitions per sample.
    pub batch: u32,
}

/// The shortest times of several repetitions, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The time that a sample measures.
    pub repetition_s: f64,
    /// The time including everything between two samples.
    pub turn_s: f64,
}

impl Turn {
    /// The shortest of `count` turns, each of which returns the time of its repetition.
    pub fn shortest(count: u32, mut turn: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Self> {
        let mut shortest = Self { repetition_s: f64::INFINITY, turn_s: f64::INFINITY };
        for _ in 0..count {
            let start = Instant::now();
            shortest.repetition_s = shortest.repetition_s.min(turn()?);
            shortest.turn_s = shortest.turn_s.min(start.elapsed().as_secs_f64());
        }
        // A rank that does not measure does not know the repetition's time.
        shortest.repetition_s = shortest.repetition_s.min(shortest.turn_s);
        Ok(shortest)
    }
}

/// A method that was set up and is being measured.
pub struct Made<A> {
    pub active: A,
    /// Time of the set-up; reported with the first block.
    pub init_s: Option<f64>,
}

impl<A> Made<A> {
    /// Sets it up, and measures the time.
    pub fn timed(make: impl FnOnce() -> anyhow::Result<A>) -> anyhow::Result<Self> {
        let start = Instant::now();
        Ok(Self { active: make()?, init_s: Some(start.elapsed().as_secs_f64()) })
    }
}

/// A case as the schedule measures it. All ranks walk through it together: every function is collective.
pub trait ScheduledCase<'a> {
    /// A method that was set up and is being measured. It is set up once: windows in particular are
    /// expensive, and one MPI sometimes fails after many were created.
    type ActiveMethod;

    /// The ranks that take part.
    fn job(&mut self) -> &mut Job<'a>;

    /// Whether repetitions have random times, so that methods can only be compared over the same ones.
    fn is_random(&self) -> bool {
        false
    }

    /// Sets up a method. An error that [is a lack](crate::checked::CallError::is_lack) is the method's outcome.
    fn make(&mut self, method: &str) -> anyhow::Result<Self::ActiveMethod>;

    /// An error of the user's function for a side on this rank, found without communication.
    fn wrong_loop(&mut self, _side: Side) -> Option<String> {
        None
    }

    /// A description of wrong bytes that this rank received, if any.
    fn verify(&mut self, active: &mut Self::ActiveMethod) -> anyhow::Result<Option<String>>;

    /// Repeats without keeping samples; returns the times on this rank.
    fn repeat(&mut self, active: &mut Self::ActiveMethod, count: u32) -> anyhow::Result<Turn>;

    /// Clock readings in a repetition; `None` if repetitions cannot be timed several at once.
    fn readings(&self, _active: &Self::ActiveMethod) -> Option<u32> {
        None
    }

    /// Runs a block: returns the times of this rank, if it measures, and a description of wrong bytes that it
    /// received. All methods have the same random times in a round.
    fn block(
        &mut self,
        active: &mut Self::ActiveMethod,
        amount: Amount,
        round: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)>;

    /// Frees a method's resources: requests, windows, communicators.
    fn teardown(&mut self, _active: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(())
    }
}
