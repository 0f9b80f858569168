//! Overlap: whether communication progresses while the application computes, and what that costs. The methodology is
//! that of BenchNBC (Denis, Jaeger, Jeannot and Reynier, "A methodology for assessing computation/communication overlap
//! of MPI nonblocking collectives", CCPE 2022), extended to messages with datatypes and to halos.

mod case;
pub mod methods;
pub mod operations;
mod setting;

pub use case::{Built, OverlapCase};
pub use setting::{LEAST_US, MOST_BYTES, MOST_ROWS, OverlapSetting, PARAMETERS};

use super::{NOT_REPEATED, Row};
use crate::model::{Phase, find_method};

pub(super) const ROW: Row = {
    use Phase::{
        Call, CommunicationAlone, ComputationAlone, ComputationWithoutMpi, Compute, InMpi, Init, Overlapped,
        Rim, RimAlone, Wait,
    };
    Row {
        name: "overlap",
        command: "overlap",
        methods: || methods::METHODS,
        find: |name| find_method(methods::METHODS, "method", name),
        phases: &[
            Init,
            CommunicationAlone,
            ComputationWithoutMpi,
            ComputationAlone,
            RimAlone,
            Call,
            Compute,
            Wait,
            Rim,
            InMpi,
            Overlapped,
        ],
        decisive: &[Overlapped],
        reference: methods::REFERENCE,
        default_ranks: 2,
        refuse_ranks: |ranks| {
            let can = ranks >= 2 && i32::try_from(ranks).is_ok();
            (!can).then_some("must be at least 2 ranks")
        },
        only_warm: Some(
            "must be warm: the message has just been written, and the computation evicts other data",
        ),
        only_host: Some("must be host: no computation on a device is measured"),
        options: &[],
        timed_apart: |_| NOT_REPEATED,
        is_contest: true,
    }
};
