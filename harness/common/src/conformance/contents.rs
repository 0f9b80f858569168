//! The arguments of a constructor that `MPI_Type_get_envelope` and `MPI_Type_get_contents` return (MPI-4.1, section 5.1.13).

use std::fmt;

use datatypes::{Argument, Construction, Distribution, Layout, Order};

named! {
    /// A constructor, with the name of MPI's constant without `MPI_COMBINER_`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Combiner {
        Named = "NAMED",
        Dup = "DUP",
        Contiguous = "CONTIGUOUS",
        Vector = "VECTOR",
        Hvector = "HVECTOR",
        Indexed = "INDEXED",
        Hindexed = "HINDEXED",
        IndexedBlock = "INDEXED_BLOCK",
        HindexedBlock = "HINDEXED_BLOCK",
        Struct = "STRUCT",
        Subarray = "SUBARRAY",
        Darray = "DARRAY",
        Resized = "RESIZED",
    }
}

/// The constructor of a type and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub combiner: Combiner,
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

/// A list as in C, such as `1, 2, MPI_ORDER_C`. C has no empty lists.
pub fn list<T: ToString>(values: &[T]) -> String {
    if values.is_empty() {
        "0".to_owned()
    } else {
        values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Contents {
    /// The arguments of a layout's constructor.
    pub fn from_layout(layout: &Layout) -> Self {
        let constructor = layout.constructor();
        let (mut integers, mut addresses) = (Vec::new(), Vec::new());
        let distribution = |distribution: &Distribution| match distribution {
            Distribution::Block => Integer::Constant("MPI_DISTRIBUTE_BLOCK"),
            Distribution::Cyclic => Integer::Constant("MPI_DISTRIBUTE_CYCLIC"),
            Distribution::None => Integer::Constant("MPI_DISTRIBUTE_NONE"),
        };
        let block = |block: &Option<i64>| {
            block.map_or(Integer::Constant("MPI_DISTRIBUTE_DFLT_DARG"), Integer::Number)
        };
        for argument in constructor.arguments() {
            match argument {
                Argument::Number(value) => integers.push(Integer::Number(*value)),
                Argument::Address(value) => addresses.push(*value),
                Argument::List(list) => integers.extend(list.iter().copied().map(Integer::Number)),
                Argument::Addresses(list) => addresses.extend(list),
                Argument::Order(Order::C) => integers.push(Integer::Constant("MPI_ORDER_C")),
                Argument::Order(Order::Fortran) => integers.push(Integer::Constant("MPI_ORDER_FORTRAN")),
                Argument::Distributions(list) => integers.extend(list.iter().map(distribution)),
                Argument::Blocks(list) => integers.extend(list.iter().map(block)),
                Argument::Type(_) | Argument::Types(_) => {}
            }
        }
        if let Some((place, length)) = constructor.list_length() {
            integers.insert(place, Integer::Number(length));
        }
        let name = constructor.name().to_uppercase();
        Self {
            combiner: name.parse().expect("MPI has all constructors of layouts"),
            integers,
            addresses,
            types: constructor.children().len(),
        }
    }

    /// Those of a type that is made in one of several ways.
    pub fn of_type(layout: &Layout, construction: Construction) -> Self {
        match construction {
            Construction::Duplicated => {
                Self { combiner: Combiner::Dup, integers: Vec::new(), addresses: Vec::new(), types: 1 }
            }
            Construction::Usual | Construction::Large => Self::from_layout(layout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(layout: &str) -> String {
        let contents = Contents::from_layout(&layout.parse().unwrap());
        let (integers, addresses) = (list(&contents.integers), list(&contents.addresses));
        format!(
            "{}, integers ({integers}), addresses ({addresses}), {} types",
            contents.combiner, contents.types
        )
    }

    #[test]
    fn arguments_are_in_the_order_of_the_standard() {
        let vector = "VECTOR, integers (2, 1, 3), addresses (0), 1 types";
        assert_eq!(text("vector(2, 1, 3, int32)"), vector);
        let members = "STRUCT, integers (2, 1, 4), addresses (0, 8), 2 types";
        assert_eq!(text("struct([1, 4], [0, 8], [int32, byte])"), members);
        let subarray = "SUBARRAY, integers (2, 5, 6, 1, 2, 3, 4, MPI_ORDER_FORTRAN), addresses (0), 1 types";
        assert_eq!(text("subarray([5, 6], [1, 2], [3, 4], fortran, byte)"), subarray);
        assert_eq!(text("resized(-4, 9, byte)"), "RESIZED, integers (0), addresses (-4, 9), 1 types");
        assert_eq!(text("byte"), "NAMED, integers (0), addresses (0), 0 types");
    }
}
