//! Seeded random layouts of the shapes that implementations of datatypes get wrong most often: zero counts and block lengths, empty
//! members, negative strides and displacements, blocks in descending order, extents that are smaller than the data, zero or negative,
//! gaps smaller than an element, elements of different sizes in one structure.
//!
//! Most of them are small, and most can also be received: their values do not overlap. Property tests and the checks of MPIs use them.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::distributed::smallest_block;
use crate::{Constructor, DistributedArray, Distribution, Element, Layout, LayoutError, Order};

/// Bytes of data at most, and the farthest byte from the origin: tests need memory for both.
const MOST_BYTES: u64 = 1 << 15;
const FARTHEST: i64 = 1 << 20;

/// The predefined types, those more often whose sizes or alignments are special.
const ELEMENTS: [Element; 14] = [
    Element::Byte,
    Element::Byte,
    Element::Char,
    Element::Int8,
    Element::Uint16,
    Element::Int16,
    Element::Int32,
    Element::Int32,
    Element::Float,
    Element::Double,
    Element::Double,
    Element::Int64,
    Element::FloatComplex,
    Element::DoubleComplex,
];

/// A random layout of at most this many constructors. The same arguments give the same layout on every machine.
pub fn unusual_layout(seed: u64, constructors: u32) -> Layout {
    let mut grower = Grower(Pcg64::seed_from_u64(seed));
    loop {
        // Large extents overflow now and then.
        let Ok(layout) = grower.layout(constructors.max(1)) else { continue };
        if size_of_largest_part(&layout) <= MOST_BYTES && !is_beyond(&layout, FARTHEST) {
            return layout;
        }
    }
}

/// A small layout in two or three copies that are more than 2 GiB apart.
pub fn far_layout(seed: u64) -> Layout {
    let mut grower = Grower(Pcg64::seed_from_u64(seed));
    loop {
        let Ok(child) = grower.layout(1) else { continue };
        if child.size() == 0 || child.size() > MOST_BYTES_OF_COPIES || is_beyond(&child, FARTHEST) {
            continue;
        }
        if let Ok(layout) = grower.apart(child) {
            return layout;
        }
    }
}

/// A layout of more than 65,536 values.
pub fn long_layout(seed: u64) -> Layout {
    let mut grower = Grower(Pcg64::seed_from_u64(seed));
    loop {
        let Ok(child) = grower.layout(1) else { continue };
        let values: u64 = child.runs().map(|run| run.count).sum();
        if values == 0 {
            continue;
        }
        let count = ((MANY + grower.0.random_range(0..MANY / 8)) / values + 1) as i64;
        let mut constructor = match grower.below(3) {
            0 => Constructor::Contiguous { count, child },
            1 => grower.vector(child),
            _ => grower.hvector(child),
        };
        if let Constructor::Vector { count: blocks, blocklength, .. }
        | Constructor::Hvector { count: blocks, blocklength, .. } = &mut constructor
        {
            (*blocks, *blocklength) = (count, (*blocklength).max(1));
        }
        if let Ok(layout) = Layout::new(constructor)
            && !is_beyond(&layout, 2 * FARTHEST)
            && layout.size() <= 2 * FARTHEST as u64
        {
            return layout;
        }
    }
}

/// Bytes of a copy in [`far_layout`], and values in [`long_layout`].
const MOST_BYTES_OF_COPIES: u64 = 1 << 10;
const MANY: u64 = 1 << 16;

/// Whether any byte, or bound, is so far from the origin.
fn is_beyond(layout: &Layout, farthest: i64) -> bool {
    [layout.lower_bound(), layout.upper_bound(), layout.true_lower_bound(), layout.true_upper_bound()]
        .iter()
        .any(|bound| bound.abs() > farthest)
}

/// The size of the largest type within a layout: it may be in a block without items.
fn size_of_largest_part(layout: &Layout) -> u64 {
    layout.constructor().children().iter().map(size_of_largest_part).fold(layout.size(), u64::max)
}

struct Grower(Pcg64);

impl Grower {
    fn below(&mut self, end: i64) -> i64 {
        self.0.random_range(0..end)
    }

    fn one_in(&mut self, times: u32) -> bool {
        self.0.random_ratio(1, times)
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.0.random_range(0..values.len())]
    }

    fn layout(&mut self, constructors: u32) -> Result<Layout, LayoutError> {
        if constructors == 0 {
            return Ok(Layout::named(self.pick(&ELEMENTS)));
        }
        let kind = self.below(13);
        if kind < 3 {
            return self.structure(constructors - 1);
        }
        let child = self.layout(constructors - 1)?;
        Layout::new(match kind {
            3 => Constructor::Contiguous { count: self.count(), child },
            4 => self.vector(child),
            5 => self.hvector(child),
            6 => {
                let blocklengths = self.lengths();
                let displacements = self.displacements(&blocklengths, &child);
                Constructor::Indexed { blocklengths, displacements, child }
            }
            7 => {
                let blocklengths = self.lengths();
                let blocks: Vec<_> = blocklengths.iter().map(|length| (*length, &child)).collect();
                let displacements_bytes = self.displacements_bytes(&blocks);
                Constructor::Hindexed { blocklengths, displacements_bytes, child }
            }
            8 => {
                let (blocks, blocklength) = (self.lengths().len(), self.length());
                let displacements = self.displacements(&vec![blocklength; blocks], &child);
                Constructor::IndexedBlock { blocklength, displacements, child }
            }
            9 => {
                let (blocks, blocklength) = (self.lengths().len(), self.length());
                let displacements_bytes = self.displacements_bytes(&vec![(blocklength, &child); blocks]);
                Constructor::HindexedBlock { blocklength, displacements_bytes, child }
            }
            10 => self.subarray(child),
            11 => Constructor::Darray { array: distributed(&mut self.0), child },
            _ => self.resized(child),
        })
    }

    /// Copies of a child that are far apart.
    fn apart(&mut self, child: Layout) -> Result<Layout, LayoutError> {
        let (count, away) =
            (self.pick(&[2, 2, 3]), self.pick(&[1 << 31, (1 << 31) + 8, (1 << 32) - 4, (1 << 32) + 1]));
        let distance = if self.one_in(3) { -away } else { away };
        let places: Vec<i64> = (0..count).map(|place| place * distance).collect();
        let blocks = vec![1; places.len()];
        match self.below(6) {
            0 => Layout::contiguous(count, &Layout::resized(child.lower_bound(), distance, &child)?),
            1 => Layout::hindexed(&blocks, &places, &child),
            2 => Layout::hindexed_block(1, &places, &child),
            3 => Layout::structure(&blocks, &places, &vec![child; places.len()]),
            4 if child.extent() != 0 => Layout::vector(count, 1, distance / child.extent(), &child),
            _ => Layout::hvector(count, 1, distance, &child),
        }
    }

    fn count(&mut self) -> i64 {
        if self.one_in(50) { 20 + self.below(600) } else { self.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 7]) }
    }

    fn length(&mut self) -> i64 {
        self.pick(&[0, 1, 1, 1, 1, 2, 2, 3, 5])
    }

    /// Lengths of the blocks of a list.
    fn lengths(&mut self) -> Vec<i64> {
        if self.one_in(30) {
            return vec![1; self.pick(&[33, 64, 100, 257])];
        }
        let blocks = self.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 6]);
        (0..blocks).map(|_| self.length()).collect()
    }

    /// Bytes between two blocks.
    fn gap(&mut self, is_aligned: bool) -> i64 {
        if is_aligned { self.pick(&[0, 0, 8, 16]) } else { self.pick(&[0, 0, 1, 1, 2, 3, 4, 7, 9]) }
    }

    /// The order in which blocks are placed in memory.
    fn order(&mut self, blocks: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..blocks).collect();
        match self.below(6) {
            0 => order.reverse(),
            1 => (1..blocks).for_each(|i| order.swap(i, self.0.random_range(0..=i))),
            _ => {}
        }
        order
    }

    fn start(&mut self) -> i64 {
        self.pick(&[0, 0, 0, 0, 1, 4, 8, -1, -3, -8, -16])
    }

    /// Displacements of blocks; in one of ten lists they may overlap.
    fn displacements_bytes(&mut self, blocks: &[(i64, &Layout)]) -> Vec<i64> {
        if self.one_in(10) {
            return blocks.iter().map(|_| self.below(120) - 40).collect();
        }
        let (mut end, is_aligned) = (self.start(), self.one_in(2));
        let mut places = vec![0; blocks.len()];
        for i in self.order(blocks.len()) {
            let (length, child) = blocks[i];
            end += self.gap(is_aligned);
            match span(length, child) {
                Some((from, to)) => {
                    places[i] = end - from;
                    end += to - from;
                }
                // Nothing is there, so that any place is right.
                None => places[i] = self.pick(&[0, 5, -64, 400]),
            }
        }
        places
    }

    /// The same in extents of the child.
    fn displacements(&mut self, lengths: &[i64], child: &Layout) -> Vec<i64> {
        let extent = child.extent();
        if extent == 0 || self.one_in(10) {
            return lengths.iter().map(|_| self.below(12) - 4).collect();
        }
        let mut end = self.start();
        let mut places = vec![0; lengths.len()];
        for i in self.order(lengths.len()) {
            let Some((from, to)) = span(lengths[i], child) else {
                places[i] = self.pick(&[0, 1, -9, 40]);
                continue;
            };
            let skipped = self.pick(&[0, 0, 0, 1, 1, 3]);
            let least = (end - from) as f64 / extent as f64;
            places[i] =
                if extent > 0 { least.ceil() as i64 + skipped } else { least.floor() as i64 - skipped };
            end = places[i] * extent + to;
        }
        places
    }

    fn vector(&mut self, child: Layout) -> Constructor {
        let (count, blocklength) = (self.count(), self.length());
        let extent = child.extent().abs().max(1);
        let (from, to) = span(blocklength, &child).unwrap_or_default();
        let apart = (to - from + extent - 1) / extent + self.pick(&[0, 0, 1, 1, 2, 5]);
        let stride = match self.below(10) {
            0 => self.below(7) - 3,
            1..=3 => -apart,
            _ => apart,
        };
        Constructor::Vector { count, blocklength, stride, child }
    }

    fn hvector(&mut self, child: Layout) -> Constructor {
        let (count, blocklength, is_aligned) = (self.count(), self.length(), self.one_in(2));
        let (from, to) = span(blocklength, &child).unwrap_or_default();
        let apart = to - from + self.gap(is_aligned);
        let stride_bytes = match self.below(10) {
            0 => self.below(40) - 16,
            1..=3 => -apart,
            _ => apart,
        };
        Constructor::Hvector { count, blocklength, stride_bytes, child }
    }

    fn structure(&mut self, constructors: u32) -> Result<Layout, LayoutError> {
        let members = self.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 5]);
        let mut left = constructors;
        let mut children = Vec::new();
        for _ in 0..members {
            let used = self.0.random_range(0..=left);
            left -= used;
            children.push(self.layout(used)?);
        }
        let blocklengths: Vec<i64> = children.iter().map(|_| self.length()).collect();
        let blocks: Vec<_> = blocklengths.iter().copied().zip(&children).collect();
        let displacements_bytes = self.displacements_bytes(&blocks);
        Layout::new(Constructor::Struct { blocklengths, displacements_bytes, children })
    }

    fn subarray(&mut self, child: Layout) -> Constructor {
        let dims = self.pick(&[1, 2, 2, 3]);
        let sizes: Vec<i64> = (0..dims).map(|_| 1 + self.below(5)).collect();
        let subsizes: Vec<i64> = sizes.iter().map(|size| 1 + self.below(*size)).collect();
        let starts = sizes.iter().zip(&subsizes).map(|(size, part)| self.below(size - part + 1)).collect();
        let order = self.pick(&[Order::C, Order::Fortran]);
        Constructor::Subarray { sizes, subsizes, starts, order, child }
    }

    fn resized(&mut self, child: Layout) -> Constructor {
        let data = child.true_extent();
        let lower_bound = self.pick(&[0, 0, child.true_lower_bound(), -4, 3, 8, -17]);
        let extent = match self.below(10) {
            0 => 0,
            1 => -data,
            2 => -(data + self.gap(false)),
            3 => data / 2,
            4 => data,
            5 => 1,
            _ => data + self.gap(false),
        };
        Constructor::Resized { lower_bound, extent, child }
    }
}

/// An array of up to three dimensions on up to three processes in each; some of these have none of its elements.
fn distributed(random: &mut Pcg64) -> DistributedArray {
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

/// The first byte of a block and one past its last, from its displacement on; `None` without data.
fn span(length: i64, child: &Layout) -> Option<(i64, i64)> {
    if length == 0 || child.size() == 0 {
        return None;
    }
    let last = (length - 1) * child.extent();
    Some((child.true_lower_bound() + last.min(0), child.true_upper_bound() + last.max(0)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Published seeds must mean the same in the next version.
    #[test]
    fn a_seed_gives_this_layout() {
        let pinned = "subarray([4, 1], [3, 1], [0, 0], fortran, struct([5], [-20], [darray(4, 1, [3, 5, 5], \
                      [block, block, none], [4, 4, 2], [2, 2, 1], c, byte)]))";
        assert_eq!(unusual_layout(1, 3).to_text(), pinned);
    }

    #[test]
    fn far_layouts_have_little_data_and_long_ones_many_values() {
        for seed in 0..500 {
            let far = far_layout(seed);
            assert!(is_beyond(&far, (1 << 31) - 4096) && far.size() <= 3 << 10, "{}", far.to_text());
            let values: u64 = long_layout(seed).runs().map(|run| run.count).sum();
            assert!((1 << 16..1 << 19).contains(&values), "{values} of {}", long_layout(seed).to_text());
        }
    }

    #[test]
    fn blocks_without_items_have_small_types_too_and_some_nests_are_deep() {
        let layouts: Vec<Layout> = (0..20_000).map(|seed| unusual_layout(seed, 8)).collect();
        let has_large =
            |layout: &Layout| layout.constructor().children().iter().any(|child| child.size() > MOST_BYTES);
        assert_eq!(layouts.iter().find(|layout| has_large(layout)), None);
        // The predefined type is a level, too.
        assert_eq!(layouts.iter().map(Layout::depth).max(), Some(9));
    }

    #[test]
    fn every_constructor_is_used_and_most_layouts_can_be_received() {
        let mut roots: BTreeMap<&str, u32> = BTreeMap::new();
        let (mut with_data, mut apart) = (0, 0);
        for seed in 0..4000 {
            let layout = unusual_layout(seed, 1 + (seed % 4) as u32);
            *roots.entry(layout.constructor().name()).or_default() += 1;
            if layout.size() == 0 {
                continue;
            }
            with_data += 1;
            let mut segments: Vec<_> = layout.segments().map(|part| (part.offset, part.end())).collect();
            segments.sort_unstable();
            apart += u32::from(segments.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }
        assert_eq!(roots.len(), 11, "{roots:?}");
        assert!(roots.values().all(|&times| times > 100), "{roots:?}");
        assert!(with_data > 2000 && apart > with_data / 2, "{apart} of {with_data}");
    }
}
