//! The constructors with MPI's names and arguments, and the one description of them that all else derives
//! from: a constructor is a list of [`Part`]s, each some copies of a child from a displacement on.

use crate::distributed::{DistributedArray, Distribution};
use crate::{Element, Layout, LayoutError};

named! {
    /// Which index of an array moves fastest in memory (`MPI_ORDER_C`, `MPI_ORDER_FORTRAN`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Order {
        /// The last index.
        #[default]
        C = "c",
        /// The first index.
        Fortran = "fortran",
    }
}

/// From the least general constructor to the most general one.
const BY_GENERALITY: &str = "contiguous resized vector hvector indexed_block hindexed_block indexed hindexed struct subarray \
     darray";

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
    /// The loops around it, the innermost first: how often, and bytes from one time to the next. Part `k`
    /// steps as a number does whose digits run to these counts.
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

/// An argument of a constructor, shared or exclusive.
macro_rules! argument {
    ($(#[$meta:meta])* $visible:vis enum $name:ident: $($borrowed:tt)+) => {
        $(#[$meta])*
        $visible enum $name<'a> {
            Number($($borrowed)+ i64),
            /// In bytes: an address in MPI, not an integer.
            Address($($borrowed)+ i64),
            /// An entry for each block or dimension.
            List($($borrowed)+ Vec<i64>),
            /// The same in bytes.
            Addresses($($borrowed)+ Vec<i64>),
            Order($($borrowed)+ Order),
            Distributions($($borrowed)+ Vec<Distribution>),
            /// Numbers, or the default.
            Blocks($($borrowed)+ Vec<Option<i64>>),
            Type($($borrowed)+ Layout),
            Types($($borrowed)+ Vec<Layout>),
        }
    };
}

argument! {
    /// An argument of a constructor.
    #[derive(Clone, Copy, Debug)]
    #[allow(missing_docs)]
    pub enum Argument: &'a
}

argument! {
    /// The same, to change it.
    pub(crate) enum ArgumentMut: &'a mut
}

/// The type of an argument in a constructor, and in the function that makes a layout.
macro_rules! type_of {
    (Number) => { i64 };
    (Address) => { i64 };
    (List) => { Vec<i64> };
    (Addresses) => { Vec<i64> };
    (Order) => { Order };
    (&List) => { &[i64] };
    (&Addresses) => { &[i64] };
    (&$kind:ident) => { type_of!($kind) };
}

/// The arguments of a distributed array, as variants of `$Argument`.
macro_rules! arguments_of_array {
    ($Argument:ident, $array:ident, $child:ident) => {{
        let DistributedArray { size, rank, gsizes, distribs, dargs, psizes, order } = $array;
        vec![
            $Argument::Number(size),
            $Argument::Number(rank),
            $Argument::List(gsizes),
            $Argument::Distributions(distribs),
            $Argument::Blocks(dargs),
            $Argument::List(psizes),
            $Argument::Order(order),
            $Argument::Type($child),
        ]
    }};
}

/// All constructors with one child and their arguments; those that differ are written out.
macro_rules! constructors {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, $make:ident($($field:ident: $kind:ident),*);)*) => {
        /// How a layout was made: MPI's constructors, argument for argument (MPI-4.1, sections 5.1.2 to 5.1.4, 5.1.7).
        ///
        /// Counts, block lengths, strides and displacements without `_bytes` are in extents of the child.
        /// Arguments are signed as in MPI; [`Layout::new`] refuses those that MPI forbids.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // the fields are the standard's arguments
        pub enum Constructor {
            /// A predefined type.
            Named { element: Element },
            $($(#[$meta])* $variant { $($field: type_of!($kind),)* child: Layout },)*
            /// Blocks of different types at displacements in bytes (`MPI_Type_create_struct`).
            Struct { blocklengths: Vec<i64>, displacements_bytes: Vec<i64>, children: Vec<Layout> },
            /// The elements of a distributed array that one process has (`MPI_Type_create_darray`).
            Darray { array: DistributedArray, child: Layout },
        }

        impl Constructor {
            /// The constructor's name as in `MPI_Type_create_<name>`.
            pub const fn name(&self) -> &'static str {
                match self {
                    Self::Named { .. } => "named",
                    $(Self::$variant { .. } => $name,)*
                    Self::Struct { .. } => "struct",
                    Self::Darray { .. } => "darray",
                }
            }

            /// The constructor of this name without values: numbers are 0, lists are empty, types are bytes.
            pub(crate) fn empty(name: &str) -> Option<Self> {
                let child = Layout::named(Element::Byte);
                Some(match name {
                    $($name => Self::$variant { $($field: Default::default(),)* child },)*
                    "struct" => Self::Struct {
                        blocklengths: vec![], displacements_bytes: vec![], children: vec![],
                    },
                    "darray" => Self::Darray { array: DistributedArray::default(), child },
                    _ => return None,
                })
            }

            /// The arguments in MPI's order, except that the type is last.
            pub fn arguments(&self) -> Vec<Argument<'_>> {
                match self {
                    Self::Named { .. } => vec![],
                    $(Self::$variant { $($field,)* child } => {
                        vec![$(Argument::$kind($field),)* Argument::Type(child)]
                    })*
                    Self::Struct { blocklengths, displacements_bytes: places, children } => {
                        vec![Argument::List(blocklengths), Argument::Addresses(places), Argument::Types(children)]
                    }
                    Self::Darray { array, child } => arguments_of_array!(Argument, array, child),
                }
            }

            pub(crate) fn arguments_mut(&mut self) -> Vec<ArgumentMut<'_>> {
                use ArgumentMut::{Addresses, List, Types};
                match self {
                    Self::Named { .. } => vec![],
                    $(Self::$variant { $($field,)* child } => {
                        vec![$(ArgumentMut::$kind($field),)* ArgumentMut::Type(child)]
                    })*
                    Self::Struct { blocklengths, displacements_bytes: places, children } => {
                        vec![List(blocklengths), Addresses(places), Types(children)]
                    }
                    Self::Darray { array, child } => arguments_of_array!(ArgumentMut, array, child),
                }
            }
        }

        /// The constructors, with the errors of [`Layout::new`].
        #[allow(clippy::missing_errors_doc)]
        impl Layout {
            $($(#[$meta])*
            pub fn $make($($field: type_of!(&$kind),)* child: &Self) -> Result<Self, LayoutError> {
                Self::new(Constructor::$variant { $($field: $field.to_owned(),)* child: child.clone() })
            })*
        }
    };
}

constructors! {
    /// `count` copies, one extent apart (`MPI_Type_contiguous`).
    Contiguous = "contiguous", contiguous(count: Number);
    /// `count` blocks of `blocklength` copies, starts `stride` extents apart (`MPI_Type_vector`).
    Vector = "vector", vector(count: Number, blocklength: Number, stride: Number);
    /// `count` blocks of `blocklength` copies, starts `stride_bytes` bytes apart (`MPI_Type_create_hvector`).
    Hvector = "hvector", hvector(count: Number, blocklength: Number, stride_bytes: Address);
    /// Blocks of given lengths at given displacements, in extents of the child (`MPI_Type_indexed`).
    Indexed = "indexed", indexed(blocklengths: List, displacements: List);
    /// Blocks of given lengths at displacements in bytes (`MPI_Type_create_hindexed`).
    Hindexed = "hindexed", hindexed(blocklengths: List, displacements_bytes: Addresses);
    /// Blocks of one length at displacements in extents of the child (`MPI_Type_create_indexed_block`).
    IndexedBlock = "indexed_block", indexed_block(blocklength: Number, displacements: List);
    /// Blocks of one length at displacements in bytes (`MPI_Type_create_hindexed_block`).
    HindexedBlock = "hindexed_block", hindexed_block(blocklength: Number, displacements_bytes: Addresses);
    /// A box of `subsizes` at `starts` in an array of `sizes` (`MPI_Type_create_subarray`).
    Subarray = "subarray", subarray(sizes: List, subsizes: List, starts: List, order: Order);
    /// The same type map with another lower bound and extent (`MPI_Type_create_resized`).
    Resized = "resized", resized(lower_bound: Address, extent: Address);
}

impl Constructor {
    /// The layouts that this one is made of: none for a predefined type, several for a struct.
    pub fn children(&self) -> &[Layout] {
        children!(self, std::slice::from_ref)
    }

    pub(crate) fn children_mut(&mut self) -> &mut [Layout] {
        children!(self, std::slice::from_mut)
    }

    /// The length of its lists, and the place among the arguments where a call of MPI has it.
    pub fn list_length(&self) -> Option<(usize, i64)> {
        let length = |argument| match argument {
            Argument::List(list) | Argument::Addresses(list) => Some(list.len() as i64),
            _ => None,
        };
        let place = if matches!(self, Self::Darray { .. }) { 2 } else { 0 };
        self.arguments().into_iter().find_map(length).map(|length| (place, length))
    }

    /// Its place among all constructors, the least general first.
    pub(crate) fn generality(&self) -> usize {
        BY_GENERALITY.split_whitespace().position(|name| name == self.name()).unwrap_or_default()
    }

    /// Whether its bounds do not depend on those of its parts. The others are lists of blocks.
    pub(crate) fn has_own_bounds(&self) -> bool {
        matches!(
            self,
            Self::Named { .. } | Self::Resized { .. } | Self::Subarray { .. } | Self::Darray { .. }
        )
    }

    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut i64> {
        self.arguments_mut().into_iter().filter_map(|argument| match argument {
            ArgumentMut::Number(number) | ArgumentMut::Address(number) => Some(number),
            _ => None,
        })
    }

    pub(crate) fn lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<i64>> {
        self.arguments_mut().into_iter().filter_map(|argument| match argument {
            ArgumentMut::List(list) | ArgumentMut::Addresses(list) => Some(list),
            _ => None,
        })
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

    /// Parts at even distances; `None` for lists of displacements, and for distributed arrays that are uneven
    /// or empty. Arguments are taken as checked.
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
