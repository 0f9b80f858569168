//! Shared by both programs, `ddtbench` and the rank program: the types of a result, statistics, and the kinds
//! of experiments with their methods, settings and phases.
//!
//! It has no tables, pages, result files or processes, because a rank program is built once for each MPI.

#[macro_use(named)]
extern crate datatypes;
#[macro_use]
pub mod parameter;

pub mod conformance;
pub mod cores;
pub mod fine_grained;
pub mod kinds;
pub mod limit_args;
pub mod limits;
pub mod memory;
pub mod model;
pub mod packing;
pub mod pcomm;
pub mod proc;
pub mod stats;
pub mod summary;
pub mod units;
