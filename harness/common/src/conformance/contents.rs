//! The arguments of a constructor that `MPI_Type_get_envelope` and `MPI_Type_get_contents` return (MPI-4.1, section 5.1.13).

use std::fmt;

use datatypes::{Constructor, DistributedArray, Distribution, Layout, Order};

/// The constructor of a type and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The name of MPI's constant, without `MPI_COMBINER_`.
    pub combiner: &'static str,
    /// Counts and places in extents.
    pub integers: Vec<Integer>,
    /// Places in bytes.
    pub addresses: Vec<i64>,
    /// The number of types.
    pub types: usize,
}

/// An integer argument: a number, or a constant, whose value depends on the MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// A number.
    Number(i64),
    /// The name of MPI's constant.
    Constant(&'static str),
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Constant(name) => name.fmt(f),
        }
    }
}

/// A list as in C, such as `1, 2, MPI_ORDER_C`.
fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { combiner, integers, addresses, types } = self;
        let (integers, addresses) = (list(integers), list(addresses));
        write!(f, "{combiner}, integers ({integers}), addresses ({addresses}), {types} types")
    }
}

impl Contents {
    /// The arguments of a layout's constructor.
    pub fn of(layout: &Layout) -> Self {
        let count = |list: &[i64]| vec![list.len() as i64];
        let (combiner, numbers, addresses): (_, Vec<i64>, Vec<i64>) = match layout.constructor() {
            Constructor::Named { .. } => {
                return Self { combiner: "NAMED", integers: Vec::new(), addresses: Vec::new(), types: 0 };
            }
            Constructor::Contiguous { count, .. } => ("CONTIGUOUS", vec![*count], vec![]),
            Constructor::Vector { count, blocklength, stride, .. } => {
                ("VECTOR", vec![*count, *blocklength, *stride], vec![])
            }
            Constructor::Hvector { count, blocklength, stride_bytes, .. } => {
                ("HVECTOR", vec![*count, *blocklength], vec![*stride_bytes])
            }
            Constructor::Indexed { blocklengths, displacements, .. } => (
                "INDEXED",
                [count(displacements), blocklengths.clone(), displacements.clone()].concat(),
                vec![],
            ),
            Constructor::Hindexed { blocklengths, displacements_bytes: places, .. } => {
                ("HINDEXED", [count(places), blocklengths.clone()].concat(), places.clone())
            }
            Constructor::IndexedBlock { blocklength, displacements: places, .. } => {
                ("INDEXED_BLOCK", [count(places), vec![*blocklength], places.clone()].concat(), vec![])
            }
            Constructor::HindexedBlock { blocklength, displacements_bytes: places, .. } => {
                ("HINDEXED_BLOCK", [count(places), vec![*blocklength]].concat(), places.clone())
            }
            Constructor::Struct { blocklengths, displacements_bytes: places, .. } => {
                ("STRUCT", [count(places), blocklengths.clone()].concat(), places.clone())
            }
            Constructor::Resized { lower_bound, extent, .. } => {
                ("RESIZED", vec![], vec![*lower_bound, *extent])
            }
            Constructor::Subarray { sizes, subsizes, starts, order, .. } => {
                let numbers = [count(sizes), sizes.clone(), subsizes.clone(), starts.clone()].concat();
                let integers =
                    numbers.into_iter().map(Integer::Number).chain([Integer::of(*order)]).collect();
                return Self { combiner: "SUBARRAY", integers, addresses: Vec::new(), types: 1 };
            }
            Constructor::Darray { array, .. } => {
                let integers = of_array(array);
                return Self { combiner: "DARRAY", integers, addresses: Vec::new(), types: 1 };
            }
        };
        let integers = numbers.into_iter().map(Integer::Number).collect();
        Self { combiner, integers, addresses, types: layout.constructor().children().len() }
    }

    /// Those of a duplicate.
    pub const fn of_duplicate() -> Self {
        Self { combiner: "DUP", integers: Vec::new(), addresses: Vec::new(), types: 1 }
    }

    /// The integers as a list in C.
    pub fn integers_in_c(&self) -> String {
        list(&self.integers)
    }

    /// The addresses as a list in C.
    pub fn addresses_in_c(&self) -> String {
        list(&self.addresses)
    }
}

impl Integer {
    fn of(order: Order) -> Self {
        Self::Constant(if order == Order::C { "MPI_ORDER_C" } else { "MPI_ORDER_FORTRAN" })
    }
}

fn of_array(array: &DistributedArray) -> Vec<Integer> {
    let DistributedArray { size, rank, gsizes, distribs, dargs, psizes, order } = array;
    let numbers = |list: &[i64]| list.iter().copied().map(Integer::Number).collect::<Vec<_>>();
    let distributions = distribs.iter().map(|distribution| match distribution {
        Distribution::Block => Integer::Constant("MPI_DISTRIBUTE_BLOCK"),
        Distribution::Cyclic => Integer::Constant("MPI_DISTRIBUTE_CYCLIC"),
        Distribution::None => Integer::Constant("MPI_DISTRIBUTE_NONE"),
    });
    let dargs =
        dargs.iter().map(|darg| darg.map_or(Integer::Constant("MPI_DISTRIBUTE_DFLT_DARG"), Integer::Number));
    let head = [Integer::Number(*size), Integer::Number(*rank), Integer::Number(gsizes.len() as i64)];
    let (sizes, processes) = (numbers(gsizes), numbers(psizes));
    head.into_iter()
        .chain(sizes)
        .chain(distributions)
        .chain(dargs)
        .chain(processes)
        .chain([Integer::of(*order)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(layout: &str) -> String {
        Contents::of(&layout.parse().unwrap()).to_string()
    }

    #[test]
    fn arguments_are_in_the_order_of_the_standard() {
        let vector = "VECTOR, integers (2, 1, 3), addresses (), 1 types";
        assert_eq!(text("vector(2, 1, 3, int32)"), vector);
        let members = "STRUCT, integers (2, 1, 4), addresses (0, 8), 2 types";
        assert_eq!(text("struct([1, 4], [0, 8], [int32, byte])"), members);
        let subarray = "SUBARRAY, integers (2, 5, 6, 1, 2, 3, 4, MPI_ORDER_FORTRAN), addresses (), 1 types";
        assert_eq!(text("subarray([5, 6], [1, 2], [3, 4], fortran, byte)"), subarray);
        assert_eq!(text("resized(-4, 9, byte)"), "RESIZED, integers (), addresses (-4, 9), 1 types");
        assert_eq!(text("byte"), "NAMED, integers (), addresses (), 0 types");
    }
}
