//! Clocks of ranks that differ, brought to one time. On one host the kernel's clock is the truth behind virtual ones, which
//! are ahead of each other by known times and drift: what is left of that must be within the error that is said.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use super::by_hand::{mpiexec, refuses_once};
use super::job::run;
use super::results::rows;
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, waiting_on_every_mpi};

const VARIABLE: &str = "DDTBENCH_VIRTUAL_CLOCK";

/// Microseconds and parts per million, each times the rank; ranks of a pretended host.
const CLOCKS: [&str; 4] = ["5000,200", "5000,200,1", "-70000,-150,2", "0,0,3"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("ranks of one host share a clock", shared),
        ("offset and drift are removed to within the error that is said", removed),
        ("what is no clock is refused, once", refused),
        ("records say how far off clocks are", recorded),
    ];
    // Clocks are compared over pauses.
    waiting_on_every_mpi("clocks", checks)
}

fn shared(mpi: &Mpi) {
    let ended = run(mpiexec(mpi, mpi, "3").args(["conform", "clocks"])).expect_code(0);
    assert!(
        ended.out.contains("clocks: passed") && ended.out.contains("all ranks read one clock"),
        "{ended}"
    );
}

fn removed(mpi: &Mpi) {
    // How clocks are brought to one time is ours: all clocks on one MPI.
    let all = if mpi.name == "mpich" { &CLOCKS[..] } else { &CLOCKS[..1] };
    for ranks in ["2", "3", "4"] {
        for &clocks in all {
            let ended = run(mpiexec(mpi, mpi, ranks).args(["conform", "clocks"]).env(VARIABLE, clocks));
            let ended = ended.expect_code(0);
            // Without the truth it would have been compared with nothing.
            for words in ["clocks: passed", "truly off by", "gaining"] {
                assert!(ended.out.contains(words), "`{words}` is not in: {ended}");
            }
        }
    }
}

fn refused(mpi: &Mpi) {
    for (clocks, words) in [("5000", [VARIABLE, "5000,200,2"]), ("0,900", ["900", "at most 333"])] {
        let mut command = mpiexec(mpi, mpi, "4");
        refuses_once(command.args(["conform", "clocks"]).env(VARIABLE, clocks), &words);
    }
}

/// Transfers between two ranks, each on a host of its own as far as clocks go.
fn recorded(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args([
        "partitioned",
        "--mpi",
        mpi.name,
        "--out",
        "out",
        "-m",
        "single,many",
        "-p",
        "bytes=64KiB",
    ]);
    command.args(["--max-time", "0.05", "--set-plan", "limits.timeout_s=10"]).args(ONE_LAUNCH);
    let ended = run(command.env(VARIABLE, "5000,200,1")).expect_code(0);
    let out = dir.path().join("out");
    for row in rows(&out.join("summary.csv")).iter().filter(|row| row.get("phase") == "solution") {
        // 5 ms ahead, or 15 s since the machine started.
        let median_s = row.number("median_s").expect("it was measured");
        assert!(median_s > 0.0, "a transfer that ends before it begins: {row:?}");
    }
    let figures = rows(&out.join("figures.csv"));
    let errors: Vec<_> = figures.iter().filter(|row| row.get("figure") == "clock_error").collect();
    assert_eq!(errors.len(), 2, "one for each method: {figures:?}");
    assert!(
        errors.iter().all(|row| row.number("value") >= Some(0.0) && row.get("unit") == "s"),
        "{errors:?}"
    );
    let report = run(ddtbench(dir.path()).args(["report", "out", "--details"])).expect_code(0);
    assert!(report.out.contains("clocks differ"), "{report}\n{ended}");
    let environment: Value =
        serde_json::from_str(&fs::read_to_string(out.join("environment.json")).unwrap()).unwrap();
    let text = environment.to_string();
    for words in [r#""shared":false"#, r#""residual_s":"#, VARIABLE] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}
