//! Confirmation of a finding: its C program is compiled and run on the MPI.

use std::fs;
use std::path::Path;

use super::finding::{Confirmation, Hit};
use super::program::{program, shows};
use crate::conformance::Conditions;
use crate::mpi::{Exit, Line, MpiError, Sign};

/// Seconds of silence after which a program is ended. It ends itself earlier.
const LIMIT_S: f64 = 30.0;

/// Compiles and runs the program of a hit, in a folder for its files; `None` if the user wants to stop.
///
/// # Errors
/// If the launcher cannot be started.
pub fn confirm(
    conditions: &Conditions<'_>,
    hit: &Hit,
    folder: &Path,
) -> Result<Option<Confirmation>, MpiError> {
    let installation = &conditions.target.installation;
    let code = program(hit, &installation.title());
    let (source, binary) = (folder.join("finding.c"), folder.join("finding"));
    let failed = |reason: String, code: String| Confirmation { code, shown: None, reason };
    if let Err(error) = fs::write(&source, &code) {
        return Ok(Some(failed(format!("cannot write {}: {error}", source.display()), code)));
    }
    match installation.compile(&source, &binary) {
        Ok(()) => {}
        Err(MpiError::Interrupted) => return Ok(None),
        Err(error) => return Ok(Some(failed(format!("the C program cannot be compiled: {error}"), code))),
    }
    let launch = conditions.launch(&binary, hit.operation.ranks, &[]);
    let mut lines = Vec::new();
    let exit = launch.watch(LIMIT_S, |line| {
        if let Line::Out(line) = line {
            lines.push(line);
        }
        Sign::Alive
    })?;
    let (is_success, ending) = match exit {
        None => return Ok(None),
        Some(Exit::Ended(exit)) => (exit.success(), exit.to_string()),
        Some(Exit::Silent(seconds)) => (false, format!("no end after {seconds} s")),
    };
    Ok(Some(match shows(hit.kind, &lines, is_success, &ending) {
        Ok(shown) => Confirmation { code, shown: Some(shown), reason: String::new() },
        Err(reason) => failed(reason, code),
    }))
}
