//! One test at one size: its arrays, and every way to move its bytes.

use std::ffi::c_void;

use apps::{Arrays, Context, Kind, MicroApp, ParameterSet, Side, Test, Values, WireOrder};
use datatypes::Constructor;

use crate::twins::{Loops, Twins};

/// Who moves the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The loop of the micro-app.
    Rust,
    /// Its twin, by the index of [`QUALIFIERS`](crate::twins::QUALIFIERS).
    C(usize),
    /// As many bytes in one piece.
    Memcpy,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the arrays into the buffer.
    Pack,
    /// From the buffer into the arrays.
    Unpack,
}

/// A test at one size.
pub struct Case {
    /// Test and parameter set.
    pub name: String,
    app: Box<dyn MicroApp>,
    arrays: Arrays,
    packed: Vec<u64>,
    copy: Vec<u64>,
    bytes: usize,
    parameters: Vec<i64>,
    lists: Vec<Vec<u32>>,
    twins: Vec<Loops>,
}

impl Case {
    /// Allocates and fills the arrays.
    pub fn new(test: &Test, set: &ParameterSet, twins: &[Twins]) -> Self {
        let context = Context::default();
        let values = test.set(set.name).expect("the set is the test's own");
        let app = test.build(&values, context).expect("the test's own sets are right");
        let mut arrays = Arrays::new(app.arrays());
        fill(arrays.memory_mut(), 1);
        let bytes = app.message_bytes() as usize;
        let mut packed = vec![0; bytes.div_ceil(8)];
        fill(bytemuck::cast_slice_mut(&mut packed), 2);
        Self {
            name: format!("{} {}", test.name, set.name),
            lists: lists(&*app),
            parameters: parameters(test, &values, context),
            copy: packed.clone(),
            twins: twins.iter().map(|twins| twins.loops(test.name).expect("every test has twins")).collect(),
            app,
            arrays,
            packed,
            bytes,
        }
    }

    /// Bytes of the message.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the bytes once.
    pub fn run(&mut self, direction: Direction, variant: Variant) {
        match (variant, direction) {
            (Variant::Rust, Direction::Pack) => {
                let packed = &mut bytemuck::cast_slice_mut(&mut self.packed)[..self.bytes];
                self.app.pack(&self.arrays, packed);
            }
            (Variant::Rust, Direction::Unpack) => {
                let packed = &bytemuck::cast_slice(&self.packed)[..self.bytes];
                self.app.unpack(packed, &mut self.arrays);
            }
            (Variant::C(qualifier), _) => {
                let twin = match direction {
                    Direction::Pack => self.twins[qualifier].pack,
                    Direction::Unpack => self.twins[qualifier].unpack,
                };
                let starts: Vec<usize> =
                    (0..self.arrays.specs().len()).map(|i| self.arrays.place(i).start).collect();
                let memory = self.arrays.memory_mut();
                let arrays: Vec<*mut c_void> =
                    starts.into_iter().map(|start| memory[start..].as_mut_ptr().cast()).collect();
                let lists: Vec<*const u32> = self.lists.iter().map(|list| list.as_ptr()).collect();
                let packed = self.packed.as_mut_ptr().cast();
                // SAFETY: the twin reads and writes what the Rust loop does, shown by `check`; the arrays, the
                // buffer and the lists are different allocations or disjoint parts of one, all alive.
                unsafe { twin(arrays.as_ptr(), packed, self.parameters.as_ptr(), lists.as_ptr()) }
            }
            (Variant::Memcpy, Direction::Pack) => self.packed.copy_from_slice(&self.copy),
            (Variant::Memcpy, Direction::Unpack) => self.copy.copy_from_slice(&self.packed),
        }
        std::hint::black_box((&mut self.packed, &mut self.copy, self.arrays.memory_mut()));
    }

    /// Correct before fast: the twins must move the bytes that the loop moves.
    ///
    /// # Panics
    /// If one does not.
    pub fn check(&mut self) {
        for qualifier in 0..self.twins.len() {
            let pack = |case: &mut Self, variant| {
                case.packed.fill(u64::MAX);
                case.run(Direction::Pack, variant);
                case.packed.clone()
            };
            let (rust, c) = (pack(self, Variant::Rust), pack(self, Variant::C(qualifier)));
            assert!(rust == c, "{}: the twin packs other bytes", self.name);

            let unpack = |case: &mut Self, variant| {
                case.arrays.memory_mut().fill(0xA5);
                case.run(Direction::Unpack, variant);
                case.arrays.memory().to_vec()
            };
            let (rust, c) = (unpack(self, Variant::Rust), unpack(self, Variant::C(qualifier)));
            assert!(rust == c, "{}: the twin unpacks to other places", self.name);
        }
    }
}

/// Fills memory with words that differ: unwritten memory is one shared page of zeros, and too fast.
fn fill(memory: &mut [u8], salt: u32) {
    for (i, word) in memory.chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&(i as u32 ^ salt << 24).to_ne_bytes());
    }
}

/// What the twins take: the values in order, an element as its size, then the number of ranks.
fn parameters(test: &Test, values: &Values, context: Context) -> Vec<i64> {
    let value = |parameter: &apps::Parameter| match parameter.kind {
        Kind::Integer => values.get(parameter.name),
        Kind::Element => values.element(parameter.name).size() as i64,
    };
    test.parameters.iter().map(value).chain([context.ranks as i64]).collect()
}

/// The index lists of an app, read from its datatypes.
fn lists(app: &dyn MicroApp) -> Vec<Vec<u32>> {
    let message = app.message(Side::Send, WireOrder::Ddt);
    let pieces = message.pieces.iter();
    let list = |constructor: &Constructor| match constructor {
        Constructor::IndexedBlock { blocklength, displacements, .. } => {
            Some(displacements.iter().map(|d| (d / blocklength) as u32).collect())
        }
        _ => None,
    };
    pieces.filter_map(|piece| list(piece.layout.constructor())).collect()
}
