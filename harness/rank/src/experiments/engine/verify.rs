//! Verification that methods transfer the right bytes: before timing, after each block, and at the end.

use apps::{MicroApp, Side, WireOrder};

use super::active_method::PackingMethod;
use super::{EngineComparison, SIDES};
use crate::checked::CallError;
use crate::measure::message_links::described;
use crate::measure::verification::ROUNDS;
use crate::memory::{Memory, Region};
use crate::payload::{Mismatch, Places, Run, Runs, Spots, changed, source_of_arrays, source_of_outgoing};
use crate::spans::{data_spans, from_source, in_arrays, packed_data, padded_places, padded_spans, runs};

/// The sources of packed bytes: this process's arrays, and a peer's buffer, as if it had sent the bytes to unpack.
pub const ME: usize = 0;
const PEER: usize = 1;

/// The sides in messages.
const NAMES: [&str; 2] = ["pack", "unpack"];

/// The places of the data of one side: before packing or unpacking, and after it.
pub struct Moved {
    pub from: Places,
    pub to: Places,
}

/// The data of both sides.
pub struct EnginePayload {
    pub sides: [Moved; 2],
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
        let (mine, theirs) =
            (from_source(&sent, source_of_arrays(ME)), from_source(&wires[1], source_of_outgoing(PEER)));
        // SAFETY: guaranteed by the caller.
        let places = |memory: Region, runs: Runs| unsafe { Places::new(memory, runs) };
        let moved = |(from, before), (to, after), sources: Vec<Run>| Moved {
            from: places(from, runs(before, &sources)),
            to: places(to, runs(after, &sources)),
        };
        Self {
            sides: [
                moved((arrays, &sent), (outgoing, &wires[0]), mine),
                moved((incoming, &wires[1]), (arrays, &received), theirs),
            ],
            // SAFETY: guaranteed by the caller.
            padded: unsafe { padded_places(arrays, &padded_spans(&sides[1], &memory.arrays)) },
        }
    }

    /// Changes the places of packed bytes to those of a method, which may be in its own memory.
    pub fn use_wires(&mut self, memory: &mut Memory, active: &PackingMethod<'_>) {
        let PackingMethod::Packs(packer) = active else { return };
        let [packs, unpacks] = &mut self.sides;
        for (places, wire) in [&mut packs.to, &mut unpacks.from].into_iter().zip(packer.wires(memory)) {
            // SAFETY: memory of the case or of the method, which only this process uses. Before each use of a
            // method its wires replace those of the last one, which may not exist any more.
            *places = unsafe { Places::new(wire, std::mem::take(&mut places.runs)) };
        }
    }

    /// The places looked at after packing and after unpacking.
    pub fn looks(&self, generation: u32) -> [Spots; 2] {
        self.sides.each_ref().map(|moved| Spots::from_messages([&moved.to], generation))
    }
}

/// Packs and unpacks several times, and compares all memory: the parts that must have changed, and those that must not.
pub fn verify(
    bench: &mut EngineComparison<'_>,
    active: &mut PackingMethod<'_>,
) -> Result<Option<Mismatch>, CallError> {
    active.create()?;
    bench.payload.use_wires(&mut bench.memory, active);
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        bench.version = bench.version.filled();
        bench.version.write(source_of_arrays(ME), bench.memory.arrays.memory_mut());
        bench.memory.poison_wire();
        bench.memory.upload();
        for (i, (side, _)) in SIDES.into_iter().enumerate() {
            let Moved { from, to } = &active.moved(&bench.payload)[i];
            to.poison();
            from.write(bench.version);
            active.work(side, &mut bench.memory)?;
            mismatch = mismatch.or_else(|| wrong(bench, active, i));
            if let PackingMethod::Packs(packer) = active {
                mismatch = mismatch.or_else(|| touched(bench, i));
                let stray = packer.stray_byte(&mut bench.memory);
                mismatch = mismatch.or(stray.map(|stray| format!("{}: {stray}", NAMES[i])));
            }
        }
    }
    active.free()?;
    Ok(mismatch)
}

/// A byte of the arrays that must not change.
fn touched(bench: &mut EngineComparison<'_>, i: usize) -> Option<Mismatch> {
    let [arrays, ..] = bench.memory.regions();
    let EnginePayload { sides, padded } = &bench.payload;
    // Packed data is not in the arrays.
    let received = [&sides[i].to, padded].into_iter().take(if i == 0 { 0 } else { 2 });
    // SAFETY: one process, which neither packs nor unpacks now.
    let wrong = unsafe { changed(arrays, source_of_arrays(ME), bench.version, &[], received) }?;
    Some(format!("{}: {} (must not change)", NAMES[i], in_arrays(&bench.memory.arrays, wrong)))
}

/// Writes new data into the memory that is packed or unpacked, and overwrites the targets.
pub fn prepare(bench: &mut EngineComparison<'_>, active: &PackingMethod<'_>) {
    bench.version = bench.version.filled();
    (bench.looks, bench.wrong, bench.mismatch, bench.compared) = (Default::default(), None, None, 0);
    bench.payload.use_wires(&mut bench.memory, active);
    let sides = active.moved(&bench.payload);
    // All targets first: data to pack may be in the same places as unpacked data.
    sides.iter().for_each(|moved| moved.to.poison());
    sides.iter().for_each(|moved| moved.from.write(bench.version));
    if active.is_packer() {
        bench.looks = bench.payload.looks(bench.version.generation);
    }
}

/// Compares all bytes that the last repetition has packed or unpacked.
pub fn compare(bench: &mut EngineComparison<'_>, active: &PackingMethod<'_>, i: usize) {
    bench.compared += 1;
    let found = wrong(bench, active, i);
    bench.mismatch = bench.mismatch.take().or(found);
}

/// Whether the bytes of a block were right, with those of its last packing and of its last unpacking.
pub fn check(bench: &mut EngineComparison<'_>, active: &PackingMethod<'_>) -> Option<Mismatch> {
    (0..SIDES.len()).for_each(|i| compare(bench, active, i));
    let found =
        bench.wrong.take().map(|(i, what)| format!("{}: {}", NAMES[i], described(&bench.memory, what)));
    found.or(bench.mismatch.take()).map(|what| format!("in a block: {what}"))
}

/// The first error in the packed or unpacked bytes, or in the copy in place of them.
fn wrong(bench: &EngineComparison<'_>, active: &PackingMethod<'_>, i: usize) -> Option<Mismatch> {
    let to = &active.moved(&bench.payload)[i].to;
    let wrong = to.wrong(bench.version, &[])?;
    Some(format!("{}: {}", NAMES[i], described(&bench.memory, (to.memory, wrong))))
}
