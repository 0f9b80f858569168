//! What this rank sends and receives in each stage, and the memory that it does that with.

use std::ops::Range;

use apps::Arrays;
use apps::halo::{HaloApp, Transfer};
use apps::{Cut, Face};

use crate::handoff::Slot;
use crate::memory::{POISON, Region, Wire};

/// Bytes to which each message's place in a wire buffer is aligned: a cache line, so that threads that pack for two
/// neighbours share none.
const ALIGNMENT: usize = 64;

/// One message, seen from this rank.
pub struct Link {
    /// Rank of the other side on the grid.
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
    /// Whether loops were written for them by hand.
    pub has_loops: bool,
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
        Self { stages: stages.collect(), has_loops: app.has_loops(), outgoing_bytes, incoming_bytes }
    }
}

/// The memory of a halo: the application's arrays and the two wire buffers, the same for every method.
pub struct HaloMemory {
    /// Changed by one thread at a time, read by all while they pack.
    pub arrays: Slot<Arrays>,
    /// The arrays' memory. Taken once, like the two below: what MPI holds stays valid whatever is borrowed later.
    base: *mut u8,
    _wires: [Wire; 2],
    /// What is sent packed; a link's part is written by one thread.
    pub outgoing: Region,
    /// What is received packed.
    pub incoming: Region,
    /// Bytes from the start of array 0 to each array.
    pub displacements: Vec<i64>,
    /// Where array 0 starts in the arrays' memory.
    pub start: usize,
}

// SAFETY: the pointers are into memory that lives as long as `self` and has no other owner; whoever reads or writes through
// them does so in an unsafe block, and vouches there for being alone.
unsafe impl Sync for HaloMemory {}

impl HaloMemory {
    /// Allocates all, and writes every byte.
    pub fn new(app: &dyn HaloApp, rank: usize, links: &Links) -> Self {
        let mut arrays = Arrays::new(app.arrays(rank));
        arrays.memory_mut().fill(POISON);
        let wire_bytes = [links.outgoing_bytes, links.incoming_bytes].map(|bytes| bytes.max(1));
        let mut wires = wire_bytes.map(Wire::new);
        wires.iter_mut().for_each(|wire| wire.fill(POISON));
        // The last that is borrowed of the wire buffers as a whole.
        // SAFETY: they live as long as the memory that is made of them.
        let [outgoing, incoming] =
            wires.each_mut().map(|wire| unsafe { Region::new(wire.base(), wire.len()) });
        let displacements = arrays.displacements();
        let start = if arrays.specs().is_empty() { 0 } else { arrays.place(0).start };
        let base = arrays.base();
        Self { arrays: Slot::new(arrays), base, _wires: wires, outgoing, incoming, displacements, start }
    }

    /// Address of the arrays' memory.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Address of a byte of the arrays' memory that a datatype's displacement 0 stands for, given from array 0.
    pub fn address(&self, origin_bytes: i64) -> *mut u8 {
        self.base.wrapping_offset(self.start as isize + origin_bytes as isize)
    }
}
