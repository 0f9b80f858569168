//! Partitioned transfers: a message between two ranks, handed over in partitions, each as soon as its thread has finished it.

pub mod methods;
mod setting;

pub use setting::{PARAMETERS, Setting};

use super::{NOT_REPEATED, Row};
use crate::model::Phase;

/// The name of a transfer between two ranks, in place of a test's.
pub const TEST: &str = "partitioned";

pub(super) const ROW: Row = {
    use Phase::{AfterLast, Compute, Delay, FirstPartition, Init, Solution, Total};
    Row {
        name: "partitioned",
        command: "partitioned",
        methods: || methods::MECHANISMS,
        find: methods::find,
        phases: &[Init, Compute, FirstPartition, Delay, AfterLast, Total, Solution],
        decisive: &[Solution],
        reference: methods::SINGLE,
        default_ranks: 2,
        refuse_ranks: |ranks| (ranks != 2).then_some("must be 2: one rank sends and one receives"),
        only_warm: None,
        only_host: Some("must be host: no MPI has partitions in the memory of a device"),
        options: &["rule", "startall"],
        timed_apart: |_| NOT_REPEATED,
        is_contest: true,
    }
};
