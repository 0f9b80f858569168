//! A case from first verification to last: in every round one block of each method, until all are known
//! precisely enough. So all methods are measured over the same time, whatever the machine does in the
//! meantime, except those that are so slow that they rest.
//!
//! All ranks execute the same steps. Rank 0 decides the next step, and shares it in a collective, so that no
//! rank ever waits for one that has stopped.

use std::mem::take;
use std::time::Instant;

use apps::Side;
use common::kinds::Kind;
use common::limits::{Limits, MIN_ROUNDS, MOST_METHODS};
use common::model::Outcome;
use common::model::conditions::Rule;
use common::model::event::{Block, Event, Stage};
use common::model::{Measured, OWN, Phase};
use common::pcomm;
use common::stats;
use common::summary;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::experiment::{Amount, ScheduledCase};
use super::job::Job;
use super::{calibrate, disturbance};
use crate::checked::{CallError, symbols};

/// Seed of the methods' order in each round: the same on all ranks. The order changes, so that a method does
/// not always follow the same other one.
const ORDER_SEED: u64 = 0x0072_6f75_6e64;

/// A method that has used so many times its own time rests until the others have used theirs: it would leave none for them.
const MOST_SHARES: f64 = 4.0;

/// An active method with its part of a round.
struct Scheduled<C> {
    name: String,
    active: C,
    amount: Amount,
    /// Time of its calibration and its blocks, in seconds; only that of rank 0 counts.
    used_s: f64,
    rests: bool,
}

/// Runs all `methods` of a case.
pub fn run<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    kind: Kind,
    methods: &[String],
    limits: Limits,
) -> anyhow::Result<()> {
    let mut active_methods: Vec<(String, E::ActiveMethod)> = Vec::new();
    for name in methods {
        if !is_available(experiment, kind, name)? {
            continue;
        }
        experiment.job().reporter.working(name, Stage::Verify);
        let mut active = match or_lack(experiment.make(name))? {
            Ok(active) => active,
            Err(outcome) => {
                experiment.job().reporter.ended(name, outcome);
                continue;
            }
        };
        let wrong_loop = if name == OWN { wrong_loop(experiment)? } else { None };
        match wrong_loop.map_or_else(|| mismatch(experiment, &mut active), |found| Ok(Some(found)))? {
            None => active_methods.push((name.clone(), active)),
            Some(detail) => end(experiment, name, active, Outcome::WrongData { detail })?,
        }
    }
    let start = Instant::now();
    let amounts = match limits.rule {
        Rule::Interval => calibrate::all(experiment, &mut active_methods, limits, MIN_ROUNDS)?,
        Rule::Pcomm => vec![(calibrate::ATTEMPT, 0.0); active_methods.len()],
    };
    let with_amount =
        |((name, active), (amount, used_s))| Scheduled { name, active, amount, used_s, rests: false };
    let mut scheduled: Vec<Scheduled<E::ActiveMethod>> =
        active_methods.into_iter().zip(amounts).map(with_amount).collect();
    // Rank 0 keeps all blocks: it decides by the values that will be reported.
    let going_on = |name: &String| Measured { method: name.clone(), outcome: GOING_ON, blocks: vec![] };
    let mut measured: Vec<Measured> = scheduled.iter().map(|method| going_on(&method.name)).collect();
    let mut random = Pcg64::seed_from_u64(ORDER_SEED);
    let mut rounds = 0;
    let mut before = experiment.job().state()?;
    while !scheduled.is_empty() {
        let mut order: Vec<usize> = (0..scheduled.len()).collect();
        order.shuffle(&mut random);
        let mut wrong = Vec::new();
        // Attempts under bench-pcomm's rule are compared across rounds.
        let of_times = if limits.rule == Rule::Pcomm { 0 } else { rounds };
        for (place, &k) in order.iter().enumerate() {
            let Scheduled { name, active, amount, used_s, rests } = &mut scheduled[k];
            if *rests {
                continue;
            }
            experiment.job().reporter.working(name, Stage::Measure);
            let devices = experiment.job().hosts.counters();
            let (began_s, counters) = (start.elapsed().as_secs_f64(), disturbance::counters());
            let (block, mismatch) = experiment.block(active, *amount, of_times)?;
            // Collective: afterwards no rank sends messages of the block.
            let disturbance = disturbance::since(&counters, experiment.job())?;
            let device_bytes = experiment.job().hosts.sent_since(devices)?;
            let after = experiment.job().state()?;
            let mismatch = experiment.job().any_mismatch(mismatch)?;
            let (method, round) = (name.clone(), rounds as usize);
            let of =
                |block| Block { method, block: round, began_s, place, disturbance, before, after, ..block };
            measured[k].blocks.extend(collect_blocks(experiment.job(), block.map(of), device_bytes)?);
            wrong.extend(mismatch.map(|detail| (k, detail)));
            before = after;
            *used_s += start.elapsed().as_secs_f64() - began_s;
        }
        rounds += 1;
        wrong.sort_unstable_by_key(|(k, _)| std::cmp::Reverse(*k));
        for (k, detail) in wrong {
            measured.remove(k);
            let Scheduled { name, active, .. } = scheduled.remove(k);
            end(experiment, &name, active, Outcome::WrongData { detail })?;
        }
        let (amounts, used_s): (Vec<Amount>, Vec<f64>) =
            scheduled.iter().map(|method| (method.amount, method.used_s)).unzip();
        let passed = Passed { rounds, all_s: start.elapsed().as_secs_f64(), used_s };
        let decided = decide(experiment.job(), &measured, &amounts, limits, &passed, kind)?;
        let all = take(&mut scheduled).into_iter().zip(take(&mut measured)).zip(decided);
        for ((method, blocks), next) in all {
            let Next::End(outcome) = next else {
                scheduled.push(Scheduled { rests: next == Next::Rest, ..method });
                measured.push(blocks);
                continue;
            };
            let Scheduled { name, mut active, .. } = method;
            experiment.job().reporter.working(&name, Stage::Verify);
            let detail = mismatch(experiment, &mut active)?;
            let outcome = detail.map_or(outcome, |detail| Outcome::WrongData { detail });
            end(experiment, &name, active, outcome)?;
        }
    }
    Ok(())
}

/// An error of the user's loop on any rank. Each of its functions is a stage, so that a crash names the function.
fn wrong_loop<'a, E: ScheduledCase<'a>>(experiment: &mut E) -> anyhow::Result<Option<String>> {
    for (side, stage) in [(Side::Send, Stage::Pack), (Side::Receive, Stage::Unpack)] {
        experiment.job().reporter.working(OWN, stage);
        let wrong = experiment.wrong_loop(side);
        if let Some(wrong) = experiment.job().any_mismatch(wrong)? {
            return Ok(Some(wrong));
        }
    }
    experiment.job().reporter.working(OWN, Stage::Verify);
    Ok(None)
}

/// A method that was made, or its outcome if it is not available here.
pub fn or_lack<A>(made: anyhow::Result<A>) -> anyhow::Result<Result<A, Outcome>> {
    made.map(Ok).or_else(|error| match error.downcast::<CallError>()? {
        lack if lack.is_lack() => Ok(Err(lack.outcome(lack.to_string()))),
        other => Err(other.into()),
    })
}

/// Frees a method's resources, and reports how it ended.
fn end<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    name: &str,
    active: E::ActiveMethod,
    outcome: Outcome,
) -> anyhow::Result<()> {
    experiment.teardown(active)?;
    experiment.job().reporter.ended(name, outcome);
    Ok(())
}

/// The outcome of a method that is still being measured: its blocks count.
const GOING_ON: Outcome = Outcome::RunLimit;

/// Whether the MPI has all functions of a method; reports missing ones.
fn is_available<'a>(experiment: &mut impl ScheduledCase<'a>, kind: Kind, name: &str) -> anyhow::Result<bool> {
    let method = kind.method(name).map_err(anyhow::Error::msg)?;
    let missing = symbols::missing(method.needs);
    let available = experiment.job().world.everywhere(missing.is_empty())?;
    if !available {
        let reason = format!("this MPI lacks {}", missing.join(", "));
        experiment.job().reporter.ended(name, Outcome::NotAvailable { reason });
    }
    Ok(available)
}

/// A description of wrong bytes that a method transferred; the same on all ranks.
fn mismatch<'a, E: ScheduledCase<'a>>(
    experiment: &mut E,
    active: &mut E::ActiveMethod,
) -> anyhow::Result<Option<String>> {
    let mismatch = experiment.verify(active)?;
    Ok(experiment.job().any_mismatch(mismatch)?)
}

/// Gathers the blocks of all measuring ranks on rank 0, which reports them with the bytes that devices have
/// sent in the meantime; returns them there.
fn collect_blocks(
    job: &mut Job<'_>,
    block: Option<Block>,
    device_bytes: Option<u64>,
) -> anyhow::Result<Vec<Block>> {
    let all = job.world.gather_values(&block)?.into_iter().flatten();
    let blocks: Vec<Block> = all.map(|block| Block { device_bytes, ..block }).collect();
    blocks.iter().for_each(|block| job.reporter.report(&Event::Block(Box::new(block.clone()))));
    Ok(blocks)
}

/// Rounds and time so far, in seconds: in all, and of each method.
struct Passed {
    rounds: u32,
    all_s: f64,
    used_s: Vec<f64>,
}

/// The next step of a method after a round.
#[derive(Clone, Debug, PartialEq)]
enum Next {
    Measure,
    Rest,
    End(Outcome),
}

/// All that rank 0 may decide. The others receive an index here.
const NEXT: [Next; 5] = [
    Next::Measure,
    Next::Rest,
    Next::End(Outcome::Converged),
    Next::End(Outcome::TimeLimit),
    Next::End(Outcome::RunLimit),
];

/// Rank 0 decides which methods have ended, and how, and which rest; all ranks receive the decision.
fn decide(
    job: &Job<'_>,
    measured: &[Measured],
    amounts: &[Amount],
    limits: Limits,
    passed: &Passed,
    kind: Kind,
) -> anyhow::Result<Vec<Next>> {
    let mut decisions = [0.0; MOST_METHODS];
    if job.rank == 0 {
        let decided: Vec<Next> = match limits.rule {
            Rule::Interval => by_interval(measured, amounts, limits, passed, kind),
            Rule::Pcomm => measured.iter().map(|method| by_attempt(method, kind.headline())).collect(),
        };
        let number = |next| NEXT.iter().position(|known| known == next).expect("all that can follow") as f64;
        decisions.iter_mut().zip(&decided).for_each(|(to, next)| *to = number(next));
    }
    let decisions = job.world.broadcast(decisions)?;
    Ok(decisions[..amounts.len()].iter().map(|number| NEXT[*number as usize].clone()).collect())
}

/// All methods end together: once the intervals of all are narrow, or at a limit.
fn by_interval(
    measured: &[Measured],
    amounts: &[Amount],
    limits: Limits,
    &Passed { rounds, all_s, ref used_s }: &Passed,
    kind: Kind,
) -> Vec<Next> {
    let most_s = MOST_SHARES * limits.max_time_s;
    let rests = |used_s: &f64| *used_s >= most_s && rounds >= limits.min_rounds;
    let going_on: Vec<Next> =
        used_s.iter().map(|used_s| if rests(used_s) { Next::Rest } else { Next::Measure }).collect();
    let rounds_of = |method: &Measured| method.blocks.last().map_or(0, |last| last.block as u64 + 1);
    let samples = |(amount, method): (&Amount, &Measured)| rounds_of(method) * amount.samples as u64;
    let all = || amounts.iter().zip(measured);
    // Those that rest count with their own time only.
    let excess_s: f64 =
        used_s.iter().filter(|used_s| **used_s >= most_s).map(|used_s| used_s - limits.max_time_s).sum();
    let is_late = all_s - excess_s >= limits.max_time_s * amounts.len() as f64;
    let is_up = is_late && rounds >= limits.min_rounds;
    let is_full = all().any(|of| samples(of) + of.0.samples as u64 > u64::from(limits.max_runs));
    if !(is_up || is_full || stats::is_time_to_test(rounds as usize)) {
        return going_on;
    }
    let narrow = summary::narrow(kind, measured, limits.precision_percent / 100.0);
    let enough = |of: (&Amount, &Measured)| {
        rounds_of(of.1) >= MIN_ROUNDS.into() && samples(of) >= limits.min_runs.into()
    };
    let known: Vec<bool> = all().zip(narrow).map(|(of, narrow)| narrow && enough(of)).collect();
    if !(is_up || is_full || known.iter().all(|&known| known)) {
        return going_on;
    }
    let limit = if is_up { Outcome::TimeLimit } else { Outcome::RunLimit };
    known.into_iter().map(|known| Next::End(if known { Outcome::Converged } else { limit.clone() })).collect()
}

/// Each method ends separately: a block is an attempt.
fn by_attempt(method: &Measured, headline: Phase) -> Next {
    let attempts = &method.blocks;
    match pcomm::attempt_outcome(attempts.last().map_or(&[], |last| headline.samples(last)), attempts.len()) {
        pcomm::AttemptOutcome::Accepted => Next::End(Outcome::Converged),
        pcomm::AttemptOutcome::Again => Next::Measure,
        pcomm::AttemptOutcome::GivenUp => Next::End(Outcome::RunLimit),
    }
}

#[cfg(test)]
mod tests;
