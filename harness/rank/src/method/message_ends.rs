//! The ends of a method's messages, packed or as datatypes: the whole message, its parts, or the blocks of an all-to-all.

use std::ops::Range;

use apps::{Arrays, Piece, Side, WireOrder};
use common::kinds::pingpong::descriptions::described;
use common::kinds::pingpong::parts::Parting;
use common::packing::{Ends, Packing};
use datatypes::{Layout, Placed};

use super::Setup;
use super::message_packer::MessagePacker;
use crate::carrier::MessageData;
use crate::checked::large::check_count;
use crate::checked::{CallError, Count, Datatype};
use crate::memory::Memory;
use crate::spans::spans;

pub struct MessageEnd {
    /// The array whose start the data's offset counts from; `None` for a wire buffer.
    array: Option<usize>,
    /// Bytes from the block of a peer to the next one's.
    pub extent: i64,
    pub data: MessageData,
}

impl MessageEnd {
    /// The byte of its memory that corresponds to displacement 0 in the block of `peer`. It may be outside,
    /// as a negative number that wraps.
    #[inline]
    pub fn offset(&self, arrays: &Arrays, peer: usize) -> usize {
        let start = self.array.map_or(0, |array| arrays.place(array).start);
        start.wrapping_add_signed((self.data.offset + peer as i64 * self.extent) as isize)
    }

    /// The address of that byte, if this is the wire buffer.
    #[inline]
    pub fn address(&self, memory: &mut Memory, wire: *mut u8, peer: usize) -> *mut u8 {
        let offset = self.offset(&memory.arrays, peer);
        if self.array.is_some() { memory.at(offset) } else { wire.wrapping_add(offset) }
    }

    pub fn is_in_arrays(&self) -> bool {
        self.array.is_some()
    }

    /// This number of elements of a layout in array 0. Adjacent values are a count of their predefined type, as a user would write them.
    fn part(setup: &Setup<'_>, of: &Placed, origin: i64, count: u64) -> Result<Self, CallError> {
        let start = origin + of.displacement;
        let mut runs = of.layout.runs();
        let data = match (runs.next(), runs.next(), count) {
            (Some(run), None, 1) => {
                let datatype = Datatype::predefined(run.element);
                MessageData::adjacent(start + run.offset, run.count as usize, datatype)
            }
            _ => MessageData::derived(start, count as usize, &of.layout, setup.comm)?,
        };
        Ok(Self { array: Some(0), extent: 0, data })
    }
}

/// All messages of one way, with the packers of the message.
pub struct MessageEnds<'a> {
    pub packer: MessagePacker<'a>,
    /// One, unless the message is parted.
    pub sends: Vec<MessageEnd>,
    pub receives: Vec<MessageEnd>,
}

impl<'a> MessageEnds<'a> {
    /// A message that is packed and unpacked in these ways, for this function of MPI and its form for large counts.
    pub fn new(
        setup: &Setup<'a>,
        memory: &mut Memory,
        (send, receive): (Packing, Packing),
        ends: Ends,
        (call, large): (&'static str, &'static str),
    ) -> anyhow::Result<Self> {
        let packer = MessagePacker::new(setup, memory, send, receive, ends.order)?;
        let blocks = setup.blocks();
        let bytes = setup.message_bytes / blocks;
        let end = |how: Packing, side| -> Result<Vec<MessageEnd>, CallError> {
            if how.is_typed() {
                let Piece { array, origin_bytes, layout } = setup.endpoint(side, ends.order, &memory.arrays);
                let layout =
                    if let Packing::Equivalent(way) = how { described(way, &layout) } else { layout };
                let data = MessageData::derived(origin_bytes, 1, &layout, setup.comm)?;
                return Ok(vec![MessageEnd { array: Some(array), extent: layout.extent(), data }]);
            }
            let data = match (how, send) {
                (Packing::OneValue, _) => {
                    let element = Layout::named(setup.element);
                    let layout =
                        Layout::contiguous(setup.block_elements(), &element).expect("a count that fits");
                    MessageData::derived(0, 1, &layout, setup.comm)?
                }
                (_, Packing::Mpi) => MessageData::adjacent(0, bytes, Datatype::packed()),
                _ => {
                    let count = setup.block_elements() as usize;
                    MessageData::adjacent(0, count, Datatype::predefined(setup.element))
                }
            };
            check_count(call, large, data.count as Count)?;
            Ok(vec![MessageEnd { array: None, extent: bytes as i64, data }])
        };
        let (sends, mut receives) = (end(send, Side::Send)?, end(receive, Side::Receive)?);
        // If the application receives directly into its array, so do the methods that unpack without MPI.
        if receive.packs() && !ends.unpacks {
            let message = setup.app.message(Side::Receive, ends.order);
            if let Some(span) = spans(&message, &memory.arrays).next() {
                receives[0].array = Some(0);
                receives[0].data.offset = span.offset as i64 - memory.arrays.place(0).start as i64;
            }
        }
        Ok(Self { packer, sends, receives })
    }

    /// The datatype of a pair's message, divided at the same places of the packed stream at both ends. Also
    /// returns the packed bytes of each message.
    pub fn parted(
        setup: &Setup<'a>,
        memory: &mut Memory,
        parting: Parting,
    ) -> anyhow::Result<(Self, Vec<Range<usize>>)> {
        let places = parting.places(setup.app);
        let places = places
            .map_err(|reason| anyhow::anyhow!("the message cannot be divided by {parting:?}: {reason}"))?;
        let typed = Packing::Datatype;
        let packer = MessagePacker::new(setup, memory, typed, typed, WireOrder::Ddt)?;
        let parts = |side: Side| -> Result<Vec<MessageEnd>, CallError> {
            let Piece { origin_bytes, layout, .. } = setup.endpoint(side, WireOrder::Ddt, &memory.arrays);
            if let Some(repetition) = layout.repetition().filter(|_| parting == Parting::Count) {
                return Ok(vec![MessageEnd::part(setup, &repetition.one, origin_bytes, repetition.count)?]);
            }
            let parts = places.windows(2).map(|part| {
                let part = layout.cut(part[0]..part[1]).expect("part of a layout that MPI can describe");
                MessageEnd::part(setup, &part, origin_bytes, 1)
            });
            parts.collect()
        };
        let (sends, receives) = (parts(Side::Send)?, parts(Side::Receive)?);
        for end in sends.iter().chain(&receives) {
            check_count("MPI_Send", "MPI_Send_c", end.data.count as Count)?;
        }
        let messages = places.windows(2).map(|part| part[0] as usize..part[1] as usize).collect();
        Ok((Self { packer, sends, receives }, messages))
    }

    /// Addresses at which the first sent and the first received message begin.
    #[inline]
    pub fn addresses(&self, memory: &mut Memory) -> [*mut u8; 2] {
        let [outgoing, incoming] = [Side::Send, Side::Receive].map(|side| self.packer.packed(side, memory));
        [self.sends[0].address(memory, outgoing, 0), self.receives[0].address(memory, incoming, 0)]
    }

    fn data(&mut self) -> impl Iterator<Item = &mut MessageData> {
        self.sends.iter_mut().chain(&mut self.receives).map(|end| &mut end.data)
    }

    /// Whether there are derived datatypes.
    pub fn is_derived(&self) -> bool {
        self.sends.iter().chain(&self.receives).any(|end| end.data.is_derived())
    }

    /// Creates the datatypes and programs of both ends.
    pub fn create(&mut self) -> Result<(), CallError> {
        self.packer.create()?;
        self.data().try_for_each(MessageData::create)
    }

    /// Frees those that were created last.
    pub fn free(&mut self) -> Result<(), CallError> {
        self.packer.free()?;
        self.data().try_for_each(MessageData::free)
    }
}
