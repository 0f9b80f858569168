//! Recorded launches, for benches that use several of them; the README.md in this folder describes how they were
//! made.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;

/// The recorded values of a launch, for each test, method and phase.
pub type Launch = BTreeMap<(String, String, String), Recorded>;

/// The recorded values of one method.
#[allow(dead_code, reason = "not all benches that have this module look at the state")]
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    pub median_s: f64,
    /// Core-to-core latency measured with it.
    pub state_latency_s: Option<f64>,
    /// Speed at which a core copies within its cache, measured with it.
    pub state_copy_bytes_per_s: Option<f64>,
}

#[derive(Deserialize)]
struct Row {
    mpi: String,
    launch: usize,
    test: String,
    method: String,
    phase: String,
    median_s: f64,
    state_latency_s: Option<f64>,
    state_copy_bytes_per_s: Option<f64>,
}

/// Launches of each MPI, in chronological order.
pub struct Recording {
    #[allow(dead_code, reason = "tests do not print it")]
    pub name: &'static str,
    /// Number of launches in the two minutes that `ddtbench run --repeat` waits between runs; 0 for a recording that is too short for that.
    #[allow(dead_code, reason = "not all benches that have this module look at runs")]
    pub launches_of_a_pause: usize,
    gzipped: &'static [u8],
}

#[allow(dead_code, reason = "not all users need launches of a long time")]
pub const RECORDINGS: [Recording; 2] = [
    Recording {
        name: "130 launches of six tests over 35 minutes",
        launches_of_a_pause: 7,
        gzipped: include_bytes!("launches.csv.gz"),
    },
    Recording {
        name: "64 launches of all tests over two hours",
        launches_of_a_pause: 1,
        gzipped: include_bytes!("launches-of-two-hours.csv.gz"),
    },
];

/// Launches that were made as those of a comparison: as fast as they can be.
#[allow(dead_code, reason = "a time too short for benches that ask what runs of other times show")]
pub const IN_TURN: Recording = Recording {
    name: "launches of three tests in turn, twice three minutes",
    launches_of_a_pause: 0,
    gzipped: include_bytes!("launches-in-turn.csv.gz"),
};

impl Recording {
    pub fn read(&self) -> BTreeMap<String, Vec<Launch>> {
        let mut text = String::new();
        flate2::read::GzDecoder::new(self.gzipped).read_to_string(&mut text).expect("a gzipped file");
        let mut all: BTreeMap<String, Vec<Launch>> = BTreeMap::new();
        for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
            let row: Row = row.expect("a row of a launch");
            let recorded = Recorded {
                median_s: row.median_s,
                state_latency_s: row.state_latency_s,
                state_copy_bytes_per_s: row.state_copy_bytes_per_s,
            };
            let of_mpi = all.entry(row.mpi).or_default();
            of_mpi.resize_with(of_mpi.len().max(row.launch + 1), Launch::new);
            of_mpi[row.launch].insert((row.test, row.method, row.phase), recorded);
        }
        all
    }
}
