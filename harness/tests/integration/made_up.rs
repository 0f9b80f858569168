//! Plans and records with any number of cases.

use std::fmt::Write as _;
use std::sync::Arc;

use ddtbench::experiments::Kind;
use ddtbench::model::{Case, Figure, Quantity, Record};

pub fn plan(cases: usize) -> String {
    let mut text = "schema = 1\nexperiment = \"pingpong\"\nmethods = [\"manual\", \"ddt\"]\n".to_owned();
    for i in 0..cases {
        let _ =
            write!(text, "[[cases]]\ntest = \"strided\"\nparams = {{ count = 16, stride = {} }}\n", i + 2);
    }
    text
}

/// Records of all launches of a sweep, on two MPIs; `params` are those of a case.
pub fn records(kind: Kind, test: &str, params: impl Fn(usize) -> String, cases: usize) -> Vec<Record> {
    let mut records = Vec::new();
    for (i, mpi) in (0..cases).flat_map(|i| ["mpich", "openmpi"].map(|mpi| (i, mpi))) {
        let case = Arc::new(Case {
            experiment: kind,
            test: test.to_owned(),
            set: "custom".to_owned(),
            params: params(i),
            mpi: mpi.to_owned(),
            ranks: 2,
            hosts: 1,
            ..Case::default()
        });
        for (method, launch) in ["reference", "manual", "ddt"].iter().flat_map(|m| [(m, 0), (m, 1)]) {
            let median_s = 1e-6 * (i + launch + method.len()) as f64;
            let figures =
                [Quantity::Gain, Quantity::Bandwidth, Quantity::OverheadReference, Quantity::OverheadRatio];
            let figures = figures
                .map(|quantity| Figure::with_interval(quantity, median_s, (0.5 * median_s, 2.0 * median_s)));
            records.push(Record {
                case: Arc::clone(&case),
                method: (*method).to_owned(),
                launch: Some(launch),
                launches: 1,
                phase: kind.headline(),
                bytes: 8 * i as u64 + 8,
                median_s: Some(median_s),
                median_low_s: Some(0.9 * median_s),
                median_high_s: Some(1.1 * median_s),
                fastest: Some("manual".to_owned()),
                figures: figures.to_vec(),
                ..Record::default()
            });
        }
    }
    records
}
