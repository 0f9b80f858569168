//! Recorded launches, for the benches that ask what several of them say; README.md beside them says how they were made.

use std::collections::BTreeMap;
use std::io::Read;

/// A launch: the median of each test, method and phase.
pub type Launch = BTreeMap<(String, String, String), f64>;

/// Launches of each MPI, in the order in which they were made.
pub struct Recording {
    /// What was recorded.
    pub name: &'static str,
    gzipped: &'static [u8],
}

/// All recordings.
pub const RECORDINGS: [Recording; 2] = [
    Recording {
        name: "130 launches of six tests over 35 minutes",
        gzipped: include_bytes!("launches.csv.gz"),
    },
    Recording {
        name: "64 launches of all tests over two hours",
        gzipped: include_bytes!("launches-of-two-hours.csv.gz"),
    },
];

impl Recording {
    /// The launches by MPI.
    pub fn read(&self) -> BTreeMap<String, Vec<Launch>> {
        let mut text = String::new();
        flate2::read::GzDecoder::new(self.gzipped).read_to_string(&mut text).expect("a gzipped file");
        let mut all: BTreeMap<String, Vec<Launch>> = BTreeMap::new();
        for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
            let (mpi, launch, test, method, phase, median): (String, usize, String, String, String, f64) =
                row.expect("a row of a launch");
            let of_mpi = all.entry(mpi).or_default();
            of_mpi.resize_with(of_mpi.len().max(launch + 1), Launch::new);
            of_mpi[launch].insert((test, method, phase), median);
        }
        all
    }
}
