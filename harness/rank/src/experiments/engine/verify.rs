//! That methods move the right bytes: looked at before anything is timed, after each block, and at the end.

use apps::Side;

use super::active_method::{ActiveMethod, Work};
use super::bench::Bench;
use crate::checked::CallError;
use crate::expected::{Mismatch, arrival, packed_difference, stream};
use crate::memory::{Memory, POISON};
use crate::pattern::Pattern;
use crate::spans::spans;
use crate::verify::{ROUNDS, compare};

/// Data of one generation: what the arrays hold, and what is to be unpacked.
#[derive(Clone, Copy)]
struct TestData {
    arrays: Pattern,
    packed: Pattern,
}

impl TestData {
    /// New data, as if a peer had sent what is to be unpacked.
    fn next(bench: &mut Bench<'_>) -> Self {
        bench.generation += 1;
        Self::now(bench)
    }

    fn now(bench: &Bench<'_>) -> Self {
        Self { arrays: Pattern::new(0, bench.generation), packed: Pattern::new(1, bench.generation) }
    }
}

/// Packs and unpacks some times, and compares all memory: what must have changed, and what must not.
pub fn verify(
    bench: &mut Bench<'_>,
    memory: &mut Memory,
    active: &mut ActiveMethod<'_>,
) -> Result<Option<Mismatch>, CallError> {
    active.create()?;
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        let data = TestData::next(bench);
        data.arrays.write(0, memory.arrays.memory_mut());
        memory.poison_wire();
        fill(bench, memory, active, data);
        active.work(Side::Send, memory)?;
        mismatch = mismatch.or_else(|| packed(bench, memory, active, data));
        if let Work::Packs(packer) = &active.work {
            mismatch = mismatch.or_else(|| {
                Some(format!("pack: {}", compare(bench.setup.app, memory, packer.ends(), data.arrays, None)?))
            });
        }
        if let Work::Copies(copy) = &mut active.work {
            copy.fill(data.packed);
        }
        active.work(Side::Receive, memory)?;
        if let Work::Copies(copy) = &active.work {
            let [from, to] = copy.both(Side::Receive);
            mismatch = mismatch.or_else(|| Some(format!("unpack: {}", packed_difference(from, to)?)));
        }
        if let Work::Packs(packer) = &active.work {
            let incoming = stream(bench.setup.app, &memory.arrays, bench.order, data.packed);
            let found = compare(bench.setup.app, memory, packer.ends(), data.arrays, Some(&incoming));
            mismatch = mismatch.or_else(|| Some(format!("unpack: {}", found?)));
        }
    }
    active.free()?;
    Ok(mismatch)
}

/// Writes new data into what is packed and what is unpacked, and spoils what is written. Where data is unpacked to,
/// that of another generation lies.
pub fn prepare(bench: &mut Bench<'_>, memory: &mut Memory, active: &mut ActiveMethod<'_>) {
    let data = TestData::next(bench);
    if matches!(active.work, Work::Packs(_)) {
        for span in spans(&bench.setup.app.message(Side::Send, bench.order), &memory.arrays) {
            let bytes = span.offset..span.offset + span.bytes;
            data.arrays.write(span.offset, &mut memory.arrays.memory_mut()[bytes]);
        }
        memory.outgoing[..bench.setup.message_bytes].fill(POISON);
    }
    fill(bench, memory, active, data);
}

/// Whether a block has left the bytes that it must: those of its last packing, then of its last unpacking.
pub fn check(bench: &Bench<'_>, memory: &mut Memory, active: &ActiveMethod<'_>) -> Option<Mismatch> {
    let data = TestData::now(bench);
    let found = packed(bench, memory, active, data);
    let Work::Packs(packer) = &active.work else { return found };
    let unpacked = |memory: &mut Memory| {
        let incoming = stream(bench.setup.app, &memory.arrays, bench.order, data.packed);
        let found = arrival(bench.setup.app, memory, packer.ends(), &incoming, |_, _| {})?;
        Some(format!("unpack: {found}"))
    };
    found.or_else(|| unpacked(memory)).map(|what| format!("after a block: {what}"))
}

/// Writes the data that is unpacked, or that a plain copy copies.
fn fill(bench: &Bench<'_>, memory: &mut Memory, active: &mut ActiveMethod<'_>, data: TestData) {
    match &mut active.work {
        Work::Packs(_) => {
            let incoming = stream(bench.setup.app, &memory.arrays, bench.order, data.packed);
            memory.incoming[..incoming.len()].copy_from_slice(&incoming);
        }
        Work::Copies(copy) => copy.fill(data.arrays),
    }
}

/// Compares what was packed, or copied in its place.
fn packed(bench: &Bench<'_>, memory: &Memory, active: &ActiveMethod<'_>, data: TestData) -> Option<Mismatch> {
    let found = match &active.work {
        Work::Packs(_) => {
            let expected = stream(bench.setup.app, &memory.arrays, bench.order, data.arrays);
            packed_difference(&expected, &memory.outgoing)?
        }
        Work::Copies(copy) => {
            let [from, to] = copy.both(Side::Send);
            packed_difference(from, to)?
        }
    };
    Some(format!("pack: {found}"))
}
