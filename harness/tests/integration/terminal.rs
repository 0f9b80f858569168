//! Nothing that is printed is wider than the terminal: the commands that need no MPI, help, and refusals, on
//! a pseudo-terminal of 80 columns.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use anstream::adapter::strip_str;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const COLUMNS: u16 = 80;

/// The commands of `terminal.txt` in this group.
fn commands(group: &str) -> impl Iterator<Item = &'static str> {
    let lines = include_str!("terminal.txt").lines().map(|line| line.split_once(':').unwrap());
    lines.filter(move |(of, _)| *of == group).map(|(_, command)| command)
}

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
    for command in commands("help") {
        expect_to_fit(command, &["--help"], true);
        expect_to_fit(command, &["-h"], true);
    }
}

#[test]
fn what_is_shown_fits_the_terminal() {
    commands("shown").for_each(|command| expect_to_fit(command, &[], true));
}

#[test]
fn what_is_refused_fits_the_terminal() {
    commands("refused").for_each(|command| expect_to_fit(command, &[], false));
}
