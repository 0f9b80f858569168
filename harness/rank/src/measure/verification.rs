//! Every method is verified before it is timed, and again afterwards.
//!
//! Each way is verified separately, because if sender and receiver use the same places (WRF, MILC, SPECFEM3D)
//! an answer that never arrived would leave the right bytes there. For each way, memory is filled with new
//! data, and everything that must not change is compared too, including the gaps between the arrays.

use super::message_links::{changed, wrong_received};
use super::session::Session;
use crate::checked::CallError;
use crate::memory::Memory;
use crate::method::{Method, Setup};
use crate::payload::{Mismatch, Moved, Version};

/// Transfers in each direction; two, so that the second must differ from the data that the first left behind.
pub const ROUNDS: u32 = 2;

/// Transfers and compares, in both directions. `Ok(Some(..))` has the mismatch of this rank.
pub fn verify(session: &mut Session<'_>, method: &mut dyn Method) -> Result<Option<Mismatch>, CallError> {
    let mut mismatch = None;
    for _ in 0..ROUNDS {
        for is_back in [false, true] {
            let found = one_way(session, method, is_back)?;
            mismatch = mismatch.or(found);
        }
        if session.setup.is_all_to_all() {
            // The arrays were exchanged for the second way: exchange them back.
            session.memory.arrays.swap(0, 1);
        }
    }
    Ok(mismatch)
}

fn one_way(
    session: &mut Session<'_>,
    method: &mut dyn Method,
    is_back: bool,
) -> Result<Option<Mismatch>, CallError> {
    let setup = session.setup;
    let links = session.links(method);
    // The wire buffers are not exchanged here.
    let leg = if is_back && !links.returns_wire { &links.back } else { &links.there };
    if is_back && setup.is_all_to_all() {
        session.memory.arrays.swap(0, 1);
    }
    session.fill(leg);
    method.settle()?;
    setup.comm.barrier()?;
    let memory = &mut session.memory;
    if setup.is_all_to_all() {
        method.pack(memory)?;
        method.exchange(memory)?;
        method.unpack(memory)?;
    } else if (setup.me == 0) != is_back {
        method.pack(memory)?;
        method.send(memory)?;
    } else {
        method.receive(memory)?;
        method.unpack(memory)?;
    }
    method.settle()?;
    setup.comm.barrier()?;
    Ok(compare(memory, leg, session.payload.checks.version, setup))
}

/// Compares all memory with what must be there after one way: the received data at its places, and everywhere
/// else the data from before.
pub fn compare(memory: &mut Memory, moved: &Moved, version: Version, setup: &Setup<'_>) -> Option<Mismatch> {
    let (wrong, stray) = (wrong_received(memory, moved, version), setup.stray_byte(memory));
    wrong.or(stray).or_else(|| changed(memory, setup.me, moved, version))
}
