//! The engine's comparison: our pack engine next to the hand-written loops, `memcpy` and the `MPI_Pack` of every MPI, in
//! one process each, without communication.

pub mod methods;

use apps::WireOrder;
use clap::ValueEnum;

use super::Row;
use crate::model::{Phase, find_method};

/// Ranks that the layout of an all-to-all is for: as in a ping-pong of two. All other layouts are the same for any.
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
    /// The same for apps.
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
    methods: methods::METHODS,
    find: |name| find_method(methods::METHODS, "method", name),
    phases: PHASES,
    decisive: &[Phase::Pack, Phase::Unpack],
    reference: methods::ENGINE,
    default_ranks: 1,
    refuse_ranks: |ranks| (ranks != 1).then_some("must be 1: the comparison is one of one process"),
    only_warm: None,
    options: &[],
    // Packing and unpacking are repeated one after the other.
    timed_apart: |_| PHASES,
    // It has no single phase by which all are ranked.
    is_contest: false,
};
