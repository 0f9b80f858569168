//! Recorded launches; the README.md in this folder describes how they were made.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The recorded values of a launch, for each test, method and phase.
pub type Launch = BTreeMap<(String, String, String), RecordedCase>;

/// The recorded values of one method.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RecordedCase {
    pub median_s: f64,
    /// Core-to-core latency measured with it.
    pub state_latency_s: Option<f64>,
    /// Speed at which a core copies within its cache, measured with it.
    pub state_copy_bytes_per_s: Option<f64>,
}

#[derive(Deserialize)]
struct RecordedRow {
    mpi: String,
    launch: usize,
    test: String,
    method: String,
    phase: String,
    #[serde(flatten)]
    recorded: RecordedCase,
}

/// Launches of each MPI, in chronological order, made as those of a comparison: as fast as they can be.
pub fn launches_in_turn() -> BTreeMap<String, Vec<Launch>> {
    let file = csv::Reader::from_reader(flate2::read::GzDecoder::new(
        &include_bytes!("launches-in-turn.csv.gz")[..],
    ));
    let mut all: BTreeMap<String, Vec<Launch>> = BTreeMap::new();
    for row in file.into_deserialize() {
        let row: RecordedRow = row.expect("a row of a launch");
        let of_mpi = all.entry(row.mpi).or_default();
        of_mpi.resize_with(of_mpi.len().max(row.launch + 1), Launch::new);
        of_mpi[row.launch].insert((row.test, row.method, row.phase), row.recorded);
    }
    all
}
