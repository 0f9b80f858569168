//! Comparisons of MPIs that differ in a way that is known, and of recorded runs.

use std::path::Path;

use libtest_mimic::Trial;

use super::faulty_mpi;
use super::job::run;
use super::setup::{self, Check, Mpi, ONE_LAUNCH, ddtbench, mpi, on_every_mpi};

/// A small case.
const CASE: [&str; 3] = ["strided", "-p", "count=16,stride=2,element=double"];
/// As few launches as there can be, and as short.
const SHORT: [&str; 6] = ["--launches", "3", "--max-time", "0.02", "--min-runs", "4"];
/// Another threshold than the one measured with: the recorded times are then judged again.
const JUDGED_AGAIN: [&str; 2] = ["--threshold", "800%"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[("a method that fails is broken", broken)];
    let mut trials = on_every_mpi("compare", checks);
    // Verdicts do not depend on the MPI: they are those of times that are made up.
    let on_one: [(&str, fn()); 3] = [
        ("a method that is slower is found, and no other", slower),
        ("a violated guideline is found, with what to write instead", guidelines),
        ("recorded runs are compared if they were measured alike", folders),
    ];
    trials.extend(setup::trials_of("mpich::compare", &on_one));
    trials
}

/// Gives the times in microseconds to all round trips of a run: of this variant of an MPI and method; launches differ by some
/// thousandths.
fn make_up_times(out: &Path, time_us: impl Fn(&str, &str) -> f64) {
    let file = out.join("launches.csv");
    let mut reader = csv::Reader::from_path(&file).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&file).unwrap();
    writer.write_record(&headers).unwrap();
    for row in rows {
        let of = |name: &str| &row[column(name)];
        let us = time_us(of("mpi_variant"), of("method"));
        let differs = (7 * of("launch").parse::<usize>().unwrap() + of("method").len()) % 5;
        let made_up = (us * 1e-6 * (1.0 + 0.001 * differs as f64)).to_string();
        let cells = row.iter().enumerate().map(|(at, cell)| match at {
            at if at == column("median_s") && of("phase") == "round_trip" && !cell.is_empty() => &made_up,
            // One state of the machine.
            at if headers[at].starts_with("state_") => "",
            _ => cell,
        });
        writer.write_record(cells).unwrap();
    }
    writer.flush().unwrap();
}

/// The verdict on a method.
#[track_caller]
fn verdict(dir: &Path, method: &str) -> String {
    let report =
        run(ddtbench(dir).args(["compare", "out", "--format", "json"]).args(JUDGED_AGAIN)).expect_code(0);
    let found: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    let rows = found["comparisons"][0]["rows"].as_array().expect("rows");
    let rows: Vec<_> = rows.iter().filter(|row| row["method"] == method).collect();
    assert_eq!(rows.len(), 1, "{report}");
    rows[0]["verdict"].as_str().expect("a verdict").to_owned()
}

/// An MPI beside itself; then the times of the second side are made up.
fn slower() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let name = mpi("mpich").name;
    let twice = format!("{name},{name}");
    let mut command = ddtbench(dir.path());
    command.arg("compare").args(CASE).args(["-m", "reference,manual,mpi_pack,ddt", "--mpi", &twice]);
    let ended = run(command.args(SHORT).args(["--threshold", "900%", "--out", "out"])).expect_code(0);
    assert!(ended.out.contains("mpich (base) and mpich:again"), "{ended}");
    for file in ["report.html", "figures/change.csv", "summary.csv"] {
        assert!(out.join(file).exists(), "{file}");
    }
    make_up_times(&out, |side, method| if (side, method) == ("again", "ddt") { 2000.0 } else { 2.0 });
    let compare =
        |flags: &[&str]| run(ddtbench(dir.path()).args(["compare", "out"]).args(JUDGED_AGAIN).args(flags));
    let judged = compare(&["--gate"]).expect_code(1);
    assert!(judged.out.contains("ddt: slower in 1: strided"), "{judged}");
    assert_eq!(verdict(dir.path(), "ddt"), "slower");
    for method in ["reference", "manual", "mpi_pack"] {
        assert_ne!(verdict(dir.path(), method), "slower", "{judged}");
    }
    // The page says it first, and draws it.
    let page = compare(&["--format", "html"]).expect_code(0).out;
    let [found, picture] = ["ddt: slower in 1: strided", "id=\"figure-change\""].map(|text| page.find(text));
    assert!(found.is_some() && found < picture, "{page}");
    // Without the difference the gate is open.
    make_up_times(&out, |_, _| 2.0);
    compare(&["--gate"]).expect_code(0);
}

/// Each form of a comparison reports what fails on one side.
fn broken(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let library = faulty_mpi::library(mpi).to_str().expect("a path in plain characters");
    let variant = format!("faulty:LD_PRELOAD={library},FAULTY_MPI=commit");
    let mut command = ddtbench(dir.path());
    command.arg("compare").args(CASE).args(["-m", "reference,manual,ddt", "--mpi", mpi.name]).args(SHORT);
    let ended = run(command.args(["--variant", &variant, "--gate", "--out", "out"])).expect_code(1);
    assert!(ended.out.contains("ddt: broken in 1 (strided)"), "{ended}");
    for form in ["markdown", "json", "junit"] {
        let report = run(ddtbench(dir.path()).args(["compare", "out", "--format", form])).expect_code(0);
        assert!(report.out.contains("broken"), "{report}");
    }
}

/// Datatypes are slow to send, however they are described.
fn guidelines() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.arg("guidelines").args(CASE).args(["--mpi", mpi("mpich").name, "--out", "out"]).args(SHORT);
    let report = run(&mut command).expect_code(0);
    let again = |form: &str| {
        run(ddtbench(dir.path()).args(["guidelines", "out", "--format", form])).expect_code(0).out
    };
    assert_eq!(again("text"), report.out);
    // Methods that send a datatype with gaps.
    let is_slow = |method: &str| method.contains("ddt") && method != "ddt:pieces";
    make_up_times(&dir.path().join("out"), |_, method| if is_slow(method) { 2000.0 } else { 2.0 });
    assert!(again("markdown").contains("pack by hand"), "{report}");
    let found: serde_json::Value = serde_json::from_str(&again("json")).unwrap();
    let rows = found[0]["rows"].as_array().expect("rows");
    let standing = |name: &str| {
        let row = rows.iter().find(|row| row["guideline"] == name);
        row.unwrap_or_else(|| panic!("no {name}: {found}"))["standing"].as_str().unwrap()
    };
    for name in ["D1", "D1 by hand", "D9"] {
        assert_eq!(standing(name), "violated", "{found}");
    }
    // One description of a slow datatype is no better than another.
    for name in ["D4 type", "D4 count", "D5", "D6", "D7", "D8 wrapped", "D11 send", "D11 receive"] {
        assert_ne!(standing(name), "violated", "{name}: {found}");
    }
    assert_eq!(rows[0]["standing"], "violated", "the worst first");
}

fn folders() {
    let dir = tempfile::tempdir().unwrap();
    let record = |out: &str, flags: &[&str]| {
        let mut command = ddtbench(dir.path());
        command.arg("run").args(CASE).args([
            "-m",
            "manual,ddt",
            "--mpi",
            mpi("mpich").name,
            "--max-time",
            "0.02",
        ]);
        run(command.args(ONE_LAUNCH).args(flags).args(["--out", out])).expect_code(0);
    };
    record("a", &[]);
    record("b", &[]);
    record("loose", &["--set-plan", "bind=false"]);
    let compare = |words: &[&str]| run(ddtbench(dir.path()).arg("compare").args(words));
    // The machine may change its state between two runs, which is refused as well.
    let judged = compare(&["a", "b", "--anyway", "--gate"]).expect_code(3);
    assert!(judged.out.contains("undecided") && judged.out.contains("fewer than three runs"), "{judged}");
    compare(&["a", "b", "--anyway", "--gate", "--undecided-is-ok"]).expect_code(0);
    compare(&["a", "loose"]).expect_code(2).expect_err(&["binding", "--anyway"]);
    compare(&["a", "loose", "--anyway"]).expect_code(0);
    let page = compare(&["a", "b", "--anyway", "--format", "html"]).expect_code(0).out;
    assert!(page.contains("<h2>a (base) and b (new)") && page.contains("undecided in 1"), "{page}");
    compare(&["a"]).expect_code(2).expect_err(&["several MPIs"]);
    // Another build of this program may measure otherwise.
    let account = dir.path().join("b/environment.json");
    let mut environment: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&account).unwrap()).unwrap();
    let build = environment["ddtbench_build"].as_str().unwrap().to_owned();
    environment["ddtbench_build"] = "another".into();
    std::fs::write(&account, environment.to_string()).unwrap();
    compare(&["a", "b"]).expect_code(2).expect_err(&["ddtbench build", &build, "another", "--anyway"]);
    compare(&["a", "b", "--anyway"]).expect_code(0);
}
