//! Halos: the exchange of a micro-app between many ranks.

mod case;
pub mod methods;
mod setting;

pub use case::{HaloCase, message, rank_bytes, wire_bytes};
pub use setting::{HaloSetting, PARAMETERS, Start};

use super::{NOT_REPEATED, Row};
use crate::model::Phase;

pub(super) const ROW: Row = {
    use Phase::{Communicate, Compute, Exchange, Init, Pack, Total, Unpack};
    Row {
        name: "halo",
        command: "halo",
        methods: methods::methods,
        find: methods::find,
        phases: &[Init, Compute, Pack, Communicate, Unpack, Total, Exchange],
        decisive: &[Exchange],
        reference: methods::REFERENCE,
        // A square grid, and a number that all exchanges support.
        default_ranks: 4,
        refuse_ranks: |ranks| {
            let can = ranks >= 1 && i32::try_from(ranks).is_ok();
            (!can).then_some("must be a whole number from 1 to 2147483647")
        },
        only_warm: Some("must be warm: halos are measured as the last exchange left the caches"),
        only_host: None,
        options: &["pack"],
        timed_apart: |_| NOT_REPEATED,
        is_contest: true,
    }
};
