//! Seeded random layouts, for property tests and for testing datatype engines.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{Constructor, Element, Layout, Order};

/// A random layout with at most `depth` constructors above its predefined types and at most `entries` values.
/// The same arguments give the same layout on every machine.
///
/// Zero counts, negative strides, overlaps, gaps and resized children (negative extents too) all occur.
pub fn random_layout(seed: u64, depth: u32, entries: u64) -> Layout {
    let mut random = Pcg64::seed_from_u64(seed);
    loop {
        let layout = grow(&mut random, depth);
        // The smallest values are single bytes, so size bounds their number.
        if layout.size() <= entries {
            return layout;
        }
    }
}

fn grow(random: &mut impl Rng, depth: u32) -> Layout {
    if depth == 0 {
        return Layout::named(Element::ALL[random.random_range(0..Element::ALL.len())]);
    }
    let below = |random: &mut _| {
        let less = RngExt::random_range(random, 0..2);
        grow(random, depth - 1 - less.min(depth - 1))
    };
    let small = |random: &mut _| RngExt::random_range(random, 0..4i64);
    let signed = |random: &mut _| RngExt::random_range(random, -6..12i64);
    let blocks = random.random_range(0..4usize);
    let lengths: Vec<i64> = (0..blocks).map(|_| small(random)).collect();
    let displacements: Vec<i64> = (0..blocks).map(|_| signed(random)).collect();
    let bytes: Vec<i64> = (0..blocks).map(|_| random.random_range(-40..80i64)).collect();
    let constructor = match random.random_range(0..10u32) {
        0 => Constructor::Contiguous { count: small(random), child: below(random) },
        1 => Constructor::Vector {
            count: small(random),
            blocklength: small(random),
            stride: signed(random),
            child: below(random),
        },
        2 => Constructor::Hvector {
            count: small(random),
            blocklength: small(random),
            stride_bytes: random.random_range(-40..80),
            child: below(random),
        },
        3 => Constructor::Indexed { blocklengths: lengths, displacements, child: below(random) },
        4 => {
            Constructor::Hindexed { blocklengths: lengths, displacements_bytes: bytes, child: below(random) }
        }
        5 => Constructor::IndexedBlock { blocklength: small(random), displacements, child: below(random) },
        6 => Constructor::HindexedBlock {
            blocklength: small(random),
            displacements_bytes: bytes,
            child: below(random),
        },
        7 => Constructor::Struct {
            blocklengths: lengths,
            displacements_bytes: bytes,
            children: (0..blocks).map(|_| below(random)).collect(),
        },
        8 => {
            let dims = random.random_range(1..4usize);
            let sizes: Vec<i64> = (0..dims).map(|_| random.random_range(1..5)).collect();
            let subsizes: Vec<i64> = sizes.iter().map(|&size| random.random_range(1..=size)).collect();
            let starts =
                sizes.iter().zip(&subsizes).map(|(size, sub)| random.random_range(0..=size - sub)).collect();
            let order = if random.random_bool(0.5) { Order::C } else { Order::Fortran };
            Constructor::Subarray { sizes, subsizes, starts, order, child: below(random) }
        }
        _ => Constructor::Resized {
            lower_bound: random.random_range(-16..16),
            extent: random.random_range(-24..48),
            child: below(random),
        },
    };
    Layout::new(constructor).expect("small arguments are legal")
}
