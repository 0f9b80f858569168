//! Arrays that are distributed among processes (MPI-4.1, section 5.1.4): which elements one of them has.

use crate::constructor::Order;

named! {
    /// How a dimension is distributed (`MPI_DISTRIBUTE_` and the name in capitals).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Distribution {
        /// Each process has one block.
        Block = "block",
        /// Blocks are dealt to the processes in turn.
        Cyclic = "cyclic",
        /// Every process has the whole dimension.
        None = "none",
    }
}

/// The arguments of `MPI_Type_create_darray` except the type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistributedArray {
    pub size: i64,
    /// The process whose elements these are.
    pub rank: i64,
    /// Elements of the whole array in each dimension.
    pub gsizes: Vec<i64>,
    pub distribs: Vec<Distribution>,
    /// Elements of a block in each dimension; `None` is `MPI_DISTRIBUTE_DFLT_DARG`.
    pub dargs: Vec<Option<i64>>,
    /// Processes in each dimension of their grid, in which the last dimension is the fastest in either order.
    pub psizes: Vec<i64>,
    /// Which index of the array is the fastest.
    pub order: Order,
}

/// The elements of one dimension that a process has: blocks at even distances, the last of which may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    /// Elements of the whole dimension.
    size: i64,
    /// Elements of a block.
    block: i64,
    /// Index of the first element of the first block.
    first: i64,
    /// Elements from one block to the next.
    stride: i64,
    elements: i64,
}

impl Share {
    /// Arguments are taken as checked. A block or a stride that is longer than the dimension has the same
    /// effect at any length, so nothing overflows.
    fn new(size: i64, distribution: Distribution, darg: Option<i64>, processes: i64, place: i64) -> Self {
        let block = match distribution {
            Distribution::None => size,
            Distribution::Block => darg.unwrap_or_else(|| smallest_block(size, processes)),
            Distribution::Cyclic => darg.unwrap_or(1),
        };
        let block = block.min(size);
        let (first, stride) = (place.saturating_mul(block), processes.saturating_mul(block));
        let rounds = size / stride;
        let last = (size % stride - first).clamp(0, block);
        Self { size, block, first, stride, elements: rounds * block + last }
    }

    /// Whether it is the whole dimension.
    fn is_all(&self) -> bool {
        self.elements == self.size
    }

    fn blocks(&self) -> i64 {
        (self.elements + self.block - 1) / self.block
    }

    /// Elements of each block but the last.
    fn block(&self) -> i64 {
        self.block.min(self.elements)
    }

    /// Elements of block `k`.
    fn length(&self, k: i64) -> i64 {
        self.block.min(self.elements - k * self.block)
    }

    /// The index in the whole dimension of element `i` of the share.
    fn index(&self, i: i64) -> i64 {
        self.first + i / self.block * self.stride + i % self.block
    }

    /// Whether all blocks have one length.
    fn is_even(&self) -> bool {
        self.elements <= self.block || self.elements % self.block == 0
    }
}

/// The fewest elements of a block with which so many processes have the whole dimension.
pub(crate) fn smallest_block(size: i64, processes: i64) -> i64 {
    size / processes + i64::from(size % processes > 0)
}

/// Arguments are taken as checked.
impl DistributedArray {
    /// The dimensions from the fastest to the slowest.
    pub fn dims(&self) -> impl Iterator<Item = usize> + use<> {
        self.order.fastest_first(self.gsizes.len())
    }

    /// The blocks that the process has of a dimension: index of the first element, and elements, which are fewer only in the last one.
    pub fn blocks(&self, dim: usize) -> impl Iterator<Item = (i64, i64)> + use<> {
        let share = self.share(dim);
        (0..share.blocks()).map(move |k| (share.index(k * share.block), share.length(k)))
    }

    /// The elements that the process has of a dimension.
    fn share(&self, dim: usize) -> Share {
        let slower: i64 = self.psizes[dim + 1..].iter().product();
        let (size, processes) = (self.gsizes[dim], self.psizes[dim]);
        Share::new(size, self.distribs[dim], self.dargs[dim], processes, self.rank / slower % processes)
    }

    /// The elements that the process has of each dimension.
    pub(crate) fn owned(&self) -> Vec<i64> {
        (0..self.gsizes.len()).map(|dim| self.share(dim).elements).collect()
    }

    /// The shares of all dimensions from the first that is not whole, the fastest first. What is before it is part of a row.
    fn beyond_whole(&self) -> impl Iterator<Item = Share> {
        let shares = self.dims().map(|dim| self.share(dim));
        shares.skip_while(Share::is_all)
    }

    /// How many rows there are: blocks of the fastest dimension that is not whole, and all dimensions before it.
    pub(crate) fn rows(&self) -> u64 {
        if self.owned().contains(&0) {
            return 0;
        }
        let mut shares = self.beyond_whole();
        let blocks = shares.next().map_or(1, |share| share.blocks());
        blocks as u64 * shares.map(|share| share.elements as u64).product::<u64>()
    }

    /// How often each loop around the first row goes round, the innermost first; `None` if rows are not at even distances, or there are none.
    pub(crate) fn loops(&self) -> Option<Vec<u64>> {
        if self.owned().contains(&0) || !self.beyond_whole().all(|share| share.is_even()) {
            return None;
        }
        let mut shares = self.beyond_whole();
        let mut loops: Vec<u64> = shares.next().map(|share| share.blocks() as u64).into_iter().collect();
        loops.extend(shares.flat_map(|share| [share.block() as u64, share.blocks() as u64]));
        Some(loops)
    }

    /// Row `k`: its first element's index in the whole array, and its elements.
    pub(crate) fn row(&self, k: u64) -> (i64, i64) {
        let (mut element, mut row, mut weight, mut rest) = (0, 1, 1, k as i64);
        let mut dims = self.dims();
        for dim in dims.by_ref() {
            let share = self.share(dim);
            if !share.is_all() {
                let block = rest % share.blocks();
                rest /= share.blocks();
                element += share.index(block * share.block) * weight;
                row *= share.length(block);
                weight *= share.size;
                break;
            }
            row *= share.size;
            weight *= share.size;
        }
        for dim in dims {
            let share = self.share(dim);
            element += share.index(rest % share.elements) * weight;
            rest /= share.elements;
            weight *= share.size;
        }
        (element, row)
    }
}
