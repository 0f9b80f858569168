//! Confirmation of a finding: its C program is compiled and run on the MPI.

use std::fs;
use std::path::Path;
use std::time::Instant;

use common::conformance::{FaultKind, Items};

use super::finding::{Confirmation, Hit};
use super::program::{ProgramMemory, program, shows};
use super::worker::Worker;
use crate::conformance::Conditions;
use crate::mpi::{Exit, Line, MpiError, Sign};

/// Bytes from the first to the last of the data of a program, which fills all of them several times.
const MOST_BYTES: usize = 1 << 30;

/// The same of a program with static memory: a linker places 2 GiB.
const MOST_STATIC_BYTES: usize = 1 << 28;

/// Seconds of silence after which a program is ended. It ends itself earlier.
const LIMIT_S: f64 = 30.0;

/// Compiles and runs the program of a hit: the shortest one, without guard pages, and with the least number of ranks; if that does not
/// show the fault, with computed bytes, with guard pages, and with as many ranks as the worker has. At the `end` it is ended. `None` if the user wants to
/// stop.
///
/// # Errors
/// If the launcher cannot be started.
pub fn confirm(
    worker: &Worker<'_>,
    hit: &Hit,
    end: Option<Instant>,
) -> Result<Option<Confirmation>, MpiError> {
    let least = hit.operation.ranks;
    let simplest = ProgramMemory::simplest(worker.conditions().memory);
    let mut ways = vec![(least, simplest)];
    if simplest == ProgramMemory::Literal {
        let [literal, open] = [simplest, ProgramMemory::Static].map(|memory| program(hit, "", least, memory));
        ways.extend((literal != open).then_some((least, ProgramMemory::Static)));
        ways.push((least, ProgramMemory::Guarded));
    }
    if Items::from_layout(&hit.layout, hit.items).span_bytes() > MOST_STATIC_BYTES && ways.len() > 1 {
        ways.remove(0);
    }
    if hit.kind == FaultKind::Hang {
        // The end of memory does not matter to it, and each program takes long.
        ways.truncate(1);
    }
    if hit.operation.is_collective && worker.ranks > least {
        ways.push((worker.ranks, ProgramMemory::Guarded));
    }
    let mut last = None;
    for (ranks, memory) in ways {
        last = confirm_with(worker.conditions(), hit, worker.folder(), (ranks, memory), end)?;
        let is_decided = last.as_ref().is_none_or(|confirmation| confirmation.shown.is_some());
        if is_decided || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
    }
    Ok(last)
}

fn confirm_with(
    conditions: &Conditions<'_>,
    hit: &Hit,
    folder: &Path,
    (ranks, memory): (usize, ProgramMemory),
    end: Option<Instant>,
) -> Result<Option<Confirmation>, MpiError> {
    let installation = &conditions.target.installation;
    let (source, binary) = (folder.join("finding.c"), folder.join("finding"));
    if Items::from_layout(&hit.layout, hit.items).span_bytes() > MOST_BYTES {
        let reason = "its C program would need more than 1 GiB of memory".to_owned();
        return Ok(Some(Confirmation { reason, ..Confirmation::default() }));
    }
    let code = program(hit, &installation.title(), ranks, memory);
    let failed = |reason: String, code: String| Confirmation { code, shown: None, reason };
    if let Err(error) = fs::write(&source, &code) {
        return Ok(Some(failed(format!("cannot write {}: {error}", source.display()), code)));
    }
    let stand_in =
        conditions.target.stand_in.as_ref().map(|driver| format!("-L{}", driver.folder().display()));
    let options = stand_in.iter().map(String::as_str).chain(["-lcuda"]);
    let options: Vec<&str> = options.filter(|_| memory == ProgramMemory::Device).collect();
    match installation.compile(&source, &binary, &options) {
        Ok(()) => {}
        Err(MpiError::Interrupted) => return Ok(None),
        Err(error) => return Ok(Some(failed(format!("the C program cannot be compiled: {error}"), code))),
    }
    let launch = conditions.launch(&binary, ranks, &[]);
    let mut lines = Vec::new();
    let exit = launch.watch_until(end, LIMIT_S, |line| {
        if let Line::Out(line) = line {
            lines.push(line);
        }
        Sign::Alive
    });
    let (is_success, ending) = match exit {
        Err(MpiError::Interrupted) => return Ok(None),
        Err(error) => return Err(error),
        Ok(Exit::Ended(exit)) => (exit.success(), exit.to_string()),
        Ok(Exit::Silent(_)) if end.is_some_and(|end| Instant::now() >= end) => {
            return Ok(Some(failed("the time was over before it ended".to_owned(), code)));
        }
        Ok(Exit::Silent(seconds)) => (false, format!("no end after {seconds} s")),
    };
    Ok(Some(match shows(hit.kind, &lines, is_success, &ending) {
        Ok(shown) => Confirmation { code, shown: Some(shown), reason: String::new() },
        Err(reason) => failed(reason, code),
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;
    use crate::mpi::{Installation, Target};

    #[test]
    fn a_program_is_ended_when_the_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, commands: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{commands}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let mpicc = script("mpicc", "exit 0");
        let installation = Installation { mpicc, ..Installation::fake(script("mpiexec", "exec sleep 1000")) };
        let target = Target::fake(installation, "ddtbench-rank");
        let conditions = Conditions::on_host(&target, 5.0);
        let worker = Worker::new(conditions, 2).unwrap();
        let hit = Hit::fake("send", FaultKind::Hang, "byte");
        let begun = Instant::now();
        let confirmation = confirm(&worker, &hit, Some(begun + Duration::from_secs(1))).unwrap().unwrap();
        assert_eq!(confirmation.reason, "the time was over before it ended");
        assert!(confirmation.shown.is_none() && begun.elapsed() < Duration::from_secs(5));
    }
}
