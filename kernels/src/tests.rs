//! Every program against the oracle, on every instruction set that this processor has.

use datatypes::pool::random_layout;
use datatypes::{Element, Layout, interpret};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::operation::{Leaf, SAME_LINE};
use crate::program::compile_for;
use crate::select::Level;
use crate::{Program, RunError, compile};

/// Random layouts in a test run; the oracle takes most of the time.
const CASES: u64 = 3000;

/// Bytes around the data that must not change.
const MARGIN: i64 = 67;

/// An array that holds `count` copies with a margin, filled from `random`, and the byte of displacement 0.
fn array(layout: &Layout, count: u64, random: &mut Pcg64) -> (Vec<u8>, i64) {
    let last = layout.extent() * (count as i64 - 1).max(0);
    let lower = layout.true_lower_bound() + last.min(0);
    let upper = layout.true_upper_bound() + last.max(0);
    let mut bytes = vec![0; (upper - lower + 2 * MARGIN) as usize];
    random.fill_bytes(&mut bytes);
    (bytes, MARGIN - lower)
}

fn agrees(layout: &Layout, count: u64, program: &Program, random: &mut Pcg64) {
    let (from, origin) = array(layout, count, random);
    let expected = interpret::pack(layout, count, &from, origin).unwrap();
    assert_eq!(program.size(), expected.len());
    let mut packed = vec![0xA5; expected.len()];
    program.pack(&from, origin, &mut packed).unwrap();
    assert!(packed == expected, "pack\n{program}{layout:?}");

    let (mut to, _) = array(layout, count, random);
    let mut expected_to = to.clone();
    interpret::unpack(layout, count, &expected, &mut expected_to, origin).unwrap();
    let before = to.clone();
    program.unpack(&expected, &mut to, origin).unwrap();
    assert!(to == expected_to, "unpack\n{program}{layout:?}");

    // The stream in random pieces.
    let mut cuts: Vec<usize> = (0..4).map(|_| random.random_range(0..=expected.len())).collect();
    cuts.extend([0, expected.len()]);
    cuts.sort_unstable();
    let mut to = before;
    for cut in cuts.windows(2) {
        let range = cut[0]..cut[1];
        let mut part = vec![0x5A; range.len()];
        program.pack_range(&from, origin, range.clone(), &mut part).unwrap();
        assert!(part == expected[range.clone()], "pack {range:?}\n{program}{layout:?}");
        program.unpack_range(&part, &mut to, origin, range.clone()).unwrap();
    }
    assert!(to == expected_to, "unpack in pieces\n{program}{layout:?}");
}

#[test]
fn random_layouts_agree_with_the_oracle_on_every_instruction_set() {
    let levels: Vec<Level> = Level::ALL.iter().copied().filter(|level| level.is_here()).collect();
    assert!(levels.contains(&Level::best()));
    for seed in 0..CASES {
        let mut random = Pcg64::seed_from_u64(seed);
        let layout = random_layout(seed, random.random_range(0..6), 400);
        let count = random.random_range(0..4);
        for &level in &levels {
            let program = compile_for(&layout, count, level).unwrap();
            agrees(&layout, count, &program, &mut random);
        }
    }
}

/// Blocks of every size up to beyond the largest kernel, strided and at listed places.
#[test]
fn every_kernel_agrees_with_the_oracle_on_every_instruction_set() {
    let byte = Layout::named(Element::Byte);
    let mut random = Pcg64::seed_from_u64(1);
    let mut sizes = std::collections::HashSet::new();
    for block in (1..300i64).chain([511, 1023, 1024, 1100, 4096]) {
        for gap in [1, 5] {
            for count in [2, 3, 4, 9] {
                let strided = Layout::vector(count, block, block + gap, &byte).unwrap();
                let backward = Layout::hvector(count, block, -(block + gap), &byte).unwrap();
                let displacements: Vec<i64> = (0..count).map(|i| (i * i + 1) * (block + gap)).collect();
                let indexed = Layout::indexed_block(block, &displacements, &byte).unwrap();
                // Rows of blocks far apart, the rows side by side: more of them than are gone through at once.
                let column = Layout::hvector(9, block, 40 * (block + gap), &byte).unwrap();
                let transposed = Layout::hvector(8 * count + 1, 1, block + gap - 1, &column).unwrap();
                let transposed = (block <= SAME_LINE as i64).then_some(transposed);
                for layout in [strided, backward, indexed].into_iter().chain(transposed) {
                    for &level in Level::ALL.iter().filter(|level| level.is_here()) {
                        let program = compile_for(&layout, 1, level).unwrap();
                        let [operation] = &program.sequence.operations[..] else { panic!("{program}") };
                        match &operation.leaf {
                            Leaf::Block { kernels, how, .. } => sizes.insert((how.name(), kernels.sizes)),
                            Leaf::Indexed { kernels, .. } => sizes.insert(("indexed", kernels.sizes)),
                            _ => panic!("{program}"),
                        };
                        agrees(&layout, 1, &program, &mut random);
                    }
                }
            }
        }
    }
    // Every arm of the choice was taken, for all; the transposed kernels are for blocks that share a cache line.
    let of = |kind| sizes.iter().filter(|(kernel, _)| *kernel == kind).count();
    assert_eq!((of("strided"), of("indexed"), of("transposed")), (28, 28, 14), "{sizes:?}");
}

#[test]
fn shapes_are_recognised() {
    let double = Layout::named(Element::Double);
    let only = |layout: &Layout, count: u64| {
        let program = compile(layout, count).unwrap();
        assert_eq!(program.sequence.operations.len(), 1, "{program}");
        program.sequence.operations[0].clone()
    };
    // A vector of a contiguous type that fills its stride is one run, however it is nested.
    let row = Layout::contiguous(4, &double).unwrap();
    let dense = Layout::vector(3, 2, 2, &row).unwrap();
    assert!(matches!(only(&dense, 5).leaf, Leaf::Block { bytes: 960, .. }));
    // A subarray is a nest around blocks of a row.
    let face = Layout::subarray(&[4, 5, 6], &[2, 3, 4], &[1, 1, 1], datatypes::Order::C, &double).unwrap();
    let operation = only(&face, 1);
    assert_eq!(operation.steps.len(), 2);
    assert!(matches!(operation.leaf, Leaf::Block { bytes: 32, .. }));
    // Listed places at one distance are no list; neighbours are one run.
    let even = Layout::indexed_block(1, &[3, 5, 7, 9], &double).unwrap();
    assert!(matches!(only(&even, 1).leaf, Leaf::Block { bytes: 8, .. }));
    let neighbours = Layout::indexed(&[1, 2, 1], &[4, 5, 7], &double).unwrap();
    assert!(matches!(only(&neighbours, 1).leaf, Leaf::Block { bytes: 32, .. }));
    // Members of a resized struct, of one length, are a list within a loop.
    let members =
        Layout::structure(&[1, 1, 1], &[0, 16, 40], &[double.clone(), double.clone(), double.clone()]);
    let padded = Layout::resized(0, 64, &members.unwrap()).unwrap();
    let operation = only(&padded, 100);
    assert_eq!(operation.steps.len(), 1);
    assert!(matches!(operation.leaf, Leaf::Indexed { block: 8, .. }));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let layout = Layout::vector(3, 1, 2, &Layout::named(Element::Int32)).unwrap();
    let program = compile(&layout, 1).unwrap();
    let (array, mut packed) = ([7u8; 20], [1u8; 12]);
    assert!(program.pack(&array, 0, &mut packed).is_ok());
    for origin in [-1, 1, i64::MIN, i64::MAX] {
        let mut packed = [1u8; 12];
        let refused = program.pack(&array, origin, &mut packed);
        assert!(matches!(refused, Err(RunError::OutsideArray { .. })), "{refused:?}");
        assert_eq!(packed, [1; 12]);
    }
    assert!(matches!(program.pack(&array, 0, &mut packed[1..]), Err(RunError::PackedLength { .. })));
    let mut one = [0];
    assert!(matches!(program.pack_range(&array, 0, 12..13, &mut one), Err(RunError::Range { .. })));
    assert!(compile(&layout, u64::MAX).is_err());
}

#[test]
fn nothing_is_a_program_too() {
    let empty = Layout::contiguous(0, &Layout::named(Element::Double)).unwrap();
    for (layout, count) in [(&empty, 5), (&Layout::named(Element::Int8), 0)] {
        let program = compile(layout, count).unwrap();
        assert_eq!(program.size(), 0);
        program.pack(&[], 0, &mut []).unwrap();
        program.unpack(&[], &mut [], 3).unwrap();
    }
}
