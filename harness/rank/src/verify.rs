//! Every method is verified before it is timed, and again afterwards.
//!
//! Each way is verified separately, because if sender and receiver use the same region (WRF, MILC, SPECFEM3D) an answer
//! that never arrived would leave the right bytes in place. For each way, memory is filled with data of a new
//! generation; everything that must not change is compared too, including the gaps between the arrays.

use apps::{MicroApp, Side};
use common::packing::Ends;

use crate::checked::CallError;
use crate::expected::{Mismatch, Stream, arrival, incoming, mismatch_at};
use crate::measure::session::Session;
use crate::memory::{Memory, POISON};
use crate::method::Method;
use crate::pattern::Pattern;

/// Transfers in each direction; two, so that the second must differ from the data that the first left behind.
pub const ROUNDS: u32 = 2;

/// Transfers and compares, in both directions. `Ok(Some(..))` has the mismatch of this rank.
pub fn verify(
    session: &mut Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
) -> Result<Option<Mismatch>, CallError> {
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        for way in [Leg::There, Leg::Back] {
            let found = one_way(session, memory, method, way)?;
            mismatch = mismatch.or(found);
        }
        if session.setup.is_all_to_all() {
            // The arrays were exchanged for the second way: exchange them back.
            memory.arrays.swap(0, 1);
        }
    }
    Ok(mismatch)
}

/// The direction of a transfer; in an all-to-all, which of the two arrays it starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leg {
    There,
    Back,
}

fn one_way(
    session: &mut Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    way: Leg,
) -> Result<Option<Mismatch>, CallError> {
    let setup = session.setup;
    let ends = method.ends();
    if way == Leg::Back && setup.is_all_to_all() {
        memory.arrays.swap(0, 1);
    }
    let mine = session.fill(memory, ends);
    method.settle()?;
    setup.comm.barrier()?;
    let receives = if setup.is_all_to_all() {
        method.pack(memory)?;
        method.exchange(memory)?;
        method.unpack(memory)?;
        true
    } else if (setup.me == 0) == (way == Leg::There) {
        method.pack(memory)?;
        method.send(memory)?;
        false
    } else {
        method.receive(memory)?;
        method.unpack(memory)?;
        true
    };
    method.settle()?;
    setup.comm.barrier()?;
    let message = setup.app.message(Side::Send, ends.order);
    let incoming = receives.then(|| incoming(session, &message, &memory.arrays, ends));
    Ok(compare(setup.app, memory, ends, mine, incoming))
}

/// Compares all memory with the expected data: `incoming` at its places, the pattern everywhere else.
pub fn compare(
    app: &MicroApp,
    memory: &mut Memory,
    ends: Ends,
    mine: Pattern,
    incoming: Option<Stream<'_>>,
) -> Option<Mismatch> {
    // The received data that was already checked becomes part of the expected data for the comparison of all memory.
    let arrived =
        incoming.and_then(|incoming| arrival(app, memory, ends, incoming, |at, found| mine.write(at, found)));
    if arrived.is_some() {
        return arrived;
    }
    let message_bytes = app.message_bytes() as usize;
    let beyond = memory.incoming.get(message_bytes..).unwrap_or_default();
    if let Some(i) = beyond.iter().position(|&byte| byte != POISON) {
        return Some(format!("byte {i} of the wire buffer beyond the message (must not change)"));
    }
    if !memory.has_arrays {
        return None;
    }
    let at = mine.first_difference(0, memory.arrays.memory())?;
    let found = memory.arrays.memory()[at];
    Some(format!("{} (must not change)", mismatch_at(&memory.arrays, at, mine.byte(at), found)))
}
