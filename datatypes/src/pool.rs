//! Seeded random layouts, for property tests and for testing datatype engines.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::distributed::smallest_block;
use crate::{Constructor, DistributedArray, Distribution, Element, Layout, LayoutError, MAX_DEPTH, Order};

/// A random layout with at most `depth` constructors around its predefined types and at most `entries` values. The same arguments
/// give the same layout on every machine.
///
/// It may have zero counts, negative strides, overlaps, gaps, dense blocks and resized children, also with negative extents. At
/// least one value is always allowed, and the nesting is at most [`MAX_DEPTH`].
pub fn random_layout(seed: u64, depth: u32, entries: u64) -> Layout {
    let mut random = Pcg64::seed_from_u64(seed);
    let entries = entries.max(1);
    loop {
        // Deep nests of large extents sometimes overflow, and are refused like those with too many values.
        let Ok(layout) = grow(&mut random, depth.min(MAX_DEPTH - 1)) else { continue };
        // The size first, because it limits the time for counting values.
        let most_bytes = entries.saturating_mul(Element::DoubleComplex.size());
        if layout.size() <= most_bytes && layout.runs().map(|run| run.count).sum::<u64>() <= entries {
            return layout;
        }
    }
}

fn grow(random: &mut Pcg64, depth: u32) -> Result<Layout, LayoutError> {
    if depth == 0 {
        // Not every MPI has half precision, and none need move the padding of a long double.
        let is_portable = |element: &Element| {
            !matches!(element, Element::Half | Element::LongDouble | Element::LongDoubleComplex)
        };
        let portable: Vec<Element> = Element::ALL.into_iter().filter(is_portable).collect();
        return Ok(Layout::named(portable[random.random_range(0..portable.len())]));
    }
    let below = |random: &mut Pcg64| {
        let less = random.random_range(0..2);
        grow(random, depth - 1 - less.min(depth - 1))
    };
    let blocks = count(random);
    let lengths: Vec<i64> = (0..blocks).map(|_| count(random)).collect();
    let displacements: Vec<i64> = (0..blocks).map(|_| signed(random)).collect();
    let bytes: Vec<i64> = (0..blocks).map(|_| signed_bytes(random)).collect();
    Layout::new(match random.random_range(0..11u32) {
        0 => Constructor::Contiguous { count: count(random), child: below(random)? },
        1 => Constructor::Vector {
            count: count(random),
            blocklength: count(random),
            stride: signed(random),
            child: below(random)?,
        },
        2 => Constructor::Hvector {
            count: count(random),
            blocklength: count(random),
            stride_bytes: signed_bytes(random),
            child: below(random)?,
        },
        3 => Constructor::Indexed { blocklengths: lengths, displacements, child: below(random)? },
        4 => {
            Constructor::Hindexed { blocklengths: lengths, displacements_bytes: bytes, child: below(random)? }
        }
        5 => Constructor::IndexedBlock { blocklength: count(random), displacements, child: below(random)? },
        6 => Constructor::HindexedBlock {
            blocklength: count(random),
            displacements_bytes: bytes,
            child: below(random)?,
        },
        7 => Constructor::Struct {
            blocklengths: lengths,
            displacements_bytes: bytes,
            children: (0..blocks).map(|_| below(random)).collect::<Result<_, _>>()?,
        },
        8 => {
            let dims = random.random_range(1..4usize);
            let sizes: Vec<i64> = (0..dims).map(|_| random.random_range(1..5)).collect();
            let subsizes: Vec<i64> = sizes.iter().map(|&size| random.random_range(1..=size)).collect();
            let starts =
                sizes.iter().zip(&subsizes).map(|(size, sub)| random.random_range(0..=size - sub)).collect();
            Constructor::Subarray { sizes, subsizes, starts, order: order(random), child: below(random)? }
        }
        9 => Constructor::Darray { array: distributed(random), child: below(random)? },
        _ => Constructor::Resized {
            lower_bound: random.random_range(-16..16),
            extent: random.random_range(-24..48),
            child: below(random)?,
        },
    })
}

/// An array of up to three dimensions on up to three processes in each; some of these have none of its elements.
pub(crate) fn distributed(random: &mut Pcg64) -> DistributedArray {
    let (mut gsizes, mut distribs, mut dargs, mut psizes) = (vec![], vec![], vec![], vec![]);
    for _ in 0..random.random_range(1..4) {
        let gsize = random.random_range(1..8);
        let distribution = Distribution::ALL[random.random_range(0..3usize)];
        let psize = if distribution == Distribution::None { 1 } else { random.random_range(1..4) };
        let least = if distribution == Distribution::Block { smallest_block(gsize, psize) } else { 1 };
        gsizes.push(gsize);
        distribs.push(distribution);
        dargs.push(random.random_bool(0.7).then(|| random.random_range(least..least + 3)));
        psizes.push(psize);
    }
    let size = psizes.iter().product();
    let rank = random.random_range(0..size);
    DistributedArray { size, rank, gsizes, distribs, dargs, psizes, order: order(random) }
}

fn order(random: &mut Pcg64) -> Order {
    if random.random_bool(0.5) { Order::C } else { Order::Fortran }
}

/// Zero now and then only: an empty child leaves nothing to see above it.
fn count(random: &mut Pcg64) -> i64 {
    if random.random_ratio(1, 12) { 0 } else { random.random_range(1..4) }
}

fn signed(random: &mut Pcg64) -> i64 {
    random.random_range(-6..12)
}

/// Half of them are multiples of 8, so that blocks are sometimes adjacent.
fn signed_bytes(random: &mut Pcg64) -> i64 {
    if random.random_bool(0.5) { 8 * signed(random) } else { random.random_range(-40..80) }
}
