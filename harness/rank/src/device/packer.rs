//! One end of a message whose data is on a device, packed there or on its way to the host.

use apps::Side;
use common::packing::{Packing, Staged};
use datatypes::Layout;

use super::buffer::StagedBytes;
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
    /// The first byte of the packed message in its aligned buffer.
    begin: usize,
    /// The host memory that MPI uses in place of the wire buffer.
    staging: Option<StagedBytes>,
}

impl DevicePacker {
    /// For a layout, if it is packed by one, with the first byte of the packed message in its buffer, and if it is staged, its bytes.
    pub fn new(
        how: Packing,
        layout: Option<(&Layout, i64)>,
        blocks: u64,
        begin: usize,
        staging: Option<StagedBytes>,
    ) -> Self {
        let copies = layout.filter(|_| how == Packing::Staged(Staged::Copies));
        Self {
            how,
            layout: layout.map(|(layout, _)| layout.clone()),
            blocks,
            origin: layout.map_or(0, |(_, origin)| origin),
            programs: Vec::new(),
            begin,
            copies: copies.map(|(layout, origin)| BlockCopies::new(layout, blocks, origin)),
            staging,
        }
    }

    /// The host memory that MPI uses in place of the wire buffer.
    #[inline]
    pub fn staging(&self) -> Option<*mut u8> {
        self.staging.map(|staging| staging.address)
    }

    /// Creates a program, if it packs with one.
    pub fn create(&mut self) {
        if let (Packing::Engine | Packing::Staged(Staged::Engine | Staged::Mapped), Some(layout)) =
            (self.how, &self.layout)
        {
            self.programs.push(DeviceEngine::new(layout, self.blocks, self.origin, self.begin));
        }
    }

    /// Frees the one that was created last.
    pub fn free(&mut self) {
        self.programs.pop();
    }

    /// Gathers the bytes from an array to the wire buffer, or to where they are staged; or scatters them from there.
    ///
    /// # Safety
    /// Both are memory of the device with all these bytes, which nothing else uses.
    #[inline]
    pub unsafe fn run(&self, side: Side, array: *mut u8, wire: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (self.how, self.programs.last(), self.staging) {
                (Packing::Engine, Some(program), _) => program.run(side, array, wire),
                (Packing::Staged(Staged::Mapped), Some(program), Some(staging)) => {
                    program.run(side, array, staging.mapped);
                }
                (Packing::Staged(Staged::Engine), Some(program), Some(staging)) => match side {
                    Side::Send => {
                        program.run(side, array, wire);
                        staging.copy(side, wire);
                    }
                    Side::Receive => {
                        staging.copy(side, wire);
                        program.run(side, array, wire);
                    }
                },
                (Packing::Staged(Staged::Wire), _, Some(staging)) => staging.copy(side, wire),
                (Packing::Staged(Staged::Copies), _, Some(staging)) => {
                    let copies = self.copies.as_ref().expect("made for this packing");
                    copies.copy(side, array, staging.address);
                }
                _ => {}
            }
        }
    }
}
