//! Shared by experiments with threads: when threads are done, in which order partitions become ready, and how
//! partitions are merged into messages.

pub mod aggregation;
pub mod arrival;
pub mod costs;
pub mod emulation;
pub mod functions;
pub mod kde;
pub mod merging;
pub mod order;
pub mod trace;

pub use emulation::Emulation;
