//! A case from first verification to last: in every round one block of each method, until all are known well
//! enough. So all methods are measured over the same time, whatever the machine does meanwhile.
//!
//! All ranks walk through this together. Rank 0 decides what comes next, and tells the others in a collective,
//! so that no rank ever waits for one that has stopped.

use std::time::Instant;

use ddtbench::event::{Block, Event, MachineState, Outcome};
use ddtbench::methods::METHODS;
use ddtbench::plan::Limits;
use ddtbench::record::Measured;
use ddtbench::summary;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::block::{self, Amount};
use super::calibrate;
use super::course::Course;
use super::session::Session;
use crate::checked::symbols;
use crate::memory::Memory;
use crate::method::table;
use crate::steady;
use crate::verify::verify;

/// Rounds at least: the median's interval rests on the blocks' medians, of which the lowest and the highest lie
/// outside it from ten on, so that one disturbed block does not decide.
const MIN_ROUNDS: u32 = 10;

/// Room in the message that tells all ranks which methods have ended.
const MOST_METHODS: usize = 32;

/// Seed of the methods' order in each round: the same on all ranks, and no method has always the same one before it.
const ORDER_SEED: u64 = 0x0072_6f75_6e64;

const _: () = assert!(METHODS.len() <= MOST_METHODS);

/// Runs all `methods` of a case.
pub fn run<'a>(
    session: &mut Session<'a>,
    memory: &mut Memory,
    methods: &[String],
    limits: Limits,
) -> anyhow::Result<()> {
    let mut courses: Vec<Course<'a>> = Vec::new();
    for name in methods {
        if !is_available(session, name)? {
            continue;
        }
        session.telling.working(name, "verify");
        let method = table::make(name, session.setup, memory)?;
        let mut course = Course { name: name.clone(), method };
        match complaint(session, memory, &mut course)? {
            None => courses.push(course),
            Some(detail) => end(session, course, Outcome::WrongData { detail })?,
        }
    }
    let mut amounts = calibrate::amounts(session, memory, &mut courses, limits, MIN_ROUNDS)?;
    // Rank 0 keeps all blocks: it decides by the figures that will be reported.
    let going_on = |name: &String| Measured { method: name.clone(), outcome: GOING_ON, blocks: vec![] };
    let mut measured: Vec<Measured> = courses.iter().map(|course| going_on(&course.name)).collect();
    let mut random = Pcg64::seed_from_u64(ORDER_SEED);
    let (start, mut rounds) = (Instant::now(), 0);
    let mut before = session.state()?;
    while !courses.is_empty() {
        let mut order: Vec<usize> = (0..courses.len()).collect();
        order.shuffle(&mut random);
        let mut wrong = Vec::new();
        for &k in &order {
            let (block, complaint) = one_block(session, memory, &mut courses[k], amounts[k], rounds, before)?;
            before = block.after;
            measured[k].blocks.extend(tell(session, block)?);
            wrong.extend(complaint.map(|detail| (k, detail)));
        }
        rounds += 1;
        wrong.sort_unstable_by_key(|(k, _)| std::cmp::Reverse(*k));
        for (k, detail) in wrong {
            amounts.remove(k);
            measured.remove(k);
            end(session, courses.remove(k), Outcome::WrongData { detail })?;
        }
        if let Some(outcomes) = decide(session, &measured, &amounts, limits, rounds, start)? {
            for (mut course, outcome) in courses.drain(..).zip(outcomes) {
                session.telling.working(&course.name, "verify");
                let detail = complaint(session, memory, &mut course)?;
                let outcome = detail.map_or(outcome, |detail| Outcome::WrongData { detail });
                end(session, course, outcome)?;
            }
        }
    }
    Ok(())
}

/// Gives back what a method has, and tells how it ended.
fn end(session: &mut Session<'_>, course: Course<'_>, outcome: Outcome) -> anyhow::Result<()> {
    course.method.finish()?;
    session.telling.ended(&course.name, outcome);
    Ok(())
}

/// The outcome of a method that is still being measured: its blocks count.
const GOING_ON: Outcome = Outcome::RunLimit;

/// Whether the MPI has all functions of a method; says which are missing.
fn is_available(session: &mut Session<'_>, name: &str) -> anyhow::Result<bool> {
    let missing = symbols::missing(table::needs(name));
    let available = session.everywhere(missing.is_empty())?;
    if !available {
        let reason = format!("this MPI lacks {}", missing.join(", "));
        session.telling.ended(name, Outcome::NotAvailable { reason });
    }
    Ok(available)
}

/// What is wrong with the bytes that a method moves; on all ranks alike.
fn complaint(
    session: &mut Session<'_>,
    memory: &mut Memory,
    course: &mut Course<'_>,
) -> anyhow::Result<Option<String>> {
    course.method.create()?;
    let complaint = verify(session, memory, &mut *course.method)?;
    course.method.free()?;
    Ok(session.any_complaint(complaint)?)
}

/// Runs a block of one method. Gives it, and what is wrong with the bytes that it left.
fn one_block(
    session: &mut Session<'_>,
    memory: &mut Memory,
    course: &mut Course<'_>,
    amount: Amount,
    round: u32,
    before: MachineState,
) -> anyhow::Result<(Block, Option<String>)> {
    session.telling.working(&course.name, "measure");
    let method = &mut *course.method;
    steady::prepare(session, memory, method)?;
    let block = block::run(session, memory, method, amount)?;
    let after = session.state()?;
    let complaint = steady::check(session, memory, method)?;
    let complaint = session.any_complaint(complaint)?;
    let block = Block { method: course.name.clone(), block: round as usize, before, after, ..block };
    Ok((block, complaint))
}

/// Brings the blocks of all origins to rank 0, which passes them on; gives them there.
fn tell(session: &mut Session<'_>, block: Block) -> anyhow::Result<Vec<Block>> {
    // In an all-to-all only rank 0 measures; otherwise every pair's origin does.
    let mine = if session.is_origin() { serde_json::to_vec(&block)? } else { Vec::new() };
    let mut blocks: Vec<Block> = Vec::new();
    for text in session.world.gather(&mine)?.iter().filter(|text| !text.is_empty()) {
        blocks.push(serde_json::from_slice(text)?);
    }
    blocks.iter().for_each(|block| session.telling.tell(&Event::Block(block.clone())));
    Ok(blocks)
}

/// Rank 0 decides whether the case has ended, and how each method has; all ranks learn it.
fn decide(
    session: &Session<'_>,
    measured: &[Measured],
    amounts: &[Amount],
    limits: Limits,
    rounds: u32,
    start: Instant,
) -> anyhow::Result<Option<Vec<Outcome>>> {
    let mut verdicts = [GOES_ON; MOST_METHODS];
    if session.world_rank == 0 {
        let samples = |amount: &Amount| u64::from(rounds) * amount.samples as u64;
        let is_up = start.elapsed().as_secs_f64() >= limits.max_time_s * amounts.len() as f64;
        let next = |amount: &Amount| samples(amount) + amount.samples as u64;
        let is_full = amounts.iter().any(|amount| next(amount) > u64::from(limits.max_runs));
        // Later rounds change little each, and looking at all blocks takes longer the more there are.
        let is_time_to_look = rounds >= MIN_ROUNDS && rounds.is_multiple_of(1 + rounds / 20);
        if is_up || is_full || is_time_to_look {
            let narrow = summary::narrow(measured, limits.precision_percent / 100.0);
            let enough = |amount: &Amount| rounds >= MIN_ROUNDS && samples(amount) >= limits.min_runs.into();
            let known: Vec<bool> =
                amounts.iter().zip(narrow).map(|(amount, narrow)| narrow && enough(amount)).collect();
            if is_up || is_full || known.iter().all(|&known| known) {
                let limit = if is_up { TIME_LIMIT } else { RUN_LIMIT };
                let verdict = known.into_iter().map(|known| if known { CONVERGED } else { limit });
                verdicts.iter_mut().zip(verdict).for_each(|(to, verdict)| *to = verdict);
            }
        }
    }
    let verdicts = session.world.broadcast(verdicts)?;
    let outcome = |verdict: &f64| match *verdict {
        CONVERGED => Some(Outcome::Converged),
        TIME_LIMIT => Some(Outcome::TimeLimit),
        RUN_LIMIT => Some(Outcome::RunLimit),
        _ => None,
    };
    Ok(verdicts[..amounts.len()].iter().map(outcome).collect())
}

const GOES_ON: f64 = 0.0;
const CONVERGED: f64 = 1.0;
const TIME_LIMIT: f64 = 2.0;
const RUN_LIMIT: f64 = 3.0;
