//! The expected data, and its comparison with the received data.

use apps::{Arrays, Exchange, MicroApp, Side, WireOrder};
use common::packing::{Ends, Location};

use crate::measure::session::Session;
use crate::memory::Memory;
use crate::pattern::Pattern;
use crate::spans::{Span, spans};

/// A description of the first difference.
pub type Mismatch = String;

/// The packed bytes of the whole send side of memory with the data `pattern`.
pub fn stream(app: &MicroApp, arrays: &Arrays, order: WireOrder, pattern: Pattern) -> Vec<u8> {
    let mut stream = vec![0; app.message_bytes() as usize];
    let mut next = 0;
    for span in spans(&app.message(Side::Send, order), arrays) {
        pattern.write(span.offset, &mut stream[next..next + span.bytes]);
        next += span.bytes;
    }
    stream
}

/// The packed bytes that `rank` sent last: the data of this generation, with the stamps written since.
pub fn sent(session: &Session<'_>, arrays: &Arrays, ends: Ends, rank: usize) -> Vec<u8> {
    let app = session.setup.app;
    let mut stream = stream(app, arrays, ends.order, Pattern::new(rank, session.generation));
    if session.repetition == 0 {
        return stream;
    }
    let (anew, renewal) = (session.sent_by(rank), &session.renewal);
    if ends.from == Location::Wire {
        renewal.wire.write(&mut stream, anew);
        return stream;
    }
    let mut next = 0;
    for span in spans(&app.message(Side::Send, ends.order), arrays) {
        for stamp in renewal.arrays.within(span).chain(renewal.turned.within(span)) {
            let (from, to) = (next + stamp.start - span.offset, next + stamp.end - span.offset);
            anew.write(stamp.start, &mut stream[from..to]);
        }
        next += span.bytes;
    }
    stream
}

/// The packed bytes that this rank must get.
pub fn incoming(session: &Session<'_>, arrays: &Arrays, ends: Ends) -> Vec<u8> {
    let setup = session.setup;
    let of = |rank| sent(session, arrays, ends, rank);
    match setup.app.exchange {
        Exchange::Pairs => of(1 - setup.me),
        Exchange::AllToAll { .. } => {
            let block = setup.message_bytes / setup.ranks;
            (0..setup.ranks)
                .flat_map(|rank| of(rank)[setup.me * block..(setup.me + 1) * block].to_vec())
                .collect()
        }
    }
}

/// Compares the received data with `incoming`, the whole packed message. `checked` is called for every run of the
/// arrays that was right, with its place.
pub fn arrival(
    app: &MicroApp,
    memory: &mut Memory,
    ends: Ends,
    incoming: &[u8],
    mut checked: impl FnMut(usize, &mut [u8]),
) -> Option<Mismatch> {
    if ends.to == Location::Wire {
        return packed_difference(incoming, &memory.incoming);
    }
    let mut next = 0;
    for Span { offset, bytes } in spans(&app.message(Side::Receive, ends.order), &memory.arrays) {
        let expected = &incoming[next..next + bytes];
        let found = &mut memory.arrays.memory_mut()[offset..offset + bytes];
        if let Some(i) = difference(expected, found) {
            let (expected, found) = (expected[i], found[i]);
            return Some(mismatch_at(&memory.arrays, offset + i, expected, found));
        }
        checked(offset, found);
        next += bytes;
    }
    None
}

/// Compares packed bytes with the start of a buffer.
pub fn packed_difference(expected: &[u8], found: &[u8]) -> Option<Mismatch> {
    let i = difference(expected, found)?;
    let (expected, found) = (expected[i], found[i]);
    Some(format!("packed byte {i}: expected {expected:#04x}, found {found:#04x}"))
}

fn difference(expected: &[u8], found: &[u8]) -> Option<usize> {
    if *expected == found[..expected.len()] {
        return None;
    }
    expected.iter().zip(found).position(|(e, f)| e != f)
}

/// Names a byte of the arrays' memory in the application's terms.
pub fn mismatch_at(arrays: &Arrays, at: usize, expected: u8, found: u8) -> String {
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
