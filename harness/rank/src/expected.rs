//! The expected data, and its comparison with the received data. Packed bytes are made piece by piece, because a message may take
//! half of the memory.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ops::Range;

use apps::{Arrays, Exchange, Message, MicroApp, Side};
use common::packing::{Ends, Location};

use crate::measure::session::{Renewal, Session};
use crate::memory::Memory;
use crate::padding::Padding;
use crate::pattern::Pattern;
use crate::spans::{Span, spans};

/// A description of the first difference.
pub type Mismatch = String;

/// Bytes that are made and compared at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Packed bytes that ranks have sent, made in their order.
pub struct Stream<'a> {
    parts: VecDeque<Part<'a>>,
    /// Bytes that were read.
    read: usize,
    /// Bytes that differ from the senders' data, by their places.
    changes: Vec<(usize, Vec<u8>)>,
}

/// Some bytes of what one rank has sent.
struct Part<'a> {
    /// The runs of its send side, and the rest of the one that is read.
    spans: Box<dyn Iterator<Item = Span> + 'a>,
    rest: Span,
    /// Place of the next byte in the rank's message.
    packed: usize,
    /// Bytes to read.
    left: usize,
    /// The data of the generation.
    initial: Pattern,
    /// The stamps that were written since.
    renewed: Option<(&'a Renewal, Location, Pattern)>,
}

impl<'a> Stream<'a> {
    /// The whole of a send side in memory with the data `pattern`.
    pub fn of(message: &'a Message, arrays: &Arrays, pattern: Pattern) -> Self {
        let whole = 0..message.size() as usize;
        Self::of_parts([Part::of(message, arrays, whole, pattern)])
    }

    fn of_parts(parts: impl IntoIterator<Item = Part<'a>>) -> Self {
        Self { parts: parts.into_iter().collect(), read: 0, changes: Vec::new() }
    }

    /// The same with other bytes at these places.
    pub fn changed(self, changes: Vec<(usize, Vec<u8>)>) -> Self {
        Self { changes, ..self }
    }

    /// Bytes that are left.
    fn left(&self) -> usize {
        self.parts.iter().map(|part| part.left).sum()
    }

    /// Writes the next bytes, all of which must be left.
    pub fn read(&mut self, bytes: &mut [u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let part = self.parts.front_mut().expect("no more is read than was sent");
            if part.left == 0 {
                self.parts.pop_front();
                continue;
            }
            done += part.read(&mut bytes[done..]);
        }
        for (at, change) in &self.changes {
            for (at, &byte) in (*at..).zip(change) {
                if let Some(changed) = at.checked_sub(self.read).and_then(|at| bytes.get_mut(at)) {
                    *changed = byte;
                }
            }
        }
        self.read += bytes.len();
    }
}

impl<'a> Part<'a> {
    /// Some packed bytes of a message that is sent from memory with the data `pattern`.
    fn of(message: &'a Message, arrays: &Arrays, range: Range<usize>, pattern: Pattern) -> Self {
        let mut spans = spans(message, arrays);
        let (mut before, mut rest) = (0, Span { offset: 0, bytes: 0 });
        while before + rest.bytes < range.start {
            before += rest.bytes;
            rest = spans.next().expect("the range is within the message");
        }
        let skipped = range.start - before;
        let rest = Span { offset: rest.offset + skipped, bytes: rest.bytes - skipped };
        let (packed, left) = (range.start, range.len());
        Self { spans: Box::new(spans), rest, packed, left, initial: pattern, renewed: None }
    }

    /// The same of the data that `rank` sent last.
    fn sent(
        session: &'a Session<'_>,
        message: &'a Message,
        arrays: &Arrays,
        ends: Ends,
        rank: usize,
        range: Range<usize>,
    ) -> Self {
        let part = Self::of(message, arrays, range, Pattern::new(rank, session.generation));
        let stamps = (&session.renewal, ends.from, session.sent_by(rank));
        Self { renewed: (session.repetition > 0).then_some(stamps), ..part }
    }

    /// Writes the next bytes, no more than there are of a run, and returns their number.
    fn read(&mut self, out: &mut [u8]) -> usize {
        while self.rest.bytes == 0 {
            self.rest = self.spans.next().expect("a message has the bytes of its runs");
        }
        let bytes = out.len().min(self.left).min(self.rest.bytes);
        let (offset, out) = (self.rest.offset, &mut out[..bytes]);
        self.initial.write(offset, out);
        if let Some((renewal, from, pattern)) = self.renewed {
            let (stamps, start) = match from {
                Location::Wire => ([Some(&renewal.wire), None], self.packed),
                Location::Arrays => ([Some(&renewal.arrays), Some(&renewal.turned)], offset),
            };
            for stamp in
                stamps.into_iter().flatten().flat_map(|stamps| stamps.overlapping(start..start + bytes))
            {
                pattern.write(stamp.start, &mut out[stamp.start - start..stamp.end - start]);
            }
        }
        self.rest = Span { offset: offset + bytes, bytes: self.rest.bytes - bytes };
        self.packed += bytes;
        self.left -= bytes;
        bytes
    }
}

/// The packed bytes that `rank` sent last: the data of this generation, with the stamps written since.
pub fn sent<'a>(
    session: &'a Session<'_>,
    message: &'a Message,
    arrays: &Arrays,
    ends: Ends,
    rank: usize,
) -> Stream<'a> {
    let whole = 0..session.setup.message_bytes;
    Stream::of_parts([Part::sent(session, message, arrays, ends, rank, whole)])
}

/// The packed bytes that this rank must get; `message` is the send side.
pub fn incoming<'a>(
    session: &'a Session<'_>,
    message: &'a Message,
    arrays: &Arrays,
    ends: Ends,
) -> Stream<'a> {
    let setup = session.setup;
    match setup.app.exchange {
        Exchange::Pairs => sent(session, message, arrays, ends, 1 - setup.me),
        Exchange::AllToAll { .. } => {
            let block = setup.message_bytes / setup.ranks;
            let mine = setup.me * block..(setup.me + 1) * block;
            let part = |rank| Part::sent(session, message, arrays, ends, rank, mine.clone());
            Stream::of_parts((0..setup.ranks).map(part))
        }
    }
}

/// Compares the received data with `expected`, the whole packed message. `checked` is called for every run of the
/// arrays that was right, with its place.
pub fn arrival(
    app: &MicroApp,
    memory: &mut Memory,
    ends: Ends,
    mut expected: Stream<'_>,
    mut checked: impl FnMut(usize, &mut [u8]),
) -> Option<Mismatch> {
    if ends.to == Location::Wire {
        return packed_difference(&app.message(Side::Send, ends.order), expected, &memory.incoming);
    }
    let message = app.message(Side::Receive, ends.order);
    let mut comparison = Comparison::of(&message);
    for Span { offset, bytes } in spans(&message, &memory.arrays) {
        let found = &mut memory.arrays.memory_mut()[offset..offset + bytes];
        if let Some((i, [expected, found])) = comparison.difference(&mut expected, found) {
            return Some(mismatch_at(&memory.arrays, offset + i, expected, found));
        }
        checked(offset, found);
    }
    None
}

/// Compares packed bytes of a message with the start of a buffer.
pub fn packed_difference(message: &Message, mut expected: Stream<'_>, found: &[u8]) -> Option<Mismatch> {
    let found = &found[..expected.left()];
    let (i, [expected, found]) = Comparison::of(message).difference(&mut expected, found)?;
    Some(packed_mismatch(i, expected, found))
}

/// Describes a wrong packed byte.
pub fn packed_mismatch(at: usize, expected: u8, found: u8) -> Mismatch {
    format!("packed byte {at}: expected {expected:#04x}, found {found:#04x}")
}

/// A comparison of a packed message, piece by piece. Padding within values may have any content.
struct Comparison<'a> {
    message: &'a Message,
    padding: OnceCell<Padding>,
    /// Bytes that were compared.
    compared: usize,
    /// The expected bytes.
    expected: Vec<u8>,
}

impl<'a> Comparison<'a> {
    fn of(message: &'a Message) -> Self {
        Self { message, padding: OnceCell::new(), compared: 0, expected: Vec::new() }
    }

    /// The place of the first difference in `found`, with the expected and the found byte.
    fn difference(&mut self, stream: &mut Stream<'_>, found: &[u8]) -> Option<(usize, [u8; 2])> {
        for (k, found) in found.chunks(CHUNK_BYTES).enumerate() {
            self.expected.resize(found.len(), 0);
            let expected = &mut self.expected[..];
            stream.read(expected);
            if expected != found {
                let padding = self.padding.get_or_init(|| Padding::of(self.message));
                padding.copy(self.compared, found, expected);
                let differs = |(expected, found)| expected != found;
                if let Some(i) = expected.iter().zip(found).position(differs) {
                    return Some((k * CHUNK_BYTES + i, [expected[i], found[i]]));
                }
            }
            self.compared += found.len();
        }
        None
    }
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
