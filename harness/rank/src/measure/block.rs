//! One block: the datatype is created, the ping-pong repeated, the datatype freed. The timed loop only fills lists.

use std::time::Instant;

use ddtbench::event::Block;
use ddtbench::record::Phase;

use super::experiment::{Amount, Turn};
use super::session::Session;
use crate::checked::CallError;
use crate::memory::Memory;
use crate::method::{Method, Setup};

/// Runs a block. The samples mean something at the origin only; other ranks return an empty block.
pub fn run(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    amount: Amount,
) -> Result<Block, CallError> {
    let ends = method.ends();
    let mut block = Block { batch: amount.batch, pair: session.pair, ..Block::default() };
    for phase in [Phase::Pack, Phase::Communicate, Phase::Unpack, Phase::RoundTrip] {
        block.times[phase].reserve_exact(amount.samples);
    }
    let start = Instant::now();
    method.create()?;
    if ends.creates {
        block.times[Phase::Create].push(start.elapsed().as_secs_f64());
    }
    // Others may still be creating: their delay must not reach the first sample, and all pairs begin together.
    session.job.world.barrier()?;
    for _ in 0..amount.unread {
        repetition_unread(session.setup, memory, method)?;
    }
    match amount.batch {
        1 => one_by_one(session, memory, method, amount.samples, &mut block)?,
        _ => batched(session, memory, method, amount, &mut block)?,
    }
    let start = Instant::now();
    method.free()?;
    if ends.creates {
        block.times[Phase::Free].push(start.elapsed().as_secs_f64());
    }
    Ok(block)
}

/// The shortest times of some repetitions.
pub fn repeat(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    count: u32,
) -> anyhow::Result<Turn> {
    Turn::shortest(count, || {
        session.evict(memory)?;
        let start = Instant::now();
        repetition_unread(session.setup, memory, method)?;
        Ok(start.elapsed().as_secs_f64())
    })
}

fn one_by_one(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    samples: usize,
    block: &mut Block,
) -> Result<(), CallError> {
    let (setup, ends) = (session.setup, method.ends());
    for _ in 0..samples {
        session.evict(memory)?;
        if !session.is_origin() {
            repetition_unread(setup, memory, method)?;
        } else if ends.packs || ends.unpacks {
            let [start, packed, arrived, end] = repetition_in_phases(setup, memory, method)?;
            if ends.packs {
                block.times[Phase::Pack].push((packed - start).as_secs_f64());
            }
            block.times[Phase::Communicate].push((arrived - packed).as_secs_f64());
            if ends.unpacks {
                block.times[Phase::Unpack].push((end - arrived).as_secs_f64());
            }
            block.times[Phase::RoundTrip].push((end - start).as_secs_f64());
        } else {
            // All is communication: readings in between would cost and tell nothing.
            let start = Instant::now();
            repetition_unread(setup, memory, method)?;
            let time_s = start.elapsed().as_secs_f64();
            block.times[Phase::Communicate].push(time_s);
            block.times[Phase::RoundTrip].push(time_s);
        }
    }
    Ok(())
}

/// Readings of the clock in a repetition of a method.
pub fn readings(method: &dyn Method) -> u32 {
    let ends = method.ends();
    if ends.packs || ends.unpacks { 4 } else { 2 }
}

/// Samples of several repetitions, where one is too short for the clock. The clock cannot look inside, so packing
/// is timed in loops of its own, and the communication alone has no samples.
fn batched(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    amount: Amount,
    block: &mut Block,
) -> Result<(), CallError> {
    let setup = session.setup;
    for _ in 0..amount.samples {
        let start = Instant::now();
        for _ in 0..amount.batch {
            repetition_unread(setup, memory, method)?;
        }
        block.times[Phase::RoundTrip].push(start.elapsed().as_secs_f64() / f64::from(amount.batch));
    }
    let ends = method.ends();
    if session.is_origin() && (ends.packs || ends.unpacks) {
        for _ in 0..amount.samples {
            let start = Instant::now();
            (0..amount.batch).try_for_each(|_| method.pack(memory))?;
            let packed = Instant::now();
            (0..amount.batch).try_for_each(|_| method.unpack(memory))?;
            let end = Instant::now();
            if ends.packs {
                block.times[Phase::Pack].push((packed - start).as_secs_f64() / f64::from(amount.batch));
            }
            if ends.unpacks {
                block.times[Phase::Unpack].push((end - packed).as_secs_f64() / f64::from(amount.batch));
            }
        }
    }
    Ok(())
}

/// One ping-pong at the origin, and its readings of the clock: start, packed, answer received, unpacked.
///
/// In an all-to-all every rank does the same: there, and back with the two arrays exchanged.
#[inline]
fn repetition_in_phases(
    setup: &Setup<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
) -> Result<[Instant; 4], CallError> {
    let start = Instant::now();
    method.pack(memory)?;
    let packed = Instant::now();
    there_and_back(setup, memory, method)?;
    let arrived = Instant::now();
    method.unpack(memory)?;
    let end = Instant::now();
    settle_roles(setup, memory);
    Ok([start, packed, arrived, end])
}

/// One ping-pong without the clock.
#[inline]
pub fn repetition_unread(
    setup: &Setup<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
) -> Result<(), CallError> {
    if setup.me == 0 || setup.is_all_to_all() {
        method.pack(memory)?;
        there_and_back(setup, memory, method)?;
        method.unpack(memory)?;
        settle_roles(setup, memory);
        return Ok(());
    }
    method.receive(memory)?;
    method.unpack(memory)?;
    method.pack(memory)?;
    method.send(memory)
}

/// What lies between the origin's packing and its unpacking.
#[inline]
fn there_and_back(setup: &Setup<'_>, memory: &mut Memory, method: &mut dyn Method) -> Result<(), CallError> {
    if setup.is_all_to_all() {
        method.exchange(memory)?;
        method.unpack(memory)?;
        memory.arrays.swap(0, 1);
        method.pack(memory)?;
        method.exchange(memory)
    } else {
        method.send(memory)?;
        method.receive(memory)
    }
}

/// After an all-to-all's way back the arrays get their own roles again.
#[inline]
fn settle_roles(setup: &Setup<'_>, memory: &mut Memory) {
    if setup.is_all_to_all() {
        memory.arrays.swap(0, 1);
    }
}
