//! Random trees with arguments from the whole range of 64 bits: an error, or a layout that is right.

use std::collections::BTreeMap;

use ddtbench_datatypes::{Constructor, Element, Layout, Order};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::named;
use crate::properties::assert_agrees;

/// Small numbers, the ends of 32 and 64 bits, powers of two and their neighbours, and anything.
fn argument(random: &mut Pcg64) -> i64 {
    match random.random_range(0..10) {
        0 => [i64::MIN, i64::MAX, i32::MIN.into(), i32::MAX.into()][random.random_range(0..4usize)],
        1 | 2 => {
            let power = (1i64 << random.random_range(0..63)) + random.random_range(-1..=1);
            if random.random_bool(0.5) { power } else { -power }
        }
        3 => random.random_range(i64::MIN..=i64::MAX),
        _ => random.random_range(-4..8),
    }
}

/// A count: an argument that is seldom negative, or most layouts would be refused for it.
fn count(random: &mut Pcg64) -> i64 {
    match argument(random) {
        value if random.random_ratio(1, 12) => value,
        value => value.saturating_abs(),
    }
}

/// A list that is seldom longer or shorter than it should be.
fn list(random: &mut Pcg64, length: usize, value: fn(&mut Pcg64) -> i64) -> Vec<i64> {
    let length = if random.random_ratio(1, 20) { random.random_range(0..5) } else { length };
    (0..length).map(|_| value(random)).collect()
}

/// A size, a part of it, and where the part starts; seldom none that fit.
fn dimension(random: &mut Pcg64) -> (i64, i64, i64) {
    let (size, subsize, start) = (count(random), count(random), argument(random));
    if size < 1 || subsize < 1 || random.random_ratio(1, 12) {
        return (size, subsize, start);
    }
    let subsize = 1 + (subsize - 1).rem_euclid(size);
    (size, subsize, start.rem_euclid((size - subsize).saturating_add(1)))
}

fn constructor(random: &mut Pcg64, levels: u32) -> Constructor {
    let length = random.random_range(0..4usize);
    let child = grow(random, levels);
    match random.random_range(0..10u32) {
        0 => Constructor::Contiguous { count: count(random), child },
        1 => {
            let (count, blocklength, stride) = (count(random), count(random), argument(random));
            Constructor::Vector { count, blocklength, stride, child }
        }
        2 => {
            let (count, blocklength, stride_bytes) = (count(random), count(random), argument(random));
            Constructor::Hvector { count, blocklength, stride_bytes, child }
        }
        3 => {
            let (blocklengths, displacements) = (list(random, length, count), list(random, length, argument));
            Constructor::Indexed { blocklengths, displacements, child }
        }
        4 => {
            let (blocklengths, displacements_bytes) =
                (list(random, length, count), list(random, length, argument));
            Constructor::Hindexed { blocklengths, displacements_bytes, child }
        }
        5 => {
            let (blocklength, displacements) = (count(random), list(random, length, argument));
            Constructor::IndexedBlock { blocklength, displacements, child }
        }
        6 => {
            let (blocklength, displacements_bytes) = (count(random), list(random, length, argument));
            Constructor::HindexedBlock { blocklength, displacements_bytes, child }
        }
        7 => {
            let (blocklengths, displacements_bytes) =
                (list(random, length, count), list(random, length, argument));
            let children = (0..length).map(|_| grow(random, levels)).collect();
            Constructor::Struct { blocklengths, displacements_bytes, children }
        }
        8 => {
            let dims: Vec<_> = (0..length).map(|_| dimension(random)).collect();
            Constructor::Subarray {
                sizes: dims.iter().map(|dim| dim.0).collect(),
                subsizes: dims.iter().map(|dim| dim.1).collect(),
                starts: dims.iter().map(|dim| dim.2).collect(),
                order: if random.random_bool(0.5) { Order::C } else { Order::Fortran },
                child,
            }
        }
        _ => Constructor::Resized { lower_bound: argument(random), extent: argument(random), child },
    }
}

/// A layout of some levels. What is refused below the top is replaced by a plain type, so that trees grow.
fn grow(random: &mut Pcg64, levels: u32) -> Layout {
    if levels == 0 {
        return named(Element::ALL[random.random_range(0..Element::ALL.len())]);
    }
    Layout::new(constructor(random, levels - 1)).unwrap_or_else(|_| named(Element::Int32))
}

/// Copies that a direct reading has to visit; `None` where these are too many.
fn copies(layout: &Layout) -> Option<u64> {
    const LIMIT: u64 = 3000;
    let product = |factors: &[i64]| {
        factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor as u64))
    };
    let here = match layout.constructor() {
        Constructor::Named { .. } | Constructor::Resized { .. } => 1,
        Constructor::Contiguous { count, .. } => product(&[*count])?,
        Constructor::Vector { count, blocklength, .. } | Constructor::Hvector { count, blocklength, .. } => {
            product(&[*count, (*blocklength).max(1)])?
        }
        Constructor::Indexed { blocklengths, .. }
        | Constructor::Hindexed { blocklengths, .. }
        | Constructor::Struct { blocklengths, .. } => {
            blocklengths.iter().try_fold(0u64, |sum, &length| sum.checked_add(length as u64))?
        }
        Constructor::IndexedBlock { blocklength, displacements: list, .. }
        | Constructor::HindexedBlock { blocklength, displacements_bytes: list, .. } => {
            product(&[list.len() as i64, *blocklength])?
        }
        Constructor::Subarray { subsizes, .. } => product(subsizes)?,
    };
    let below = layout
        .constructor()
        .children()
        .iter()
        .try_fold(1u64, |most, child| Some(most.max(copies(child)?)))?;
    here.max(1).checked_mul(below).filter(|&copies| copies <= LIMIT)
}

/// All questions that take no time in proportion to the layout, with 128 bits to judge by.
fn assert_sound(layout: &Layout, name: &str) {
    let (lower, upper) = (layout.lower_bound() as i128, layout.upper_bound() as i128);
    assert_eq!(upper - lower, layout.extent() as i128, "{name}");
    let (first, end) = (layout.true_lower_bound() as i128, layout.true_upper_bound() as i128);
    assert_eq!(end - first, layout.true_extent() as i128, "{name}");
    let within = |from: i64, bytes: u64| from as i128 >= first && from as i128 + bytes as i128 <= end;
    assert!(layout.runs().take(50).all(|run| within(run.offset, run.bytes())), "{name}");
    assert_eq!(layout.runs().next().is_none(), layout.size() == 0, "{name}");
    let mut sum = 0;
    let few = layout.segments().take(50);
    assert!(few.inspect(|s| sum += s.bytes).all(|s| s.bytes > 0 && within(s.offset, s.bytes)), "{name}");
    assert!(sum <= layout.size(), "{name}");
    assert_eq!(layout.to_text().parse().as_ref(), Ok(layout), "{name}");
}

#[test]
fn no_argument_panics_or_wraps() {
    // How often each constructor was accepted and checked in full, accepted, refused.
    let mut seen: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for seed in 0..60_000 {
        let mut random = Pcg64::seed_from_u64(seed);
        let levels = random.random_range(0..5);
        let constructor = constructor(&mut random, levels);
        let times = seen.entry(constructor.name()).or_default();
        match Layout::new(constructor) {
            Err(error) => {
                times[2] += 1;
                assert!(error.to_string().contains(" = "), "seed {seed}: {error}");
            }
            Ok(layout) => {
                times[1] += 1;
                let name = format!("seed {seed}: {layout:?}");
                assert_sound(&layout, &name);
                if copies(&layout).is_some() {
                    times[0] += 1;
                    assert_agrees(&layout, &name);
                }
            }
        }
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
    assert!(seen.values().flatten().all(|&times| times > 200), "{seen:?}");
}
