//! The data that a timed loop must leave behind: that of its last repetition, which differs from every other, so a
//! transfer that was lost, or that repeated earlier data, is detected. It is compared once per block, outside of all
//! times, and as a whole; a few bytes of every repetition were already checked (`spots.rs`).

use apps::{Side, WireOrder};
use common::packing::{Ends, Location};

use crate::checked::CallError;
use crate::expected::{Mismatch, arrival, incoming, sent};
use crate::measure::session::Session;
use crate::memory::{Memory, POISON};
use crate::method::Method;
use crate::pattern::Pattern;
use crate::regions::Regions;
use crate::spans::{Span, spans};
use crate::spots::Spots;

/// Writes new data into the send buffers, and overwrites the receive buffers.
pub fn prepare(
    session: &mut Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
) -> Result<(), CallError> {
    session.next_generation();
    let ends = method.ends();
    let mine = Pattern::new(session.setup.me, session.generation);
    let is_turned = ends_with_the_way_back(session, ends);
    match ends.from {
        Location::Wire => session.write_message(memory, ends, mine),
        Location::Arrays => {
            turn(memory, is_turned);
            each(memory, session, Side::Send, ends.order, |at, bytes| mine.write(at, bytes));
            turn(memory, is_turned);
        }
    }
    match ends.to {
        Location::Wire => memory.incoming[..session.setup.message_bytes].fill(POISON),
        Location::Arrays if session.regions == Regions::Apart => {
            each(memory, session, Side::Receive, ends.order, |_, bytes| bytes.fill(POISON));
        }
        Location::Arrays => {}
    }
    session.spots = Spots::of_round_trip(session, memory, method);
    method.settle()
}

/// Whether the received data is the data that was sent.
pub fn check(
    session: &mut Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
) -> Result<Option<Mismatch>, CallError> {
    method.settle()?;
    if let Some(found) = session.spots.found() {
        return Ok(Some(found));
    }
    session.spots.restore(memory);
    let (setup, ends) = (session.setup, method.ends());
    let in_arrays = ends.from == Location::Arrays && ends.to == Location::Arrays && !setup.is_all_to_all();
    let message = setup.app.message(Side::Send, ends.order);
    let expected = match session.regions {
        Regions::Overlapping if in_arrays => return Ok(None),
        // The peer answers from the memory it received into, so the origin gets its own data back.
        Regions::Same if in_arrays => {
            let stamps = session.spots.answer_stamps(|rank| session.sent_by(rank));
            sent(session, &message, &memory.arrays, ends, 0).changed(stamps)
        }
        _ => {
            let is_turned = ends_with_the_way_back(session, ends);
            turn(memory, is_turned);
            let expected = incoming(session, &message, &memory.arrays, ends);
            turn(memory, is_turned);
            expected
        }
    };
    let mismatch = arrival(setup.app, memory, ends, expected, |_, _| {});
    Ok(mismatch.map(|what| format!("after a block: {what}")))
}

/// Whether the final data in the wire buffer came from the second array: in an all-to-all whose way back leaves the
/// first transfer's bytes packed.
fn ends_with_the_way_back(session: &Session<'_>, ends: Ends) -> bool {
    session.setup.is_all_to_all() && ends.from == Location::Arrays && ends.to == Location::Wire
}

fn turn(memory: &mut Memory, is_turned: bool) {
    if is_turned {
        memory.arrays.swap(0, 1);
    }
}

/// Calls `change` with the place and the bytes of each run of a side.
fn each(
    memory: &mut Memory,
    session: &Session<'_>,
    side: Side,
    order: WireOrder,
    mut change: impl FnMut(usize, &mut [u8]),
) {
    let message = session.setup.app.message(side, order);
    for Span { offset, bytes } in spans(&message, &memory.arrays) {
        change(offset, &mut memory.arrays.memory_mut()[offset..offset + bytes]);
    }
}
