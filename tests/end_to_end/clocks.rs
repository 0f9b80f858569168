//! Clocks that differ between ranks, synchronised: records report the remaining error. `typed/clocks.txt` tests the
//! synchronisation itself: on one host the kernel's clock is the truth behind virtual clocks, which have known
//! offsets and drift. The remainder must be within the reported error.

use std::collections::BTreeSet;

use libtest_mimic::Trial;

use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::Measuring;

const VARIABLE: &str = "DDTBENCH_VIRTUAL_CLOCK";

pub fn trials() -> Vec<Trial> {
    let recorded: (&str, Check) = ("records say how far off clocks are", recorded);
    trials_on(&MPIS, Need::Waiting, "clocks", &[recorded])
}

/// Transfers between two ranks whose clocks are as different as on two hosts.
fn recorded(mpi: &Mpi) {
    let line = "partitioned -m single,many -p bytes=64KiB --max-time 0.05 --set-plan limits.timeout_s=10";
    let kept = Measuring::on(mpi, line).ranks_see(VARIABLE, "5000,200,1").ends(0);
    // 5 ms ahead, or 15 s since the machine started: transfers must not end before they begin.
    kept.summary.expect_all(1, &["single", "many"]);
    let figures = kept.rows("figures.csv");
    let errors: Vec<_> = figures.iter().filter(|row| row.get("figure") == "clock_error").collect();
    let methods: BTreeSet<_> = errors.iter().map(|row| row.get("method")).collect();
    assert_eq!(methods.len(), 2, "one for each method and state of the machine: {figures:?}");
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
