//! The engine's comparison: our pack engine beside the hand-written loops, `memcpy` and the `MPI_Pack` of every MPI, in
//! one process each, without communication.
//!
//! [`cases`] says what is compared.

mod figures;
pub mod grid;
pub mod methods;
mod prepared;
mod selection;
mod table;

use apps::WireOrder;
use clap::ValueEnum;

pub use figures::is_narrow;

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Experiment, Kind, Prepared, Setup};
use crate::model::event::TimedApart;
use crate::model::{MethodInfo, Phase, Record};
use crate::report::table::TableFormat;

/// Ranks that the layout of an all-to-all is for: as in a ping-pong of two. All other layouts are the same for any.
pub const RANKS: usize = 2;

/// Rounds at least: the interval of a ratio rests on the rounds' ratios, of which the lowest and the highest lie outside
/// it from ten on, so that one disturbed round does not decide.
pub const MIN_ROUNDS: usize = 10;

/// Rounds that are never exceeded: an interval is then about a seventh as wide as the rounds differ, and a narrower
/// one would tell of this run's luck with its memory's places.
pub const MAX_ROUNDS: usize = 200;

/// The parameter that says in which order bytes are packed, where loop and datatype differ.
pub const ORDER: &str = "order";

/// In which order bytes are packed, where the hand-written loop and the datatype differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PackingOrder {
    /// As the hand-written loop packs
    #[default]
    Manual,
    /// As the datatype packs
    Ddt,
}

impl PackingOrder {
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

/// The order of bytes that a case's values name; `None` where loop and datatype agree.
pub fn order(params: &str) -> Option<&str> {
    let mut pairs = params.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.find(|&(name, value)| is_order(name, value)).map(|(_, value)| value)
}

/// Whether a value says in which order bytes are packed: a test may have an `order` of its own, that of its array.
fn is_order(name: &str, value: &str) -> bool {
    name == ORDER && PackingOrder::from_str(value, false).is_ok()
}

/// Whether a test has an `order` of its own that can have this value, which is none of [`Order`].
fn is_of_a_test(value: &str) -> bool {
    let mut parameters = apps::TESTS.iter().flat_map(|test| test.parameters);
    parameters.any(|own| {
        own.name == ORDER
            && matches!(own.value_type, apps::ParameterType::Choice(words) if words.contains(&value))
    })
}

/// The comparison in the list of kinds.
pub const KIND: Kind = Kind(&Engine);

/// The engine's comparison, as one of the kinds of experiments.
#[derive(Debug)]
struct Engine;

impl Experiment for Engine {
    fn name(&self) -> &'static str {
        "engine"
    }

    fn methods(&self) -> &'static [MethodInfo] {
        methods::METHODS
    }

    fn phases(&self) -> &'static [Phase] {
        use Phase::{Create, Free, Pack, Unpack};
        &[Create, Unpack, Free, Pack]
    }

    /// Packing and unpacking are repeated one after the other.
    fn timed_apart(&self) -> TimedApart {
        |_| KIND.phases()
    }

    fn reference(&self) -> &'static str {
        methods::ENGINE
    }

    fn default_ranks(&self) -> usize {
        1
    }

    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str> {
        (ranks != 1).then_some("must be 1: the comparison is one of one process")
    }

    fn cases(&self, selection: &Selection, setup: Setup) -> Result<Selected, String> {
        selection::cases(selection, setup.seed)
    }

    fn prepare(&self, case: &PlannedCase, setup: Setup) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedComparison::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    /// It has no single phase by which all are ranked.
    fn is_contest(&self) -> bool {
        false
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }

    fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(records, width)
    }
}
