//! The words of a result, typed: what was measured, what came back, what was made of it. No logic but that of the words.

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
pub use method::{LOOP, LOOPS, MethodInfo, MethodRow, find_method, info, infos};
pub use outcome::Outcome;
pub use phase::Phase;
pub use record::{Basis, BlockState, CaseResult, InState, Measured, PairScope, Record, State};
pub use times::Times;

/// The version of results and plans. It goes up when a column or a method changes its meaning; what has another is refused.
pub const SCHEMA: u32 = 1;

/// The name of a set of values that is none of the test's.
pub const CUSTOM: &str = "custom";
