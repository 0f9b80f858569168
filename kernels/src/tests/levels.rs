//! No kernel and no instruction set that this machine has goes without a run.

use std::collections::HashSet;

use datatypes::pool::random_layout;
use datatypes::{Element, Layout};

use super::ran;
use crate::check::{Expected, Noise, levels_here};
use crate::operation::{Leaf, Sequence};
use crate::program::compile_for;
use crate::select::{Level, kernels};

/// Larger blocks have the kernel of this size.
const LARGEST: usize = 1 << 16;

/// Sizes of blocks that reach every kernel: all small ones, and the first and the last of each kernel.
fn sizes() -> Vec<usize> {
    let small = if cfg!(miri) { 40 } else { 300 };
    let changes = |&size: &usize| {
        levels_here().any(|level| {
            let addresses = |size| ran::all(&kernels(size, level)).map(|(_, address)| address);
            addresses(size) != addresses(size + 1)
        })
    };
    let edges = (small..LARGEST).filter(changes).flat_map(|size| [size, size + 1]);
    (1..small).chain(edges.take(if cfg!(miri) { 0 } else { usize::MAX })).collect()
}

/// Blocks of every size, strided both ways and at listed places, in numbers around what loops are unrolled to.
#[test]
fn every_kernel_runs_and_agrees_with_the_oracle() {
    let mut noise = Noise(1);
    let byte = Layout::named(Element::Byte);
    for size in sizes() {
        let block = size as i64;
        // The oracle goes byte by byte: long blocks in small numbers only.
        let counts: &[i64] = match size {
            _ if cfg!(miri) => &[3, 5],
            ..=64 => &[2, 3, 4, 5, 9, 18, 35],
            _ => &[3, 9],
        };
        for (gap, &count) in [1, 5].into_iter().flat_map(|gap| counts.iter().map(move |count| (gap, count))) {
            let step = block + gap;
            let uneven: Vec<i64> = (0..count).map(|i| 3 * i / 2 * step).collect();
            for layout in [
                Layout::vector(count, block, step, &byte).unwrap(),
                Layout::hvector(count, block, -step, &byte).unwrap(),
                Layout::indexed_block(block, &uneven, &byte).unwrap(),
            ] {
                let expected = Expected::of(&layout, 1, 0, &mut noise);
                for level in levels_here() {
                    expected.compare(&compile_for(&layout, 1, level).unwrap(), 1, &mut noise);
                }
            }
        }
        // Miri gives a generic function another address each time.
        for level in levels_here().filter(|_| !cfg!(miri)) {
            let kernels = kernels(size, level);
            for (kind, address) in ran::all(&kernels) {
                assert!(ran::has(address), "{kind}, {} of {} bytes has not run", level.name(), kernels.sizes);
            }
        }
    }
}

/// A table that hands out the kernels of another instruction set would be right, and for nothing.
#[test]
#[cfg_attr(miri, ignore = "a generic function has another address each time")]
fn every_instruction_set_has_kernels_of_its_own() {
    let mut known = HashSet::new();
    for level in levels_here() {
        let all = (1..300).flat_map(|size| ran::all(&kernels(size, level))).map(|(_, address)| address);
        let own: HashSet<_> = all.filter(|address| !known.contains(address)).collect();
        assert!(!own.is_empty(), "{}", level.name());
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

#[test]
fn random_layouts_have_every_shape() {
    let mut seen = HashSet::new();
    for seed in 0..if cfg!(miri) { 60 } else { 1000 } {
        let program = compile_for(&random_layout(seed, 4, 400), 2, Level::Base).unwrap();
        shapes(&program.sequence, &mut seen);
    }
    assert_eq!(seen, Leaf::NAMES.into(), "what is on one side only is not tested, or not named");
}

/// Asks the system instead of the processor: if the detection failed, other tests would pass without these kernels.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[cfg_attr(miri, ignore = "reads a file")]
fn every_instruction_set_of_the_machine_is_used() {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap();
    let has = |names: &[&str]| names.iter().all(|name| flags.split_whitespace().any(|flag| flag == *name));
    for &level in Level::ALL {
        let is_here = match level {
            Level::Base => true,
            Level::Avx2 => has(&["avx2"]),
            Level::Avx512 => has(&["avx512f", "avx512vl"]),
        };
        assert_eq!(level.is_here(), is_here, "{}", level.name());
    }
    assert_eq!(Some(Level::best()), levels_here().max());
    let program = crate::compile(&Layout::named(Element::Byte), 1).unwrap();
    assert_eq!(program.level, Level::best());
}
