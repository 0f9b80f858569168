//! One end of a message whose data is on a device, packed there or on its way to the host.

use common::packing::{Packing, Staged};
use datatypes::Layout;

use super::buffer::Staging;
use super::engine::DeviceEngine;
use super::rows::BlockCopies;

/// Packs or unpacks on a device; what MPI packs is only staged.
pub struct DevicePacker {
    how: Packing,
    layout: Option<Layout>,
    blocks: u64,
    /// Byte of the array that corresponds to displacement 0.
    origin: i64,
    /// All that were created and not freed; the last one is used.
    programs: Vec<DeviceEngine>,
    copies: Option<BlockCopies>,
    staging: Option<Staging>,
}

impl DevicePacker {
    /// For a layout, if it is packed by one, and this number of packed bytes.
    pub fn new(how: Packing, layout: Option<(&Layout, i64)>, blocks: u64, bytes: usize) -> Self {
        let copies = layout.filter(|_| how == Packing::Staged(Staged::Copies));
        Self {
            how,
            layout: layout.map(|(layout, _)| layout.clone()),
            blocks,
            origin: layout.map_or(0, |(_, origin)| origin),
            programs: Vec::new(),
            copies: copies.map(|(layout, origin)| BlockCopies::new(layout, blocks, origin)),
            staging: matches!(how, Packing::Staged(_)).then(|| Staging::new(bytes)),
        }
    }

    /// The host memory that MPI uses in place of the wire buffer.
    #[inline]
    pub fn staging(&self) -> Option<*mut u8> {
        self.staging.as_ref().map(Staging::address)
    }

    /// Creates a program, if it packs with one.
    pub fn create(&mut self) {
        if let (Packing::Engine | Packing::Staged(Staged::Engine | Staged::Mapped), Some(layout)) =
            (self.how, &self.layout)
        {
            self.programs.push(DeviceEngine::new(layout, self.blocks, self.origin));
        }
    }

    /// Frees the one that was created last.
    pub fn free(&mut self) {
        self.programs.pop();
    }

    /// Gathers the bytes from an array to the wire buffer, or to where they are staged.
    ///
    /// # Safety
    /// Both are memory of the device with all these bytes, which nothing else uses.
    #[inline]
    pub unsafe fn pack(&self, array: *const u8, wire: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (self.how, self.programs.last(), &self.staging) {
                (Packing::Engine, Some(program), _) => program.pack(array, wire),
                (Packing::Staged(Staged::Mapped), Some(program), Some(staging)) => {
                    program.pack(array, staging.mapped());
                }
                (Packing::Staged(Staged::Engine), Some(program), Some(staging)) => {
                    program.pack(array, wire);
                    staging.fill_from(wire);
                }
                (Packing::Staged(Staged::Wire), _, Some(staging)) => staging.fill_from(wire),
                (Packing::Staged(Staged::Copies), _, Some(staging)) => {
                    self.copies.as_ref().expect("made for this packing").pack(array, staging.address());
                }
                _ => {}
            }
        }
    }

    /// Scatters the bytes from the wire buffer, or from where they are staged, to an array.
    ///
    /// # Safety
    /// As for [`DevicePacker::pack`].
    #[inline]
    pub unsafe fn unpack(&self, wire: *mut u8, array: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (self.how, self.programs.last(), &self.staging) {
                (Packing::Engine, Some(program), _) => program.unpack(wire, array),
                (Packing::Staged(Staged::Mapped), Some(program), Some(staging)) => {
                    program.unpack(staging.mapped(), array);
                }
                (Packing::Staged(Staged::Engine), Some(program), Some(staging)) => {
                    staging.copy_to(wire);
                    program.unpack(wire, array);
                }
                (Packing::Staged(Staged::Wire), _, Some(staging)) => staging.copy_to(wire),
                (Packing::Staged(Staged::Copies), _, Some(staging)) => {
                    self.copies.as_ref().expect("made for this packing").unpack(staging.address(), array);
                }
                _ => {}
            }
        }
    }
}
