//! Verification that methods transfer the right bytes: before timing, after each block, and at the end.

use apps::{MicroApp, Side, WireOrder};

use super::active_method::PackingMethod;
use super::{EngineComparison, SIDES};
use crate::checked::CallError;
use crate::measure::message_links::described;
use crate::measure::verification::ROUNDS;
use crate::memory::{Memory, Region};
use crate::payload::{
    Checks, Mismatch, Places, Run, Runs, Spots, changed, source_of_arrays, source_of_outgoing,
};
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

/// The data of both sides, and its checks.
pub struct EnginePayload {
    pub sides: [Moved; 2],
    /// All bytes of unpacked values with padding, which may change.
    padded: Places,
    pub checks: Checks,
    /// The places looked at after each sample of a block, for packing and for unpacking.
    pub looks: [Spots; 2],
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
            checks: Checks::default(),
            looks: Default::default(),
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

    /// Prepares a block: new data in the memory that is packed or unpacked, and the targets overwritten.
    pub fn prepare(&mut self, memory: &mut Memory, active: &PackingMethod<'_>) {
        let version = self.checks.fill();
        self.use_wires(memory, active);
        let sides = active.moved(self);
        // All targets first: data to pack may be in the same places as unpacked data.
        sides.iter().for_each(|moved| moved.to.poison());
        sides.iter().for_each(|moved| moved.from.write(version));
        self.looks = match active {
            PackingMethod::Packs(_) => {
                self.sides.each_ref().map(|moved| Spots::from_messages([&moved.to], version.generation))
            }
            PackingMethod::Copies(_) => Default::default(),
        };
    }

    /// Looks at the bytes that the last repetition has packed or unpacked.
    pub fn look(&mut self, memory: &Memory, i: usize) {
        let wrong = self.looks[i].wrong(self.checks.version);
        self.checks.look(wrong.map(|wrong| format!("{}: {}", NAMES[i], described(memory, wrong))));
    }

    /// Compares all of them.
    pub fn compare(&mut self, memory: &Memory, active: &PackingMethod<'_>, i: usize) {
        let wrong = self.wrong(memory, active, i);
        self.checks.compare(wrong);
    }

    /// The first error in the packed or unpacked bytes, or in the copy in place of them.
    fn wrong(&self, memory: &Memory, active: &PackingMethod<'_>, i: usize) -> Option<Mismatch> {
        let to = &active.moved(self)[i].to;
        let wrong = to.wrong(self.checks.version, &[])?;
        Some(format!("{}: {}", NAMES[i], described(memory, (to.memory, wrong))))
    }

    /// A byte of the arrays that must not change.
    fn touched(&self, memory: &mut Memory, i: usize) -> Option<Mismatch> {
        let [arrays, ..] = memory.regions();
        // Packed data is not in the arrays.
        let received = [&self.sides[i].to, &self.padded].into_iter().take(if i == 0 { 0 } else { 2 });
        // SAFETY: one process, which neither packs nor unpacks now.
        let wrong = unsafe { changed(arrays, source_of_arrays(ME), self.checks.version, &[], received) }?;
        Some(format!("{}: {} (must not change)", NAMES[i], in_arrays(&memory.arrays, wrong)))
    }
}

/// Packs and unpacks several times, and compares all memory: the parts that must have changed, and those that must not.
pub fn verify(
    bench: &mut EngineComparison<'_>,
    active: &mut PackingMethod<'_>,
) -> Result<Option<Mismatch>, CallError> {
    active.create()?;
    let EngineComparison { payload, memory, .. } = bench;
    payload.use_wires(memory, active);
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        let version = payload.checks.fill_all(memory, ME);
        for (i, (side, _)) in SIDES.into_iter().enumerate() {
            let Moved { from, to } = &active.moved(payload)[i];
            to.poison();
            from.write(version);
            active.work(side, memory)?;
            mismatch = mismatch.or_else(|| payload.wrong(memory, active, i));
            if let PackingMethod::Packs(packer) = active {
                mismatch = mismatch.or_else(|| payload.touched(memory, i));
                let stray = packer.stray_byte(memory);
                mismatch = mismatch.or(stray.map(|stray| format!("{}: {stray}", NAMES[i])));
            }
        }
    }
    active.free()?;
    Ok(mismatch)
}
