//! Comparisons of MPIs that differ in a way that is known, and of recorded runs.

use std::path::Path;

use libtest_mimic::Trial;

use super::faulty_mpi;
use super::job::{Ended, run};
use super::setup::{self, Check, Mpi, ONE_LAUNCH, ddtbench, mpi, on_every_mpi};

/// A case in which no message takes long.
const CASE: [&str; 3] = ["strided", "-p", "count=16,stride=2,element=double"];
/// As few launches as there can be, and as short.
const SHORT: [&str; 6] = ["--launches", "3", "--max-time", "0.06", "--min-runs", "4"];

/// What is looked for is a thousandfold. What is in the way of each message costs a small one some percent, and three launches may by
/// chance say of a method that it is slower: by a half, but not by ten times.
const COARSE: [&str; 2] = ["--threshold", "900%"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("what is slower is found, and nothing else", slower),
        ("what fails is broken", broken),
        ("a guideline that is violated is found, with what to write instead", guidelines),
    ];
    let mut trials = on_every_mpi("compare", checks);
    let alone: [(&str, fn()); 2] = [
        ("a thing is as fast as itself", itself),
        ("recorded runs are compared if they were measured alike", folders),
    ];
    trials.extend(setup::trials_of("mpich::compare", &alone));
    trials
}

/// Compares an MPI with itself under a fault.
fn under(mpi: &Mpi, fault: &str, methods: &str, dir: &Path) -> Ended {
    let library = faulty_mpi::library(mpi).to_str().expect("a path in plain characters");
    let variant = format!("faulty:LD_PRELOAD={library},FAULTY_MPI={fault}");
    let mut command = ddtbench(dir);
    command.arg("compare").args(CASE).args(["-m", methods, "--mpi", mpi.name]);
    run(command.args(SHORT).args(COARSE).args(["--variant", &variant, "--gate", "--out", "out"]))
}

/// The verdict on a method, by the folder's own account.
#[track_caller]
fn verdict(dir: &Path, method: &str) -> String {
    let told = run(ddtbench(dir).args(["compare", "out", "--format", "tsv"]).args(COARSE)).expect_code(0);
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(told.out.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).expect("a column");
    let (of_method, of_verdict) = (column("method"), column("verdict"));
    let rows: Vec<_> = reader.records().map(Result::unwrap).filter(|row| &row[of_method] == method).collect();
    assert_eq!(rows.len(), 1, "{told}");
    rows[0][of_verdict].to_owned()
}

fn slower(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    // A thousand times what such a message takes: no noise of a machine comes near.
    let ended = under(mpi, "slow 2000", "reference,manual,mpi_pack,ddt", dir.path()).expect_code(1);
    assert!(ended.out.contains("ddt: slower in 1: strided"), "{ended}");
    assert_eq!(verdict(dir.path(), "ddt"), "slower");
    // MPI_Pack goes through the library as well, which a message of 128 bytes feels.
    for method in ["reference", "manual"] {
        assert_ne!(verdict(dir.path(), method), "slower", "{ended}");
    }
    // The page says it first, and draws it; so does one that is made again.
    let read = |name: &str| std::fs::read_to_string(dir.path().join("out").join(name)).unwrap();
    let again =
        run(ddtbench(dir.path()).args(["compare", "out", "--format", "html"]).args(COARSE)).expect_code(0);
    for page in [read("report.html"), again.out] {
        let [found, picture] =
            ["ddt: slower in 1: strided", "id=\"figure-change\""].map(|text| page.find(text));
        assert!(found.is_some() && found < picture, "{page}");
    }
    assert!(read("figures/change.csv").lines().any(|line| line.contains(",ddt,slower,")));
}

fn broken(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let ended = under(mpi, "commit", "reference,manual,ddt", dir.path()).expect_code(1);
    assert!(ended.out.contains("ddt: broken in 1 (strided)"), "{ended}");
    for form in ["markdown", "json", "junit"] {
        let told = run(ddtbench(dir.path()).args(["compare", "out", "--format", form])).expect_code(0);
        assert!(told.out.contains("broken"), "{told}");
    }
}

/// Datatypes are slow to send, however they are described.
fn guidelines(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.arg("guidelines").args(CASE).args(["--mpi", mpi.name, "--out", "out"]).args(COARSE);
    // Of twenty questions three launches decide none where others use the machine.
    command.args(["--launches", "6", "--max-time", "0.12", "--min-runs", "4"]);
    faulty_mpi::under_faults(mpi, &mut command, &[("FAULTY_MPI", "slow 2000")]);
    let told = run(&mut command).expect_code(0);
    let again = |form: &str| {
        run(ddtbench(dir.path()).args(["guidelines", "out", "--format", form]).args(COARSE))
            .expect_code(0)
            .out
    };
    assert_eq!(again("text"), told.out);
    assert!(again("markdown").contains("pack by hand"), "{told}");
    let found: serde_json::Value = serde_json::from_str(&again("json")).unwrap();
    let rows = found[0]["rows"].as_array().expect("rows");
    let standing = |name: &str| {
        let row =
            rows.iter().find(|row| row["guideline"] == name).unwrap_or_else(|| panic!("no {name}: {told}"));
        row["standing"].as_str().unwrap().to_owned()
    };
    for name in ["D1", "D1 by hand"] {
        assert_eq!(standing(name), "violated", "{told}");
    }
    // Two slow messages are no better than one, nor is a count of a slow datatype.
    let alike = ["D4 type", "D4 count", "D5", "D6", "D7", "D8 wrapped", "D8 resized", "split"];
    for name in alike.into_iter().chain(["D11 send", "D11 receive", "D3 count"]) {
        assert_ne!(standing(name), "violated", "{name}: {told}");
    }
    // Pieces of eight bytes need no datatype; contiguous bytes as one of a datatype have one.
    for name in ["D3 type", "D9", "D10"] {
        assert_eq!(standing(name), "violated", "{name}: {told}");
    }
    assert_eq!(rows[0]["standing"], "violated", "the worst first");
}

fn itself() {
    let dir = tempfile::tempdir().unwrap();
    let name = mpi("mpich").name;
    let twice = format!("{name},{name}");
    let mut command = ddtbench(dir.path());
    command.arg("compare").args(CASE).args(["-m", "reference,manual,ddt", "--mpi", &twice]).args(SHORT);
    let ended = run(command.args(COARSE).args(["--gate", "--undecided-is-ok"])).expect_code(0);
    assert!(ended.out.contains("mpich (base) and mpich:again"), "{ended}");
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
    record("loose", &["--no-bind"]);
    let compare = |words: &[&str]| run(ddtbench(dir.path()).arg("compare").args(words));
    // The machine may change its state between two runs, which is refused as well.
    let told = compare(&["a", "b", "--anyway", "--gate"]).expect_code(3);
    assert!(told.out.contains("undecided") && told.out.contains("fewer than three runs"), "{told}");
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
