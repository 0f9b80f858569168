//! Shared by benches that run `ddtbench`: the project's folder, commands that run to completion, tables as rows.
#![allow(dead_code, reason = "not all benches use all of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A row of a table: its cells by column name.
pub type Row = BTreeMap<String, String>;

/// The project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the project")
}

pub fn ddtbench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    command.args(arguments);
    command
}

/// Runs a command that must succeed; its standard output and standard error.
pub fn output(command: &mut Command) -> [String; 2] {
    let ended = command.output().expect("the program starts");
    let [out, err] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(ended.status.success(), "{command:?}: {err}");
    [out, err]
}

pub fn file(path: &Path) -> Vec<Row> {
    let table = csv::Reader::from_path(path).map(csv::Reader::into_deserialize);
    let rows = table.and_then(|rows| rows.collect::<Result<_, _>>());
    rows.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A cell that is a number; `None` if it is empty.
pub fn number(row: &Row, column: &str) -> Option<f64> {
    row[column].parse().ok()
}

/// Prints the errors, and ends with 1 if there are any.
pub fn end(wrong: &[String]) -> ExitCode {
    wrong.iter().for_each(|what| eprintln!("error: {what}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
