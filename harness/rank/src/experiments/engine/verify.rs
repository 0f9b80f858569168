//! Verification that methods transfer the right bytes: before timing, after each block, and at the end.

use apps::{Message, Side};
use common::packing::Ends;

use super::EngineComparison;
use super::active_method::ActiveMethod;
use crate::checked::CallError;
use crate::expected::{Mismatch, Stream, arrival, packed_difference, packed_mismatch};
use crate::memory::POISON;
use crate::packing::MessagePacker;
use crate::pattern::Pattern;
use crate::spans::spans;
use crate::spots::Spots;
use crate::verify::{ROUNDS, compare};

/// Data of one generation: the content of the arrays, and the data to unpack.
#[derive(Clone, Copy)]
struct TestData {
    arrays: Pattern,
    packed: Pattern,
}

impl TestData {
    /// New data, as if a peer had sent the data to unpack.
    fn next(bench: &mut EngineComparison<'_>) -> Self {
        bench.generation += 1;
        Self::now(bench)
    }

    fn now(bench: &EngineComparison<'_>) -> Self {
        Self { arrays: Pattern::new(0, bench.generation), packed: Pattern::new(1, bench.generation) }
    }
}

/// Packs and unpacks several times, and compares all memory: the parts that must have changed, and those that must not.
pub fn verify(
    bench: &mut EngineComparison<'_>,
    active: &mut ActiveMethod<'_>,
) -> Result<Option<Mismatch>, CallError> {
    active.create()?;
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        let data = TestData::next(bench);
        data.arrays.write(0, bench.memory.arrays.memory_mut());
        bench.memory.poison_wire();
        fill(bench, active, data);
        active.work(Side::Send, &mut bench.memory)?;
        mismatch = mismatch.or_else(|| packed(bench, active, data));
        if let ActiveMethod::Packs(packer) = active {
            let (app, ends) = (bench.setup.app, ends(bench, packer));
            let found = compare(app, &mut bench.memory, ends, data.arrays, None);
            mismatch = mismatch.or_else(|| Some(format!("pack: {}", found?)));
        }
        if let ActiveMethod::Copies(copy) = active {
            copy.fill(data.packed);
        }
        active.work(Side::Receive, &mut bench.memory)?;
        if let ActiveMethod::Copies(copy) = active {
            let [from, to] = copy.both(Side::Receive);
            mismatch = mismatch.or_else(|| Some(format!("unpack: {}", copy_difference(from, to)?)));
        }
        if let ActiveMethod::Packs(packer) = active {
            let message = sent(bench);
            let incoming = Stream::of(&message, &bench.memory.arrays, data.packed);
            let (app, ends) = (bench.setup.app, ends(bench, packer));
            let found = compare(app, &mut bench.memory, ends, data.arrays, Some(incoming));
            mismatch = mismatch.or_else(|| Some(format!("unpack: {}", found?)));
        }
    }
    active.free()?;
    Ok(mismatch)
}

/// Writes new data into the memory that is packed or unpacked, and overwrites the targets. The target of unpacking gets
/// the data of another generation.
pub fn prepare(bench: &mut EngineComparison<'_>, active: &mut ActiveMethod<'_>) {
    let data = TestData::next(bench);
    if matches!(active, ActiveMethod::Packs(_)) {
        for span in spans(&bench.setup.app.message(Side::Send, bench.order), &bench.memory.arrays) {
            let bytes = span.offset..span.offset + span.bytes;
            data.arrays.write(span.offset, &mut bench.memory.arrays.memory_mut()[bytes]);
        }
        bench.memory.outgoing[..bench.setup.message_bytes].fill(POISON);
    }
    bench.spots = match active {
        ActiveMethod::Packs(_) => {
            Spots::of_packing(bench.setup.app, &bench.memory, bench.order, bench.generation)
        }
        ActiveMethod::Copies(_) => Default::default(),
    };
    fill(bench, active, data);
}

/// Whether the bytes after a block are right: those of its last packing and of its last unpacking.
pub fn check(bench: &mut EngineComparison<'_>, active: &ActiveMethod<'_>) -> Option<Mismatch> {
    let spots = bench.spots.iter_mut().zip(["pack", "unpack"]);
    let wrong = spots.filter_map(|(spots, what)| Some(format!("{what}: {}", spots.found()?))).next();
    if wrong.is_some() {
        return wrong;
    }
    let data = TestData::now(bench);
    let found = packed(bench, active, data);
    let ActiveMethod::Packs(packer) = active else { return found };
    let ends = ends(bench, packer);
    let unpacked = |bench: &mut EngineComparison<'_>| {
        let message = sent(bench);
        let incoming = Stream::of(&message, &bench.memory.arrays, data.packed);
        let found = arrival(bench.setup.app, &mut bench.memory, ends, incoming, |_, _| {})?;
        Some(format!("unpack: {found}"))
    };
    found.or_else(|| unpacked(bench)).map(|what| format!("after a block: {what}"))
}

/// Its work at both ends, in the comparison's order of bytes.
fn ends(bench: &EngineComparison<'_>, packer: &MessagePacker<'_>) -> Ends {
    Ends { order: bench.order, ..Ends::of(packer.send.how(), packer.receive.how()) }
}

/// Writes the data that is unpacked, or copied by a plain copy.
fn fill(bench: &mut EngineComparison<'_>, active: &mut ActiveMethod<'_>, data: TestData) {
    match active {
        ActiveMethod::Packs(_) => {
            let message = sent(bench);
            let mut incoming = Stream::of(&message, &bench.memory.arrays, data.packed);
            incoming.read(&mut bench.memory.incoming[..bench.setup.message_bytes]);
        }
        ActiveMethod::Copies(copy) => copy.fill(data.arrays),
    }
}

/// Compares the packed bytes, or the copy in place of them.
fn packed(bench: &EngineComparison<'_>, active: &ActiveMethod<'_>, data: TestData) -> Option<Mismatch> {
    let found = match active {
        ActiveMethod::Packs(_) => {
            let message = sent(bench);
            let expected = Stream::of(&message, &bench.memory.arrays, data.arrays);
            packed_difference(&message, expected, &bench.memory.outgoing)?
        }
        ActiveMethod::Copies(copy) => {
            let [from, to] = copy.both(Side::Send);
            copy_difference(from, to)?
        }
    };
    Some(format!("pack: {found}"))
}

/// The packed message, in the comparison's order of bytes.
fn sent(bench: &EngineComparison<'_>) -> Message {
    bench.setup.app.message(Side::Send, bench.order)
}

/// The first difference of a copy.
fn copy_difference(from: &[u8], to: &[u8]) -> Option<Mismatch> {
    let i = (from != to).then(|| from.iter().zip(to).position(|(from, to)| from != to))??;
    Some(packed_mismatch(i, from[i], to[i]))
}
