//! What is compared: our pack engine, the hand-written loops, `MPI_Pack`, and two plain copies.

use clap::ValueEnum;

use super::PackingOrder;
use crate::experiments::pingpong::methods::PACK;
use crate::model::MethodInfo;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Method {
    /// Our pack engine: the layout compiled
    Engine,
    /// The application's loops, as it has them
    Manual,
    /// These loops as an expert tunes them
    ManualTuned,
    /// MPI_Pack and MPI_Unpack with the datatype
    MpiPack,
    /// A copy of as many bytes in one piece
    Memcpy,
    /// A copy that touches as many cache lines as packing must
    Bound,
}

impl Method {
    /// All, in report order.
    pub const ALL: [Self; 6] =
        [Self::Engine, Self::Manual, Self::ManualTuned, Self::MpiPack, Self::Memcpy, Self::Bound];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Manual => "manual",
            Self::ManualTuned => "manual_tuned",
            Self::MpiPack => "mpi_pack",
            Self::Memcpy => "memcpy",
            Self::Bound => "bound",
        }
    }

    /// Those that can pack in this order: where loop and datatype differ, the loop has only its own.
    pub fn of(order: PackingOrder, orders_differ: bool) -> Vec<Self> {
        let is_loop = |method: &Self| matches!(method, Self::Manual | Self::ManualTuned);
        let can = |method: &Self| !is_loop(method) || order == PackingOrder::Manual || !orders_differ;
        Self::ALL.into_iter().filter(can).collect()
    }
}

/// All, in report order. The copies are no ways from arrays to arrays.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::new("engine", "our pack engine: the layout compiled"),
    MethodInfo::new("manual", "the application's loops, as it has them"),
    MethodInfo::new("manual_tuned", "these loops as an expert tunes them"),
    MethodInfo::new("mpi_pack", "MPI_Pack and MPI_Unpack with the datatype").needs(PACK),
    MethodInfo::new("memcpy", "a copy of as many bytes in one piece").partial(),
    MethodInfo::new("bound", "a copy that touches as many cache lines as packing must").partial(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_methods_in_their_order() {
        let names = METHODS.iter().map(|method| method.name);
        assert!(names.eq(Method::ALL.map(Method::name)));
        for method in Method::ALL {
            assert_eq!(Method::from_str(method.name(), false), Ok(method));
        }
    }

    #[test]
    fn the_loop_has_no_other_order_than_its_own() {
        assert_eq!(Method::of(PackingOrder::Ddt, true).len(), 4);
        assert_eq!(Method::of(PackingOrder::Ddt, false).len(), 6);
        assert_eq!(Method::of(PackingOrder::Manual, true).len(), 6);
    }
}
