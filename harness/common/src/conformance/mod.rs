//! Conformance of an MPI's datatypes: the tested operations, cases, and what the standard expects of them.
//!
//! `ddtbench` makes cases and passes them to the rank program in batches; the rank program tries each operation on each case and
//! reports faults. Both use these types.

pub mod bounds;
pub mod case;
pub mod contents;
pub mod items;
pub mod operation;

pub use bounds::Reported;
pub use case::{Batch, Case, FIRST_FIXED, Fault, FaultKind, Progress, partitions};
pub use contents::Contents;
pub use items::Items;
pub use operation::{OPERATIONS, Operation};
