//! Overhead ratios where they are known: of an MPI whose broadcast goes on in a thread that sleeps, 0, and of one that does all of it
//! in the wait, 1. Both are made by the library that tests load before MPICH (`tests/end_to_end/faulty_mpi.c`). Prints a table;
//! docs/evidence/overlap.md has it. If a ratio is missing, or off by more than 0.05, it prints which one and ends with exit code 1.
//!
//!     cargo bench -p ddtbench --bench overlap
//!
//! MPICH's compiler is taken from `MPICC`, else it is the one that `ddtbench mpi install mpich` has installed.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// How long the broadcast takes, in microseconds: a thread that wakes 2 ms late, as with two cores it may, is a hundredth of it.
const COMMUNICATION_US: u32 = 240_000;
/// Half of that: of two parts that take equally long the longer one is another each time, which on a busy machine looks like overhead.
const COMPUTATION: &str = "120ms";
/// Time for the repetitions of six launches, in seconds: twelve of 600 ms each, and what lies between them.
const MAX_TIME_S: &str = "120";
/// By how much a ratio may be off.
const NEAR: f64 = 0.05;

fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a folder for results");
    let library = library(dir.path());
    let mut wrong = Vec::new();
    println!("MPI     comp. asked    ratio [95%]             truth");
    for (fault, truth) in [("asleep", 0.0), ("late", 1.0)] {
        let out = dir.path().join(fault);
        measure(&library, &format!("{fault} {COMMUNICATION_US}"), &out);
        let rows = ratios(&out);
        if rows.is_empty() {
            wrong.push(format!("{fault}: no ratio was measured"));
        }
        for Row { asked_us, ratio } in rows {
            let Some((value, low, high)) = ratio else {
                println!("{fault:<6}  {asked_us:>8} us   no interval");
                wrong.push(format!("{fault}, {asked_us} us: a ratio without an interval"));
                continue;
            };
            let is_near = (value - truth).abs() <= NEAR;
            let verdict = if is_near { "within 0.05" } else { "beyond 0.05" };
            println!("{fault:<6}  {asked_us:>8} us   {value:>6.3} [{low:.3}, {high:.3}]  {truth}: {verdict}");
            if !is_near {
                wrong.push(format!("{fault}, {asked_us} us: {value:.3} is more than {NEAR} from {truth}"));
            }
        }
    }
    wrong.iter().for_each(|what| eprintln!("error: {what}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An overhead ratio.
struct Row {
    /// The time of the computation that was asked for, in microseconds.
    asked_us: String,
    /// Value, low and high end; `None` without an interval.
    ratio: Option<(f64, f64, f64)>,
}

/// The overhead ratios of a run.
fn ratios(out: &Path) -> Vec<Row> {
    let mut figures = csv::Reader::from_path(out.join("figures.csv")).expect("figures of the run");
    let names = figures.headers().expect("a header").clone();
    let place = |name| names.iter().position(|known| known == name).expect("a column of figures");
    let (figure, params) = (place("figure"), place("params"));
    let ends = ["value", "low", "high"].map(place);
    let is_ratio = |row: &csv::StringRecord| &row[figure] == "overhead_ratio";
    let row = |row: csv::StringRecord| {
        let asked = row[params].split(' ').find_map(|pair| pair.strip_prefix("computation_us="));
        let [value, low, high] = ends.map(|end| row[end].parse::<f64>().ok());
        Row {
            asked_us: asked.expect("the time that was asked for").to_owned(),
            ratio: value.zip(low).zip(high).map(|((value, low), high)| (value, low, high)),
        }
    };
    figures.records().map(|row| row.expect("a row")).filter(is_ratio).map(row).collect()
}

/// Six launches.
fn measure(library: &Path, fault: &str, out: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    let computation = format!("computation_us={COMPUTATION}");
    command.args(["overlap", "ibcast", "-p", "bytes=1000", "-p", &computation, "-m", "nonblocking"]);
    command.args([
        "--mpi",
        "mpich",
        "--launches",
        "6",
        "--max-runs",
        "12",
        "--min-runs",
        "2",
        "--warmup",
        "1",
    ]);
    command.args(["--max-time", MAX_TIME_S, "--out"]).arg(out);
    command.args(["--", "-genv", "LD_PRELOAD"]).arg(library).args(["-genv", "FAULTY_MPI", fault]);
    let ended = command.current_dir(root()).output().expect("ddtbench can be started");
    let output = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{output}");
    // A machine that is too busy for a size to be found.
    output.lines().filter(|line| line.contains("left out")).for_each(|line| println!("{line}"));
}

/// The library that errs on purpose, for MPICH.
fn library(dir: &Path) -> PathBuf {
    let installed = root().join(".ddtbench/mpi/mpich/bin/mpicc");
    let mpicc = std::env::var_os("MPICC").map_or(installed, PathBuf::from);
    let library = dir.join("libfaulty_mpi.so");
    let mut command = Command::new(&mpicc);
    command.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]).arg(&library);
    let ended = command.arg(root().join("tests/end_to_end/faulty_mpi.c")).status();
    assert!(
        ended.is_ok_and(|status| status.success()),
        "{} does not compile: MPICC must be MPICH's, which `ddtbench mpi install mpich` installs",
        mpicc.display()
    );
    library
}

/// The project's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the project")
}
