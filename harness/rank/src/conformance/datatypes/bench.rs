//! Resources of operations: communicators, memory, and comparisons.

use std::cell::Cell;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use common::conformance::items::Items;
use common::conformance::{Batch, FaultKind};
use common::model::conditions::MemoryKind;
use datatypes::Element;

use super::arena::{Arena, Part};
use crate::checked::operations::Operations;
use crate::checked::{CallError, Comm, Datatype, World};
use crate::device::Buffer;

/// A wrong result.
#[derive(Debug)]
pub struct WrongBytes {
    pub kind: FaultKind,
    pub detail: String,
}

/// Why an operation ends early.
#[derive(Debug)]
pub enum Halt {
    /// It cannot be used with this layout in a correct program.
    Unsuitable,
    /// It has a wrong result.
    WrongBytes(WrongBytes),
}

impl From<WrongBytes> for Halt {
    fn from(wrong: WrongBytes) -> Self {
        Self::WrongBytes(wrong)
    }
}

impl From<CallError> for Halt {
    fn from(error: CallError) -> Self {
        // Functions and types that an MPI need not have.
        if error.is_lack() {
            return Self::Unsuitable;
        }
        // An error stack: the call, and the last line, which names the cause.
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (first, last) = (lines.next().unwrap_or_default(), lines.next_back());
        let detail = last.map_or(first.to_owned(), |last| format!("{first} {last}"));
        Self::WrongBytes(WrongBytes { kind: FaultKind::Error, detail })
    }
}

/// Bytes of data at most, and of the memory around them: operations copy both several times.
const MOST_BYTES: usize = 1 << 26;

/// Buffers that an operation may need besides those that all have.
const BUFFERS: usize = 3;

/// Communicators and memory, the same for all cases.
pub struct Bench<'a> {
    /// All ranks.
    pub world: &'a Comm,
    /// This process only.
    pub own: Comm,
    /// This rank and one more, its pair, for messages and one-sided operations; `None` for the last one of an odd number.
    pub pair: Option<Comm>,
    pub rank: usize,
    pub operations: Operations,
    /// The names of a file of this process, and of one of all.
    pub files: [CString; 2],
    /// Memory that is described by the type, and a copy.
    pub typed: [Arena; 2],
    /// The memory that MPI uses in place of the first one, if the data is not in usual memory.
    pub device: Option<Buffer>,
    pub packed: Arena,
    pub values: Arena,
    buffers: [Arena; BUFFERS],
    next: Cell<usize>,
}

impl<'a> Bench<'a> {
    /// Reserves the memory.
    pub fn new(world: &'a World, folder: &Path, memory: MemoryKind) -> anyhow::Result<Self> {
        let (comm, rank) = (&world.comm, world.comm.rank()?);
        let pair = comm.split(rank / 2, rank)?;
        let file = |name: &str| CString::new(folder.join(name).as_os_str().as_bytes());
        let library = folder.join(Batch::LIBRARY);
        let operations =
            Operations::load(&library).ok_or_else(|| anyhow::anyhow!("cannot load {}", library.display()))?;
        Ok(Self {
            world: comm,
            own: comm.this_process()?,
            pair: (pair.size()? == 2).then_some(pair),
            rank,
            operations,
            files: [file(&format!("data.{rank}"))?, file("data.all")?],
            typed: [Arena::new()?, Arena::new()?],
            device: (!memory.is_host()).then(|| Buffer::new(memory, MOST_BYTES)),
            packed: Arena::new()?,
            values: Arena::new()?,
            buffers: [Arena::new()?, Arena::new()?, Arena::new()?],
            next: Cell::new(0),
        })
    }

    /// Whether there is enough memory for this data, and as much again for what an MPI may write in error.
    pub fn has_room(&self, data: &Items) -> bool {
        let has = |arena: &Arena, bytes: usize| arena.part(2 * bytes, true).is_some();
        (self.device.is_none() || data.span_bytes() <= MOST_BYTES)
            && data.image_bytes() <= MOST_BYTES
            && data.bytes() <= MOST_BYTES
            && has(&self.typed[0], data.span_bytes())
            && has(&self.packed, data.bytes())
    }

    /// Another buffer, in memory that none of the last ones has; `None` if it does not fit.
    pub fn buffer(&self, bytes: usize, at_end: bool) -> Option<Part> {
        self.next.set((self.next.get() + 1) % BUFFERS);
        self.buffers[self.next.get()].part(bytes, at_end)
    }
}

/// Whether `MPI_Pack` of predefined types copies them: the standard does not define the packed form.
pub fn is_plain(comm: &Comm) -> Result<bool, CallError> {
    for element in [Element::Byte, Element::Int32, Element::Double] {
        let (datatype, bytes) = (Datatype::predefined(element), element.size() as usize);
        let (from, mut position) = ((1..=bytes as u8).collect::<Vec<u8>>(), 0);
        let mut packed = vec![0; comm.pack_size(1, &datatype, bytes)?.max(bytes)];
        let to = (packed.as_mut_ptr(), packed.len());
        // SAFETY: the value and the packed bytes are in these vectors.
        unsafe { comm.pack_at((from.as_ptr(), 1, &datatype), to, &mut position) }?;
        if position as usize != bytes || packed[..bytes] != from {
            return Ok(false);
        }
    }
    Ok(true)
}
