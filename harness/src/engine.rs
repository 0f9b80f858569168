//! The engine's comparison: our pack engine beside the hand-written loop, `memcpy` and the `MPI_Pack` of every MPI, in
//! one process each, without communication.
//!
//! [`tasks`] and [`grid`] say what is compared, [`run`] has it measured, [`records`] makes figures of
//! it, and [`standing`] says where the engine stands.

pub mod grid;
mod record;
pub mod run;
mod selection;
pub mod standing;
pub(crate) mod summary;

use apps::WireOrder;
use clap::ValueEnum;

pub use record::{EngineCase, EngineRecord, EngineResult};
pub use selection::{EngineTask, tasks};
pub use summary::{is_narrow, records};

/// Ranks that the layout of an all-to-all is for: as in a ping-pong of two. All other layouts are the same for any.
pub const RANKS: usize = 2;

/// The name of the order of bytes where loop and datatype agree.
pub const ONE_ORDER: &str = "same";

/// Rounds at least: the interval of a ratio rests on the rounds' ratios, of which the lowest and the highest lie outside
/// it from ten on, so that one disturbed round does not decide.
pub const MIN_ROUNDS: usize = 10;

/// Rounds that are never exceeded: an interval is then about a seventh as wide as the rounds differ, and a narrower
/// one would tell of this run's luck with its memory's places.
pub const MAX_ROUNDS: usize = 200;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Contender {
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

impl Contender {
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
    pub fn of(order: Order, orders_differ: bool) -> Vec<Self> {
        let is_loop = |contender: &Self| matches!(contender, Self::Manual | Self::ManualTuned);
        let can = |contender: &Self| !is_loop(contender) || order == Order::Manual || !orders_differ;
        Self::ALL.into_iter().filter(can).collect()
    }
}

/// In which order bytes are packed, where the hand-written loop and the datatype differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// As the hand-written loop packs
    #[default]
    Manual,
    /// As the datatype packs
    Ddt,
}

impl Order {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Ddt => "ddt",
        }
    }

    /// The same as apps say it.
    pub const fn wire_order(self) -> WireOrder {
        match self {
            Self::Manual => WireOrder::Manual,
            Self::Ddt => WireOrder::Ddt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for contender in Contender::ALL {
            assert_eq!(Contender::from_str(contender.name(), false), Ok(contender));
        }
        for order in [Order::Manual, Order::Ddt] {
            assert_eq!(Order::from_str(order.name(), false), Ok(order));
        }
    }

    #[test]
    fn the_loop_has_no_other_order_than_its_own() {
        assert_eq!(Contender::of(Order::Ddt, true).len(), 4);
        assert_eq!(Contender::of(Order::Ddt, false).len(), 6);
        assert_eq!(Contender::of(Order::Manual, true).len(), 6);
    }
}
