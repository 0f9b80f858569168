//! Cases and records that were made up, for tests.

use crate::model::{Case, Record};

/// A case of a test on an MPI, with a set of its own.
pub fn case(test: &str, mpi: &str, params: &str) -> Case {
    Case {
        test: test.into(),
        set: "custom".into(),
        params: params.into(),
        mpi: mpi.into(),
        ranks: 2,
        ..Case::default()
    }
}

/// A record of the headline phase with an interval of a tenth to both sides.
pub fn record(case: &Case, method: &str, median_s: f64) -> Record {
    Record {
        case: case.clone().into(),
        method: method.into(),
        bytes: 800,
        median_s: Some(median_s),
        median_low_s: Some(0.9 * median_s),
        median_high_s: Some(1.1 * median_s),
        ..Record::default()
    }
}
