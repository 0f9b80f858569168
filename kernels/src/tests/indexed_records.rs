//! Records by index: recognised from every constructor, compared with the oracle by every kernel, and refused
//! where the order of writes would matter.

use datatypes::{Element, Layout};

use super::ran;
use crate::check::{check, noise, ways_here};
use crate::compile;
use crate::indexed_records::RecordsKernels;
use crate::operation::{Leaf, LoopNest};
use crate::select::{particles, words};

/// Indices without a pattern, with one that occurs twice.
fn indices(count: i64) -> Vec<i64> {
    let mut indices: Vec<i64> = (0..count).map(|i| 5 + (i * i * 7 + 2 * i) % (4 * count)).collect();
    indices[2] = indices[6];
    indices
}

/// The values of the arrays, `blocks` with so many of `element` each, at each index.
fn structure_of_arrays(element: Element, blocks: &[i64], indices: &[i64]) -> (Vec<i64>, Vec<i64>, Layout) {
    let room = indices.iter().max().unwrap() + 1;
    let (mut lengths, mut places) = (Vec::new(), Vec::new());
    for index in indices {
        let mut array = 0;
        for block in blocks {
            lengths.push(*block);
            places.push(array + index * block);
            array += room * block + 1;
        }
    }
    (lengths, places, Layout::named(element))
}

fn is_by_index(layout: &Layout) -> bool {
    let program = compile(layout, 1).unwrap();
    matches!(program.sequence.operations[..], [ref only] if matches!(only.leaf, Leaf::IndexedRecords { .. }))
}

#[test]
fn every_kernel_for_words_runs_and_agrees_with_the_oracle() {
    let mut noise = noise(6);
    for element in [Element::Float, Element::Double] {
        let blocks: [&[i64]; 7] =
            [&[1, 1, 1, 1, 1, 1], &[1, 2], &[1, 1, 1], &[1, 1], &[1, 2, 3], &[1, 1, 1, 1], &[3, 1, 2]];
        for blocks in blocks {
            // Around the number of records that are copied at once.
            for count in if cfg!(miri) { [8, 9] } else { [9, 300] } {
                let (lengths, places, element) = structure_of_arrays(element, blocks, &indices(count));
                let layout = Layout::indexed(&lengths, &places, &element).unwrap();
                assert!(is_by_index(&layout), "{blocks:?}");
                check(&layout, 2, &mut noise);
            }
        }
    }
    for way in ways_here().filter(|_| !cfg!(miri)) {
        for (bytes, group) in [4, 8].into_iter().flat_map(|bytes| (1..=5).map(move |group| (bytes, group))) {
            let kernels = words(bytes, group, way);
            for address in [kernels.pack as *const (), kernels.unpack as *const ()] {
                assert!(ran::has(address), "{group} words of {bytes} bytes, {way:?}");
            }
        }
    }
}

/// A position and single values, at uneven indices and one after the other.
#[test]
fn every_kernel_for_particles_runs_and_agrees_with_the_oracle() {
    let mut noise = noise(10);
    let is_of_particles = |layout: &Layout| {
        let program = compile(layout, 1).unwrap();
        let [LoopNest { leaf: Leaf::IndexedRecords { records, kernels, .. }, .. }] =
            &program.sequence.operations[..]
        else {
            panic!("{program}");
        };
        assert!(matches!(kernels, RecordsKernels::Particles(_)), "{program}");
        records.is_even()
    };
    for (element, bytes) in [(Element::Float, 4), (Element::Double, 8)] {
        for singles in 1..=5 {
            let blocks: Vec<i64> = [3].into_iter().chain(std::iter::repeat_n(1, singles)).collect();
            // Around the number of even records that are copied at once.
            for count in if cfg!(miri) { [8, 9] } else { [11, 300] } {
                for is_even in [false, true] {
                    let indices = if is_even { (3..count + 3).collect() } else { indices(count) };
                    let (lengths, places, element) = structure_of_arrays(element, &blocks, &indices);
                    let layout = Layout::indexed(&lengths, &places, &element).unwrap();
                    assert_eq!(is_of_particles(&layout), is_even, "{blocks:?}");
                    check(&layout, 2, &mut noise);
                    for way in ways_here().filter(|_| !cfg!(miri)) {
                        let kernels = particles(bytes, singles, is_even, way);
                        for address in [kernels.pack as *const (), kernels.unpack as *const ()] {
                            assert!(ran::has(address), "{blocks:?}, {way:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn constructors_that_mean_the_same_are_recognised() {
    let indices = indices(20);
    let (lengths, places, double) = structure_of_arrays(Element::Double, &[3, 1, 1], &indices);
    let bytes: Vec<i64> = places.iter().map(|place| 8 * place).collect();
    let members: Vec<Layout> =
        lengths.iter().map(|length| Layout::contiguous(*length, &double).unwrap()).collect();
    let (_, single, _) = structure_of_arrays(Element::Double, &[1, 1, 1, 1], &indices);
    // An element of 6 doubles, of which the first three and the last are data.
    let element = Layout::resized(0, 48, &Layout::indexed(&[3, 1], &[0, 5], &double).unwrap()).unwrap();
    let mut noise = noise(7);
    for layout in [
        Layout::indexed(&lengths, &places, &double).unwrap(),
        Layout::hindexed(&lengths, &bytes, &double).unwrap(),
        Layout::structure(&vec![1; bytes.len()], &bytes, &members).unwrap(),
        Layout::indexed_block(1, &single, &double).unwrap(),
        Layout::indexed_block(1, &indices, &element).unwrap(),
        Layout::indexed_block(2, &indices.iter().map(|i| 2 * i).collect::<Vec<_>>(), &element).unwrap(),
    ] {
        assert!(is_by_index(&layout), "{layout:?}");
        check(&layout, 1, &mut noise);
    }
}

/// If two words share a byte, the one written last must stay the same.
#[test]
fn records_that_overlap_or_have_long_runs_are_none() {
    let double = Layout::named(Element::Double);
    let indices = indices(20);
    let overlapping = |step: i64, columns: &[i64]| {
        let places = indices.iter().flat_map(|i| columns.iter().map(move |column| column + step * i));
        Layout::indexed_block(1, &places.collect::<Vec<_>>(), &double).unwrap()
    };
    // Two elements of the same array; an element that is longer than its distance; columns that interleave.
    let (lengths, places): (Vec<i64>, Vec<i64>) =
        indices.iter().flat_map(|i| [(3, 2 * i), (1, 1000 + i)]).unzip();
    let long = Layout::indexed(&lengths, &places, &double).unwrap();
    let halves: Vec<i64> = indices.iter().flat_map(|i| [8 * i, 8 * i + 4]).collect();
    let halves = Layout::hindexed_block(1, &halves, &double).unwrap();
    let mut noise = noise(8);
    // Long runs are copied as blocks.
    let (lengths, places, _) = structure_of_arrays(Element::Double, &[8, 1], &indices);
    let blocks = Layout::indexed(&lengths, &places, &double).unwrap();
    for layout in [blocks, overlapping(1, &[0, 1]), overlapping(2, &[0, 3]), long, halves] {
        assert!(!is_by_index(&layout), "{layout:?}");
        check(&layout, 2, &mut noise);
    }
    assert!(is_by_index(&overlapping(2, &[0, 1])) && is_by_index(&overlapping(2, &[1, 0])));
}

#[test]
fn a_list_that_breaks_the_pattern_late_is_copied_correctly() {
    let (lengths, places, double) = structure_of_arrays(Element::Double, &[3, 1, 1], &indices(40));
    let mut noise = noise(9);
    for (at, change) in [(3 * 39, 3), (3 * 20 + 1, 1), (3 * 30 + 2, 2000)] {
        let mut places = places.clone();
        places[at] += change;
        let layout = Layout::indexed(&lengths, &places, &double).unwrap();
        assert!(!is_by_index(&layout), "{at}");
        check(&layout, 1, &mut noise);
    }
    let mut lengths = lengths;
    lengths[3 * 39 + 1] = 2;
    let layout = Layout::indexed(&lengths, &places, &double).unwrap();
    assert!(!is_by_index(&layout));
    check(&layout, 1, &mut noise);
}
