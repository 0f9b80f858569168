//! What this rank sends and receives in each stage, and the memory that it does that with.

use std::ops::Range;

use apps::Arrays;
use apps::halo::{Cut, Face, HaloApp, Transfer};

use crate::memory::{POISON, Wire};
use crate::slots::Slot;

/// Bytes to which each message's place in a wire buffer is aligned: a cache line, so that threads that pack for two
/// neighbours share none.
const ALIGNMENT: usize = 64;

/// One message, seen from this rank.
pub struct Link {
    /// The other rank.
    pub peer: usize,
    /// Tells messages of the same two ranks apart.
    pub tag: usize,
    /// What is sent, or where it goes.
    pub face: Face,
    /// The same at the peer.
    pub far: Face,
    /// The face in a part per thread.
    pub cut: Cut,
    /// Its place in the wire buffer.
    pub wire: Range<usize>,
}

/// The messages of a stage.
pub struct StageLinks {
    pub sends: Vec<Link>,
    pub receives: Vec<Link>,
}

/// The messages of all stages.
pub struct Links {
    pub stages: Vec<StageLinks>,
    /// Bytes of the two wire buffers.
    outgoing_bytes: usize,
    incoming_bytes: usize,
}

impl Links {
    /// Those of `rank`, each cut for so many threads.
    pub fn new(app: &dyn HaloApp, rank: usize, threads: usize) -> Self {
        let (mut outgoing_bytes, mut incoming_bytes) = (0, 0);
        let link = |transfer: &Transfer, far: Face, end: &mut usize| {
            let start = end.next_multiple_of(ALIGNMENT);
            *end = start + transfer.face.bytes();
            let (peer, tag, face) = (transfer.peer, transfer.tag, transfer.face.clone());
            Link { peer, tag, cut: face.cut(threads), face, far, wire: start..*end }
        };
        let stages = app.stages(rank).into_iter().enumerate().map(|(s, stage)| StageLinks {
            sends: (stage.sends.iter())
                .map(|send| link(send, app.target(rank, s, send), &mut outgoing_bytes))
                .collect(),
            receives: (stage.receives.iter())
                .map(|receive| link(receive, app.source(rank, s, receive), &mut incoming_bytes))
                .collect(),
        });
        Self { stages: stages.collect(), outgoing_bytes, incoming_bytes }
    }
}

/// The memory of a halo: the application's arrays and the two wire buffers, the same for every method.
pub struct HaloMemory {
    /// Changed by one thread at a time, read by all while they pack.
    pub arrays: Slot<Arrays>,
    _wires: [Wire; 2],
    /// What is sent packed; a link's part is written by one thread.
    pub outgoing: *mut u8,
    /// What is received packed.
    pub incoming: *mut u8,
    /// Bytes from the start of array 0 to each array.
    pub displacements: Vec<i64>,
    /// Where array 0 starts in the arrays' memory.
    pub start: usize,
}

// SAFETY: threads write to parts of the wire buffers that are their own, which barriers and the links see to.
unsafe impl Sync for HaloMemory {}

impl HaloMemory {
    /// Allocates all, and writes every byte.
    pub fn new(app: &dyn HaloApp, rank: usize, links: &Links) -> Self {
        let mut arrays = Arrays::new(app.arrays(rank));
        arrays.memory_mut().fill(POISON);
        let mut wires = [links.outgoing_bytes, links.incoming_bytes].map(|bytes| Wire::new(bytes.max(1)));
        wires.iter_mut().for_each(|wire| wire.fill(POISON));
        let [outgoing, incoming] = wires.each_mut().map(|wire| wire.as_mut_ptr());
        let displacements = arrays.displacements();
        let start = if arrays.specs().is_empty() { 0 } else { arrays.place(0).start };
        Self { arrays: Slot::new(arrays), _wires: wires, outgoing, incoming, displacements, start }
    }

    /// Address of a byte of the arrays' memory that a datatype's displacement 0 stands for, given from array 0.
    pub fn address(&self, origin_bytes: i64) -> *mut u8 {
        // SAFETY: no reference is kept: the address is passed to MPI, which works between barriers of all threads.
        let base = unsafe { self.arrays.get() }.memory_mut().as_mut_ptr();
        base.wrapping_offset(self.start as isize + origin_bytes as isize)
    }

    /// Bytes of a wire buffer.
    ///
    /// # Safety
    /// Nobody else may use these bytes until the slice is gone.
    #[allow(
        clippy::mut_from_ref,
        reason = "that there is one reference at a time is what the caller vouches for"
    )]
    pub unsafe fn bytes(&self, buffer: *mut u8, range: Range<usize>) -> &mut [u8] {
        // SAFETY: a range of one of the buffers, which live as long as `self`, and the caller's alone.
        unsafe { std::slice::from_raw_parts_mut(buffer.wrapping_add(range.start), range.len()) }
    }
}
