//! One test at one size: its arrays, and every way to move its bytes.

use std::ffi::c_void;

use datatypes::{Constructor, Element};
use ddtbench_apps::{
    ArraySpec, Arrays, Context, Loops, MicroApp, ParameterSet, ParameterType, Side, Test, Values, WireOrder,
};

use crate::twins::{TwinLoops, Twins};

/// Who moves the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The micro-app's loops.
    Rust(Loops),
    /// One of their C twins.
    C(usize),
    /// As many contiguous bytes.
    Memcpy,
}

/// Indices of the buffers: the packed data, and a copy of it for the plain `memcpy`.
const PACKED: usize = 0;
const COPY: usize = 1;

/// A test at one size.
pub struct Case {
    /// Test and parameter set.
    pub name: String,
    app: MicroApp,
    arrays: Arrays,
    buffers: Arrays,
    parameters: Vec<i64>,
    lists: Vec<Vec<u32>>,
    twins: Vec<TwinLoops>,
}

impl Case {
    /// Allocates and fills the arrays.
    pub fn new(test: &Test, set: &ParameterSet, twins: &[Twins]) -> Self {
        let context = Context::default();
        let values = test.set(set.name).expect("the set is the test's own");
        let app = test.build(&values, context).expect("the test's own sets are right");
        let buffers = ["packed", "copy"]
            .map(|name| ArraySpec::new(name, Element::Byte, &[app.message_bytes() as usize]));
        let [arrays, buffers] = [app.arrays.clone(), buffers.into()].map(|specs| {
            let mut arrays = Arrays::new(specs);
            fill(arrays.memory_mut());
            arrays
        });
        Self {
            name: format!("{} {}", test.name, set.name),
            lists: lists(&app),
            parameters: parameters(test, &values, context),
            twins: twins.iter().map(|twins| twins.loops(test.name).expect("every test has twins")).collect(),
            arrays,
            buffers,
            app,
        }
    }

    /// All variants with their names, the plain loops first.
    pub fn variants(&self) -> Vec<(&'static str, Variant)> {
        let own = [("plain", Variant::Rust(Loops::Plain)), ("tuned", Variant::Rust(Loops::Tuned))];
        let twins = self.twins.iter().enumerate().map(|(i, twin)| (twin.name, Variant::C(i)));
        own.into_iter().chain(twins).chain([("memcpy", Variant::Memcpy)]).collect()
    }

    pub fn bytes(&self) -> usize {
        self.app.message_bytes() as usize
    }

    /// Packs the sent data once, or unpacks the received data.
    pub fn run(&mut self, side: Side, variant: Variant) {
        let Self { app, arrays, buffers, .. } = self;
        match (variant, side) {
            (Variant::Rust(loops), Side::Send) => app.send.pack(loops, arrays, buffers.slice_mut(PACKED)),
            (Variant::Rust(loops), Side::Receive) => app.receive.unpack(loops, buffers.slice(PACKED), arrays),
            (Variant::C(twin), _) => self.run_twin(side, twin),
            (Variant::Memcpy, _) => {
                let [packed, copy] = buffers.slices_mut::<u8, 2>([PACKED, COPY]);
                let (to, from) = if side == Side::Send { (packed, copy) } else { (copy, packed) };
                to.copy_from_slice(from);
            }
        }
        std::hint::black_box((self.arrays.memory_mut(), self.buffers.memory_mut()));
    }

    fn run_twin(&mut self, side: Side, twin: usize) {
        let TwinLoops { pack, unpack, .. } = self.twins[twin];
        let twin = if side == Side::Send { pack } else { unpack };
        let starts: Vec<usize> = (0..self.arrays.specs().len()).map(|i| self.arrays.place(i).start).collect();
        let memory = self.arrays.memory_mut();
        let arrays: Vec<*mut c_void> =
            starts.into_iter().map(|start| memory[start..].as_mut_ptr().cast()).collect();
        let lists: Vec<*const u32> = self.lists.iter().map(|list| list.as_ptr()).collect();
        let packed = self.buffers.slice_mut::<u8>(PACKED).as_mut_ptr().cast();
        // SAFETY: the twin reads and writes the same memory as the Rust loop, as `check` shows; the arrays,
        // the buffer and the lists are different allocations or disjoint parts of one, all alive.
        unsafe { twin(arrays.as_ptr(), packed, self.parameters.as_ptr(), lists.as_ptr()) }
    }

    /// All loops must move the same bytes as the plain one, and no others.
    ///
    /// # Panics
    /// If a loop does not.
    pub fn check(&mut self) {
        for side in [Side::Send, Side::Receive] {
            fill(self.buffers.memory_mut());
            let mut expected = None;
            for (name, variant) in self.variants().into_iter().filter(|(_, one)| *one != Variant::Memcpy) {
                self.written(side).memory_mut().fill(0xA5);
                self.run(side, variant);
                let found = self.written(side).memory().to_vec();
                let is_same = *expected.get_or_insert_with(|| found.clone()) == found;
                assert!(is_same, "{}: {name} writes other bytes, {side:?}", self.name);
            }
        }
    }

    /// The memory that a loop writes.
    fn written(&mut self, side: Side) -> &mut Arrays {
        match side {
            Side::Send => &mut self.buffers,
            Side::Receive => &mut self.arrays,
        }
    }
}

/// Fills memory with different words, because unwritten memory is one shared page of zeros, and too fast.
fn fill(memory: &mut [u8]) {
    for (i, word) in memory.chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&(i as u32).to_ne_bytes());
    }
}

/// The parameters of the twins: the values in order (an element as its size, a word as its index, a number
/// for each axis as their count and then the numbers), then the number of ranks.
fn parameters(test: &Test, values: &Values, context: Context) -> Vec<i64> {
    let value = |parameter: &ddtbench_apps::Parameter| match parameter.value_type {
        ParameterType::Integer | ParameterType::Choice(_) => vec![values.get(parameter.name)],
        ParameterType::Element => vec![values.element(parameter.name).size() as i64],
        ParameterType::PerAxis(_) => {
            let numbers: Vec<_> =
                values.per_axis(parameter.name).concat().iter().map(|&n| n as i64).collect();
            [vec![numbers.len() as i64], numbers].concat()
        }
        // Tests with such parameters have no loops and no twin.
        ParameterType::Word | ParameterType::Layouts { .. } => Vec::new(),
    };
    test.parameters.iter().flat_map(value).chain([context.ranks as i64]).collect()
}

/// The index lists of an app, read from its datatypes.
fn lists(app: &MicroApp) -> Vec<Vec<u32>> {
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
