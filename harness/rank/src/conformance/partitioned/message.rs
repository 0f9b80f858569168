//! Partitioned messages with their memory: filled partition by partition, poisoned, compared byte by byte.

use std::cell::RefCell;

use datatypes::{Element, Layout, Segment};

use crate::checked::partitioned::Partitioned;
use crate::checked::{CallError, Comm, Datatype, Envelope, Recipe};
use crate::memory::{POISON, Region};
use crate::payload::{Places, Run, Runs, Version, Wrong, source_of};

/// Value of the gaps in a sender's data. It differs from the receiver's poison, and must not reach the receiver's gaps.
const GAP: u8 = 0x5A;

/// Bytes after the last partition that must not change.
const MARGIN: usize = 64;

/// Partitions with `count` elements of a datatype each.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of partitions.
    pub partitions: usize,
    /// Elements of the datatype in each partition.
    pub count: usize,
    /// The datatype of an element.
    pub layout: Layout,
}

impl Shape {
    /// Partitions with `count` elements of a datatype each.
    pub fn new(partitions: usize, count: usize, layout: &Layout) -> Self {
        Self { partitions, count, layout: layout.clone() }
    }

    /// Partitions with this number of bytes each.
    pub fn bytes(partitions: usize, bytes: usize) -> Self {
        Self::new(partitions, bytes, &Element::Byte.into())
    }

    /// Distance from the beginning of a partition to that of the next.
    fn stride_bytes(&self) -> usize {
        self.count * self.layout.extent() as usize
    }
}

/// The memory of a message. It is never freed, because MPI may still use the memory of a failed request.
pub struct Content {
    shape: Shape,
    /// The segments of one partition, in ascending order.
    segments: Vec<Segment>,
    /// The rank whose data it is.
    sender: usize,
    /// Never freed.
    memory: Region,
}

// SAFETY: memory without an owner; unsafe functions read or write it, and their callers guarantee exclusive access.
unsafe impl Sync for Content {}

impl Content {
    fn new(shape: &Shape, sender: usize, byte: u8) -> Self {
        let segments =
            Layout::contiguous(shape.count as i64, &shape.layout).expect("a layout of a check").flatten();
        let bytes = shape.partitions * shape.stride_bytes() + MARGIN;
        let start = Box::leak(vec![byte; bytes].into_boxed_slice()).as_mut_ptr();
        // SAFETY: it is never freed.
        let memory = unsafe { Region::new(start, bytes) };
        Self { shape: shape.clone(), segments, sender, memory }
    }

    /// The data of a partition, in the order in which it is sent.
    fn runs(&self, partition: usize) -> Runs {
        let (at, place) = (
            partition * self.shape.stride_bytes(),
            partition * self.shape.count * self.shape.layout.size() as usize,
        );
        Runs::from_runs(self.segments.iter().scan(place, move |place, segment| {
            let bytes = segment.bytes as usize;
            let source = source_of(self.sender, 0, *place);
            *place += bytes;
            Some(Run { at: at + segment.offset as usize, bytes, source })
        }))
    }

    /// # Safety
    /// MPI and other threads do not use the partition as long as the places are used.
    unsafe fn places(&self, partition: usize) -> Places {
        // SAFETY: guaranteed by the caller.
        unsafe { Places::new(self.memory, self.runs(partition)) }
    }

    /// Writes the data of a partition.
    ///
    /// # Safety
    /// The partition is not ready, so MPI does not read it, and no other thread uses it.
    pub unsafe fn fill(&self, partition: usize, version: Version) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.places(partition) }.write(version);
    }

    /// Whether the data of a partition is right, and its gaps unchanged.
    ///
    /// # Safety
    /// The partition has arrived, so MPI does not write it any more, and no other thread writes it.
    pub unsafe fn compare(&self, partition: usize, version: Version) -> Result<(), String> {
        // SAFETY: guaranteed by the caller.
        let data = unsafe { self.places(partition) };
        if let Some(Wrong { at, expected, found }) = data.wrong(version, &[]) {
            let state = if found == POISON { "as it was before" } else { "something else" };
            return Err(format!(
                "partition {partition}, byte {at}: {expected:#04x} expected, {found:#04x} found, {state}"
            ));
        }
        let begin = partition * self.shape.stride_bytes();
        let mut next = begin;
        for run in data.runs.iter() {
            // SAFETY: guaranteed by the caller.
            unsafe { self.untouched(next, run.at) }?;
            next = run.at + run.bytes;
        }
        // SAFETY: as above.
        unsafe { self.untouched(next, begin + self.shape.stride_bytes()) }
    }

    /// Whether bytes that are not part of the message are unchanged.
    ///
    /// # Safety
    /// Neither MPI nor any thread writes there.
    unsafe fn untouched(&self, from: usize, to: usize) -> Result<(), String> {
        // SAFETY: guaranteed by the caller.
        let changed = unsafe { self.memory.part(from..to) }.iter().position(|&byte| byte != POISON);
        changed.map_or(Ok(()), |at| Err(format!("byte {}, which is not data, was written", from + at)))
    }

    /// Whether all of the memory is right.
    ///
    /// # Safety
    /// As for [`Content::compare`], for all partitions.
    unsafe fn whole(&self, version: Version) -> Result<(), String> {
        // SAFETY: guaranteed by the caller.
        (0..self.shape.partitions).try_for_each(|partition| unsafe { self.compare(partition, version) })?;
        // SAFETY: as above; it is after all partitions.
        unsafe { self.untouched(self.memory.bytes() - MARGIN, self.memory.bytes()) }
    }
}

/// One end of a request, with its memory.
pub struct PartitionedMessage<const IS_SENT: bool> {
    /// The data to send, or the memory to receive into.
    pub content: Content,
    /// Sent partitions that were written and marked ready since the message was started or completed.
    marked: RefCell<Vec<bool>>,
    /// The partitioned request.
    pub message: Partitioned,
    /// The datatype of an element, which lives as long as the request.
    pub datatype: Datatype,
}

/// A partitioned send, with its memory.
pub type Outgoing = PartitionedMessage<true>;
/// A partitioned receive, with its memory.
pub type Incoming = PartitionedMessage<false>;

impl<const IS_SENT: bool> PartitionedMessage<IS_SENT> {
    /// `MPI_Psend_init` or `MPI_Precv_init` for the message of the world's rank `sender`.
    pub fn new(
        comm: &Comm,
        peer: usize,
        tag: usize,
        shape: &Shape,
        sender: usize,
    ) -> Result<Self, CallError> {
        let has_gaps = shape.layout.extent() as u64 != shape.layout.size();
        // Received memory is poisoned at each start.
        let content = Content::new(shape, sender, if IS_SENT && has_gaps { GAP } else { 0 });
        let datatype = Recipe::new(&shape.layout, comm)?.create()?;
        let envelope = Envelope { count: shape.count, datatype: &datatype, peer, tag, comm };
        // SAFETY: the memory is never freed; a sent partition is not written between ready and completion, a
        // received one is not read before it has arrived.
        let message =
            unsafe { Partitioned::new(IS_SENT, content.memory.start(), shape.partitions, envelope)? };
        let marked = RefCell::new(vec![false; shape.partitions]);
        Ok(Self { content, marked, message, datatype })
    }

    pub fn partitions(&self) -> usize {
        self.content.shape.partitions
    }

    /// `MPI_Wait`.
    pub fn wait(&mut self) -> Result<(), CallError> {
        self.message.request().wait()?;
        self.marked.get_mut().fill(false);
        Ok(())
    }

    /// `MPI_Request_free`.
    pub fn free(self) -> Result<(), CallError> {
        self.message.free()?;
        self.datatype.free()
    }
}

impl Outgoing {
    /// `MPI_Start`.
    pub fn start(&mut self) -> Result<(), CallError> {
        self.message.request().start()?;
        self.marked.get_mut().fill(false);
        Ok(())
    }

    /// Writes a partition's data, then marks it ready.
    ///
    /// # Panics
    /// If the partition is already ready, because MPI may be reading it.
    pub fn ready(&self, partition: usize, generation: u32) -> Result<(), CallError> {
        let was_marked = std::mem::replace(&mut self.marked.borrow_mut()[partition], true);
        assert!(!was_marked, "partition {partition} is written a second time");
        // SAFETY: not ready yet; no other thread uses this message, because requests stay with their thread.
        unsafe { self.content.fill(partition, Version::of_fill(generation)) };
        self.message.ready(partition)
    }

    /// Does this for all partitions from `first` on.
    pub fn ready_from(&self, first: usize, generation: u32) -> Result<(), CallError> {
        (first..self.partitions()).try_for_each(|partition| self.ready(partition, generation))
    }
}

impl Incoming {
    /// Poisons the memory, then `MPI_Start`.
    pub fn start(&mut self) -> Result<(), CallError> {
        // SAFETY: a request is not active before it is started.
        unsafe { self.poison() };
        self.message.request().start()
    }

    /// Overwrites the memory, so that data that does not arrive is detected.
    ///
    /// # Safety
    /// The message is not active.
    pub unsafe fn poison(&mut self) {
        // SAFETY: guaranteed by the caller: the memory is ours.
        unsafe { self.content.memory.part(0..self.content.memory.bytes()) }.fill(POISON);
    }

    /// Whether the message has the data of a generation.
    ///
    /// # Safety
    /// It is complete.
    pub unsafe fn compare(&self, generation: u32) -> Result<(), String> {
        // SAFETY: MPI does not write the memory of a complete message, and requests stay with their thread.
        unsafe { self.content.whole(Version::of_fill(generation)) }
    }

    /// Whether nothing was written from a partition on.
    ///
    /// # Safety
    /// The message is complete.
    pub unsafe fn untouched_from(&self, partition: usize) -> Result<(), String> {
        // SAFETY: as above.
        unsafe {
            self.content.untouched(partition * self.content.shape.stride_bytes(), self.content.memory.bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_compares_and_what_was_not_does_not() {
        let layout = Layout::vector(2, 1, 2, &Element::Double.into()).unwrap();
        let content = Content::new(&Shape::new(3, 2, &layout), 1, POISON);
        let version = Version::of_fill(5);
        // SAFETY: here and below, no other code uses this memory.
        let fill = |partition| unsafe { content.fill(partition, version) };
        // SAFETY: as above.
        let compare = |partition| unsafe { content.compare(partition, version) };
        // SAFETY: as above.
        let whole = |version| unsafe { content.whole(version) };
        (0..2).for_each(fill);
        assert_eq!(compare(0), Ok(()));
        assert_eq!(compare(1), Ok(()));
        let wrong = compare(2).unwrap_err();
        assert!(wrong.starts_with("partition 2, byte 96:") && wrong.contains("before"), "{wrong}");
        fill(2);
        assert_eq!(whole(version), Ok(()));
        assert!(whole(Version::of_fill(6)).is_err(), "another generation");
        // The gap of the first vector.
        // SAFETY: as above.
        let gap = unsafe { content.memory.part(8..9) };
        gap[0] = 0;
        assert_eq!(whole(version), Err("byte 8, which is not data, was written".to_owned()));
    }
}
