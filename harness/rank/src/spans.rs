//! Where a message lies in the one memory that holds all arrays.

use apps::{Arrays, MicroApp, Side, WireOrder};

/// One contiguous run in the arrays' memory.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub bytes: usize,
}

/// Where the message lies in the arrays' memory, in wire order.
pub fn spans(app: &dyn MicroApp, arrays: &Arrays, side: Side, order: WireOrder) -> Vec<Span> {
    let message = app.message(side, order);
    let span = |(array, segment): (usize, datatypes::Segment)| Span {
        offset: (arrays.place(array).start as i64 + segment.offset) as usize,
        bytes: segment.bytes as usize,
    };
    message.segments().map(span).collect()
}
