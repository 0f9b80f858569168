//! Commands typed by hand: the rank program under an MPI's own launcher, and files written by `ddtbench` that are read again.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use serde_json::Value;

use super::job::run;
use super::setup::{self, Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::{Measuring, by_hand, mpiexec, words};

const SHORT: &str = "--max-time 0.02 --min-repetitions 4";
/// Ten rounds, limited by repetitions and not by time: intervals need six.
const ENOUGH: &str = "--min-repetitions 4 --max-repetitions 40 --max-time 60";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("the rank program prints its events as JSON", events),
        ("the rank program pairs the first half with the second", pairs_across),
        ("the rank program names the wrong launcher", the_wrong_launcher),
    ];
    let on_one: &[(&str, Check)] = &[("a report is what the run printed", a_report)];
    let mut trials = trials_on(&MPIS, Need::AllProcessors, "by hand", checks);
    trials.extend(trials_on(&["mpich"], Need::AllProcessors, "by hand", on_one));
    trials
}

/// The events that a rank program printed.
fn events_of(mpi: &Mpi, ranks: &str, line: &str) -> Vec<Value> {
    let ended = by_hand(mpi, ranks, &format!("{line} {SHORT} --format json")).expect_code(0);
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}\n{ended}"));
    ended.out.lines().map(parse).collect()
}

fn events(mpi: &Mpi) {
    let events = events_of(mpi, "2", "pingpong wrf_x_vec --method ddt --min-rounds 2");
    assert_eq!(events.first().expect("there are events")["event"], "hello");
    // The library's own account is requested after all measurements.
    let last: Vec<_> = events.iter().rev().take(2).map(|event| &event["event"]).collect();
    assert_eq!(last, ["library", "done"]);
    let ends: Vec<_> = events.iter().filter(|event| event["event"] == "ended").collect();
    assert_eq!((ends.len(), &ends[0]["method"]), (1, &Value::from("ddt")), "{ends:?}");
    // Whether samples of creating and freeing are for one datatype or for several is the same for all blocks.
    let blocks = events.iter().filter(|event| event["event"] == "block");
    let in_a_row: Vec<_> = blocks.map(|block| [&block["made_in_a_row"], &block["freed_in_a_row"]]).collect();
    assert!(in_a_row.len() > 1 && in_a_row.iter().all(|counts| *counts == in_a_row[0]), "{in_a_row:?}");
    assert!(in_a_row[0].iter().all(|count| count.as_u64() >= Some(1)), "{in_a_row:?}");
}

fn pairs_across(mpi: &Mpi) {
    let events = events_of(mpi, "4", "pingpong nas_lu_y -m reference,ddt --pairs across");
    assert_eq!(events[0]["pairs"], serde_json::json!([[0, 2], [1, 3]]));
    let blocks = events.iter().filter(|event| event["event"] == "block");
    let pairs: BTreeSet<_> = blocks.map(|block| block["pair"].as_u64().expect("a number")).collect();
    assert_eq!(pairs, BTreeSet::from([0, 1]));
}

/// Under another MPI's launcher every process would be the only one in its world, or would not even start.
fn the_wrong_launcher(mpi: &Mpi) {
    let other = MPIS.into_iter().find(|&name| name != mpi.name).expect("there are two");
    let other = setup::mpi(other);
    let ended = run(mpiexec(other, mpi, "2").args(words("pingpong nas_lu_y"))).expect_code(2);
    let ended = ended.expect_err(&["has loaded", "started by", "mpiexec"]);
    assert_eq!(ended.err.matches("error:").count(), 1, "{ended}");
}

fn a_report(mpi: &Mpi) {
    let line = "run nas_lu_y contiguous -m reference,manual,ddt";
    let kept = Measuring::on(mpi, format!("{line} {ENOUGH}")).ends(0);
    let (answer, end) = kept.ended.out.rsplit_once("\nPage: ").expect("a run says where its page is");
    assert_eq!(end, "out/report.html\nAll methods: ddtbench report out --details\nresults: out\n");
    let report = |flags: &str| kept.types(&format!("report out {flags}"));
    let printed = |flags: &str| report(flags).expect_code(0).out;
    assert_eq!(printed(""), answer);
    // The machine's states follow the name of the MPI, if there are several.
    assert!(answer.contains("nas_lu_y") && answer.contains(mpi.name), "{answer}");
    let details = printed("--details");
    assert!(details.contains("round trip") && details.lines().count() > answer.lines().count(), "{details}");
    let csv = printed("--format csv");
    assert_eq!(csv, kept.read("summary.csv"));
    let json: Value = serde_json::from_str(&printed("--format json")).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len() + 1, csv.lines().count());
    let markdown = printed("--format markdown");
    assert!(markdown.contains("## nas_lu_y 408x408\n") && markdown.contains("| reference | "), "{markdown}");
    // A picture of one run, and a comparison of the run with itself.
    assert_eq!(printed("--figure overhead"), kept.read("figures/overhead.svg"));
    assert_eq!(printed("--figure phases --format csv"), kept.read("figures/phases.csv"));
    report("--figure phases --format html").expect_code(2).expect_err(&["phases", "csv"]);
    report("--figure none").expect_code(2).expect_err(&["none", "phases"]);
    let more =
        format!("run nas_lu_y -m reference,manual,ddt {SHORT} --launches 1 --mpi {} --out more", mpi.name);
    kept.types(&more).expect_code(0);
    let both = printed("more");
    assert!(both.contains("\nout") && both.contains("\nmore"), "{both}");
    assert_eq!(both.lines().filter(|line| line.starts_with("nas_lu_y ")).count(), 2, "{both}");
    report("out").expect_code(2).expect_err(&["out", "twice"]);
}
