//! A comparison from first verification to last: in every round one block of each contender, in changing order,
//! until the ratios to the engine are known well enough.

use std::time::Instant;

use apps::Side;
use ddtbench::engine::{self, MAX_ROUNDS, MIN_ROUNDS};
use ddtbench::event::{Block, Event, Outcome};
use ddtbench::plan::Limits;
use ddtbench::record::{Measured, Phase};
use ddtbench::stats;
use ddtbench::times::Times;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::bench::Bench;
use super::contestant::Contestant;
use super::verify;
use crate::checked::CallError;
use crate::memory::Memory;

/// The samples of one side of a block last about this long. Much shorter than the ping-pong's, since nobody waits for
/// a peer: more rounds then fit into the time, and each compares the contenders within a few milliseconds.
const SIDE_S: f64 = 0.000_5;

/// Samples of one side at least and at most: a round's figure is their median, and more rounds tell more than more
/// samples of one.
const SAMPLES: (f64, f64) = (5.0, 7.0);

/// From this time of a repetition on, a side has the fewest samples that have a median of their own.
const FEW_SAMPLES_S: f64 = 0.1;
const FEW_SAMPLES: usize = 3;

/// Repetitions before the first sample, which find the last contender's lines in the caches.
const UNREAD: u32 = 2;

/// Repetitions that the first guess of a time rests on; the shortest counts.
const TRIALS: u32 = 5;

/// Seed of the contenders' order in each round.
const ORDER_SEED: u64 = 0x656e_6769_6e65;

/// How much is done on each side of a block.
#[derive(Clone, Copy, Debug)]
struct Amount {
    /// Samples of packing, and of unpacking.
    samples: [usize; 2],
    /// Repetitions of each.
    batch: u32,
}

const SIDES: [Side; 2] = [Side::Send, Side::Receive];

/// Measures all contestants.
pub fn run<'a>(
    bench: &mut Bench<'a>,
    memory: &mut Memory,
    all: Vec<Contestant<'a>>,
    limits: Limits,
) -> Result<(), CallError> {
    let mut contestants = Vec::new();
    for mut contestant in all {
        bench.telling.working(contestant.contender.name(), "verify");
        match verify::verify(bench, memory, &mut contestant)? {
            None => contestants.push(contestant),
            Some(detail) => bench.telling.ended(contestant.contender.name(), Outcome::WrongData { detail }),
        }
    }
    let mut amounts = amounts(bench, memory, &mut contestants)?;
    let going_on = |contestant: &Contestant<'_>| Measured {
        method: contestant.contender.name().to_owned(),
        outcome: Outcome::RunLimit,
        blocks: Vec::new(),
    };
    let mut measured: Vec<Measured> = contestants.iter().map(going_on).collect();
    let mut random = Pcg64::seed_from_u64(ORDER_SEED);
    let (start, mut rounds) = (Instant::now(), 0);
    let mut before = bench.state();
    while !contestants.is_empty() {
        let mut order: Vec<usize> = (0..contestants.len()).collect();
        order.shuffle(&mut random);
        let mut wrong = Vec::new();
        for &k in &order {
            let contestant = &mut contestants[k];
            bench.telling.working(contestant.contender.name(), "measure");
            verify::prepare(bench, memory, contestant);
            let block = block(bench, memory, contestant, amounts[k])?;
            let after = bench.state();
            wrong.extend(verify::check(bench, memory, contestant).map(|detail| (k, detail)));
            let block = Block { block: rounds, before, after, ..block };
            bench.telling.tell(&Event::Block(block.clone()));
            measured[k].blocks.push(block);
            before = after;
        }
        rounds += 1;
        wrong.sort_unstable_by_key(|(k, _)| std::cmp::Reverse(*k));
        for (k, detail) in wrong {
            amounts.remove(k);
            measured.remove(k);
            let gone = contestants.remove(k);
            bench.telling.ended(gone.contender.name(), Outcome::WrongData { detail });
        }
        if let Some(outcome) = outcome(&measured, limits, rounds, start) {
            for mut contestant in contestants.drain(..) {
                let name = contestant.contender.name();
                bench.telling.working(name, "verify");
                let detail = verify::verify(bench, memory, &mut contestant)?;
                let outcome = detail.map_or(outcome.clone(), |detail| Outcome::WrongData { detail });
                bench.telling.ended(name, outcome);
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

/// Warms the contenders up and gives the amount of each. All have the same batch, so that like is compared with like.
fn amounts(
    bench: &mut Bench<'_>,
    memory: &mut Memory,
    contestants: &mut [Contestant<'_>],
) -> Result<Vec<Amount>, CallError> {
    let mut trials = Vec::new();
    for contestant in &mut *contestants {
        bench.telling.working(contestant.contender.name(), "warm up");
        contestant.create()?;
        let mut of_sides = [(0.0, 0.0); 2];
        for (side, trial) in SIDES.into_iter().zip(&mut of_sides) {
            *trial = shortest(bench, memory, contestant, side)?;
        }
        contestant.free()?;
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
    contestant: &mut Contestant<'_>,
    side: Side,
) -> Result<(f64, f64), CallError> {
    let (mut repetition_s, mut turn_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TRIALS {
        let turn = Instant::now();
        contestant.evict(side, bench, memory);
        let start = Instant::now();
        contestant.work(side, memory)?;
        repetition_s = repetition_s.min(start.elapsed().as_secs_f64());
        turn_s = turn_s.min(turn.elapsed().as_secs_f64());
    }
    Ok((repetition_s, turn_s))
}

/// One block: datatypes or programs are made, packing repeated, then unpacking, and all is freed.
fn block(
    bench: &Bench<'_>,
    memory: &mut Memory,
    contestant: &mut Contestant<'_>,
    amount: Amount,
) -> Result<Block, CallError> {
    let start = Instant::now();
    contestant.create()?;
    let mut times = Times::default();
    if contestant.creates() {
        times[Phase::Create].push(start.elapsed().as_secs_f64());
    }
    for ((side, samples), phase) in SIDES.into_iter().zip(amount.samples).zip([Phase::Pack, Phase::Unpack]) {
        times[phase].reserve_exact(samples);
        (0..UNREAD).try_for_each(|_| contestant.work(side, memory))?;
        for _ in 0..samples {
            contestant.evict(side, bench, memory);
            let start = Instant::now();
            for _ in 0..amount.batch {
                contestant.work(side, memory)?;
            }
            times[phase].push(start.elapsed().as_secs_f64() / f64::from(amount.batch));
        }
    }
    let start = Instant::now();
    contestant.free()?;
    if contestant.creates() {
        times[Phase::Free].push(start.elapsed().as_secs_f64());
    }
    let method = contestant.contender.name().to_owned();
    Ok(Block { method, batch: amount.batch, times, ..Block::default() })
}
