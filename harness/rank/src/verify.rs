//! Nothing is timed before it has been shown to move the right bytes, and again afterwards.
//!
//! Every way is tested by itself, because where sender and receiver use the same region (WRF, MILC, SPECFEM3D)
//! an answer that never came would leave the right bytes in place. Memory is filled anew for each way with data
//! of a new generation; all that must not change, the gaps between the arrays included, is compared too.

use apps::{Arrays, Exchange, MicroApp, Side, WireOrder};

use crate::checked::CallError;
use crate::measure::session::Session;
use crate::memory::Memory;
use crate::method::{Ends, Method, Place};
use crate::pattern::Pattern;
use crate::spans::{Span, spans};

/// Transfers in each direction; two, so that the second must differ from what the first left behind.
const ROUNDS: u32 = 2;

/// Why the bytes are wrong: the first difference, in words.
pub type Complaint = String;

/// Transfers and compares, in both directions. `Ok(Some(..))` holds the complaint of this rank.
pub fn verify(
    session: &mut Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
) -> Result<Option<Complaint>, CallError> {
    let mut complaint = None;
    for _ in 0..ROUNDS {
        for way in [Way::There, Way::Back] {
            let found = one_way(session, memory, method, way)?;
            complaint = complaint.or(found);
        }
        if session.setup.is_all_to_all() {
            // Both ways have been gone with the arrays exchanged for the second: put them back.
            memory.arrays.swap(0, 1);
        }
    }
    Ok(complaint)
}

/// The direction of a transfer; in an all-to-all, which of the two arrays it starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

fn one_way(
    session: &mut Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    way: Way,
) -> Result<Option<Complaint>, CallError> {
    let setup = session.setup;
    let ends = method.ends();
    if way == Way::Back && setup.is_all_to_all() {
        memory.arrays.swap(0, 1);
    }
    session.generation += 1;
    let mine = Pattern::new(setup.me, session.generation);
    mine.write(0, memory.arrays.memory_mut());
    memory.poison_wire();
    if ends.from == Place::Wire {
        let stream = stream(setup.app, &memory.arrays, ends.order, mine);
        memory.outgoing[..stream.len()].copy_from_slice(&stream);
    }
    method.settle()?;
    setup.comm.barrier()?;
    let receives = if setup.is_all_to_all() {
        method.pack(memory)?;
        method.exchange(memory)?;
        method.unpack(memory)?;
        true
    } else if (setup.me == 0) == (way == Way::There) {
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
    let incoming = if receives { incoming(session, &memory.arrays, ends) } else { Vec::new() };
    Ok(compare(setup.app, memory, ends, mine, receives.then_some(&incoming[..]))
        .map(|what| format!("rank {} of the world: {what}", session.world_rank)))
}

/// The packed bytes of a whole send side whose memory holds `pattern`.
fn stream(app: &dyn MicroApp, arrays: &Arrays, order: WireOrder, pattern: Pattern) -> Vec<u8> {
    let mut stream = vec![0; app.message_bytes() as usize];
    let mut next = 0;
    for span in spans(app, arrays, Side::Send, order) {
        pattern.write(span.offset, &mut stream[next..next + span.bytes]);
        next += span.bytes;
    }
    stream
}

/// The packed bytes that this rank must get.
fn incoming(session: &Session<'_>, arrays: &Arrays, ends: Ends) -> Vec<u8> {
    let setup = session.setup;
    let of = |rank| stream(setup.app, arrays, ends.order, Pattern::new(rank, session.generation));
    match setup.app.exchange() {
        Exchange::Pairs => of(1 - setup.me),
        Exchange::AllToAll { .. } => {
            let block = setup.message_bytes / setup.ranks;
            (0..setup.ranks)
                .flat_map(|rank| of(rank)[setup.me * block..(setup.me + 1) * block].to_vec())
                .collect()
        }
    }
}

/// Compares all memory with what must be there: `incoming` where it was to arrive, the pattern everywhere else.
fn compare(
    app: &dyn MicroApp,
    memory: &mut Memory,
    ends: Ends,
    mine: Pattern,
    incoming: Option<&[u8]>,
) -> Option<Complaint> {
    if let Some(incoming) = incoming {
        match ends.to {
            Place::Wire => {
                if let Some(i) = difference(incoming, &memory.incoming) {
                    let (expected, found) = (incoming[i], memory.incoming[i]);
                    return Some(format!("packed byte {i}: expected {expected:#04x}, found {found:#04x}"));
                }
            }
            Place::Arrays => {
                let mut next = 0;
                for Span { offset, bytes } in spans(app, &memory.arrays, Side::Receive, ends.order) {
                    let expected = &incoming[next..next + bytes];
                    let found = &mut memory.arrays.memory_mut()[offset..offset + bytes];
                    if let Some(i) = difference(expected, found) {
                        let (expected, found) = (expected[i], found[i]);
                        return Some(complain(&memory.arrays, offset + i, expected, found));
                    }
                    // What has been checked becomes what the comparison of all memory expects.
                    mine.write(offset, found);
                    next += bytes;
                }
            }
        }
    }
    let at = mine.first_difference(0, memory.arrays.memory())?;
    let found = memory.arrays.memory()[at];
    Some(format!("{} (must not change)", complain(&memory.arrays, at, mine.byte(at), found)))
}

fn difference(expected: &[u8], found: &[u8]) -> Option<usize> {
    if *expected == found[..expected.len()] {
        return None;
    }
    expected.iter().zip(found).position(|(e, f)| e != f)
}

/// Names a byte of the arrays' memory as the application would.
fn complain(arrays: &Arrays, at: usize, expected: u8, found: u8) -> String {
    let place = (0..arrays.specs().len()).find(|&i| arrays.place(i).contains(&at)).map_or_else(
        || format!("byte {at} of memory, outside all arrays"),
        |i| {
            let (spec, offset) = (&arrays.specs()[i], at - arrays.place(i).start);
            format!(
                "array {i} ({}), byte {offset}, element {}",
                spec.name,
                offset / spec.element.size() as usize
            )
        },
    );
    format!("{place}: expected {expected:#04x}, found {found:#04x}")
}
