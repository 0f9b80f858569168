//! Compares a program with the oracle, for the tests and the fuzz target.

mod poison;

use std::ops::Range;

use datatypes::{Layout, interpret};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::program::compile_for;
use crate::tuning::Tuning;
use crate::{PlainLoop, Program, Way};

/// Maximum number of bytes around the data in one of the two variants. It is not a multiple of any vector, so
/// that data begins at all kinds of addresses.
const MARGIN: u64 = 67;

/// The random numbers of a case; they differ from those that draw the layout with the same seed.
pub(crate) fn noise(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(!seed)
}

/// The ways to copy that this processor has.
pub(crate) fn ways_here() -> impl Iterator<Item = Way> {
    Way::ALL.into_iter().filter(|way| way.is_here())
}

/// For each way, the table with this way for all that it can copy.
pub(crate) fn tunings_here() -> impl Iterator<Item = Tuning> {
    ways_here().map(Tuning::Only)
}

/// Compiles with every choice of kernels on this processor and compares with the oracle, on arrays that end
/// where the data ends and on arrays with a margin.
///
/// # Panics
/// If a byte is wrong.
pub(crate) fn check(layout: &Layout, count: u64, noise: &mut Pcg64) {
    for margin in [0, noise.random_range(1..=MARGIN)] {
        let expected = Expected::from_layout(layout, count, margin as i64, noise);
        expected.compare_plain_loop(count);
        for tuning in tunings_here() {
            let program =
                compile_for(layout, count, tuning).expect("data that has an array fits into memory");
            expected.compare(&program);
        }
    }
}

/// The oracle's results for an array.
pub(crate) struct Expected<'a> {
    layout: &'a Layout,
    origin: i64,
    /// An array, and the data packed from it.
    from: Box<[u8]>,
    packed: Box<[u8]>,
    /// Another array, and its content after that data is unpacked into it.
    before: Box<[u8]>,
    after: Box<[u8]>,
    /// The bytes of an array that are not data.
    gaps: Vec<Range<usize>>,
}

impl<'a> Expected<'a> {
    /// For `count` copies in arrays with `margin` bytes before the first and after the last byte of data.
    pub fn from_layout(layout: &'a Layout, count: u64, margin: i64, noise: &mut Pcg64) -> Self {
        let last = layout.extent() * (count as i64 - 1).max(0);
        let lower = layout.true_lower_bound() + last.min(0);
        let upper = layout.true_upper_bound() + last.max(0);
        let (bytes, origin) = ((upper - lower + 2 * margin) as usize, margin - lower);
        let unpack = |packed: &[u8], array: &mut [u8]| {
            interpret::unpack(layout, count, packed, array, origin).expect("an array that holds all data");
        };
        let (from, before) = (filled(bytes, noise), filled(bytes, noise));
        let packed = interpret::pack(layout, count, &from, origin).expect("as above").into_boxed_slice();
        let (mut after, mut is_data) = (before.clone(), vec![0; bytes]);
        unpack(&packed, &mut after);
        unpack(&vec![1; packed.len()], &mut is_data);
        Self { layout, origin, from, packed, before, after, gaps: gaps(&is_data) }
    }

    /// Runs the plain loop and compares it with the oracle.
    fn compare_plain_loop(&self, count: u64) {
        let plain =
            PlainLoop::from_layout(self.layout, count).expect("data that has an array fits into memory");
        let mut packed = vec![0xA5; self.packed.len()];
        plain.pack(&self.from, self.origin, &mut packed).unwrap();
        assert!(packed[..] == self.packed[..], "plain pack: {:?}", self.layout);
        let mut array = self.before.clone();
        poison::around(&mut array, &self.gaps, &mut |array| {
            plain.unpack(&self.packed, array, self.origin).unwrap();
        });
        assert!(array == self.after, "plain unpack: {:?}", self.layout);
    }

    /// Runs `program` and compares it with the oracle.
    pub fn compare(&self, program: &Program) {
        assert_eq!(program.size(), self.packed.len());
        let mut packed = vec![0xA5; self.packed.len()];
        program.pack(&self.from, self.origin, &mut packed).unwrap();
        assert!(packed[..] == self.packed[..], "pack: {program}{:?}", self.layout);
        let mut array = self.before.clone();
        poison::around(&mut array, &self.gaps, &mut |array| {
            program.unpack(&self.packed, array, self.origin).unwrap();
        });
        assert!(array == self.after, "unpack: {program}{:?}", self.layout);
    }
}

/// Exactly `bytes` bytes on the heap, so that AddressSanitizer detects accesses just before and after them.
fn filled(bytes: usize, noise: &mut Pcg64) -> Box<[u8]> {
    let mut filled = vec![0; bytes].into_boxed_slice();
    noise.fill_bytes(&mut filled);
    filled
}

/// The runs of zeros.
fn gaps(is_data: &[u8]) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut gaps = Vec::new();
    for run in is_data.chunk_by(|a, b| a == b) {
        if run[0] == 0 {
            gaps.push(at..at + run.len());
        }
        at += run.len();
    }
    gaps
}
