//! The type map, entry by entry, directly from the standard's formulas.
//!
//! All other code in this crate is compared with it: no merging, no shortcut, no shared code with [`segments`](Layout::segments)
//! or [`Bounds`](crate::Bounds). It takes memory for every value and time for every copy, even for empty ones.

use crate::{Constructor, DistributedArray, Distribution, Element, Layout, Order};

/// One entry of a type map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A value of a predefined type at a displacement in bytes.
    Data(Element, i64),
    /// The standard's `lb_marker`.
    LowerMarker(i64),
    /// The standard's `ub_marker`.
    UpperMarker(i64),
}

/// A type map with its markers (MPI-4.1, sections 5.1.1 to 5.1.6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeMap(pub Vec<Entry>);

impl TypeMap {
    /// The type map of a layout, by the definition of each constructor. Reported bounds are its markers.
    pub fn from_layout(layout: &Layout) -> Self {
        let map = Self::of_constructor(layout.constructor());
        match layout.bounds().reported {
            Some((lower, upper)) => map.marked(lower, upper),
            None => map,
        }
    }

    fn of_constructor(constructor: &Constructor) -> Self {
        if let Constructor::Named { element } = constructor {
            return Self(vec![Entry::Data(*element, 0)]);
        }
        if let Constructor::Struct { blocklengths, displacements_bytes, children } = constructor {
            let mut whole = Self::default();
            for ((child, d), b) in children.iter().zip(displacements_bytes).zip(blocklengths) {
                whole.0.extend(Self::from_layout(child).blocks([(*d, *b)]).0);
            }
            return whole;
        }
        let map = Self::from_layout(&constructor.children()[0]);
        let ex = map.extent();
        match constructor {
            Constructor::Named { .. } | Constructor::Struct { .. } => unreachable!("as above"),
            Constructor::Contiguous { count, .. } => map.blocks([(0, *count)]),
            Constructor::Vector { count, blocklength, stride, .. } => {
                map.blocks((0..*count).map(|i| (step(i, *stride, ex), *blocklength)))
            }
            Constructor::Hvector { count, blocklength, stride_bytes, .. } => {
                map.blocks((0..*count).map(|i| (i * stride_bytes, *blocklength)))
            }
            Constructor::Indexed { blocklengths, displacements, .. } => {
                map.blocks(displacements.iter().zip(blocklengths).map(|(d, b)| (d * ex, *b)))
            }
            Constructor::Hindexed { blocklengths, displacements_bytes, .. } => {
                map.blocks(displacements_bytes.iter().zip(blocklengths).map(|(d, b)| (*d, *b)))
            }
            Constructor::IndexedBlock { blocklength, displacements, .. } => {
                map.blocks(displacements.iter().map(|d| (d * ex, *blocklength)))
            }
            Constructor::HindexedBlock { blocklength, displacements_bytes, .. } => {
                map.blocks(displacements_bytes.iter().map(|d| (*d, *blocklength)))
            }
            Constructor::Subarray { sizes, subsizes, starts, order, .. } => {
                map.subarray(sizes, subsizes, starts, *order)
            }
            Constructor::Darray { array, .. } => map.darray(array),
            Constructor::Resized { lower_bound, extent, .. } => {
                map.marked(*lower_bound, lower_bound + extent)
            }
        }
    }

    /// Replaces the markers.
    fn marked(mut self, lower: i64, upper: i64) -> Self {
        self.0.retain(|entry| matches!(entry, Entry::Data(..)));
        self.0.insert(0, Entry::LowerMarker(lower));
        self.0.push(Entry::UpperMarker(upper));
        self
    }

    /// `blocklength` copies of this map, one extent apart, from each displacement.
    fn blocks(&self, blocks: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let ex = self.extent();
        let mut whole = Self::default();
        for (displacement, blocklength) in blocks {
            for copy in 0..blocklength {
                whole.0.extend(self.0.iter().map(|entry| entry.moved(displacement + copy * ex)));
            }
        }
        whole
    }

    /// The recursive definition of section 5.1.3: one dimension after the other, the fastest first.
    fn subarray(&self, sizes: &[i64], subsizes: &[i64], starts: &[i64], order: Order) -> Self {
        let dims: Vec<usize> = match order {
            Order::Fortran => (0..sizes.len()).collect(),
            Order::C => (0..sizes.len()).rev().collect(),
        };
        let mut map = self.clone();
        for dim in dims {
            // Subarray(1, size, subsize, start): the child's copies start .. start + subsize, markers around all.
            let ex = map.extent();
            let mut next = Self(vec![Entry::LowerMarker(0)]);
            for i in starts[dim]..starts[dim] + subsizes[dim] {
                let data = map.0.iter().filter(|entry| matches!(entry, Entry::Data(..)));
                next.0.extend(data.map(|entry| entry.moved(i * ex)));
            }
            next.0.push(Entry::UpperMarker(sizes[dim] * ex));
            map = next;
        }
        map
    }

    /// The definition of section 5.1.4: the process's place in the grid, then one dimension after the other, the fastest first.
    fn darray(self, array: &DistributedArray) -> Self {
        let DistributedArray { rank, gsizes, distribs, dargs, psizes, order, .. } = array;
        let ndims = gsizes.len();
        let (mut t_rank, mut t_size) = (*rank, psizes.iter().product::<i64>());
        let mut r = Vec::new();
        for psize in psizes {
            t_size /= psize;
            r.push(t_rank / t_size);
            t_rank %= t_size;
        }
        let mut map = self;
        for i in 0..ndims {
            let dim = match order {
                Order::Fortran => i,
                Order::C => ndims - i - 1,
            };
            let (gsize, psize) = (i128::from(gsizes[dim]), i128::from(psizes[dim]));
            let darg = match (distribs[dim], dargs[dim]) {
                (Distribution::None, _) => gsize,
                (_, Some(darg)) => darg.into(),
                (Distribution::Block, None) => (gsize + psize - 1) / psize,
                (Distribution::Cyclic, None) => 1,
            };
            map = map.cyclic(darg, gsize, r[dim].into(), psize);
        }
        map
    }

    /// The function `cyclic()` of section 5.1.4. 128 bits: an argument may be larger than the array.
    fn cyclic(&self, darg: i128, gsize: i128, r: i128, psize: i128) -> Self {
        let nblocks = (gsize + (darg - 1)) / darg;
        let mut count = nblocks / psize;
        let left_over = nblocks - count * psize;
        if r < left_over {
            count += 1;
        }
        let num_in_last_cyclic = gsize % (psize * darg);
        let darg_last = match num_in_last_cyclic - darg * r {
            _ if num_in_last_cyclic == 0 => darg,
            last if last > darg || last <= 0 => darg,
            last => last,
        };
        let ex = i128::from(self.extent());
        let mut whole = Self(vec![Entry::LowerMarker(0)]);
        for block in 0..count {
            for i in 0..if block == count - 1 { darg_last } else { darg } {
                let moved = (r * darg + i + block * psize * darg) * ex;
                let data = self.0.iter().filter(|entry| matches!(entry, Entry::Data(..)));
                whole.0.extend(data.map(|entry| entry.moved(moved as i64)));
            }
        }
        whole.0.push(Entry::UpperMarker((gsize * ex) as i64));
        whole
    }

    /// The predefined types and their displacements, in order.
    pub fn data(&self) -> impl Iterator<Item = (Element, i64)> {
        self.0.iter().filter_map(|entry| match *entry {
            Entry::Data(element, displacement) => Some((element, displacement)),
            _ => None,
        })
    }

    /// `lb`: the lowest marker, or the lowest data without a marker; 0 for an empty map.
    pub fn lower_bound(&self) -> i64 {
        let markers =
            self.0.iter().filter_map(|e| if let Entry::LowerMarker(d) = e { Some(*d) } else { None });
        markers.min().or_else(|| self.data().map(|(_, d)| d).min()).unwrap_or(0)
    }

    /// `ub`: the highest marker, or the end of the data rounded up to the strictest alignment.
    pub fn upper_bound(&self) -> i64 {
        let markers =
            self.0.iter().filter_map(|e| if let Entry::UpperMarker(d) = e { Some(*d) } else { None });
        markers.max().unwrap_or_else(|| {
            let end = self.data().map(|(element, d)| d + element.size() as i64).max().unwrap_or(0);
            let align = self.data().map(|(element, _)| element.alignment() as i64).max().unwrap_or(1);
            let epsilon = (0..align).find(|e| (end + e - self.lower_bound()) % align == 0);
            end + epsilon.expect("one of `align` consecutive numbers is a multiple of it")
        })
    }

    /// `ub - lb`.
    pub fn extent(&self) -> i64 {
        self.upper_bound() - self.lower_bound()
    }
}

/// `i * stride * extent`. The product of the last factors may overflow if `i` is 0.
fn step(i: i64, stride: i64, extent: i64) -> i64 {
    (i128::from(i) * (i128::from(stride) * i128::from(extent))) as i64
}

impl Entry {
    /// Data always stays within 64 bits. A marker may not if others determine the bound, and then it only has
    /// to stay outside of them.
    fn moved(self, by: i64) -> Self {
        match self {
            Self::Data(element, d) => Self::Data(element, d + by),
            Self::LowerMarker(d) => Self::LowerMarker(d.saturating_add(by)),
            Self::UpperMarker(d) => Self::UpperMarker(d.saturating_add(by)),
        }
    }
}
