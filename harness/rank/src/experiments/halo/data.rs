//! The data of an exchange: filled, changed from one exchange to the next, compared.

use apps::halo::{Field, HaloApp, Version};
use common::packing::Packing;

use super::method::Parts;
use super::stamps::{self, Shares, Stamps};
use crate::pattern::Pattern;

/// The data that a rank sends and expects to receive: in the arrays, or for the reference, which leaves the arrays
/// unchanged, in the wire buffers.
pub struct ExchangeData<'a> {
    parts: &'a Parts,
    field: Field,
    /// The stamps that change from exchange to exchange: in the arrays, and in the reference's messages.
    of_arrays: Stamps,
    of_messages: Stamps,
    /// The data of the last exchange; equal on all ranks.
    pub version: Version,
}

impl<'a> ExchangeData<'a> {
    /// The data of this process.
    pub fn new(app: &dyn HaloApp, parts: &'a Parts) -> Self {
        let Parts { links, memory, threads, .. } = parts;
        let field = Field::new(app, parts.rank);
        let of_arrays = Stamps::of_arrays(links, memory, &field, *threads);
        let of_messages = Stamps::of_messages(links, memory, *threads);
        Self { parts, field, of_arrays, of_messages, version: Version::from(0) }
    }

    /// The stamps that change from exchange to exchange.
    pub fn stamps(&self, is_reference: bool) -> &Stamps {
        if is_reference { &self.of_messages } else { &self.of_arrays }
    }

    /// The shares that can be observed in the receiver's memory before an exchange is over.
    pub fn early(&self, packing: Packing) -> Shares {
        let Parts { links, memory, .. } = self.parts;
        Shares::early(links, memory, &self.field, self.version.generation, packing, self.parts.rank)
    }

    /// Writes new data into the memory that a method sends, and poison into everything that it must not change. Returns
    /// the shares that will arrive.
    pub fn fill(&mut self, is_reference: bool) -> Shares {
        self.version = Version::from(self.version.generation + 1);
        let (generation, Parts { links, memory, .. }) = (self.version.generation, self.parts);
        // SAFETY: no other thread runs between exchanges.
        self.field.fill(unsafe { memory.arrays.get() }, generation);
        if !is_reference {
            return Shares::arrived(links, memory, &self.field, generation);
        }
        for link in links.stages.iter().flat_map(|stage| &stage.sends) {
            // SAFETY: as above; all that was sent is complete.
            let bytes = unsafe { memory.outgoing.part(link.wire.clone()) };
            self.wire_pattern(self.parts.rank, link.tag).write(0, bytes);
        }
        Shares::of_messages(links, memory, generation, |sender, tag, at, bytes| {
            self.wire_pattern(sender, tag).write(at, bytes)
        })
    }

    /// A description of the first error in the received data.
    pub fn mismatch(&self, is_reference: bool) -> Option<String> {
        let Parts { links, memory, .. } = self.parts;
        if !is_reference {
            // SAFETY: no other thread runs between exchanges.
            let checked = self.field.check(unsafe { memory.arrays.get() }, self.version);
            return checked.err().map(|mismatch| mismatch.to_string());
        }
        links.stages.iter().flat_map(|stage| &stage.receives).find_map(|link| {
            // SAFETY: as above; all messages have arrived.
            let bytes = unsafe { memory.incoming.part(link.wire.clone()) };
            stamps::take_off(bytes, self.version);
            let at = self.wire_pattern(link.peer, link.tag).first_difference(0, bytes)?;
            Some(format!("byte {at} of the message from rank {} with tag {}", link.peer, link.tag))
        })
    }

    /// The bytes of a message of the reference.
    fn wire_pattern(&self, sender: usize, tag: usize) -> Pattern {
        /// More than the directions of any exchange.
        const TAGS: usize = 64;
        Pattern::new(sender * TAGS + tag, self.version.generation as u32)
    }
}
