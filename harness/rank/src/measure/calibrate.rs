//! Determines the work of a block for each method: how many repetitions make a sample, and how many samples a block.

use std::time::Instant;

use common::limits::Limits;
use common::model::event::Stage;
use common::pcomm;

use super::experiment::{Amount, ScheduledCase, Turn};

/// Approximate duration of a block's samples: short compared with changes of the machine, which take seconds
/// and minutes, and long compared with the measurements of its state around the block.
const BLOCK_S: f64 = 0.005;

/// Minimum and maximum samples of a block. Its median should not depend on the luck of one sample, but more
/// samples than this add little information, because the interval is based on blocks.
const BLOCK_SAMPLES: (f64, f64) = (4.0, 25.0);

/// If a repetition takes this long or longer, a block has one sample: the block must be reported within the timeout.
const ONE_SAMPLE_S: f64 = 1.0;

/// Repetitions before the first sample, if there is enough time.
const UNTIMED: f64 = 3.0;

/// Repetitions for the first estimate of a method's time; the shortest counts.
const TRIALS: u32 = 5;

/// A block that is an attempt under bench-pcomm's rule.
pub const ATTEMPT: Amount = Amount { untimed: pcomm::WARMUP, samples: pcomm::SAMPLES, batch: 1 };

/// The measured properties of a method; the same on all ranks.
#[derive(Clone, Copy)]
struct Trial {
    turn: Turn,
    /// The shortest sample that the clock permits, in seconds; `None` if several repetitions cannot be one sample.
    shortest_s: Option<f64>,
}

/// Warms a method up and measures how long it takes.
fn trial<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    active: &mut E::ActiveMethod,
    limits: Limits,
) -> anyhow::Result<Trial> {
    let first = repeat(experiment, active, 1)?;
    // A method that takes seconds must not be without output for minutes.
    let affordable = (limits.max_time_s / first.turn_s).clamp(1.0, u32::MAX.into()) as u32;
    repeat(experiment, active, limits.warmup.min(affordable))?;
    let turn = repeat(experiment, active, TRIALS.min(affordable))?;
    let readings = experiment.readings(active);
    let job = experiment.job();
    let shortest = |readings| job.clock.shortest_corrected_s(readings);
    // NaN represents `None`.
    let [shortest_s] = job.world.broadcast([readings.map_or(f64::NAN, shortest)])?;
    Ok(Trial { turn, shortest_s: (!shortest_s.is_nan()).then_some(shortest_s) })
}

/// Warms all methods up, and determines the amount of work for each. Returns with it the time that this took, in seconds.
pub fn all<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    active_methods: &mut [(String, E::ActiveMethod)],
    limits: Limits,
    least_blocks: u32,
) -> anyhow::Result<Vec<(Amount, f64)>> {
    let (mut trials, mut used_s) = (Vec::new(), Vec::new());
    for (name, active) in active_methods {
        let begin = Instant::now();
        experiment.job().reporter.working(name, Stage::WarmUp);
        trials.push(trial(experiment, active, limits)?);
        used_s.push(begin.elapsed().as_secs_f64());
    }
    let mut amounts = amounts(&trials, limits, least_blocks);
    if experiment.is_random() {
        let samples = amounts.iter().map(|amount| amount.samples).min().unwrap_or(1);
        amounts.iter_mut().for_each(|amount| amount.samples = samples);
    }
    Ok(amounts.into_iter().zip(used_s).collect())
}

/// The amount for each method. All have the same batch, so that they are measured alike.
fn amounts(trials: &[Trial], limits: Limits, least_blocks: u32) -> Vec<Amount> {
    let needed = trials.iter().map(|trial| Some((trial.shortest_s? / trial.turn.repetition_s).ceil()));
    let batch = match needed.collect::<Option<Vec<f64>>>() {
        Some(needed) => needed.into_iter().fold(1.0, f64::max).min(1e6),
        None => 1.0,
    };
    let most = f64::from((limits.max_runs / least_blocks).max(1));
    let amount = |trial: &Trial| {
        let fits = BLOCK_S / trial.turn.turn_s;
        let least = if trial.turn.turn_s * batch >= ONE_SAMPLE_S { 1.0 } else { BLOCK_SAMPLES.0 };
        Amount {
            untimed: (fits / 2.0).clamp(1.0, UNTIMED) as u32,
            samples: (fits / batch).clamp(least, BLOCK_SAMPLES.1).min(most) as usize,
            batch: batch as u32,
        }
    };
    trials.iter().map(amount).collect()
}

/// Rank 0's shortest times of several repetitions; on all ranks.
fn repeat<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    active: &mut E::ActiveMethod,
    count: u32,
) -> anyhow::Result<Turn> {
    experiment.job().world.barrier()?;
    let Turn { repetition_s, turn_s } = experiment.repeat(active, count)?;
    let [repetition_s, turn_s] = experiment.job().world.broadcast([repetition_s, turn_s])?;
    Ok(Turn { repetition_s, turn_s })
}

#[cfg(test)]
mod tests;
