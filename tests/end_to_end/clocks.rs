//! Clocks of ranks that differ, brought to one time. On one host the kernel's clock is the truth behind virtual ones, which
//! are ahead of each other by known times and drift: what is left of that must be within the error that is said.

use libtest_mimic::Trial;

use super::job::run;
use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::{Measuring, mpiexec};

const VARIABLE: &str = "DDTBENCH_VIRTUAL_CLOCK";

/// Microseconds and parts per million, each times the rank; ranks of a pretended host.
const CLOCKS: [&str; 4] = ["5000,200", "5000,200,1", "-70000,-150,2", "0,0,3"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("offset and drift are removed to within the error that is said", removed),
        ("records say how far off clocks are", recorded),
    ];
    // Clocks are compared over pauses.
    trials_on(&MPIS, Need::Waiting, "clocks", checks)
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

/// Transfers between two ranks, each on a host of its own as far as clocks go.
fn recorded(mpi: &Mpi) {
    let line = "partitioned -m single,many -p bytes=64KiB --max-time 0.05 --set-plan limits.timeout_s=10";
    let kept = Measuring::on(mpi, line).ranks_see(VARIABLE, "5000,200,1").ends(0);
    // 5 ms ahead, or 15 s since the machine started: no transfer ends before it begins.
    kept.summary.expect_all(1, &["single", "many"]);
    let figures = kept.rows("figures.csv");
    let errors: Vec<_> = figures.iter().filter(|row| row.get("figure") == "clock_error").collect();
    assert_eq!(errors.len(), 2, "one for each method: {figures:?}");
    assert!(
        errors.iter().all(|row| row.number("value") >= Some(0.0) && row.get("unit") == "s"),
        "{errors:?}"
    );
    let report = kept.types("report out --details").expect_code(0);
    assert!(report.out.contains("clocks differ"), "{report}");
    let account = kept.account().to_string();
    for words in [r#""shared":false"#, r#""residual_s":"#, VARIABLE] {
        assert!(account.contains(words), "`{words}` is not in: {account}");
    }
}
