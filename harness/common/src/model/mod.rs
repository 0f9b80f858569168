//! The vocabulary of a result as types: the measurements, the outcome, and the values derived from them.
//! It contains only the logic of these types.

pub mod abi;
pub mod calibration;
pub mod check;
pub mod conditions;
pub mod event;
mod figure;
mod key;
pub mod load;
mod method;
mod outcome;
mod phase;
pub mod plain;
mod record;
mod times;
pub mod transport;

pub use figure::{Figure, FigureUnit, Quantity};
pub use key::{Case, mpi_label};
pub use method::{
    LOOP, LOOPS, MANUAL, MANUAL_TUNED, MethodInfo, MethodRow, OWN, Place, find_method, info, infos,
};
pub use outcome::Outcome;
pub use phase::Phase;
pub use record::{Basis, BlockState, CaseResult, Measured, PairScope, Record, State};
pub use times::Times;

/// The version of results and plans. It is increased when a column or a method changes its meaning; other versions are refused.
pub const SCHEMA: u32 = 1;

/// The name of values that are not one of the test's sets.
pub const CUSTOM: &str = "custom";
