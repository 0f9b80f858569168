//! Partitioned messages with their memory: filled partition by partition, poisoned, compared byte by byte.

use std::marker::PhantomData;

use datatypes::{Element, Layout, Segment};

use crate::checked::partitioned::Partitioned;
use crate::checked::{CallError, Comm, Datatype, Envelope, Recipe};
use crate::memory::POISON;
use crate::pattern::Pattern;

/// What lies between the data of a sender: other than the poison of a receiver, whose gaps it must not reach.
const GAP: u8 = 0x5A;

/// Bytes behind the last partition that must stay as they are.
const MARGIN: usize = 64;

/// Partitions of `count` of a datatype each.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How many.
    pub partitions: usize,
    /// Of the datatype in each.
    pub count: usize,
    /// The datatype.
    pub layout: Layout,
}

impl Shape {
    /// Partitions of `count` of a datatype each.
    pub fn new(partitions: usize, count: usize, layout: &Layout) -> Self {
        Self { partitions, count, layout: layout.clone() }
    }

    /// Partitions of bytes.
    pub fn bytes(partitions: usize, bytes: usize) -> Self {
        Self::new(partitions, bytes, &Element::Byte.into())
    }

    /// From the beginning of a partition to that of the next.
    fn stride_bytes(&self) -> usize {
        self.count * self.layout.extent() as usize
    }

    /// Data of a partition.
    fn data_bytes(&self) -> usize {
        self.count * self.layout.size() as usize
    }
}

/// The memory of a message. It is never given back: MPI may still use what belongs to a request that has failed.
pub struct Content {
    shape: Shape,
    /// Of one partition, in ascending order.
    segments: Vec<Segment>,
    /// Valid for reads and writes of `bytes`, for ever.
    start: *mut u8,
    bytes: usize,
}

// SAFETY: memory without an owner; who writes to it vouches for being alone there.
unsafe impl Send for Content {}
// SAFETY: likewise.
unsafe impl Sync for Content {}

impl Content {
    fn new(shape: &Shape, byte: u8) -> Self {
        let segments =
            Layout::contiguous(shape.count as i64, &shape.layout).expect("a layout of a probe").flatten();
        let bytes = shape.partitions * shape.stride_bytes() + MARGIN;
        let start = Box::leak(vec![byte; bytes].into_boxed_slice()).as_mut_ptr();
        Self { shape: shape.clone(), segments, start, bytes }
    }

    /// Part of the memory, to write to.
    ///
    /// # Safety
    /// Nobody else, MPI included, may use these bytes meanwhile.
    #[expect(clippy::mut_from_ref, reason = "parts of the memory belong to different users at the same time")]
    unsafe fn part(&self, offset: usize, bytes: usize) -> &mut [u8] {
        assert!(offset + bytes <= self.bytes);
        // SAFETY: within the memory, and the caller vouches for being alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(offset), bytes) }
    }

    /// Offset in the memory, length, and place in the stream of data, of each segment of a partition.
    fn places(&self, partition: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let (at, place) = (partition * self.shape.stride_bytes(), partition * self.shape.data_bytes());
        self.segments.iter().scan(place, move |place, segment| {
            let bytes = segment.bytes as usize;
            let here = *place;
            *place += bytes;
            Some((at + segment.offset as usize, bytes, here))
        })
    }

    /// Writes the data of a partition, which is not ready yet.
    pub fn fill(&self, partition: usize, pattern: Pattern) {
        for (offset, bytes, place) in self.places(partition) {
            // SAFETY: MPI reads no partition that is not ready, and each is one thread's.
            pattern.write(place, unsafe { self.part(offset, bytes) });
        }
    }

    /// Whether the data of a partition, which has arrived, is right, and its gaps untouched.
    pub fn compare(&self, partition: usize, pattern: Pattern) -> Result<(), String> {
        let begin = partition * self.shape.stride_bytes();
        let mut next = begin;
        for (offset, bytes, place) in self.places(partition) {
            self.untouched(next, offset)?;
            // SAFETY: MPI leaves alone what has arrived.
            let found = unsafe { self.part(offset, bytes) };
            if let Some(at) = pattern.first_difference(place, found) {
                let (place, found) = (offset + at - place, found[at - place]);
                let state = if found == POISON { "as it was before" } else { "something else" };
                return Err(format!(
                    "partition {partition}, byte {place}: {:#04x} expected, {found:#04x} found, {state}",
                    pattern.byte(at)
                ));
            }
            next = offset + bytes;
        }
        self.untouched(next, begin + self.shape.stride_bytes())
    }

    fn untouched(&self, from: usize, to: usize) -> Result<(), String> {
        // SAFETY: no data of the message; MPI has no business there.
        let changed = unsafe { self.part(from, to - from) }.iter().position(|&byte| byte != POISON);
        changed.map_or(Ok(()), |at| Err(format!("byte {}, which is no data, was written to", from + at)))
    }

    fn whole(&self, pattern: Pattern) -> Result<(), String> {
        (0..self.shape.partitions).try_for_each(|partition| self.compare(partition, pattern))?;
        self.untouched(self.bytes - MARGIN, self.bytes)
    }
}

/// The datatype of a shape.
fn datatype(shape: &Shape) -> Result<Datatype, CallError> {
    Recipe::new(&shape.layout)?.create()
}

/// A request with its memory, at one of its ends.
pub struct Message<End> {
    /// What is sent, or where it arrives.
    pub content: Content,
    /// The request.
    pub message: Partitioned,
    /// Of its elements.
    pub datatype: Datatype,
    sender: usize,
    end: PhantomData<End>,
}

/// The end that sends.
pub struct Sends;
/// The end that receives.
pub struct Receives;

/// A partitioned send.
pub type Outgoing = Message<Sends>;
/// A partitioned receive.
pub type Incoming = Message<Receives>;

impl<End> Message<End> {
    /// How many partitions it has.
    pub fn partitions(&self) -> usize {
        self.content.shape.partitions
    }

    /// What travels in a generation.
    pub fn pattern(&self, generation: u32) -> Pattern {
        Pattern::new(self.sender, generation)
    }

    /// `MPI_Wait`.
    pub fn wait(&mut self) -> Result<(), CallError> {
        self.message.request().wait()
    }

    /// `MPI_Request_free`.
    pub fn free(self) -> Result<(), CallError> {
        self.message.free()?;
        self.datatype.free()
    }
}

impl Outgoing {
    /// `MPI_Psend_init` on the rank `sender` of the world.
    pub fn new(
        comm: &Comm,
        peer: usize,
        tag: usize,
        shape: &Shape,
        sender: usize,
    ) -> Result<Self, CallError> {
        let has_gaps = shape.layout.extent() as u64 != shape.layout.size();
        let (content, datatype) = (Content::new(shape, if has_gaps { GAP } else { 0 }), datatype(shape)?);
        let envelope = Envelope { count: shape.count, datatype: &datatype, peer, tag, comm };
        // SAFETY: the memory is never given back, and a partition is not written to between ready and complete.
        let message = unsafe { Partitioned::send(content.start, shape.partitions, envelope)? };
        Ok(Self { content, message, datatype, sender, end: PhantomData })
    }

    /// `MPI_Start`.
    pub fn start(&mut self) -> Result<(), CallError> {
        self.message.request().start()
    }

    /// Writes a partition's data, then marks it ready.
    pub fn ready(&self, partition: usize, generation: u32) -> Result<(), CallError> {
        self.content.fill(partition, self.pattern(generation));
        self.message.ready(partition)
    }

    /// All that are left from `first` on.
    pub fn ready_from(&self, first: usize, generation: u32) -> Result<(), CallError> {
        (first..self.partitions()).try_for_each(|partition| self.ready(partition, generation))
    }
}

impl Incoming {
    /// `MPI_Precv_init` of what rank `sender` of the world sends.
    pub fn new(
        comm: &Comm,
        peer: usize,
        tag: usize,
        shape: &Shape,
        sender: usize,
    ) -> Result<Self, CallError> {
        // Poisoned at each start.
        let (content, datatype) = (Content::new(shape, 0), datatype(shape)?);
        let envelope = Envelope { count: shape.count, datatype: &datatype, peer, tag, comm };
        // SAFETY: the memory is never given back, and a partition is not looked at before it has arrived.
        let message = unsafe { Partitioned::receive(content.start, shape.partitions, envelope)? };
        Ok(Self { content, message, datatype, sender, end: PhantomData })
    }

    /// Poisons the memory, then `MPI_Start`.
    pub fn start(&mut self) -> Result<(), CallError> {
        self.poison();
        self.message.request().start()
    }

    /// Makes what does not arrive look wrong.
    pub fn poison(&mut self) {
        // SAFETY: the request is not active, so that the memory is ours.
        unsafe { self.content.part(0, self.content.bytes) }.fill(POISON);
    }

    /// Whether the message, which is complete, is the one of a generation.
    pub fn compare(&self, generation: u32) -> Result<(), String> {
        self.content.whole(self.pattern(generation))
    }

    /// Whether only the first `partitions`, and of the next nothing, have been written to.
    pub fn untouched_from(&self, partition: usize) -> Result<(), String> {
        self.content.untouched(partition * self.content.shape.stride_bytes(), self.content.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_compares_and_what_was_not_does_not() {
        let layout = Layout::vector(2, 1, 2, &Element::Double.into()).unwrap();
        let content = Content::new(&Shape::new(3, 2, &layout), POISON);
        let pattern = Pattern::new(1, 5);
        (0..2).for_each(|partition| content.fill(partition, pattern));
        assert_eq!(content.compare(0, pattern), Ok(()));
        assert_eq!(content.compare(1, pattern), Ok(()));
        let wrong = content.compare(2, pattern).unwrap_err();
        assert!(wrong.starts_with("partition 2, byte 96:") && wrong.contains("before"), "{wrong}");
        content.fill(2, pattern);
        assert_eq!(content.whole(pattern), Ok(()));
        assert!(content.whole(Pattern::new(1, 6)).is_err(), "another generation");
        // The gap of the first vector.
        // SAFETY: nobody else has this memory.
        let gap = unsafe { content.part(8, 1) };
        gap[0] = 0;
        assert_eq!(content.whole(pattern), Err("byte 8, which is no data, was written to".to_owned()));
    }
}
