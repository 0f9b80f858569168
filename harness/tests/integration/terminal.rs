//! Nothing that is printed is wider than the terminal: the commands that need no MPI, help, and refusals, on a
//! pseudo-terminal of 80 columns.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use anstream::adapter::strip_str;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const COLUMNS: u16 = 80;

const HELP: [&str; 19] = [
    "",
    "run",
    "partitioned",
    "halo",
    "engine",
    "conform",
    "conform partitioned",
    "conform clocks",
    "compare",
    "guidelines",
    "list",
    "layout",
    "mpi",
    "mpi list",
    "mpi add",
    "mpi install",
    "mpi remove",
    "report",
    "man",
];

const SHOWN: [&str; 12] = [
    "list",
    "list nas_lu_y",
    "list wrf_x_vec",
    "list subarray",
    "list aggregated",
    "list ddt",
    "layout nas_lu_y",
    "layout wrf_x_vec",
    "layout wrf_x_vec --format explain",
    "layout specfem3d_mt",
    "layout lammps_full --format explain",
    "mpi list",
];

const REFUSED: [&str; 19] = [
    "frobnicate",
    "run nosuch",
    "run --nosuch-flag",
    "run nas_lu_y -m nosuch",
    "run nas_lu_y --cache hot",
    "run nas_lu_y -p nx=0",
    "run nas_lu_y -p nosuch=3",
    "run nas_lu_y --set nosuch",
    "run subarray -p shape=9 -p face=y+",
    "run subarray -p shape=99x99 -p start=1x1 -p count=9x9 -p width=3",
    "run --plan nosuch --ranks 4",
    "run --resume nosuch",
    "halo nosuch",
    "partitioned -p bytes=3,partitions=0",
    "partitioned --set-plan limits.rule=nosuch",
    "conform partitioned nosuch",
    "report nosuch",
    "compare",
    "run --repeat 0",
];

/// The output of a command on a terminal, and whether it succeeded.
fn printed(arguments: &[&str]) -> (String, bool) {
    let mut terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: 50, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let side = || OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null()).env("TERM", "xterm-256color");
    let mut child = command.stdout(side()).stderr(side()).spawn().unwrap();
    // Only the program has the other side now, so that the output has an end.
    drop(command);
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = terminal.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
    }
    let text = strip_str(&String::from_utf8(bytes).unwrap()).to_string();
    (text.replace('\r', ""), child.wait().unwrap().success())
}

/// Fails unless the command succeeds as expected, and says something in lines that fit.
#[track_caller]
fn expect_to_fit(command: &str, more: &[&str], succeeds: bool) {
    let arguments: Vec<&str> = command.split_whitespace().chain(more.iter().copied()).collect();
    let (text, has_succeeded) = printed(&arguments);
    assert!(has_succeeded == succeeds && !text.trim().is_empty(), "{arguments:?}: {text}");
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > usize::from(COLUMNS)).collect();
    assert!(wide.is_empty(), "{arguments:?}: {wide:#?}");
}

#[test]
fn help_fits_the_terminal() {
    for command in HELP {
        expect_to_fit(command, &["--help"], true);
        expect_to_fit(command, &["-h"], true);
    }
}

#[test]
fn what_is_shown_fits_the_terminal() {
    SHOWN.iter().for_each(|command| expect_to_fit(command, &[], true));
}

#[test]
fn what_is_refused_fits_the_terminal() {
    REFUSED.iter().for_each(|command| expect_to_fit(command, &[], false));
}
