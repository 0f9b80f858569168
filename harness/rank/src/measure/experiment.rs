//! What the schedule can measure: some methods of one case, each verified, timed in blocks, and given back.

use std::time::Instant;

use common::model::Outcome;
use common::model::event::Block;

use super::job::Job;

/// How much a block does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Repetitions before the first sample: the first ones find the last method's lines in the caches.
    pub untimed: u32,
    /// Samples.
    pub samples: usize,
    /// Repetitions per sample.
    pub batch: u32,
}

/// The shortest times of some repetitions, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// What a sample is of.
    pub repetition_s: f64,
    /// With all that lies between two samples.
    pub turn_s: f64,
}

impl Turn {
    /// The shortest of `count` turns, of which each gives the time of its repetition.
    pub fn shortest(count: u32, mut turn: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Self> {
        let mut shortest = Self { repetition_s: f64::INFINITY, turn_s: f64::INFINITY };
        for _ in 0..count {
            let start = Instant::now();
            shortest.repetition_s = shortest.repetition_s.min(turn()?);
            shortest.turn_s = shortest.turn_s.min(start.elapsed().as_secs_f64());
        }
        // A rank that does not measure knows no repetition.
        shortest.repetition_s = shortest.repetition_s.min(shortest.turn_s);
        Ok(shortest)
    }
}

/// A method that was made and is being measured.
pub struct Made<A> {
    /// The method.
    pub active: A,
    /// Making it took so long; reported with the first block.
    pub init_s: Option<f64>,
}

impl<A> Made<A> {
    /// Makes it, and takes the time.
    pub fn timed(
        make: impl FnOnce() -> anyhow::Result<Result<A, Outcome>>,
    ) -> anyhow::Result<Result<Self, Outcome>> {
        let start = Instant::now();
        Ok(make()?.map(|active| Self { active, init_s: Some(start.elapsed().as_secs_f64()) }))
    }
}

/// A case as the schedule measures it. All ranks walk through it together: every function is collective.
pub trait ScheduledCase<'a> {
    /// A method that was made and is being measured. It is made once: windows above all are dear, and one MPI breaks now and
    /// then where many are made.
    type ActiveMethod;

    /// The ranks that take part.
    fn job(&mut self) -> &mut Job<'a>;

    /// Whether repetitions differ by random times, so that methods can only be compared over the same ones.
    fn is_random(&self) -> bool {
        false
    }

    /// Makes a method; or says why it has no times here.
    fn make(&mut self, method: &str) -> anyhow::Result<Result<Self::ActiveMethod, Outcome>>;

    /// What is wrong with the bytes that this rank got, if anything.
    fn verify(&mut self, active: &mut Self::ActiveMethod) -> anyhow::Result<Option<String>>;

    /// Repeats without keeping samples; times as this rank saw them.
    fn repeat(&mut self, active: &mut Self::ActiveMethod, count: u32) -> anyhow::Result<Turn>;

    /// Readings of the clock in a repetition; `None` where repetitions cannot be timed several at once.
    fn readings(&self, _active: &Self::ActiveMethod) -> Option<u32> {
        None
    }

    /// Runs a block: the times of this rank, if it measures, and what is wrong with the bytes that it got. All methods have the same
    /// random times in a round.
    fn block(
        &mut self,
        active: &mut Self::ActiveMethod,
        amount: Amount,
        round: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)>;

    /// Frees what a method has: requests, windows, communicators.
    fn teardown(&mut self, _active: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(())
    }
}
