//! The engine's comparison: our pack engine, the hand-written loops, `memcpy` and the `MPI_Pack` of every
//! MPI, in one process each, without communication.
//!
//! `selection.rs` makes the cases.

mod figures;
pub mod grid;
mod prepared;
mod selection;
mod table;

pub use common::kinds::engine::*;
pub use selection::orders;

use super::Experiment;

/// Whether a test has its own parameter `order` with this value, which is not a [`PackingOrder`].
fn is_of_a_test(value: &str) -> bool {
    let mut parameters = apps::TESTS.iter().flat_map(|test| test.parameters);
    parameters.any(|own| {
        own.name == ORDER
            && matches!(own.value_type, apps::ParameterType::Choice(words) if words.contains(&&*value.to_lowercase()))
    })
}

/// The kind of experiments for the engine's comparison.
pub(super) static EXPERIMENT: Experiment = Experiment {
    parameters: Vec::new,
    cases: |selection, setup| selection::cases(selection, setup.seed),
    prepare: prepared::prepare,
    add_figures: figures::add,
    table_format: &table::TABLE_FORMAT,
};
