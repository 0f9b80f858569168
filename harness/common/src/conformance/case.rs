//! Cases, the batches in which a process tries them, and what it leaves for the process that started it.

use datatypes::{Construction, Layout};
use serde::{Deserialize, Serialize};

use super::{OPERATIONS, Operation};

/// A layout, and how many items of it are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its number in the run.
    pub number: u64,
    /// The number of the case that has the same data and tags: its own, unless that case is tried again.
    pub origin: u64,
    pub layout: Layout,
    /// Items in a message.
    pub items: u32,
    /// Whether data ends at a page that cannot be accessed; otherwise it begins behind one.
    pub at_end: bool,
    /// How the datatype is made.
    #[serde(default, skip_serializing_if = "Construction::is_usual")]
    pub construction: Construction,
    /// Whether it is one of many; otherwise it is tried because of one operation, and slow operations are not left out.
    #[serde(default)]
    pub is_generated: bool,
    /// Operations that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<&'static Operation>,
}

/// The first cases try all operations, and later ones only one in so many of those that take long: other ones for the next case.
const ALL_OPERATIONS: u64 = 4000;
const ONE_IN: u64 = 4;
/// Other forms of an operation are tried on one in so many cases.
const FORMS_ONE_IN: u64 = 8;

/// The number of the first case that was chosen: random ones have smaller numbers.
pub const FIRST_FIXED: u64 = 1 << 32;

impl Case {
    /// One of many cases.
    pub fn with_layout(number: u64, layout: Layout, items: u32, at_end: bool) -> Self {
        let (construction, skipped) = (Construction::Usual, Vec::new());
        Self { number, origin: number, layout, items, at_end, construction, is_generated: true, skipped }
    }

    /// Whether an operation is tried. Processes that wait for each other, and files, take ten times as long as the others.
    pub fn tries(&self, operation: &Operation) -> bool {
        let is_slow = operation.ranks > 1 || operation.name.starts_with("file_");
        let one_in = match operation.is_form {
            _ if !self.is_generated => 1,
            true => FORMS_ONE_IN,
            false if is_slow && (ALL_OPERATIONS..FIRST_FIXED).contains(&self.number) => ONE_IN,
            false => 1,
        };
        !self.skipped.contains(&operation) && (self.number + operation.number() as u64).is_multiple_of(one_in)
    }
}

/// Partitions of a partitioned message of some items, each of the same number of items.
pub const fn partitions(items: u32) -> u32 {
    if items > 16 && items.is_multiple_of(2) {
        2
    } else if items > 16 {
        1
    } else {
        items
    }
}

/// The cases that one process tries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub operations: Vec<&'static Operation>,
    pub cases: Vec<Case>,
    /// Whether the transport must be found out first.
    #[serde(default)]
    pub asks_transport: bool,
}

impl Batch {
    /// Its file in a folder.
    pub const FILE: &str = "batch.json";
    /// The library with its operations in the same folder.
    pub const LIBRARY: &str = "operations.so";
}

named! {
    /// In which way an operation failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FaultKind {
        /// A byte of the type map has a wrong value.
        WrongData = "wrong data",
        /// A byte outside of the type map changed.
        ChangedMemory = "changed memory",
        /// A query has a wrong result.
        WrongValue = "wrong value",
        /// MPI returned an error.
        Error = "error",
        /// The process died.
        Crash = "crash",
        /// The call did not return.
        Hang = "hang",
    }
}

impl FaultKind {
    /// Whether the process cannot go on after it.
    pub const fn ends_process(self) -> bool {
        matches!(self, Self::Crash | Self::Hang)
    }

    /// Whether a fault may occur now in one way and now in the other: damaged memory kills a process, or makes it wait.
    pub fn is_like(self, other: Self) -> bool {
        self == other || (self.ends_process() && other.ends_process())
    }
}

/// A result that the standard does not allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The number of the case.
    pub case: u64,
    pub operation: &'static Operation,
    /// In which way it failed.
    pub kind: FaultKind,
    /// The expected and the actual result.
    pub detail: String,
    /// The layout within the case's to which the fault belongs, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Layout>,
    /// The layout with the bounds that the MPI reports, if they differ from those that `ddtbench` computes and are allowed too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<Layout>,
}

impl Fault {
    pub fn new(case: u64, operation: &'static Operation, kind: FaultKind, detail: String) -> Self {
        Self { case, operation, kind, detail, node: None, adopted: None }
    }

    /// The file of a rank's faults in a folder, one JSON object per line.
    pub fn file(rank: usize) -> String {
        format!("faults.{rank}.jsonl")
    }

    /// The file with the function in which a rank crashed; empty if it did not, or if it is not known.
    pub fn place_file(rank: usize) -> String {
        format!("place.{rank}")
    }
}

/// The current operation of a rank, in a file that survives its end: it is mapped into the memory of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The case and the operation that were begun last, by their numbers; `None` before the first and after the last.
    pub begun: Option<(u64, usize)>,
    /// How often each operation was completed.
    pub done: Vec<u64>,
}

impl Progress {
    /// Numbers of 64 bits in the file: the case and the operation, both plus 1, and the counts.
    pub fn words() -> usize {
        2 + OPERATIONS.len()
    }

    /// The file of a rank in a folder.
    pub fn file(rank: usize) -> String {
        format!("progress.{rank}")
    }

    /// Reads the contents of the file; `None` if it has another length.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() || words.len() != Self::words() {
            return None;
        }
        let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let begun = match words[..2] {
            [case, operation] if case > 0 && operation > 0 => Some((case - 1, operation as usize - 1)),
            _ => None,
        };
        Some(Self { begun, done: words[2..].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use datatypes::Element;

    use super::*;

    #[test]
    fn slow_operations_are_tried_on_a_quarter_of_later_cases() {
        let tried = |numbers: std::ops::Range<u64>, name: &str| {
            let operation = Operation::find(name).unwrap();
            let skipped = || vec![Operation::find("unpack").unwrap()];
            let case = |number| Case {
                skipped: skipped(),
                ..Case::with_layout(number, Element::Byte.into(), 1, true)
            };
            numbers.filter(|number| case(*number).tries(operation)).count()
        };
        assert_eq!(
            (tried(0..4000, "put"), tried(4000..8000, "put"), tried(4000..8000, "file_view")),
            (4000, 1000, 1000)
        );
        assert_eq!([tried(0..1600, "put_locked"), tried(4000..5600, "put_locked")], [200, 200]);
        assert_eq!((tried(4000..8000, "pack"), tried(0..9, "unpack")), (4000, 0));
        let of_each =
            |name: &str| (4000..4004).map(|number| tried(number..number + 1, name)).collect::<Vec<_>>();
        assert_eq!([of_each("put"), of_each("put_origin")].map(|tried| tried.iter().sum::<usize>()), [1, 1]);
    }

    #[test]
    fn progress_is_read_from_the_file() {
        let mut words = vec![0u64; Progress::words()];
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        assert_eq!(Progress::read(&bytes(&words)).unwrap().begun, None);
        (words[0], words[1], words[4]) = (8, 3, 9);
        let read = Progress::read(&bytes(&words)).unwrap();
        assert_eq!((read.begun, read.done[2]), (Some((7, 2)), 9));
        assert_eq!(Progress::read(&bytes(&words)[1..]), None);
    }
}
