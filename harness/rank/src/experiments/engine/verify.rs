//! Verification that methods transfer the right bytes: before timing, after each block, and at the end.

use apps::{MicroApp, Side, WireOrder};

use super::active_method::PackingMethod;
use super::{EngineComparison, SIDES};
use crate::checked::CallError;
use crate::measure::message_links::{
    described, in_arrays, padded_places, runs, source_of_arrays, source_of_outgoing,
};
use crate::measure::verification::ROUNDS;
use crate::memory::{Memory, Region};
use crate::payload::{Mismatch, Places, Run, Runs, Spots, Wrong, changed};
use crate::spans::{Span, data_spans, packed_data, padded_spans};

/// The sources of packed bytes: this process's arrays, and a peer's buffer, as if it had sent the bytes to unpack.
const ME: usize = 0;
const PEER: usize = 1;

/// The data of both directions.
pub struct EnginePayload {
    /// The data to pack, and its packed bytes.
    to_pack: Places,
    packed: Places,
    /// The bytes to unpack, and their destination.
    to_unpack: Places,
    unpacked: Places,
    /// All bytes of unpacked values with padding, which may change.
    padded: Places,
}

impl EnginePayload {
    /// For this memory.
    ///
    /// # Safety
    /// The memory exists and does not move as long as the payload.
    pub unsafe fn new(app: &MicroApp, order: WireOrder, memory: &mut Memory) -> Self {
        let sides = [Side::Send, Side::Receive].map(|side| app.message(side, order));
        let [sent, received] = [0, 1].map(|i| data_spans(&sides[i], &memory.arrays));
        let wires = [0, 1].map(|i| packed_data(&sides[i]));
        let [arrays, outgoing, incoming] = memory.regions();
        let from = |start: u64, spans: &[Span]| -> Vec<(u64, usize)> {
            spans.iter().map(|span| (start + span.offset as u64, span.bytes)).collect()
        };
        let (mine, theirs) = (from(source_of_arrays(ME), &sent), from(source_of_outgoing(PEER), &wires[1]));
        let places = |memory: Region, here: &[Span], sources: &[(u64, usize)]| {
            let all: Vec<Run> = runs(here, sources);
            // SAFETY: guaranteed by the caller.
            unsafe { Places::new(memory, Runs::from_runs(all)) }
        };
        Self {
            to_pack: places(arrays, &sent, &mine),
            packed: places(outgoing, &wires[0], &mine),
            to_unpack: places(incoming, &wires[1], &theirs),
            unpacked: places(arrays, &received, &theirs),
            // SAFETY: guaranteed by the caller.
            padded: unsafe { padded_places(arrays, &padded_spans(&sides[1], &memory.arrays)) },
        }
    }

    /// Changes the places of packed bytes to those of a method, which may be in its own memory.
    pub fn use_wires(&mut self, memory: &mut Memory, active: &mut PackingMethod<'_>) {
        let wires = match active {
            PackingMethod::Packs(packer) => packer.wires(memory),
            PackingMethod::Copies(_) => memory.wires(),
        };
        for (places, wire) in [&mut self.packed, &mut self.to_unpack].into_iter().zip(wires) {
            // SAFETY: memory of the case or of the method, which only this process uses, one method after the other.
            *places = unsafe { Places::new(wire, std::mem::take(&mut places.runs)) };
        }
    }

    /// The places looked at after packing and after unpacking.
    pub fn looks(&self, generation: u32) -> [Spots; 2] {
        [&self.packed, &self.unpacked].map(|places| Spots::from_messages([places], generation))
    }
}

/// Packs and unpacks several times, and compares all memory: the parts that must have changed, and those that must not.
pub fn verify(
    bench: &mut EngineComparison<'_>,
    active: &mut PackingMethod<'_>,
) -> Result<Option<Mismatch>, CallError> {
    active.create()?;
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        bench.version = bench.version.filled();
        bench.version.write(source_of_arrays(ME), bench.memory.arrays.memory_mut());
        bench.memory.poison_wire();
        bench.memory.upload();
        bench.payload.use_wires(&mut bench.memory, active);
        bench.payload.packed.poison();
        fill(bench, active);
        active.work(Side::Send, &mut bench.memory)?;
        mismatch = mismatch.or_else(|| packed(bench, active));
        if matches!(active, PackingMethod::Packs(_)) {
            mismatch = mismatch.or_else(|| Some(format!("pack: {}", touched(bench, &[])?)));
        }
        if let PackingMethod::Copies(copy) = active {
            copy.fill(bench.version, PEER);
        }
        active.work(Side::Receive, &mut bench.memory)?;
        mismatch = mismatch.or_else(|| unpacked(bench, active));
        if matches!(active, PackingMethod::Packs(_)) {
            let received = [bench.payload.unpacked.clone(), bench.payload.padded.clone()];
            mismatch = mismatch.or_else(|| Some(format!("unpack: {}", touched(bench, &received)?)));
        }
    }
    active.free()?;
    Ok(mismatch)
}

/// A byte of the arrays that must not change.
fn touched(bench: &mut EngineComparison<'_>, received: &[Places]) -> Option<Mismatch> {
    let [arrays, ..] = bench.memory.regions();
    // SAFETY: one process, which neither packs nor unpacks now.
    let wrong = unsafe { changed(arrays, source_of_arrays(ME), bench.version, &[], received) }?;
    Some(format!("{} (must not change)", in_arrays(&bench.memory.arrays, wrong)))
}

/// Writes new data into the memory that is packed or unpacked, and overwrites the targets.
pub fn prepare(bench: &mut EngineComparison<'_>, active: &mut PackingMethod<'_>) {
    bench.version = bench.version.filled();
    (bench.looks, bench.wrong, bench.mismatch, bench.compared) = (Default::default(), None, None, 0);
    bench.payload.use_wires(&mut bench.memory, active);
    if matches!(active, PackingMethod::Packs(_)) {
        bench.payload.unpacked.poison();
        bench.payload.to_pack.write(bench.version);
        bench.payload.packed.poison();
        bench.looks = bench.payload.looks(bench.version.generation);
    }
    fill(bench, active);
}

/// Compares all bytes that the last repetition has packed or unpacked.
pub fn compare(bench: &mut EngineComparison<'_>, active: &mut PackingMethod<'_>, side: Side) {
    bench.compared += 1;
    let found = match side {
        Side::Send => packed(bench, active),
        Side::Receive => unpacked(bench, active),
    };
    bench.mismatch = bench.mismatch.take().or(found);
}

/// Whether the bytes of a block were right, with those of its last packing and of its last unpacking.
pub fn check(bench: &mut EngineComparison<'_>, active: &mut PackingMethod<'_>) -> Option<Mismatch> {
    SIDES.into_iter().for_each(|(side, _)| compare(bench, active, side));
    let found = bench.wrong.take().map(|(side, what)| format!("{side}: {}", described(&bench.memory, what)));
    found.or(bench.mismatch.take()).map(|what| format!("in a block: {what}"))
}

/// Writes the data that is unpacked, or copied by a plain copy.
fn fill(bench: &mut EngineComparison<'_>, active: &mut PackingMethod<'_>) {
    match active {
        PackingMethod::Packs(_) => bench.payload.to_unpack.write(bench.version),
        PackingMethod::Copies(copy) => copy.fill(bench.version, ME),
    }
}

/// Compares the packed bytes, or the copy in place of them.
fn packed(bench: &EngineComparison<'_>, active: &mut PackingMethod<'_>) -> Option<Mismatch> {
    let found = match active {
        PackingMethod::Packs(_) => bench.payload.packed.wrong(bench.version, &[])?.in_buffer(),
        PackingMethod::Copies(copy) => copy_difference(copy.both_now(Side::Send))?,
    };
    Some(format!("pack: {found}"))
}

/// Compares the unpacked bytes, or the copy in place of them.
fn unpacked(bench: &EngineComparison<'_>, active: &mut PackingMethod<'_>) -> Option<Mismatch> {
    let found = match active {
        PackingMethod::Packs(_) => {
            in_arrays(&bench.memory.arrays, bench.payload.unpacked.wrong(bench.version, &[])?)
        }
        PackingMethod::Copies(copy) => copy_difference(copy.both_now(Side::Receive))?,
    };
    Some(format!("unpack: {found}"))
}

/// The first difference of a copy.
fn copy_difference([from, to]: [&[u8]; 2]) -> Option<Mismatch> {
    let at = (from != to).then(|| from.iter().zip(to).position(|(from, to)| from != to))??;
    Some(Wrong { at, expected: from[at], found: to[at] }.in_buffer())
}
