//! Inherited conditions: standard streams that are closed or full, and an ignored signal.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const REFUSED: [&[&str]; 4] =
    [&["run", "nosuch"], &["report", "/no/such/folder"], &["list", "nosuch"], &["run", "--max-time", "x"]];

/// The exit code of a command under a shell that redirects a stream.
fn code(words: &[&str], redirection: &str) -> Option<i32> {
    let script = format!("exec \"$0\" \"$@\" {redirection}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_ddtbench")]).args(words);
    command.output().unwrap().status.code()
}

#[test]
fn a_refusal_that_nobody_can_read_is_one_all_the_same() {
    assert!(OpenOptions::new().write(true).open("/dev/full").is_ok(), "Linux has it");
    for words in REFUSED {
        for redirection in ["2>&-", "2>/dev/full", "2>&- >&-", "2>/dev/full >/dev/full"] {
            assert_eq!(code(words, redirection), Some(2), "{words:?} {redirection}");
        }
    }
}

#[test]
fn a_failed_write_is_reported_and_a_reader_that_has_gone_is_no_error() {
    assert_eq!(code(&["list"], ">/dev/full"), Some(2));
    // More than a pipe holds, so that the reader has gone before all is written.
    let script = "\"$0\" layout wrf_x_vec --format segments; echo $? >&2";
    let mut command = Command::new("sh");
    command.args(["-c", &format!("({script}) | true"), env!("CARGO_BIN_EXE_ddtbench")]);
    let ended = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert_eq!(ended.lines().last(), Some("0"), "{ended}");
}

#[test]
fn a_pipe_is_as_wide_as_columns_and_else_as_its_lines() {
    let widest = |columns: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
        command.arg("list").env_remove("COLUMNS").envs(columns.map(|columns| ("COLUMNS", columns)));
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        text.lines().map(|line| line.chars().count()).max().unwrap()
    };
    let all = widest(None);
    assert!(widest(Some("80")) <= 80 && all > 100, "{all}");
    assert_eq!((widest(Some("0")), widest(Some("wide"))), (all, all));
}

#[test]
fn standard_input_is_read_once_for_several_definitions() {
    let script = "echo 'vector(n, 1, 4, double)' | \"$0\" run --layout - --define n=1,2 --dry-run";
    let mut command = Command::new("sh");
    let output = command.args(["-c", script, env!("CARGO_BIN_EXE_ddtbench")]).output().unwrap();
    let plan = String::from_utf8(output.stdout).unwrap();
    assert!(["(1,1,4,", "(2,1,4,"].iter().all(|values| plan.contains(values)), "{plan}");
}

#[test]
fn layout_prints_the_order_that_it_has_taken() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    let output = command.args(["layout", "subarray", "-p", "shape=20x5,halo=1x0"]).output().unwrap();
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.starts_with("shape=20x5 is read as in Fortran, with the first axis the fastest;"), "{note}");
}

#[test]
fn the_exit_code_of_a_command_is_known_even_if_sigchld_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let mpicc = folder.path().join("mpicc");
    fs::write(&mpicc, "#!/bin/sh\nexit 3\n").unwrap();
    fs::set_permissions(&mpicc, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' CHLD; exec \"$0\" run nas_lu_y", env!("CARGO_BIN_EXE_ddtbench")]);
    let output = command.env("MPICC", &mpicc).output().unwrap();
    let refused = String::from_utf8(output.stderr).unwrap();
    assert!(refused.contains("mpi.h cannot be read (exit code 3)"), "{refused}");
}
