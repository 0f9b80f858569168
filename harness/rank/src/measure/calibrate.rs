//! Finds out how much a block of each method does: how many repetitions make a sample, how many samples a block.

use std::time::Instant;

use ddtbench::plan::Limits;

use super::block::{self, Amount};
use super::course::Course;
use super::session::Session;
use crate::memory::Memory;
use crate::method::Method;

/// A block's samples last about this long: short against changes of the machine, which come in seconds and
/// minutes, and long against the readings of its state around it.
const BLOCK_S: f64 = 0.005;

/// Samples of a block at least and at most. Its median shall not be one sample's luck, but more than these tell
/// little new: the interval rests on blocks.
const BLOCK_SAMPLES: (f64, f64) = (4.0, 25.0);

/// From this time of a repetition on, a block has one sample: it must be heard of within the silence limit.
const ONE_SAMPLE_S: f64 = 1.0;

/// Repetitions before the first sample, where there is time for them.
const UNREAD: f64 = 3.0;

/// Repetitions that the first guess of a method's time rests on; the shortest counts.
const TRIALS: u32 = 5;

/// What was found out of a method.
struct Trial {
    /// A repetition, in seconds.
    repetition_s: f64,
    /// A repetition with the eviction before it, in seconds.
    turn_s: f64,
    /// The shortest sample that the clock allows, in seconds.
    shortest_s: f64,
}

/// Warms the methods up and gives the amount of each. All have the same batch, so that like is compared with like.
pub fn amounts(
    session: &mut Session<'_>,
    memory: &mut Memory,
    courses: &mut [Course<'_>],
    limits: Limits,
    least_blocks: u32,
) -> anyhow::Result<Vec<Amount>> {
    let mut trials = Vec::new();
    for Course { name, method } in courses {
        session.telling.working(name, "warm up");
        method.create()?;
        let (first_s, _) = repeat(session, memory, &mut **method, 1)?;
        // A method that takes seconds must not be silent for minutes.
        let affordable = (limits.max_time_s / first_s).clamp(1.0, u32::MAX.into()) as u32;
        repeat(session, memory, &mut **method, limits.warmup.min(affordable))?;
        let (repetition_s, turn_s) = repeat(session, memory, &mut **method, TRIALS.min(affordable))?;
        let [shortest_s] =
            session.world.broadcast([session.clock.shortest_sample_s(block::readings(&**method))])?;
        method.free()?;
        trials.push(Trial { repetition_s, turn_s, shortest_s });
    }
    let needed = trials.iter().map(|trial| (trial.shortest_s / trial.repetition_s).ceil());
    let batch = match session.eviction {
        Some(_) => 1.0, // what a batch would repeat is no longer cold
        None => needed.fold(1.0, f64::max).min(1e6),
    };
    let most = f64::from((limits.max_runs / least_blocks).max(1));
    let amount = |trial: &Trial| {
        let fits = BLOCK_S / trial.turn_s;
        let least = if trial.turn_s * batch >= ONE_SAMPLE_S { 1.0 } else { BLOCK_SAMPLES.0 };
        Amount {
            unread: (fits / 2.0).clamp(1.0, UNREAD) as u32,
            samples: (fits / batch).clamp(least, BLOCK_SAMPLES.1).min(most) as usize,
            batch: batch as u32,
        }
    };
    Ok(trials.iter().map(amount).collect())
}

/// The origin's shortest time of some repetitions, and of one with its eviction; on all ranks.
fn repeat(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    count: u32,
) -> anyhow::Result<(f64, f64)> {
    session.world.barrier()?;
    let (mut repetition_s, mut turn_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..count {
        let turn = Instant::now();
        session.evict(memory)?;
        let start = Instant::now();
        block::repetition_unread(session.setup, memory, method)?;
        repetition_s = repetition_s.min(start.elapsed().as_secs_f64());
        turn_s = turn_s.min(turn.elapsed().as_secs_f64());
    }
    let [repetition_s, turn_s] = session.world.broadcast([repetition_s, turn_s])?;
    Ok((repetition_s, turn_s))
}
