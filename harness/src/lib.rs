//! Everything about a run but the MPI calls: plans, records, statistics, reports, and starting rank programs.
//!
//! Layers on top of [`common`], each of which uses only those before it ([`layers`](../tests/integration/layers.rs) checks that):
//! [`report`] makes text of records; [`experiments`] are the kinds of experiments, with their cases, figures and tables;
//! [`compare`] compares sides; [`plan`] is the checked plan; [`folder`] stores results; [`mpi`] finds, installs, builds for and
//! starts the MPIs of this machine; [`conformance`] checks whether they are correct; [`run`] walks through a plan.

#[macro_use(named)]
extern crate datatypes;

pub(crate) mod cells;
pub mod compare;
pub mod conformance;
pub mod experiments;
pub mod folder;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzz;
pub mod mpi;
pub mod plan;
pub mod report;
pub mod run;

pub use common::{model, stats};
