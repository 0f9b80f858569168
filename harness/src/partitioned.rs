//! Fine-grained communication: a message handed over in partitions, each as soon as its thread has finished it.

pub mod aggregation;
pub mod arrival;
pub mod check;
pub mod contest;
pub mod costs;
pub mod emulation;
pub mod kde;
pub mod mechanisms;
pub mod merging;
pub mod model;
pub mod order;
pub mod probe;
pub mod reliance;
mod setting;
pub mod sweep;
pub mod trace;

pub use emulation::Emulation;
pub use setting::Setting;

/// The name of a transfer between two ranks, where results name a test.
pub const TEST: &str = "partitioned";
