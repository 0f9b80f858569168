//! Probes: whether an MPI does what partitioned communication needs, one behaviour each.

pub mod list;
pub mod table;
