//! Measures overhead ratios whose true value is known: 0 for an MPI whose broadcast continues in a sleeping thread,
//! and 1 for one that does all of it in the wait. Both are made by the library that tests load in front of MPICH
//! (`tests/end_to_end/faulty_mpi.c`). Prints a table; docs/evidence/overlap.md has it. If a ratio is missing, or
//! wrong by more than 0.05, it prints which one and ends with exit code 1.
//!
//!     cargo bench -p ddtbench --bench overlap
//!
//! MPICH's compiler is that in `MPICC`, or the one that `ddtbench mpi install mpich` has installed.

#[path = "../shared.rs"]
mod shared;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use shared::{ddtbench, end, file, number, output, root};

/// Time of the broadcast, in microseconds. With two cores a thread may wake 2 ms late, which is a hundredth of it.
const COMMUNICATION_US: u32 = 240_000;
/// Half of that. If two parts take equally long, it varies which one is longer, and on a busy machine that looks like
/// overhead.
const COMPUTATION: &str = "120ms";
/// Time for the repetitions of six launches, in seconds: twelve of 600 ms each, and the pauses between them.
const MAX_TIME_S: &str = "120";
/// Largest error of a ratio.
const NEAR: f64 = 0.05;

fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a folder for results");
    let library = library(dir.path());
    let mut wrong = Vec::new();
    println!("MPI     comp. asked    ratio [95%]             truth");
    for (fault, truth) in [("asleep", 0.0), ("late", 1.0)] {
        let out = dir.path().join(fault);
        measure(&library, &format!("{fault} {COMMUNICATION_US}"), &out);
        let mut rows = file(&out.join("figures.csv"));
        rows.retain(|row| row["figure"] == "overhead_ratio");
        if rows.is_empty() {
            wrong.push(format!("{fault}: no ratio was measured"));
        }
        for row in rows {
            let asked = row["params"].split(' ').find_map(|pair| pair.strip_prefix("computation_us="));
            let asked_us = asked.expect("the time that was asked for");
            let [Some(value), Some(low), Some(high)] =
                ["value", "low", "high"].map(|column| number(&row, column))
            else {
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
    end(&wrong)
}

/// Six launches.
fn measure(library: &Path, fault: &str, out: &Path) {
    let computation = format!("computation_us={COMPUTATION}");
    let mut command =
        ddtbench(&["overlap", "ibcast", "-p", "bytes=1000", "-p", &computation, "-m", "nonblocking"]);
    command.args([
        "--mpi",
        "mpich",
        "--launches",
        "6",
        "--max-repetitions",
        "12",
        "--min-repetitions",
        "2",
        "--warmup",
        "1",
    ]);
    command.args(["--max-time", MAX_TIME_S, "--out"]).arg(out);
    command.args(["--", "-genv", "LD_PRELOAD"]).arg(library).args(["-genv", "FAULTY_MPI", fault]);
    let [_, messages] = output(command.current_dir(root()));
    // The machine is too busy to find a size.
    messages.lines().filter(|line| line.contains("left out")).for_each(|line| println!("{line}"));
}

/// The faulty library, for MPICH.
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
