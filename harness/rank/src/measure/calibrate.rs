//! Finds out how much a block of each method does: how many repetitions make a sample, how many samples a block.

use common::limits::Limits;
use common::model::event::Stage;
use common::pcomm;

use super::experiment::{Amount, ScheduledCase, Turn};

/// A block's samples last about this long: short against changes of the machine, which come in seconds and
/// minutes, and long against the readings of its state around it.
const BLOCK_S: f64 = 0.005;

/// Samples of a block at least and at most. Its median shall not be one sample's luck, but more than these tell
/// little new: the interval rests on blocks.
const BLOCK_SAMPLES: (f64, f64) = (4.0, 25.0);

/// From this time of a repetition on, a block has one sample: it must be heard of within the silence limit.
const ONE_SAMPLE_S: f64 = 1.0;

/// Repetitions before the first sample, where there is time for them.
const UNTIMED: f64 = 3.0;

/// Repetitions that the first guess of a method's time rests on; the shortest counts.
const TRIALS: u32 = 5;

/// A block that is an attempt of bench-pcomm's rule.
pub const ATTEMPT: Amount = Amount { untimed: pcomm::WARMUP, samples: pcomm::SAMPLES, batch: 1 };

/// What was found out of a method; the same on all ranks.
#[derive(Clone, Copy)]
struct Trial {
    turn: Turn,
    /// The shortest sample that the clock allows, in seconds; `None` where several repetitions cannot be one sample.
    shortest_s: Option<f64>,
}

/// Warms a method up and tries how long it takes.
fn trial<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    active: &mut E::ActiveMethod,
    limits: Limits,
) -> anyhow::Result<Trial> {
    let first = repeat(experiment, active, 1)?;
    // A method that takes seconds must not be silent for minutes.
    let affordable = (limits.max_time_s / first.turn_s).clamp(1.0, u32::MAX.into()) as u32;
    repeat(experiment, active, limits.warmup.min(affordable))?;
    let turn = repeat(experiment, active, TRIALS.min(affordable))?;
    let readings = experiment.readings(active);
    let job = experiment.job();
    let shortest = |readings| job.clock.shortest_corrected_s(readings);
    // NaN stands for none.
    let [shortest_s] = job.world.broadcast([readings.map_or(f64::NAN, shortest)])?;
    Ok(Trial { turn, shortest_s: (!shortest_s.is_nan()).then_some(shortest_s) })
}

/// Warms all methods up, and finds out the amount of each.
pub fn all<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    active_methods: &mut [(String, E::ActiveMethod)],
    limits: Limits,
    least_blocks: u32,
) -> anyhow::Result<Vec<Amount>> {
    let mut trials = Vec::new();
    for (name, active) in active_methods {
        experiment.job().reporter.working(name, Stage::WarmUp);
        trials.push(trial(experiment, active, limits)?);
    }
    let mut amounts = amounts(&trials, limits, least_blocks);
    if experiment.is_random() {
        let samples = amounts.iter().map(|amount| amount.samples).min().unwrap_or(1);
        amounts.iter_mut().for_each(|amount| amount.samples = samples);
    }
    Ok(amounts)
}

/// The amount of each method. All have the same batch, so that like is compared with like.
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

/// Rank 0's shortest times of some repetitions; on all ranks.
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
