//! The engine's comparison: our pack engine, the hand-written loops, `memcpy` and the `MPI_Pack` of every
//! MPI, in one process each, without communication.

pub mod methods;

use apps::WireOrder;
use clap::ValueEnum;

use super::Row;
use crate::model::{Phase, find_method};

/// The number of ranks for the layout of an all-to-all, the same as in a ping-pong. Other layouts do not depend on it.
pub const RANKS: usize = 2;

/// The parameter that names the order in which bytes are packed, if loop and datatype differ.
pub const ORDER: &str = "order";

named! {
    /// The order in which bytes are packed, if the hand-written loop and the datatype differ.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
    pub enum PackingOrder {
        /// As the hand-written loop packs
        #[default]
        Manual = "manual",
        /// As the datatype packs
        Ddt = "ddt",
    }
}

impl PackingOrder {
    /// The same order as the type of `apps`.
    pub const fn wire_order(self) -> WireOrder {
        match self {
            Self::Manual => WireOrder::Manual,
            Self::Ddt => WireOrder::Ddt,
        }
    }
}

const PHASES: &[Phase] = &[Phase::Create, Phase::Unpack, Phase::Free, Phase::Pack];

pub(super) const ROW: Row = Row {
    name: "engine",
    command: "engine",
    methods: || methods::METHODS,
    find: |name| find_method(methods::METHODS, "method", name),
    phases: PHASES,
    decisive: &[Phase::Pack, Phase::Unpack],
    reference: methods::ENGINE,
    default_ranks: 1,
    refuse_ranks: |ranks| (ranks != 1).then_some("must be 1: the comparison is one of one process"),
    only_warm: None,
    only_host: None,
    options: &["pack"],
    // Packing and unpacking are repeated separately.
    timed_apart: |_| PHASES,
    // There is no single phase to rank methods by.
    is_contest: false,
};
