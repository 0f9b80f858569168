//! Every kernel and every instruction set of this machine is run.

use std::collections::HashSet;

use datatypes::unusual::unusual_layout;
use datatypes::{Element, Layout};

use super::ran;
use crate::check::{Expected, check, noise, tunings_here, ways_here};
use crate::operation::{Leaf, SAME_LINE, Sequence};
use crate::program::compile_for;
use crate::select::runs;
use crate::{Class, Direction, Trial};

/// Larger blocks use the kernel of this size.
const LARGEST: usize = 1 << 17;

/// Sizes of blocks that reach every kernel: all small ones, and the first and the last of each kernel.
fn sizes() -> Vec<usize> {
    let small = if cfg!(miri) { 40 } else { 300 };
    let changes = |&size: &usize| {
        ways_here().any(|way| {
            let addresses = |size| ran::all(size, way).map(|(_, address)| address);
            addresses(size) != addresses(size + 1)
        })
    };
    let edges = (small..LARGEST).filter(changes).flat_map(|size| [size, size + 1]);
    (1..small).chain(edges.take(if cfg!(miri) { 0 } else { usize::MAX })).collect()
}

/// Blocks of every size, strided both ways and at listed places, in numbers around the unrolling of loops.
#[test]
fn every_kernel_runs_and_agrees_with_the_oracle() {
    let mut noise = noise(1);
    let byte = Layout::named(Element::Byte);
    for size in sizes() {
        let block = size as i64;
        // The oracle goes byte by byte, so long blocks come only in small numbers.
        let counts: &[i64] = match size {
            _ if cfg!(miri) => &[1, 3, 5],
            ..=64 => &[1, 2, 3, 4, 5, 9, 18, 35],
            _ => &[1, 3, 9],
        };
        for (gap, &count) in [1, 5].into_iter().flat_map(|gap| counts.iter().map(move |count| (gap, count))) {
            let step = block + gap;
            let uneven: Vec<i64> = (0..count).map(|i| 3 * i / 2 * step).collect();
            // Rows far apart with adjacent blocks: more of them than are copied at once.
            let side_by_side = block + (gap - 1) * 4;
            let row = Layout::hvector(9, block, 40 * (block + 16) / 16 * 16, &byte).unwrap();
            let transposed = Layout::hvector(8 * count + 1, 1, side_by_side, &row).unwrap();
            let is_transposed = side_by_side <= SAME_LINE as i64 && count <= 5;
            for layout in [
                Layout::vector(count, block, step, &byte).unwrap(),
                Layout::hvector(count, block, -step, &byte).unwrap(),
                Layout::indexed_block(block, &uneven, &byte).unwrap(),
                records(&[block, 107], 8 + count, gap == 1),
            ]
            .into_iter()
            .chain(is_transposed.then_some(transposed))
            {
                let expected = Expected::from_layout(&layout, 1, 0, &mut noise);
                for tuning in tunings_here() {
                    expected.compare(&compile_for(&layout, 1, tuning).unwrap());
                }
            }
        }
        // In Miri, a generic function gets another address each time.
        for way in ways_here().filter(|_| !cfg!(miri)) {
            // Blocks that fill a line do not have neighbours to be transposed with.
            let can_run = |kind: &str| size <= SAME_LINE || !kind.contains("transposed");
            for (kind, address) in ran::all(size, way).into_iter().filter(|(kind, _)| can_run(kind)) {
                assert!(ran::has(address), "{kind}, {way:?} of {size} bytes has not run");
            }
        }
    }
}

/// Blocks of every short size at every small distance, in numbers around those of a vector, in one and in two loops.
#[test]
fn short_blocks_at_small_distances_agree_with_the_oracle() {
    let mut noise = noise(6);
    let byte = Layout::named(Element::Byte);
    let distances = if cfg!(miri) { 15..17 } else { 2..67 };
    for (block, stride) in (1..=16).flat_map(|block| distances.clone().map(move |at| (block, at))) {
        for (count, rows) in [(15, 1), (16, 1), (17, 3), (43, 1), (64, 2)] {
            if block < stride {
                let row = Layout::hvector(count, block, stride, &byte).unwrap();
                let layout = Layout::hvector(rows, 1, (count + 3) * stride + 1, &row).unwrap();
                check(&layout, 1, &mut noise);
            }
        }
    }
}

/// Long lists: in short ones nothing is prefetched.
#[test]
#[cfg_attr(miri, ignore = "too large to interpret")]
fn long_lists_of_short_blocks_agree_with_the_oracle() {
    let places: Vec<i64> = (0..1100).map(|i| i * 40_503 % 2048).collect();
    for block in [4, 8, 12, 16, 24, 32, 64] {
        let places: Vec<i64> = places.iter().map(|at| at * block).collect();
        let layout = Layout::indexed_block(block, &places, &Layout::named(Element::Byte)).unwrap();
        check(&layout, 1, &mut noise(8));
    }
}

/// A way with the kernels of another would give correct results, but its own kernels would never run.
#[test]
#[cfg_attr(miri, ignore = "a generic function has another address each time")]
fn every_way_has_kernels_of_its_own() {
    let mut known = HashSet::new();
    for way in ways_here() {
        let all = (1..3000).flat_map(|size| ran::all(size, way)).map(|(_, address)| address);
        let own: HashSet<_> = all.filter(|address| !known.contains(address)).collect();
        assert!(!own.is_empty(), "{way:?}");
        known.extend(own);
    }
}

/// The parts of a program, by name.
fn shapes(sequence: &Sequence, all: &mut HashSet<&'static str>) {
    for operation in &sequence.operations {
        all.insert(operation.leaf.name());
        if let Leaf::Body { body, .. } = &operation.leaf {
            shapes(body, all);
        }
    }
}

/// Runs of unrelated lengths, a transposition, and records of both kinds: random layouts are rarely large enough for these.
fn rare_shapes() -> [Layout; 4] {
    let byte = Layout::named(Element::Byte);
    // Blocks that are copied as two parts, at the ends of each pair.
    let halves = [64, 65, 95, 96, 97, 127, 128, 129, 255, 256];
    let lengths: Vec<i64> = (1..60).map(|i| i * i % 61).chain(halves).collect();
    let places: Vec<i64> = (0..lengths.len() as i64).map(|i| 300 * i).collect();
    let column = Layout::hvector(9, 4, 1000, &byte).unwrap();
    [
        Layout::indexed(&lengths, &places, &byte).unwrap(),
        Layout::hvector(20, 1, 4, &column).unwrap(),
        records(&[24, 8, 1], 150, true),
        records(&[8, 4, 4], 20, false),
    ]
}

/// Blocks of these sizes, each from its own array, `count` times: one after the other in an array, or at
/// uneven distances.
fn records(blocks: &[i64], count: i64, is_even: bool) -> Layout {
    let (mut lengths, mut places) = (Vec::new(), Vec::new());
    for i in 0..count {
        let mut array = 0;
        for &block in blocks {
            lengths.push(block);
            places.push(array + (if is_even { i } else { i + i * i % 3 * count }) * block);
            array += 3 * count * block + 5;
        }
    }
    Layout::indexed(&lengths, &places, &Layout::named(Element::Byte)).unwrap()
}

/// Long enough to be written past the caches, where the code must enforce the order of writes.
#[test]
#[cfg_attr(miri, ignore = "too large to interpret")]
fn long_blocks_that_overlap_are_written_in_order() {
    let layout = Layout::hvector(3, 1 << 17, (1 << 16) + 8, &Layout::named(Element::Byte)).unwrap();
    check(&layout, 1, &mut noise(5));
}

/// If two blocks share a byte, the one written last must stay the same.
#[test]
fn records_whose_columns_overlap_are_none() {
    let (lengths, places): (Vec<i64>, Vec<i64>) =
        (0..200).map(|i| if i % 2 == 0 { (8, 16 * i) } else { (3, 16 * (200 - i) + 5) }).unzip();
    let layout = Layout::indexed(&lengths, &places, &Layout::named(Element::Byte)).unwrap();
    let program = crate::compile(&layout, 1).unwrap();
    assert!(!matches!(program.sequence.operations[0].leaf, Leaf::Records { .. }), "{program}");
    check(&layout, 1, &mut noise(4));
}

#[test]
fn records_of_even_and_of_uneven_columns_agree_with_the_oracle() {
    let mut noise = noise(3);
    for blocks in [&[24, 40, 8, 7][..], &[1, 4], &[5, 300, 4, 17, 64, 3, 9]] {
        // Around the number of records that are copied at once.
        for count in if cfg!(miri) { [8, 9] } else { [63, 130] } {
            for is_even in [true, false] {
                let layout = records(blocks, count, is_even);
                let program = crate::compile(&layout, 1).unwrap();
                assert!(matches!(program.sequence.operations[0].leaf, Leaf::Records { .. }), "{program}");
                check(&layout, 2, &mut noise);
            }
        }
    }
}

#[test]
fn runs_of_any_length_run_and_agree_with_the_oracle() {
    let mut noise = noise(2);
    let [uneven, ..] = rare_shapes();
    check(&uneven, 2, &mut noise);
    for way in ways_here().filter(|_| !cfg!(miri)) {
        let kernels = runs(way);
        assert!(ran::has(kernels.pack as *const ()), "{way:?}");
        assert!(ran::has(kernels.unpack as *const ()), "{way:?}");
    }
}

#[test]
fn random_layouts_have_every_shape() {
    let mut seen = HashSet::new();
    let random = (0..if cfg!(miri) { 60 } else { 1000 }).map(|seed| unusual_layout(seed, 4));
    for layout in random.chain(rare_shapes()) {
        let program = crate::compile(&layout, 2).unwrap();
        shapes(&program.sequence, &mut seen);
    }
    assert_eq!(seen, Leaf::NAMES.into(), "each shape must be tested and named");
}

#[test]
#[cfg_attr(miri, ignore = "too large to interpret")]
fn every_class_is_measured_with_messages_of_that_class() {
    for class in Class::all() {
        for direction in Direction::ALL {
            let mut trial = Trial::new(class, direction);
            assert_eq!(trial.ways(), class.ways(direction));
            assert!(trial.is_of(class), "{class}, {direction}");
            for place in 0..Trial::PLACES {
                for message in 0..trial.sizes().len() {
                    trial.copy(place % trial.ways().len(), message, place);
                    trial.evict(message);
                }
            }
        }
    }
}
