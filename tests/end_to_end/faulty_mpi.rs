//! An MPI that errs on purpose (`faulty_mpi.c`): each fault must be found, named, and cost nothing but its method.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;

use super::job::run;
use super::results::Summary;
use super::setup::{self, Check, Mpi, ONE_LAUNCH, ddtbench, in_environment, waiting_on_every_mpi};

/// Sixteen doubles, each followed by a gap of one: value i of the message is bytes 16 i to 16 i + 7 of the array.
const STRIDED: [&str; 3] = ["strided", "-p", "count=16,stride=2,element=double"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("a wrong byte is named by rank, place and values", a_wrong_byte),
        ("a byte in a gap must not change", a_byte_in_a_gap),
        ("a fault that begins later is found before figures are given", a_late_fault),
        ("an answer that never came is found where the old bytes would do", a_lost_answer),
        ("a wrong byte of an all-to-all is named by rank, place and values", a_wrong_byte_of_an_all_to_all),
        ("a failing call is named with its rank", a_failing_call),
        ("a rank that hangs is ended", a_hanging_rank),
        ("a rank that is killed costs its method", a_killed_rank),
        ("a rank that outlives a killed one tells of a crash", a_rank_that_outlives),
        ("a missing function is named", a_missing_function),
        ("nothing is found where nothing is wrong", no_fault),
    ];
    // Each aborts, hangs, or is over at once.
    waiting_on_every_mpi("faulty MPI", checks)
}

/// The library for an MPI, compiled once.
pub fn library(mpi: &Mpi) -> &'static PathBuf {
    static BUILT: [OnceLock<PathBuf>; setup::MPIS.len()] = [const { OnceLock::new() }; setup::MPIS.len()];
    let place = setup::MPIS.iter().position(|&name| name == mpi.name).expect("one of the tested MPIs");
    BUILT[place].get_or_init(|| {
        let source = setup::root().join("tests/end_to_end/faulty_mpi.c");
        let library = setup::scratch().join(format!("libfaulty_{}.so", mpi.name));
        let mut mpicc = mpi.command(&mpi.mpicc);
        mpicc
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-pthread", "-o"])
            .arg(&library)
            .arg(&source);
        run(&mut mpicc).expect_code(0);
        library
    })
}

/// A short run under an MPI with these faults: what it kept. `ddtbench` itself knows nothing of the faults: they are
/// handed to the launcher. Its exit code tells whether a method failed.
fn measure(mpi: &Mpi, faults: &[(&str, &str)], arguments: &[&str], code: i32) -> Summary {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command
        .args(["run", "--mpi", mpi.name, "--out", "faulty", "--max-time", "0.02", "--min-runs", "4"])
        .args(ONE_LAUNCH);
    command.args(arguments);
    under_faults(mpi, &mut command, faults);
    let ended = run(&mut command).expect_code(code);
    assert!(ended.out.contains("results: "), "{ended}");
    Summary::read(&dir.path().join("faulty"))
}

/// Has a command of `ddtbench` start its processes under these faults: the last of its arguments.
pub fn under_faults(mpi: &Mpi, command: &mut Command, faults: &[(&str, &str)]) {
    command.arg("--");
    let library = library(mpi).to_str().expect("a path in plain characters");
    in_environment(mpi, command, &[&[("LD_PRELOAD", library)], faults].concat());
}

/// The two values that a detail tells of.
#[track_caller]
pub fn expected_and_found(detail: &str) -> (u8, u8) {
    let value = |word: &str| {
        let after = detail.split(word).nth(1).unwrap_or_else(|| panic!("no `{word}` in {detail}"));
        u8::from_str_radix(&after[..2], 16).unwrap_or_else(|_| panic!("no value after `{word}` in {detail}"))
    };
    (value("expected 0x"), value("found 0x"))
}

fn a_wrong_byte(mpi: &Mpi) {
    let methods = ["-m", "reference,manual,ddt,packed_to_ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "flip 37")], &[&STRIDED[..], &methods].concat(), 1);
    for method in ["ddt", "packed_to_ddt"] {
        let words = ["rank 1", "array", "byte 37", "element 4"];
        let detail = summary.expect_failed("strided", method, "wrong data", &words);
        let (expected, found) = expected_and_found(&detail);
        assert_eq!(expected ^ found, 0xff, "{detail}");
        assert!(!detail.contains("must not change") && !detail.contains("rank 0"), "{detail}");
    }
    summary.expect_measured("strided", &["reference", "manual"]);
}

fn a_byte_in_a_gap(mpi: &Mpi) {
    let methods = ["-m", "reference,ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "flip 28")], &[&STRIDED[..], &methods].concat(), 1);
    let words = ["rank 1", "byte 28", "must not change"];
    let detail = summary.expect_failed("strided", "ddt", "wrong data", &words);
    let (expected, found) = expected_and_found(&detail);
    assert_eq!(expected ^ found, 0xff, "{detail}");
    summary.expect_measured("strided", &["reference"]);
}

/// The first verification receives twice on each rank; what comes after is right for a while, and then it is not.
fn a_late_fault(mpi: &Mpi) {
    let faults = [("FAULTY_MPI", "flip 37"), ("FAULTY_MPI_AFTER", "20")];
    let summary = measure(mpi, &faults, &[&STRIDED[..], &["-m", "reference,ddt"]].concat(), 1);
    summary.expect_failed("strided", "ddt", "wrong data", &["rank 1", "byte 37"]);
    assert_eq!(summary.with(&[("method", "ddt")]).len(), 1, "no phase of it has figures");
    summary.expect_measured("strided", &["reference"]);
}

/// In MILC a rank receives where it sent from, so that what it sent would still be there.
fn a_lost_answer(mpi: &Mpi) {
    let case = ["milc_su3_zd", "--set", "8x8x8x8", "-m", "reference,manual,ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "lost")], &case, 1);
    let detail = summary.expect_failed("milc_su3_zd", "ddt", "wrong data", &["rank 0", "array 0", "byte"]);
    assert!(!detail.contains("rank 1"), "{detail}");
    summary.expect_measured("milc_su3_zd", &["reference", "manual"]);
}

fn a_wrong_byte_of_an_all_to_all(mpi: &Mpi) {
    let case = ["fft2d", "--set", "256", "-m", "reference,ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "alltoall 5")], &case, 1);
    let detail = summary.expect_failed("fft2d", "ddt", "wrong data", &["rank 1", "byte 5,", "element 0"]);
    let (expected, found) = expected_and_found(&detail);
    assert_eq!(expected ^ found, 0xff, "{detail}");
    summary.expect_measured("fft2d", &["reference"]);
}

fn a_failing_call(mpi: &Mpi) {
    let case = ["nas_lu_y", "milc_su3_zd", "-m", "reference,manual,ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "commit")], &case, 1);
    for test in ["nas_lu_y", "milc_su3_zd"] {
        summary.expect_failed(test, "ddt", "MPI error", &["rank 1", "MPI_Type_commit"]);
        summary.expect_measured(test, &["reference", "manual"]);
    }
}

/// Of several seconds, since the silence of a busy machine is no hang.
fn a_hanging_rank(mpi: &Mpi) {
    let case = ["nas_lu_y", "-m", "reference,ddt,manual", "--set-plan", "limits.timeout_s=4"];
    let summary = measure(mpi, &[("FAULTY_MPI", "hang")], &case, 1);
    summary.expect_failed("nas_lu_y", "ddt", "timed out", &["4 s"]);
    summary.expect_measured("nas_lu_y", &["reference", "manual"]);
}

fn a_killed_rank(mpi: &Mpi) {
    let case = ["nas_lu_y", "-m", "reference,put_ddt,ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "kill")], &case, 1);
    let detail = summary.expect_failed("nas_lu_y", "put_ddt", "crashed", &[]);
    // From the launcher's exit code, or from what it says.
    assert!(detail.contains("SIGKILL") || detail.contains("signal 9"), "{detail}");
    summary.expect_measured("nas_lu_y", &["reference", "ddt"]);
}

/// The survivor notices before the launcher does, or after; it is the same crash.
fn a_rank_that_outlives(mpi: &Mpi) {
    let case = ["nas_lu_y", "-m", "reference,manual,ddt"];
    let summary = measure(mpi, &[("FAULTY_MPI", "outlive")], &case, 1);
    let detail = summary.expect_failed("nas_lu_y", "ddt", "crashed", &[]);
    assert!(detail.contains("SIGKILL"), "{detail}");
    summary.expect_measured("nas_lu_y", &["reference", "manual"]);
}

fn a_missing_function(mpi: &Mpi) {
    let case = ["nas_lu_y", "-m", "reference,put_manual,ddt,put_ddt"];
    let summary = measure(mpi, &[("DDTBENCH_HIDE_SYMBOLS", "MPI_Put,MPI_Nothing")], &case, 0);
    for method in ["put_manual", "put_ddt"] {
        summary.expect_failed("nas_lu_y", method, "not available", &["MPI_Put"]);
    }
    summary.expect_measured("nas_lu_y", &["reference", "ddt"]);
}

fn no_fault(mpi: &Mpi) {
    let summary = measure(mpi, &[], &["nas_lu_y", "fft2d", "-m", "reference,ddt,mpi_pack"], 0);
    for test in ["nas_lu_y", "fft2d"] {
        summary.expect_measured(test, &["reference", "ddt", "mpi_pack"]);
    }
}
