//! Probes: whether an MPI does what partitioned communication needs, one behaviour each. A probe is a case, tried by one
//! method.

pub mod list;

use super::{NOT_REPEATED, Row};
use crate::model::{MethodInfo, Phase, find_method};

/// The only method.
pub const METHOD: &str = "probe";

const METHODS: &[MethodInfo] =
    &[MethodInfo::new(METHOD, "tries one behaviour, and tells what was seen").partial()];

pub(super) const ROW: Row = Row {
    name: "probe",
    command: "probe",
    methods: METHODS,
    find: |name| find_method(METHODS, "method", name),
    phases: &[Phase::Total],
    decisive: &[Phase::Total],
    reference: METHOD,
    default_ranks: 2,
    // One, of a second try where it fails: what a correct MPI does, it does always.
    default_launches: 1,
    refuse_ranks: |ranks| (ranks != 2).then_some("must be left out: each probe has its own number of ranks"),
    only_warm: Some("must be warm: probes look at behaviour, and their times are not compared"),
    options: &[],
    timed_apart: |_| NOT_REPEATED,
    is_contest: false,
};
