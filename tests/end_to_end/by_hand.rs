//! Commands typed by hand: the rank program under an MPI's own launcher, and files written by `ddtbench` that
//! are read again.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use libtest_mimic::Trial;
use serde_json::Value;

use super::job::{everything_in, run};
use super::results::Summary;
use super::setup::{self, Check, MPIS, Mpi, like_ddtbench, trials_on};
use super::trial::Need;
use super::typed::{Measuring, by_hand, mpiexec, typed, words};

const SHORT: &str = "--max-time 0.02 --min-repetitions 4";
/// Ten rounds, limited by repetitions and not by time: intervals need six.
const ENOUGH: &str = "--min-repetitions 4 --max-repetitions 40 --max-time 60";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("the rank program prints its events as JSON", events),
        ("the rank program pairs the first half with the second", pairs_across),
        ("the rank program names the wrong launcher", the_wrong_launcher),
        ("a cold cache is measured", a_cold_cache),
    ];
    let on_one: &[(&str, Check)] = &[
        ("the original suite's format is written", the_original_format),
        ("the plan of a run can be run again", a_plan_again),
        ("a report is what the run printed", a_report),
        ("what a run leaves has the modes of the umask", modes),
    ];
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

fn a_cold_cache(mpi: &Mpi) {
    let line = format!("run nas_lu_y -m reference,manual,ddt --cache cold {SHORT}");
    let summary = Measuring::on(mpi, line).ends(0).summary;
    summary.expect_all(1, &["reference", "manual", "ddt"]);
    assert!(summary.0.iter().all(|row| row.is(&[("cache", "cold")])));
}

fn the_original_format(mpi: &Mpi) {
    let line = "run nas_lu_y wrf_x_vec -m reference,manual,mpi_pack,ddt --set-plan formats=ddtbench";
    let text = Measuring::on(mpi, format!("{line} {SHORT}")).ends(0).read("ddtbench.out");
    for word in ["NAS_LU_y", "WRF_x_vec", "reference", "manual", "mpi_pack_ddt", "mpi_ddt", "16320"] {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
}

fn a_plan_again(mpi: &Mpi) {
    let line = format!("run nas_lu_y -p nx=20 -p ny=30 -m reference,ddt {SHORT}");
    let first = Measuring::on(mpi, line).ends(0);
    first.types("run --plan out/plan.toml --out again").expect_code(0);
    assert_eq!(first.read("plan.toml"), first.read("../again/plan.toml"));
    let again = Summary::read(&first.out().join("../again"));
    again.expect_all(1, &["reference", "ddt"]);
    assert!(again.0.iter().all(|row| row.is(&[("set", "custom"), ("params", "nx=20 ny=30")])));
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

fn modes(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("run contiguous --mpi {} --out out --launches 1 {SHORT}", mpi.name);
    let command = typed(dir.path(), &line);
    let mut shell = like_ddtbench("sh", dir.path());
    shell.args(["-c", "umask 027 && exec \"$0\" \"$@\""]).arg(command.get_program());
    run(shell.args(command.get_args())).expect_code(0);
    let all = everything_in(dir.path());
    for name in ["plan.toml", "environment.json", "report.html", "samples.csv.gz", ".svg"] {
        assert!(all.iter().any(|path| path.ends_with(name)), "no {name} in {all:?}");
    }
    for path in all {
        let facts = fs::metadata(&path).unwrap();
        let wanted = if facts.is_dir() { 0o750 } else { 0o640 };
        assert_eq!(facts.permissions().mode() & 0o777, wanted, "{path}");
    }
}
