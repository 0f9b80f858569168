//! The messages of this rank in each stage, and their memory.

use std::ops::Range;

use apps::Arrays;
use apps::halo::{HaloApp, Transfer};
use apps::{Cut, Face, Side};
use common::model::conditions::MemoryKind;

use crate::device::{StagedBytes, Staging};
use crate::handoff::Slot;
use crate::memory::{Memory, Region};

/// Alignment in bytes of each message's part of a wire buffer: a cache line, so that threads that pack for
/// different neighbours do not share one.
const ALIGNMENT: usize = 64;

/// One message, seen from this rank.
pub struct HaloMessage {
    /// Rank of the other side on the grid.
    pub peer: usize,
    /// Distinguishes messages between the same two ranks.
    pub tag: usize,
    /// The direction in which it is sent, if that is along one dimension of the grid: the dimension, and whether upwards.
    pub along: Option<(usize, bool)>,
    /// The data to send, or the place to receive it.
    pub face: Face,
    /// The corresponding face at the peer.
    pub far: Face,
    /// The face divided into a part per thread.
    pub cut: Cut,
    /// Its part of the wire buffer.
    pub wire: Range<usize>,
    /// The start of its part of the receiver's wire buffer.
    pub far_start: usize,
}

impl HaloMessage {
    /// The part of the wire buffer for a thread's share.
    pub fn wire_of(&self, thread: usize) -> Range<usize> {
        let share = &self.cut.ranges[thread];
        self.wire.start + share.start..self.wire.start + share.end
    }
}

/// The messages of a stage.
pub struct StageLinks {
    pub sends: Vec<HaloMessage>,
    pub receives: Vec<HaloMessage>,
}

/// The messages of all stages.
pub struct Links {
    pub stages: Vec<StageLinks>,
    /// Whether they have hand-written loops.
    pub has_loops: bool,
    /// Bytes of the two wire buffers.
    outgoing_bytes: usize,
    incoming_bytes: usize,
}

impl Links {
    /// The messages of `rank`, each divided for this number of threads.
    pub fn new(app: &dyn HaloApp, rank: usize, threads: usize) -> Self {
        let (mut outgoing_bytes, mut incoming_bytes) = (0, 0);
        let link = |transfer: &Transfer, far: Face, far_start: Option<usize>, end: &mut usize| {
            let wire = placed(transfer, end);
            let far_start = far_start.unwrap_or(wire.start);
            let (peer, tag, face) = (transfer.peer, transfer.tag, transfer.face.clone());
            let along = app.along_grid(tag);
            HaloMessage { peer, tag, along, cut: face.cut(threads), face, far, wire, far_start }
        };
        let stages = app.stages(rank).into_iter().enumerate().map(|(s, stage)| {
            let send = |send| {
                let far_start = start_at_receiver(app, rank, s, send);
                link(send, app.target(rank, s, send), far_start, &mut outgoing_bytes)
            };
            let sends = stage.sends.iter().map(send).collect();
            let receive = |receive| link(receive, app.source(rank, s, receive), None, &mut incoming_bytes);
            StageLinks { sends, receives: stage.receives.iter().map(receive).collect() }
        });
        Self { stages: stages.collect(), has_loops: app.has_loops(), outgoing_bytes, incoming_bytes }
    }

    /// Number of sent messages.
    pub fn sent(&self) -> usize {
        self.stages.iter().map(|stage| stage.sends.len()).sum()
    }
}

/// The part of a wire buffer for a message, behind all others and the byte next to them, which nothing writes.
fn placed(transfer: &Transfer, end: &mut usize) -> Range<usize> {
    let start = end.next_multiple_of(ALIGNMENT);
    let wire = start..start + transfer.face.bytes();
    *end = wire.end + 1;
    wire
}

/// The place of a message that `rank` sends in a stage, in the wire buffer of its receiver.
fn start_at_receiver(app: &dyn HaloApp, rank: usize, stage: usize, send: &Transfer) -> Option<usize> {
    let mut end = 0;
    let stages = app.stages(send.peer);
    let all = stages.iter().enumerate().flat_map(|(s, stage)| stage.receives.iter().map(move |of| (s, of)));
    let mut placed = all.map(|(s, of)| ((s, of.peer, of.tag), placed(of, &mut end).start));
    placed.find_map(|(number, start)| (number == (stage, rank, send.tag)).then_some(start))
}

/// The memory of a halo, the same for every method, with addresses that are taken once: MPI's pointers stay valid whatever is borrowed later.
pub struct HaloMemory {
    /// Its arrays are changed by one thread at a time, and read by all threads while they pack.
    pub all: Slot<Memory>,
    /// All of the arrays' memory.
    pub all_arrays: Region,
    /// Packed data to send; a link's part is written by one thread.
    pub outgoing: Region,
    /// Packed data that was received.
    pub incoming: Region,
    /// The host memory for both wire buffers, if the data is not in usual memory.
    staging: Option<[Staging; 2]>,
    /// Offset of array 0 in the arrays' memory.
    pub start: usize,
}

// SAFETY: the pointers are into memory that lives as long as `self` and has no other owner; each read or
// write through them is in an unsafe block, which guarantees exclusive access.
unsafe impl Sync for HaloMemory {}

impl HaloMemory {
    /// Allocates everything, and writes every byte.
    pub fn new(app: &dyn HaloApp, rank: usize, links: &Links, kind: MemoryKind) -> Self {
        let wire_bytes = [links.outgoing_bytes, links.incoming_bytes].map(|bytes| bytes.max(1));
        let mut memory = Memory::with_wires(Arrays::new(app.arrays(rank)), true, wire_bytes, kind);
        let staging = (!kind.is_host()).then(|| wire_bytes.map(Staging::new));
        let [all_arrays, outgoing, incoming] = memory.regions();
        let start = if memory.arrays.specs().is_empty() { 0 } else { memory.arrays.place(0).start };
        Self { all: Slot::new(memory), all_arrays, outgoing, incoming, staging, start }
    }

    /// A changed byte next to packed messages. All are put back.
    ///
    /// # Safety
    /// Nothing is exchanged.
    pub unsafe fn stray_byte(&self, links: &Links) -> Option<String> {
        let messages = |of: fn(&StageLinks) -> &[HaloMessage]| {
            links.stages.iter().flat_map(of).map(|link| link.wire.clone())
        };
        // SAFETY: guaranteed by the caller.
        unsafe { self.all.get() }
            .stray_byte([messages(|stage| &stage.sends), messages(|stage| &stage.receives)])
    }

    /// The host memory of a wire buffer, if the data is not in usual memory.
    pub fn staging(&self, side: Side) -> Option<StagedBytes> {
        self.staging.as_ref().map(|staging| staging[usize::from(side == Side::Receive)].all)
    }

    /// Address of the byte that corresponds to a datatype's displacement 0, given relative to array 0.
    pub fn address(&self, origin_bytes: i64) -> *mut u8 {
        self.all_arrays.for_mpi().wrapping_offset(self.start as isize + origin_bytes as isize)
    }
}
