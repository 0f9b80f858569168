//! A comparison from first verification to last: in every round one block of each method, in changing order,
//! until the ratios to the engine are known well enough.

use std::time::Instant;

use apps::Side;
use common::kinds::engine::{self, MAX_ROUNDS, MIN_ROUNDS};
use common::limits::Limits;
use common::model::Outcome;
use common::model::Times;
use common::model::event::{Block, Event};
use common::model::{Measured, Phase};
use common::stats;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::active_method::ActiveMethod;
use super::bench::Bench;
use super::verify;
use crate::checked::CallError;
use crate::memory::Memory;

/// The samples of one side of a block last about this long. Much shorter than the ping-pong's, since nobody waits for
/// a peer: more rounds then fit into the time, and each compares the methods within a few milliseconds.
const SIDE_S: f64 = 0.000_5;

/// Samples of one side at least and at most: a round's figure is their median, and more rounds tell more than more
/// samples of one.
const SAMPLES: (f64, f64) = (5.0, 7.0);

/// From this time of a repetition on, a side has the fewest samples that have a median of their own.
const FEW_SAMPLES_S: f64 = 0.1;
const FEW_SAMPLES: usize = 3;

/// Repetitions before the first sample, which find the last method's lines in the caches.
const UNTIMED: u32 = 2;

/// Repetitions that the first guess of a time rests on; the shortest counts.
const TRIALS: u32 = 5;

/// Seed of the methods' order in each round.
const ORDER_SEED: u64 = 0x656e_6769_6e65;

/// How much is done on each side of a block.
#[derive(Clone, Copy, Debug)]
struct Amount {
    /// Samples of packing, and of unpacking.
    samples: [usize; 2],
    /// Repetitions in each sample.
    batch: u32,
}

const SIDES: [Side; 2] = [Side::Send, Side::Receive];

/// Measures all methods.
pub fn run<'a>(
    bench: &mut Bench<'a>,
    memory: &mut Memory,
    all: Vec<ActiveMethod<'a>>,
    limits: Limits,
) -> Result<(), CallError> {
    let mut active_methods = Vec::new();
    for mut active in all {
        bench.reporter.working(active.method.name, "verify");
        match verify::verify(bench, memory, &mut active)? {
            None => active_methods.push(active),
            Some(detail) => bench.reporter.ended(active.method.name, Outcome::WrongData { detail }),
        }
    }
    let mut amounts = amounts(bench, memory, &mut active_methods)?;
    let going_on = |active: &ActiveMethod<'_>| Measured {
        method: active.method.name.to_owned(),
        outcome: Outcome::RunLimit,
        blocks: Vec::new(),
    };
    let mut measured: Vec<Measured> = active_methods.iter().map(going_on).collect();
    let mut random = Pcg64::seed_from_u64(ORDER_SEED);
    let (start, mut rounds) = (Instant::now(), 0);
    let mut before = bench.state();
    while !active_methods.is_empty() {
        let mut order: Vec<usize> = (0..active_methods.len()).collect();
        order.shuffle(&mut random);
        let mut wrong = Vec::new();
        for &k in &order {
            let active = &mut active_methods[k];
            bench.reporter.working(active.method.name, "measure");
            verify::prepare(bench, memory, active);
            let block = block(bench, memory, active, amounts[k])?;
            let after = bench.state();
            wrong.extend(verify::check(bench, memory, active).map(|detail| (k, detail)));
            let block = Block { block: rounds, before, after, ..block };
            bench.reporter.report(&Event::Block(Box::new(block.clone())));
            measured[k].blocks.push(block);
            before = after;
        }
        rounds += 1;
        wrong.sort_unstable_by_key(|(k, _)| std::cmp::Reverse(*k));
        for (k, detail) in wrong {
            amounts.remove(k);
            measured.remove(k);
            let gone = active_methods.remove(k);
            bench.reporter.ended(gone.method.name, Outcome::WrongData { detail });
        }
        if let Some(outcome) = outcome(&measured, limits, rounds, start) {
            for mut active in active_methods.drain(..) {
                let name = active.method.name;
                bench.reporter.working(name, "verify");
                let detail = verify::verify(bench, memory, &mut active)?;
                let outcome = detail.map_or(outcome.clone(), |detail| Outcome::WrongData { detail });
                bench.reporter.ended(name, outcome);
            }
        }
    }
    Ok(())
}

/// How the comparison has ended; `None` where it goes on.
fn outcome(measured: &[Measured], limits: Limits, rounds: usize, start: Instant) -> Option<Outcome> {
    if stats::is_time_to_look(rounds) && engine::is_narrow(measured, limits.precision_percent / 100.0) {
        Some(Outcome::Converged)
    } else if rounds >= MIN_ROUNDS && start.elapsed().as_secs_f64() >= limits.max_time_s {
        Some(Outcome::TimeLimit)
    } else {
        (rounds >= MAX_ROUNDS).then_some(Outcome::RunLimit)
    }
}

/// Warms the methods up and gives the amount of each. All have the same batch, so that like is compared with like.
fn amounts(
    bench: &mut Bench<'_>,
    memory: &mut Memory,
    active_methods: &mut [ActiveMethod<'_>],
) -> Result<Vec<Amount>, CallError> {
    let mut trials = Vec::new();
    for active in &mut *active_methods {
        bench.reporter.working(active.method.name, "warm up");
        active.create()?;
        let mut of_sides = [(0.0, 0.0); 2];
        for (side, trial) in SIDES.into_iter().zip(&mut of_sides) {
            *trial = shortest(bench, memory, active, side)?;
        }
        active.free()?;
        trials.push(of_sides);
    }
    let shortest_s = bench.clock.shortest_sample_s(2);
    let needed = trials.iter().flatten().map(|(repetition_s, _)| (shortest_s / repetition_s).ceil());
    let batch = match bench.eviction {
        Some(_) => 1.0, // what a batch would repeat is no longer cold
        None => needed.fold(1.0, f64::max).min(1e6),
    };
    let samples = |(_, turn_s): (f64, f64)| match turn_s * batch {
        sample_s if sample_s >= FEW_SAMPLES_S => FEW_SAMPLES,
        sample_s => (SIDE_S / sample_s).clamp(SAMPLES.0, SAMPLES.1) as usize,
    };
    Ok(trials.into_iter().map(|trial| Amount { samples: trial.map(samples), batch: batch as u32 }).collect())
}

/// The shortest time of some repetitions, and of one with its eviction, in seconds.
fn shortest(
    bench: &Bench<'_>,
    memory: &mut Memory,
    active: &mut ActiveMethod<'_>,
    side: Side,
) -> Result<(f64, f64), CallError> {
    let (mut repetition_s, mut turn_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TRIALS {
        let turn = Instant::now();
        active.evict(side, bench, memory);
        let start = Instant::now();
        active.work(side, memory)?;
        repetition_s = repetition_s.min(start.elapsed().as_secs_f64());
        turn_s = turn_s.min(turn.elapsed().as_secs_f64());
    }
    Ok((repetition_s, turn_s))
}

/// One block: datatypes or programs are made, packing repeated, then unpacking, and all is freed.
fn block(
    bench: &Bench<'_>,
    memory: &mut Memory,
    active: &mut ActiveMethod<'_>,
    amount: Amount,
) -> Result<Block, CallError> {
    let start = Instant::now();
    active.create()?;
    let mut times = Times::default();
    if active.creates() {
        times[Phase::Create].push(start.elapsed().as_secs_f64());
    }
    for ((side, samples), phase) in SIDES.into_iter().zip(amount.samples).zip([Phase::Pack, Phase::Unpack]) {
        times[phase].reserve_exact(samples);
        (0..UNTIMED).try_for_each(|_| active.work(side, memory))?;
        for _ in 0..samples {
            active.evict(side, bench, memory);
            let start = Instant::now();
            for _ in 0..amount.batch {
                active.work(side, memory)?;
            }
            times[phase].push(start.elapsed().as_secs_f64() / f64::from(amount.batch));
        }
    }
    let start = Instant::now();
    active.free()?;
    if active.creates() {
        times[Phase::Free].push(start.elapsed().as_secs_f64());
    }
    let method = active.method.name.to_owned();
    Ok(Block { method, batch: amount.batch, times, ..Block::default() })
}
