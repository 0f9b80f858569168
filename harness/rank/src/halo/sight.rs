//! What has arrived when a rank has handed over all of its own: looked for in its memory, in exchanges that are not timed.

use apps::WireOrder;
use apps::halo::Field;

use super::links::{HaloMemory, Links};
use super::packing::How;

/// A share of a message of the first stage, by the last value of it.
struct Share {
    address: *const u8,
    expected: Vec<u8>,
    bytes: usize,
}

/// All shares that come in the first stage of one exchange, but for those that this rank sends to itself: they are copies
/// within its memory, and tell nothing of what travels.
pub struct Sight {
    shares: Vec<Share>,
}

// SAFETY: the addresses are only read from, by one thread.
unsafe impl Sync for Sight {}

impl Sight {
    /// Of a generation of the field, at a rank. Packed messages arrive in the wire buffer, others in the arrays.
    pub fn new(
        (rank, links): (usize, &Links),
        memory: &HaloMemory,
        field: &Field,
        generation: u64,
        how: How,
    ) -> Self {
        let order = if how == How::ByHand { WireOrder::Manual } else { WireOrder::Ddt };
        let links = links.stages.first().into_iter().flat_map(|stage| &stage.receives);
        let links = links.filter(|link| link.peer != rank);
        let parts = links
            .flat_map(|link| link.cut.parts.iter().zip(&link.cut.ranges).map(move |(p, r)| (link, p, r)));
        let shares = parts.filter_map(|(link, part, range)| {
            let (array, segment) = part.message(order).segments().last()?;
            let expected = field.last_value(array, segment.offset + segment.bytes as i64, generation)?;
            let end = match how {
                How::Not => {
                    memory.address(memory.displacements[array] + segment.offset + segment.bytes as i64)
                }
                How::ByHand | How::Compiled => memory.incoming.wrapping_add(link.wire.start + range.end),
            };
            let address = end.wrapping_sub(expected.len()).cast_const();
            Some(Share { address, expected, bytes: range.len() })
        });
        Self { shares: shares.collect() }
    }

    /// Bytes of the shares that are there now, and of all.
    pub fn look(&self) -> [f64; 2] {
        let is_there = |share: &&Share| {
            share.expected.iter().enumerate().all(|(i, &expected)| {
                // SAFETY: bytes of the arrays or the wire buffer. MPI may be writing them from elsewhere, hence volatile;
                // what is found says when something arrived, and decides nothing else.
                unsafe { share.address.wrapping_add(i).read_volatile() == expected }
            })
        };
        let bytes = |share: &Share| share.bytes as f64;
        [self.shares.iter().filter(is_there).map(bytes).sum(), self.shares.iter().map(bytes).sum()]
    }
}
