//! Resources of operations: communicators, memory, and comparisons.

use std::path::{Path, PathBuf};

use common::conformance::FaultKind;
use common::conformance::items::{Items, UNWRITTEN, packed_difference};
use common::fine_grained::functions::PARTITIONED;

use super::arena::{Arena, Part};
use super::subject::Subject;
use crate::checked::neighbours::Neighbours;
use crate::checked::{CallError, Comm, World, symbols};

/// A wrong result.
#[derive(Debug)]
pub struct WrongBytes {
    pub kind: FaultKind,
    pub detail: String,
}

impl WrongBytes {
    pub fn value(detail: String) -> Self {
        Self { kind: FaultKind::WrongValue, detail }
    }
}

/// Why an operation ends early.
#[derive(Debug)]
pub enum Stop {
    /// It cannot be used with this layout in a correct program.
    Unsuitable,
    /// It has a wrong result.
    WrongBytes(WrongBytes),
}

impl From<WrongBytes> for Stop {
    fn from(wrong: WrongBytes) -> Self {
        Self::WrongBytes(wrong)
    }
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        match error {
            // Functions and types that an MPI need not have.
            CallError::NoLargeCount { .. } | CallError::NoType { .. } | CallError::TooLarge { .. } => {
                Self::Unsuitable
            }
            _ => {
                // An error stack: the call, and the last line, which names the cause.
                let text = error.to_string();
                let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                let (first, last) = (lines.next().unwrap_or_default(), lines.next_back());
                let detail = last.map_or(first.to_owned(), |last| format!("{first} {last}"));
                Self::WrongBytes(WrongBytes { kind: FaultKind::Error, detail })
            }
        }
    }
}

/// Bytes of data at most, and of the memory around them: operations copy both several times.
const MOST_BYTES: usize = 1 << 26;

/// Ranks 0 and 1 are a pair, 2 and 3, and so on. Messages and one-sided operations are between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// 0 or 1.
    pub place: usize,
    /// The other rank.
    pub peer: usize,
}

impl Pair {
    /// The pair of a rank.
    fn of(rank: usize, ranks: usize) -> Option<Self> {
        let pair = Self { place: rank % 2, peer: rank ^ 1 };
        (pair.peer < ranks).then_some(pair)
    }
}

/// Communicators and memory, the same for all cases.
pub struct Bench<'a> {
    /// All ranks.
    pub world: &'a Comm,
    /// This process only.
    pub own: Comm,
    pub rank: usize,
    /// This rank in its pair; `None` for the last one of an odd number.
    pub pair: Option<Pair>,
    /// Whether the MPI has partitioned communication.
    pub has_partitions: bool,
    /// Graphs on which all ranks are neighbours of each, and on which only the other of a pair is one.
    graphs: Option<[Neighbours; 2]>,
    /// The name of a file of this process.
    file: PathBuf,
    typed: [Arena; 2],
    packed: [Arena; 2],
}

/// Memory that is described by a type, and its contents before an operation.
pub struct TypedData {
    part: Part,
    before: Vec<u8>,
    /// The address that is passed to MPI: the type's displacements count from here.
    pub address: *mut u8,
}

impl<'a> Bench<'a> {
    /// Reserves the memory.
    pub fn new(world: &'a World, folder: &Path) -> anyhow::Result<Self> {
        let (comm, rank) = (&world.comm, world.comm.rank()?);
        let ranks = comm.size()?;
        let pair = Pair::of(rank, ranks);
        let graph = |neighbours: &[usize]| Neighbours::new(comm, neighbours, neighbours);
        let graphs = match ranks {
            1 => None,
            _ => {
                let (all, other): (Vec<usize>, Vec<usize>) =
                    ((0..ranks).collect(), pair.iter().map(|pair| pair.peer).collect());
                Some([graph(&all)?, graph(&other)?])
            }
        };
        Ok(Self {
            world: comm,
            own: comm.this_process()?,
            rank,
            pair,
            has_partitions: symbols::missing(PARTITIONED).is_empty(),
            graphs,
            file: folder.join(format!("data.{rank}")),
            typed: [Arena::new()?, Arena::new()?],
            packed: [Arena::new()?, Arena::new()?],
        })
    }

    /// Whether there is enough memory for this data, and as much again for what an MPI may write in error.
    pub fn has_room(&self, data: &Items) -> bool {
        let has = |arena: &Arena, bytes: usize| arena.part(2 * bytes, true).is_some();
        data.image_bytes() <= MOST_BYTES
            && data.bytes() <= MOST_BYTES
            && has(&self.typed[0], data.span_bytes())
            && has(&self.packed[0], data.bytes())
    }

    /// Whether this rank has this place in its pair.
    pub fn is_place(&self, place: usize) -> bool {
        self.pair.is_some_and(|pair| pair.place == place)
    }

    /// The graph on which all ranks are neighbours of each.
    pub fn everyone(&self) -> Result<&Comm, Stop> {
        self.graphs.as_ref().map(|[all, _]| all.comm()).ok_or(Stop::Unsuitable)
    }

    /// The graph on which the other rank of a pair is the only neighbour.
    pub fn other(&self) -> Result<&Comm, Stop> {
        self.graphs.as_ref().map(|[_, other]| other.comm()).ok_or(Stop::Unsuitable)
    }

    /// The name of a file of this process.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Memory of a sender.
    pub fn filled(&self, subject: &Subject, data: &Items, salt: u64) -> TypedData {
        self.typed(0, subject, data, data.filled(salt))
    }

    /// Memory of a receiver.
    pub fn blank(&self, subject: &Subject, data: &Items) -> TypedData {
        self.typed(1, subject, data, vec![UNWRITTEN; data.image_bytes()])
    }

    fn typed(&self, arena: usize, subject: &Subject, data: &Items, before: Vec<u8>) -> TypedData {
        let part = self.typed[arena].part(data.span_bytes(), subject.at_end).expect("checked for the case");
        let address = part.start().wrapping_offset(-data.span.0 as isize);
        let typed = TypedData { part, before, address };
        typed.clear(data);
        typed
    }

    /// Memory for packed data.
    pub fn packed_target(&self, subject: &Subject, bytes: usize) -> Part {
        let part = self.packed[0].part(bytes, subject.at_end).expect("no larger than typed data");
        part.write(&vec![UNWRITTEN; bytes]);
        part
    }

    /// Memory with packed data.
    pub fn packed_source(&self, subject: &Subject, contents: &[u8]) -> Part {
        let part = self.packed[1].part(contents.len(), subject.at_end).expect("no larger than typed data");
        part.write(contents);
        part
    }
}

impl TypedData {
    /// The memory as it was before the operation.
    pub fn clear(&self, data: &Items) {
        for window in data.windows() {
            let from = (window.span.0 - data.span.0) as usize;
            self.part.write_at(from, &self.before[window.at..window.end()]);
        }
    }

    /// The memory as it is now.
    fn read(&self, data: &Items) -> Vec<u8> {
        let mut image = Vec::with_capacity(data.image_bytes());
        for window in data.windows() {
            let from = (window.span.0 - data.span.0) as usize;
            image.extend_from_slice(self.part.read_at(from, window.bytes()));
        }
        image
    }

    /// The memory of a sender into which these bytes have been received.
    pub fn expect_within(&self, data: &Items, packed: &[u8]) -> Result<(), WrongBytes> {
        let mut expected = self.before.clone();
        data.scatter_into(packed, &mut expected);
        self.compare(data, &expected)
    }

    /// The expected memory of a receiver after these bytes have arrived.
    pub fn expect(&self, data: &Items, packed: &[u8]) -> Result<(), WrongBytes> {
        self.compare(data, &data.scattered(packed))
    }

    /// A sender's memory does not change, nor that of a rank that receives nothing.
    pub fn expect_unchanged(&self, data: &Items) -> Result<(), WrongBytes> {
        self.compare(data, &self.before)
            .map_err(|wrong| WrongBytes { kind: FaultKind::ChangedMemory, ..wrong })
    }

    fn compare(&self, data: &Items, expected: &[u8]) -> Result<(), WrongBytes> {
        if let Some(difference) = data.difference(expected, &self.read(data)) {
            let kind = if difference.is_data { FaultKind::WrongData } else { FaultKind::ChangedMemory };
            return Err(WrongBytes { kind, detail: difference.text });
        }
        clean_margin(self.part)
    }
}

/// Packed bytes are as expected, and nothing next to them has changed.
pub fn expect_packed(expected: &[u8], found: &[u8]) -> Result<(), WrongBytes> {
    match packed_difference(expected, found) {
        Some(detail) => Err(WrongBytes { kind: FaultKind::WrongData, detail }),
        None => Ok(()),
    }
}

/// The bytes next to a part are unchanged.
pub fn clean_margin(part: Part) -> Result<(), WrongBytes> {
    if part.has_clean_margin() {
        return Ok(());
    }
    let detail = "a byte next to the buffer has changed".to_owned();
    Err(WrongBytes { kind: FaultKind::ChangedMemory, detail })
}
