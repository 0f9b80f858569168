//! What people type: the rank program under an MPI's own launcher, and what `ddtbench` writes, read again.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;

use super::job::{everything_in, run};
use super::results::{Row, Summary, samples};
use super::setup::{self, Check, Mpi, ONE_LAUNCH, ddtbench, on_every_mpi, trials_on, waiting_on_every_mpi};
use super::trial::Need;

const SHORT: [&str; 4] = ["--max-time", "0.02", "--min-runs", "4"];
/// Ten rounds by their runs, whatever they take: intervals need six.
const ENOUGH: [&str; 6] = ["--min-runs", "4", "--max-runs", "40", "--max-time", "60"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("the rank program prints a table", a_table),
        ("the rank program prints its events as JSON", events),
        ("the rank program pairs the first half with the second", pairs_across),
        ("a cold cache is measured", a_cold_cache),
    ];
    let waiting: &[(&str, Check)] = &[
        ("the rank program refuses an odd number of ranks, once", an_odd_number_of_ranks),
        ("the rank program refuses an unknown test, once", an_unknown_test),
        ("the rank program names the wrong launcher", the_wrong_launcher),
        ("the rank program without a launcher asks for one", no_launcher),
    ];
    let on_one: &[(&str, Check)] = &[
        ("the original suite's format is written", the_original_format),
        ("the plan of a run can be run again", a_plan_again),
        ("a report is what the run printed", a_report),
        ("what a run leaves has the modes of the umask", modes),
    ];
    let mut trials = on_every_mpi("by hand", checks);
    trials.extend(waiting_on_every_mpi("by hand", waiting));
    trials.extend(trials_on(&["mpich"], Need::AllProcessors, "by hand", on_one));
    trials
}

/// The launcher of `mpi` with the rank program of `of`, up to its arguments.
pub fn mpiexec(mpi: &Mpi, of: &Mpi, ranks: &str) -> Command {
    let mut command = mpi.command(&mpi.mpiexec);
    command.args(["-n", ranks]);
    match mpi.name {
        "openmpi" => command.args(["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]),
        // As `ddtbench` has it where there are more ranks than cores.
        _ => command.env("MPIR_CVAR_DEVICE_COLLECTIVES", "none"),
    };
    command.arg(&of.rank_program);
    command
}

/// The events that a rank program printed.
fn events_of(command: &mut Command) -> Vec<Value> {
    let ended = run(command.args(SHORT).args(["--format", "json"])).expect_code(0);
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}\n{ended}"));
    ended.out.lines().map(parse).collect()
}

fn a_table(mpi: &Mpi) {
    let arguments = ["pingpong", "wrf_x_vec", "--method", "reference,ddt"];
    let ended = run(mpiexec(mpi, mpi, "2").args(arguments).args(SHORT)).expect_code(0);
    for word in ["wrf_x_vec", "round trip", "reference", "ddt", "ranks and their processors"] {
        assert!(ended.out.contains(word), "`{word}` is not in: {ended}");
    }
}

fn events(mpi: &Mpi) {
    let arguments = ["pingpong", "wrf_x_vec", "--method", "ddt", "--min-rounds", "2"];
    let events = events_of(mpiexec(mpi, mpi, "2").args(arguments));
    assert_eq!(events.first().expect("there are events")["event"], "hello");
    // What the library tells of itself is asked for when all is measured.
    let last: Vec<_> = events.iter().rev().take(2).map(|event| &event["event"]).collect();
    assert_eq!(last, ["library", "done"]);
    let ends: Vec<_> = events.iter().filter(|event| event["event"] == "ended").collect();
    assert_eq!((ends.len(), &ends[0]["method"]), (1, &Value::from("ddt")), "{ends:?}");
    // Whether samples of making and freeing are of one datatype or of several holds for all blocks.
    let blocks = events.iter().filter(|event| event["event"] == "block");
    let in_a_row: Vec<_> = blocks.map(|block| [&block["made_in_a_row"], &block["freed_in_a_row"]]).collect();
    assert!(in_a_row.len() > 1 && in_a_row.iter().all(|counts| *counts == in_a_row[0]), "{in_a_row:?}");
    assert!(in_a_row[0].iter().all(|count| count.as_u64() >= Some(1)), "{in_a_row:?}");
}

fn pairs_across(mpi: &Mpi) {
    let arguments = ["pingpong", "nas_lu_y", "-m", "reference,ddt", "--pairs", "across"];
    let events = events_of(mpiexec(mpi, mpi, "4").args(arguments));
    assert_eq!(events[0]["pairs"], serde_json::json!([[0, 2], [1, 3]]));
    let blocks = events.iter().filter(|event| event["event"] == "block");
    let pairs: BTreeSet<_> = blocks.map(|block| block["pair"].as_u64().expect("a number")).collect();
    assert_eq!(pairs, BTreeSet::from([0, 1]));
}

/// Fails unless all ranks refuse together, and one of them says why.
#[track_caller]
pub fn refuses_once(command: &mut Command, words: &[&str]) {
    let ended = run(command).expect_code(2).expect_err(words);
    assert_eq!(ended.err.matches("error:").count(), 1, "{ended}");
}

fn an_odd_number_of_ranks(mpi: &Mpi) {
    refuses_once(mpiexec(mpi, mpi, "3").args(["pingpong", "nas_lu_y"]), &["3 ", "even number of ranks"]);
}

fn an_unknown_test(mpi: &Mpi) {
    refuses_once(mpiexec(mpi, mpi, "2").args(["pingpong", "nas_lu_z"]), &["nas_lu_z", "nas_lu_"]);
}

/// Under another MPI's launcher every process would be alone in its world, or not even begin.
fn the_wrong_launcher(mpi: &Mpi) {
    let other = setup::MPIS.into_iter().find(|&name| name != mpi.name).expect("there are two");
    let other = setup::mpi(other);
    refuses_once(
        mpiexec(other, mpi, "2").args(["pingpong", "nas_lu_y"]),
        &["compiled for", "started by", "mpiexec"],
    );
}

fn no_launcher(mpi: &Mpi) {
    let mut alone = mpi.command(&mpi.rank_program);
    refuses_once(alone.args(["pingpong", "nas_lu_y", "--ranks", "2"]), &["launcher", "mpiexec"]);
    let mut alone = mpi.command(&mpi.rank_program);
    refuses_once(alone.args(["pingpong", "nas_lu_y"]), &["even number of ranks"]);
}

/// A run of `ddtbench` into the folder `out`; gives what it printed.
fn measure(mpi: &Mpi, dir: &std::path::Path, out: &str, arguments: &[&str]) -> String {
    let mut command = ddtbench(dir);
    command.arg("run").args(arguments).args(ONE_LAUNCH).args(["--mpi", mpi.name, "--out", out]);
    if !arguments.contains(&"--max-time") {
        command.args(SHORT);
    }
    run(&mut command).expect_code(0).out
}

fn a_cold_cache(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    measure(mpi, dir.path(), "cold", &["nas_lu_y", "-m", "reference,manual,ddt", "--cache", "cold"]);
    let summary = Summary::read(&dir.path().join("cold"));
    summary.expect_measured("nas_lu_y", &["reference", "manual", "ddt"]);
    assert!(summary.0.iter().all(|row| row.is(&[("cache", "cold")])));
}

fn the_original_format(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let arguments =
        ["nas_lu_y", "wrf_x_vec", "-m", "reference,manual,mpi_pack,ddt", "--set-plan", "formats=ddtbench"];
    measure(mpi, dir.path(), "original", &arguments);
    let text = fs::read_to_string(dir.path().join("original/ddtbench.out")).unwrap();
    for word in ["NAS_LU_y", "WRF_x_vec", "reference", "manual", "mpi_pack_ddt", "mpi_ddt", "16320"] {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_manual = |id: &str| {
        let is_it = |line: &Vec<&str>| line[..2] == ["NAS_LU_y", "manual"] && line[3] == id;
        lines.clone().filter(is_it).count()
    };
    let samples = samples(&dir.path().join("original"));
    let manual = || samples.iter().filter(|row| row.is(&[("test", "nas_lu_y"), ("method", "manual")]));
    // A batch is timed as a whole; else what was timed in parts is told, and is in no row with a whole.
    let in_parts = manual().filter(|row| row.number("in_parts_s").is_some()).count();
    let told = if in_parts > 0 {
        in_parts
    } else {
        manual().filter(|row| row.number("round_trip_s").is_some()).count()
    };
    assert!(told > 0 && of_manual("communication") == told, "{told} of:\n{text}");
    assert_eq!(of_manual("pack"), manual().filter(|row| row.number("pack_s").is_some()).count());
    let has_both = |row: &&Row| row.number("in_parts_s").is_some() && row.number("round_trip_s").is_some();
    assert_eq!(manual().filter(has_both).count(), 0);
}

fn a_plan_again(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    measure(mpi, dir.path(), "first", &["nas_lu_y", "-p", "nx=20", "-p", "ny=30", "-m", "reference,ddt"]);
    measure(mpi, dir.path(), "second", &["--plan", "first/plan.toml"]);
    let read = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("first/plan.toml"), read("second/plan.toml"));
    let second = Summary::read(&dir.path().join("second"));
    second.expect_measured("nas_lu_y", &["reference", "ddt"]);
    assert!(second.0.iter().all(|row| row.is(&[("set", "custom"), ("params", "nx=20 ny=30")])));
}

fn a_report(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [&["nas_lu_y", "contiguous", "-m", "reference,manual,ddt"], &ENOUGH[..]].concat();
    let printed = measure(mpi, dir.path(), "told", &arguments);
    let (answer, end) = printed.rsplit_once("\nPage: ").expect("a run says where its page is");
    assert_eq!(end, "told/report.html\nAll methods: ddtbench report told --details\nresults: told\n");
    let report = |flags: &[&str]| run(ddtbench(dir.path()).args(["report", "told"]).args(flags));
    assert_eq!(report(&[]).expect_code(0).out, answer);
    assert!(answer.contains("nas_lu_y") && answer.contains("Found, "), "{answer}");
    let details = report(&["--details"]).expect_code(0).out;
    assert!(details.contains("round trip") && details.lines().count() > answer.lines().count(), "{details}");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let printed = |flags: &[&str]| report(flags).expect_code(0).out;
    let csv = printed(&["--format", "csv"]);
    assert_eq!(csv, read("told/summary.csv"));
    let json: Value = serde_json::from_str(&printed(&["--format", "json"])).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len() + 1, csv.lines().count());
    let markdown = printed(&["--format", "markdown"]);
    assert!(markdown.contains("## nas_lu_y 408x408\n") && markdown.contains("| reference | "), "{markdown}");
    // A picture alone, and side by side with itself.
    assert_eq!(printed(&["--figure", "overhead"]), read("told/figures/overhead.svg"));
    assert_eq!(printed(&["--figure", "phases", "--format", "csv"]), read("told/figures/phases.csv"));
    report(&["--figure", "phases", "--format", "html"]).expect_code(2).expect_err(&["phases", "csv"]);
    report(&["--figure", "none"]).expect_code(2).expect_err(&["none", "phases"]);
    measure(mpi, dir.path(), "more", &["nas_lu_y", "-m", "reference,manual,ddt"]);
    let both = report(&["more"]).expect_code(0).out;
    assert!(both.contains("\ntold: ") && both.contains("\nmore: "), "{both}");
    assert_eq!(both.lines().filter(|line| line.starts_with("nas_lu_y ")).count(), 2, "{both}");
    report(&["told"]).expect_code(2).expect_err(&["told", "twice"]);
}

fn modes(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["run", "contiguous", "--mpi", mpi.name, "--out", "out"]);
    // SAFETY: `umask` is safe to call between fork and exec: it only sets a number of the process.
    unsafe {
        command.pre_exec(|| {
            libc::umask(0o027);
            Ok(())
        });
    }
    run(command.args(SHORT).args(ONE_LAUNCH)).expect_code(0);
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
