//! Confirmation of a finding: its C program is compiled and run on the MPI.

use std::fs;
use std::path::Path;
use std::time::Instant;

use common::conformance::{FaultKind, Items};

use super::finding::{Confirmation, Evidence, Hit};
use super::program::{ALARM, ProgramMemory, program, shows};
use super::worker::Worker;
use crate::conformance::Conditions;
use crate::mpi::{Exit, Line, MpiError, Sign};

/// Bytes from the first to the last of the data of a program, which fills all of them several times.
const MOST_BYTES: usize = 1 << 29;

/// The same of a program with static memory: a linker places 2 GiB.
const MOST_STATIC_BYTES: usize = 1 << 28;

/// Seconds of silence after which a program is ended. It ends itself earlier.
const LIMIT_S: f64 = 30.0;

/// Compiles and runs the program of a hit: the shortest one, without guard pages, and with the least number of ranks; if that does not show
/// the fault, or shows it with the baseline, too, with guard pages, and with as many ranks as the worker has. At the `end` it is ended.
///
/// # Errors
/// If the launcher cannot be started, or if the user wants to stop.
pub fn confirm(worker: &Worker<'_>, hit: &Hit, end: Option<Instant>) -> Result<Confirmation, MpiError> {
    let least = hit.operation.ranks;
    let simplest = ProgramMemory::simplest(worker.conditions.memory);
    let mut ways = vec![(least, simplest)];
    if simplest == ProgramMemory::Static {
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
    let mut confirmation = Confirmation::default();
    for way in ways {
        let next = confirm_with(worker, hit, way, end)?;
        let is_shown = next.shown().is_some();
        if is_shown || !matches!(confirmation.evidence, Evidence::Old(_)) {
            confirmation = next;
        }
        if is_shown || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
    }
    Ok(confirmation)
}

fn confirm_with(
    worker: &Worker<'_>,
    hit: &Hit,
    (ranks, memory): (usize, ProgramMemory),
    end: Option<Instant>,
) -> Result<Confirmation, MpiError> {
    if Items::from_layout(&hit.layout, hit.items).span_bytes() > MOST_BYTES {
        let reason = "its C program would need more than 512 MiB for its data".to_owned();
        return Ok(Confirmation { code: String::new(), evidence: Evidence::NotShown(reason) });
    }
    let code = program(hit, &worker.conditions.target.installation.title(), ranks, memory);
    let source = worker.folder().join("finding.c");
    let failed = |error| MpiError::Other(format!("cannot write {}: {error}", source.display()));
    fs::write(&source, &code).map_err(failed)?;
    let run = |worker: &Worker<'_>| run(&worker.conditions, hit.kind, &source, (ranks, memory), end);
    let mut evidence = run(worker)?;
    if let (Evidence::Shown(_), Some(baseline)) = (&evidence, &worker.baseline)
        && let Evidence::Shown(shown) = run(baseline)?
    {
        evidence = Evidence::Old(format!("with the baseline, too, its C program shows: {shown}"));
    }
    Ok(Confirmation { code, evidence })
}

/// Compiles and runs a program, and returns its evidence of a fault of this kind.
fn run(
    conditions: &Conditions<'_>,
    kind: FaultKind,
    source: &Path,
    (ranks, memory): (usize, ProgramMemory),
    end: Option<Instant>,
) -> Result<Evidence, MpiError> {
    let target = conditions.target;
    let stand_in = target.stand_in.as_ref().map(|driver| format!("-L{}", driver.folder().display()));
    let options = stand_in.iter().map(String::as_str).chain(["-lcuda"]);
    let options: Vec<&str> = options.filter(|_| memory == ProgramMemory::Device).collect();
    let binary = source.with_extension("");
    match target.installation.compile(source, &binary, &options) {
        Err(MpiError::Other(error)) => {
            return Ok(Evidence::NotShown(format!("the C program cannot be compiled: {error}")));
        }
        compiled => compiled?,
    }
    let launch = conditions.launch(&binary, ranks, &[]);
    let mut lines = Vec::new();
    let begun = Instant::now();
    let exit = launch.watch_until(end, LIMIT_S, |line| {
        if let Line::Out(line) = line {
            lines.push(line);
        }
        Sign::Alive
    })?;
    let (is_success, ending) = match exit {
        Exit::Ended(exit) if !exit.success() && begun.elapsed() >= ALARM => {
            (false, format!("no end after {} s", ALARM.as_secs()))
        }
        Exit::Ended(exit) => (exit.success(), exit.to_string()),
        Exit::Silent(_) if end.is_some_and(|end| Instant::now() >= end) => {
            return Ok(Evidence::Unfinished("the time was over before it ended".to_owned()));
        }
        Exit::Silent(seconds) => (false, format!("no end after {seconds} s")),
    };
    Ok(shows(kind, &lines, is_success, &ending))
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use common::conformance::Fault;

    use super::*;
    use crate::mpi::{Installation, Target, fake_program};

    /// An MPI in a folder, whose compiler makes empty files and whose launcher runs these commands.
    pub fn mpi(folder: &Path, commands: &str) -> Target {
        let script =
            |name: &str, commands: &str| fake_program(folder.join(name), &format!("#!/bin/sh\n{commands}\n"));
        let mpicc = script("mpicc", "while [ $1 != -o ]; do shift; done; : > $2");
        let installation = Installation { mpicc, ..Installation::fake(script("mpiexec", commands)) };
        Target::fake(installation, "ddtbench-rank")
    }

    /// An MPI that does this in the folder of a batch.
    pub fn in_batch(folder: &Path, commands: &str) -> Target {
        let go = "for to; do [ -d $to ] && break; done; cd $to";
        mpi(folder, &format!("{go}; {commands}; echo '{{\"check\":\"done\"}}'"))
    }

    /// An MPI with a fault in its processes of these numbers, one digit each.
    pub fn in_processes(folder: &Path, numbers: &str, hit: &Hit) -> Target {
        let count = folder.join("count");
        fs::write(&count, "").unwrap();
        let fault = Fault::new(hit.case, hit.operation, hit.kind, String::new());
        let (fault, count) = (serde_json::to_string(&fault).unwrap(), count.display());
        let is_one = format!("echo >> {count}; case {numbers} in *$(wc -l < {count})*)");
        let library = r#"{"check":"library","version":"MPI 1.0","path":"a"}"#;
        in_batch(folder, &format!("{is_one} echo '{fault}' > {};; esac; echo '{library}'", Fault::file(0)))
    }

    #[test]
    fn a_program_that_shows_the_same_with_the_baseline_confirms_nothing() {
        let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let wrong = "echo 'WRONG: byte 7'; exit 1";
        let [new, old, healthy] = [(&folders[0], wrong), (&folders[1], wrong), (&folders[2], "echo right")]
            .map(|(folder, commands)| mpi(folder.path(), commands));
        let shown = |baseline: &Target| {
            let [mut worker, baseline] =
                [&new, baseline].map(|target| Worker::new(Conditions::on_host(target, 5.0), 2).unwrap());
            worker.baseline = Some(Box::new(baseline));
            let hit = Hit::fake("send", FaultKind::WrongData, "byte");
            confirm(&worker, &hit, None).unwrap()
        };
        assert_eq!(shown(&healthy).shown(), Some("byte 7"));
        let both = shown(&old);
        assert!(matches!(both.evidence, Evidence::Old(_)), "{:?}", both.evidence);
    }

    #[test]
    fn a_program_is_ended_when_the_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let target = mpi(folder.path(), "exec sleep 1000");
        let conditions = Conditions::on_host(&target, 5.0);
        let worker = Worker::new(conditions, 2).unwrap();
        let hit = Hit::fake("send", FaultKind::Hang, "byte");
        let begun = Instant::now();
        let confirmation = confirm(&worker, &hit, Some(begun + Duration::from_secs(1))).unwrap();
        assert_eq!(
            confirmation.evidence,
            Evidence::Unfinished("the time was over before it ended".to_owned())
        );
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
