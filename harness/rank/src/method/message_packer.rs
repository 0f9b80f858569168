//! A whole message of a ping-pong or of the engine, packed and unpacked between the arrays and the wire buffers.

use apps::{Arrays, Side, WireOrder};
use common::packing::{Packing, Staged};

use super::Setup;
use crate::checked::CallError;
use crate::device::Staging;
use crate::memory::{Memory, Region, Wire};
use crate::own_loop::OwnLoop;
use crate::packing::Packer;
use crate::payload::Mismatch;

/// Packs and unpacks a whole message, between the arrays and the wire buffers of a [`Memory`].
pub struct MessagePacker<'a> {
    pub send: Packer<'a>,
    pub receive: Packer<'a>,
    message_bytes: usize,
    /// Bytes of the wire buffer to send that packing may need; 0 without such a buffer.
    pack_bytes: usize,
    /// Bytes of the received wire buffer; 0 if there is none.
    unpack_bytes: usize,
    /// The host memory of staged ends.
    _staging: [Option<Staging>; 2],
}

impl<'a> MessagePacker<'a> {
    /// For one setup and its memory.
    pub fn new(
        setup: &Setup<'a>,
        memory: &mut Memory,
        send: Packing,
        receive: Packing,
        order: WireOrder,
    ) -> anyhow::Result<Self> {
        let message_bytes = setup.message_bytes;
        let mut send = message_end(setup, &memory.arrays, send, Side::Send, order)?;
        let receive = message_end(setup, &memory.arrays, receive, Side::Receive, order)?;
        let pack_bytes = if send.how().is_typed() { 0 } else { send.pack_bytes(message_bytes)? };
        let unpack_bytes = if receive.how().is_typed() { 0 } else { message_bytes };
        anyhow::ensure!(
            pack_bytes <= memory.outgoing.len(),
            "MPI_Pack_size asks for {pack_bytes} bytes for a message of {message_bytes}"
        );
        for (how, copy) in [send.how(), receive.how()].into_iter().zip(&mut memory.copies) {
            if how == Packing::Copied && copy.is_empty() {
                *copy = Wire::new(message_bytes);
            }
        }
        let staging = [(&send, pack_bytes), (&receive, unpack_bytes)]
            .map(|(end, bytes)| matches!(end.how(), Packing::Staged(_)).then(|| Staging::new(bytes)));
        let staged = staging.each_ref().map(|staging| staging.as_ref().map(|staging| staging.all));
        let [send, receive] = match memory.is_host() {
            true => [send, receive],
            false => [send.on_device(0, staged[0]), receive.on_device(0, staged[1])],
        };
        Ok(Self { send, receive, message_bytes, pack_bytes, unpack_bytes, _staging: staging })
    }

    /// Creates the datatypes or programs of both ends.
    pub fn create(&mut self) -> Result<(), CallError> {
        self.send.create()?;
        self.receive.create()
    }

    /// Frees those that were created last.
    pub fn free(&mut self) -> Result<(), CallError> {
        self.send.free()?;
        self.receive.free()
    }

    #[inline]
    pub fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.send.is_on_device() {
            let (base, wire) = (memory.at(0), (memory.outgoing.address(), self.pack_bytes));
            // SAFETY: the case's memory, where the message is, as verified by apps' conformance tests and before timing.
            return unsafe { self.send.run_on_device(Side::Send, (&memory.arrays, base), wire) };
        }
        if self.send.how() == Packing::Copied {
            memory.copies[0].copy_from_slice(&memory.outgoing[..self.message_bytes]);
        }
        self.send.pack(&memory.arrays, &mut memory.outgoing[..self.pack_bytes])
    }

    #[inline]
    pub fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.receive.is_on_device() {
            let (base, wire) = (memory.at(0), (memory.incoming.address(), self.unpack_bytes));
            // SAFETY: as in `pack`.
            return unsafe { self.receive.run_on_device(Side::Receive, (&memory.arrays, base), wire) };
        }
        if self.receive.how() == Packing::Copied {
            memory.incoming[..self.message_bytes].copy_from_slice(&memory.copies[1]);
        }
        self.receive.unpack(&memory.incoming[..self.unpack_bytes], &mut memory.arrays)
    }

    /// A changed byte next to the packed data. All are put back.
    pub fn stray_byte(&self, memory: &mut Memory) -> Option<Mismatch> {
        memory.stray_byte([self.pack_bytes, self.unpack_bytes].map(|bytes| Some(0..bytes)))
    }

    /// The memory with the packed message to be sent, and that with the received one.
    pub fn wires(&self, memory: &mut Memory) -> [Region; 2] {
        let of = |packer: &Packer<'_>, bytes, wire| match packer.staging() {
            // SAFETY: memory for as many bytes, which exists as long as the method.
            Some(address) => unsafe { Region::new(address, bytes) },
            None => wire,
        };
        let [outgoing, incoming] = memory.wires();
        [of(&self.send, self.pack_bytes, outgoing), of(&self.receive, self.unpack_bytes, incoming)]
    }

    /// Address of the packed message to be sent, or of the place where it is received.
    #[inline]
    pub fn packed(&self, side: Side, memory: &mut Memory) -> *mut u8 {
        let [before, after] = &mut memory.copies;
        let (packer, copy, wire) = match side {
            Side::Send => (&self.send, before, &mut memory.outgoing),
            Side::Receive => (&self.receive, after, &mut memory.incoming),
        };
        match packer.how() {
            Packing::Copied => copy.base(),
            _ => packer.staging().unwrap_or_else(|| wire.address()),
        }
    }
}

/// One end of a ping-pong's message. A hand-written loop only has the order [`WireOrder::Manual`].
fn message_end<'a>(
    setup: &Setup<'a>,
    arrays: &Arrays,
    how: Packing,
    side: Side,
    order: WireOrder,
) -> Result<Packer<'a>, CallError> {
    let is_by_layout = match how {
        Packing::Mpi | Packing::Looped | Packing::Engine => true,
        Packing::Staged(staged) => staged != Staged::Wire,
        _ => false,
    };
    let endpoint = is_by_layout.then(|| setup.endpoint(side, order, arrays));
    let own = || OwnLoop::new(setup.app.face(side), !setup.app.has_loops, 0);
    Packer::new(how, setup.app.face(side), setup.comm, setup.blocks(), endpoint, own)
}
