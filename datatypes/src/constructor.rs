//! The constructors with MPI's names and arguments, and the one description of them that all else derives
//! from: a constructor is a list of [`Part`]s, each some copies of a child from a displacement on.

use crate::distributed::DistributedArray;
use crate::{Element, Layout};

named! {
    /// Which index of an array moves fastest in memory (`MPI_ORDER_C`, `MPI_ORDER_FORTRAN`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Order {
        /// The last index.
        C = "c",
        /// The first index.
        Fortran = "fortran",
    }
}

/// How a layout was made: MPI's constructors, argument for argument (MPI-4.1, sections 5.1.2 to 5.1.4, 5.1.7).
///
/// Counts, block lengths, strides and displacements without `_bytes` are in extents of the child. Arguments
/// are signed as in MPI; [`Layout::new`] refuses those that MPI forbids.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the standard's arguments
pub enum Constructor {
    /// A predefined type.
    Named { element: Element },
    /// `MPI_Type_contiguous`
    Contiguous { count: i64, child: Layout },
    /// `MPI_Type_vector`
    Vector { count: i64, blocklength: i64, stride: i64, child: Layout },
    /// `MPI_Type_create_hvector`
    Hvector { count: i64, blocklength: i64, stride_bytes: i64, child: Layout },
    /// `MPI_Type_indexed`
    Indexed { blocklengths: Vec<i64>, displacements: Vec<i64>, child: Layout },
    /// `MPI_Type_create_hindexed`
    Hindexed { blocklengths: Vec<i64>, displacements_bytes: Vec<i64>, child: Layout },
    /// `MPI_Type_create_indexed_block`
    IndexedBlock { blocklength: i64, displacements: Vec<i64>, child: Layout },
    /// `MPI_Type_create_hindexed_block`
    HindexedBlock { blocklength: i64, displacements_bytes: Vec<i64>, child: Layout },
    /// `MPI_Type_create_struct`
    Struct { blocklengths: Vec<i64>, displacements_bytes: Vec<i64>, children: Vec<Layout> },
    /// `MPI_Type_create_subarray`
    Subarray { sizes: Vec<i64>, subsizes: Vec<i64>, starts: Vec<i64>, order: Order, child: Layout },
    /// `MPI_Type_create_darray`
    Darray { array: DistributedArray, child: Layout },
    /// `MPI_Type_create_resized`
    Resized { lower_bound: i64, extent: i64, child: Layout },
}

/// `repeat` copies of `child`, one extent apart, the first `displacement` bytes from the parent's origin.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Bytes.
    pub displacement: i64,
    /// How many copies.
    pub repeat: u64,
    /// The repeated layout.
    pub child: &'a Layout,
}

/// Parts at even distances.
#[derive(Clone, Debug)]
pub struct Nest<'a> {
    /// The first of them.
    pub first: Part<'a>,
    /// The loops around it, the innermost first: how often, and bytes from one time to the next. Part `k` steps as a number
    /// does whose digits run to these counts.
    pub loops: Vec<(u64, i64)>,
}

/// The children of a constructor, shared or exclusive.
macro_rules! children {
    ($constructor:expr, $one:path) => {
        match $constructor {
            Self::Named { .. } => Default::default(),
            Self::Struct { children, .. } => children,
            Self::Contiguous { child, .. }
            | Self::Vector { child, .. }
            | Self::Hvector { child, .. }
            | Self::Indexed { child, .. }
            | Self::Hindexed { child, .. }
            | Self::IndexedBlock { child, .. }
            | Self::HindexedBlock { child, .. }
            | Self::Subarray { child, .. }
            | Self::Darray { child, .. }
            | Self::Resized { child, .. } => $one(child),
        }
    };
}

/// The arguments of a constructor, shared or exclusive.
macro_rules! arguments {
    ($constructor:expr) => {
        match $constructor {
            Self::Named { .. } => (vec![], vec![]),
            Self::Contiguous { count, .. } => (vec![count], vec![]),
            Self::Vector { count, blocklength, stride, .. }
            | Self::Hvector { count, blocklength, stride_bytes: stride, .. } => {
                (vec![count, blocklength, stride], vec![])
            }
            Self::Indexed { blocklengths, displacements: places, .. }
            | Self::Hindexed { blocklengths, displacements_bytes: places, .. }
            | Self::Struct { blocklengths, displacements_bytes: places, .. } => {
                (vec![], vec![blocklengths, places])
            }
            Self::IndexedBlock { blocklength, displacements: places, .. }
            | Self::HindexedBlock { blocklength, displacements_bytes: places, .. } => {
                (vec![blocklength], vec![places])
            }
            Self::Subarray { sizes, subsizes, starts, .. } => (vec![], vec![sizes, subsizes, starts]),
            Self::Darray { array: DistributedArray { rank, gsizes, psizes, .. }, .. } => {
                (vec![rank], vec![gsizes, psizes])
            }
            Self::Resized { lower_bound, extent, .. } => (vec![lower_bound, extent], vec![]),
        }
    };
}

impl Constructor {
    /// The constructor's name as in `MPI_Type_create_<name>`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Named { .. } => "named",
            Self::Contiguous { .. } => "contiguous",
            Self::Vector { .. } => "vector",
            Self::Hvector { .. } => "hvector",
            Self::Indexed { .. } => "indexed",
            Self::Hindexed { .. } => "hindexed",
            Self::IndexedBlock { .. } => "indexed_block",
            Self::HindexedBlock { .. } => "hindexed_block",
            Self::Struct { .. } => "struct",
            Self::Subarray { .. } => "subarray",
            Self::Darray { .. } => "darray",
            Self::Resized { .. } => "resized",
        }
    }

    /// The layouts that this one is made of: none for a predefined type, several for a struct.
    pub fn children(&self) -> &[Layout] {
        children!(self, std::slice::from_ref)
    }

    pub(crate) fn children_mut(&mut self) -> &mut [Layout] {
        children!(self, std::slice::from_mut)
    }

    /// The arguments besides children and constants: numbers, and lists with an entry for each block or dimension, in MPI's order. Of a
    /// distributed array the rank, and the sizes of array and processes.
    pub fn arguments(&self) -> (Vec<&i64>, Vec<&Vec<i64>>) {
        arguments!(self)
    }

    pub(crate) fn arguments_mut(&mut self) -> (Vec<&mut i64>, Vec<&mut Vec<i64>>) {
        arguments!(self)
    }

    /// How many of these numbers and lists, the last ones, are in bytes: addresses in MPI, not integers.
    pub const fn arguments_in_bytes(&self) -> (usize, usize) {
        match self {
            Self::Hvector { .. } => (1, 0),
            Self::Resized { .. } => (2, 0),
            Self::Hindexed { .. } | Self::HindexedBlock { .. } | Self::Struct { .. } => (0, 1),
            _ => (0, 0),
        }
    }

    /// How many parts there are. Arguments are taken as checked.
    pub(crate) fn part_count(&self) -> u64 {
        match self {
            Self::Named { .. } => 0,
            Self::Contiguous { .. } | Self::Resized { .. } => 1,
            Self::Vector { count, .. } | Self::Hvector { count, .. } => *count as u64,
            Self::Indexed { displacements, .. } | Self::IndexedBlock { displacements, .. } => {
                displacements.len() as u64
            }
            Self::Hindexed { displacements_bytes, .. }
            | Self::HindexedBlock { displacements_bytes, .. }
            | Self::Struct { displacements_bytes, .. } => displacements_bytes.len() as u64,
            Self::Subarray { sizes, subsizes, order, .. } => {
                order.beyond_row(sizes, subsizes).map(|dim| subsizes[dim] as u64).product()
            }
            Self::Darray { array, .. } => array.rows(),
        }
    }

    /// Parts at even distances; `None` for lists of displacements, and for distributed arrays that are uneven or empty. Arguments are
    /// taken as checked.
    pub fn nest(&self) -> Option<Nest<'_>> {
        let counts: Vec<u64> = match self {
            Self::Contiguous { .. } | Self::Resized { .. } => vec![],
            Self::Vector { count, .. } | Self::Hvector { count, .. } => vec![*count as u64],
            Self::Subarray { sizes, subsizes, order, .. } => {
                order.beyond_row(sizes, subsizes).map(|dim| subsizes[dim] as u64).collect()
            }
            Self::Darray { array, .. } => array.loops()?,
            _ => return None,
        };
        let (first, mut parts) = (self.part(0), 1);
        let around = |count: u64| {
            let next = if count > 1 { self.part(parts).displacement } else { first.displacement };
            parts *= count;
            (count, next.wrapping_sub(first.displacement))
        };
        Some(Nest { first, loops: counts.into_iter().map(around).collect() })
    }

    /// All parts, in type-map order. Of large regular layouts there are as many as blocks.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        (0..self.part_count()).map(|k| self.part(k))
    }

    /// Part number `k`, in type-map order. Arguments are taken as checked.
    pub(crate) fn part(&self, k: u64) -> Part<'_> {
        let i = k as usize;
        let (displacement, repeat, child) = match self {
            Self::Named { .. } => unreachable!("a predefined type has no parts"),
            Self::Contiguous { count, child } => (0, *count, child),
            Self::Resized { child, .. } => (0, 1, child),
            Self::Vector { blocklength, stride, child, .. } => {
                // With one block the stride is never used and may be anything.
                (k as i64 * stride.wrapping_mul(child.extent()), *blocklength, child)
            }
            Self::Hvector { blocklength, stride_bytes, child, .. } => {
                (k as i64 * stride_bytes, *blocklength, child)
            }
            Self::Indexed { blocklengths, displacements, child } => {
                (displacements[i] * child.extent(), blocklengths[i], child)
            }
            Self::Hindexed { blocklengths, displacements_bytes, child } => {
                (displacements_bytes[i], blocklengths[i], child)
            }
            Self::IndexedBlock { blocklength, displacements, child } => {
                (displacements[i] * child.extent(), *blocklength, child)
            }
            Self::HindexedBlock { blocklength, displacements_bytes, child } => {
                (displacements_bytes[i], *blocklength, child)
            }
            Self::Struct { blocklengths, displacements_bytes, children } => {
                (displacements_bytes[i], blocklengths[i], &children[i])
            }
            Self::Subarray { sizes, subsizes, starts, order, child } => {
                let (elements, row) = subarray_row(sizes, subsizes, starts, *order, k);
                (elements * child.extent(), row, child)
            }
            Self::Darray { array, child } => {
                let (elements, row) = array.row(k);
                (elements * child.extent(), row, child)
            }
        };
        Part { displacement, repeat: repeat as u64, child }
    }
}

impl Order {
    /// The dimensions from the fastest to the slowest.
    pub(crate) fn fastest_first(self, dims: usize) -> impl Iterator<Item = usize> {
        (0..dims).map(move |i| match self {
            Self::C => dims - 1 - i,
            Self::Fortran => i,
        })
    }

    /// The dimensions that lead from row to row. A row is what a subarray holds side by side: it runs through
    /// all dimensions that are covered wholly, up to the first that is not.
    fn beyond_row(self, sizes: &[i64], subsizes: &[i64]) -> impl Iterator<Item = usize> {
        let mut dims = self.fastest_first(sizes.len());
        dims.find(|&dim| subsizes[dim] < sizes[dim]);
        dims
    }
}

/// Row `k` of a subarray: its first element's index in the whole array, and how many elements it has.
fn subarray_row(sizes: &[i64], subsizes: &[i64], starts: &[i64], order: Order, k: u64) -> (i64, i64) {
    let (mut element, mut row, mut weight, mut rest) = (0, 1, 1, k as i64);
    let mut dims = order.fastest_first(sizes.len());
    for dim in dims.by_ref() {
        element += starts[dim] * weight;
        row *= subsizes[dim];
        weight *= sizes[dim];
        if subsizes[dim] < sizes[dim] {
            break;
        }
    }
    for dim in dims {
        element += (starts[dim] + rest % subsizes[dim]) * weight;
        rest /= subsizes[dim];
        weight *= sizes[dim];
    }
    (element, row)
}
