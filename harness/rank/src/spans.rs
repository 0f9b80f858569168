//! Where a message lies in the one memory that holds all arrays.

use apps::{Arrays, Message};

/// One contiguous run in the arrays' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub bytes: usize,
}

/// Where the message lies in the arrays' memory, in wire order; made as it is asked for, since there may be many.
pub fn spans<'a>(message: &'a Message, arrays: &Arrays) -> impl Iterator<Item = Span> + use<'a> {
    let starts: Vec<i64> = (0..arrays.specs().len()).map(|i| arrays.place(i).start as i64).collect();
    message.segments().map(move |(array, segment)| Span {
        offset: (starts[array] + segment.offset) as usize,
        bytes: segment.bytes as usize,
    })
}
