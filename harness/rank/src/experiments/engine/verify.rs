//! Verification that methods transfer the right bytes: before timing, after each block, and at the end.

use apps::{MicroApp, Side, WireOrder};

use super::active_method::PackingMethod;
use super::{EngineComparison, SIDES};
use crate::checked::CallError;
use crate::measure::message_links::{changed, described, wrong_received};
use crate::measure::verification::ROUNDS;
use crate::memory::{Memory, Region};
use crate::payload::{
    Checks, Link, Mismatch, Moved, Places, Run, Runs, Spots, source_of_arrays, source_of_outgoing,
};
use crate::spans::{data_spans, from_source, packed_data, padded_places, padded_spans, runs};

/// The sources of packed bytes: this process's arrays, and a peer's buffer, as if it had sent the bytes to unpack.
pub const ME: usize = 0;
const PEER: usize = 1;

/// The sides in messages.
const NAMES: [&str; 2] = ["pack", "unpack"];

/// The data of one side: before packing or unpacking, and after it.
pub fn moved(from: Places, to: Places, padded: Option<Places>) -> Moved {
    Moved { sends: vec![from], receives: vec![Link { peer: ME, tag: 0, places: to }], padded }
}

/// The data of both sides, and its checks.
pub struct EnginePayload {
    pub sides: [Moved; 2],
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
        let moved = |(from, before), (to, after), sources: Vec<Run>, padded| {
            moved(places(from, runs(before, &sources)), places(to, runs(after, &sources)), padded)
        };
        // SAFETY: guaranteed by the caller.
        let padded = unsafe { padded_places(arrays, &padded_spans(&sides[1], &memory.arrays)) };
        Self {
            sides: [
                moved((arrays, &sent), (outgoing, &wires[0]), mine, None),
                moved((incoming, &wires[1]), (arrays, &received), theirs, Some(padded)),
            ],
            checks: Checks::default(),
            looks: Default::default(),
        }
    }

    /// Changes the places of packed bytes to those of a method, which may be in its own memory.
    pub fn use_wires(&mut self, memory: &mut Memory, active: &PackingMethod<'_>) {
        let PackingMethod::Packs(packer) = active else { return };
        let [packs, unpacks] = &mut self.sides;
        for (places, wire) in
            [&mut packs.receives[0].places, &mut unpacks.sends[0]].into_iter().zip(packer.wires(memory))
        {
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
        sides.iter().for_each(Moved::poison);
        sides.iter().for_each(|moved| moved.write(version));
        self.looks = match active {
            PackingMethod::Packs(_) => sides.each_ref().map(|moved| moved.looks(version.generation)),
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
        let wrong = wrong_received(memory, &active.moved(self)[i], self.checks.version)?;
        Some(format!("{}: {wrong}", NAMES[i]))
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
            let moved = &active.moved(payload)[i];
            moved.poison();
            moved.write(version);
            active.work(side, memory)?;
            mismatch = mismatch.or_else(|| payload.wrong(memory, active, i));
            if let PackingMethod::Packs(packer) = active {
                let touched = changed(memory, ME, &payload.sides[i], version);
                let stray = touched.or(packer.stray_byte(memory));
                mismatch = mismatch.or(stray.map(|stray| format!("{}: {stray}", NAMES[i])));
            }
        }
    }
    active.free()?;
    Ok(mismatch)
}
