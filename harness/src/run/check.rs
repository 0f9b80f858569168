//! The check: every probe in a process of its own under a limit, so that one that hangs or dies takes no other with it.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{CaseRun, End, Exit, Machine, MpiFacts, Observer, ProcessLog, RunError, typed};
use crate::experiments::probes::list::{Probe, is_failure};
use crate::folder::FolderError;
use crate::model::probe::{Outcome, ProbeRecord};
use crate::mpi::{Installation, Launch};

/// Time that a probe has, in seconds: far more than any needs, large messages on a slow machine included.
pub const TIMEOUT_S: f64 = 20.0;

/// What a check works with.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    /// What results name the MPI.
    pub mpi: &'a str,
    /// The MPI.
    pub installation: &'a Installation,
    /// The rank program that was built for it.
    pub program: &'a Path,
    /// What is looked at.
    pub probes: &'a [&'static Probe],
    /// Silence after which a probe is ended, in seconds.
    pub timeout_s: f64,
    /// Instead of the MPI's own launcher.
    pub launcher: Option<&'a str>,
    /// More options for the launcher.
    pub launcher_args: &'a [String],
}

/// What is in `environment.json` of a check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckEnvironment {
    /// When it began, with the zone's offset.
    pub date: String,
    /// Version of this program.
    pub ddtbench_version: String,
    /// What was typed.
    pub command_line: Vec<String>,
    /// The machine.
    pub machine: Machine,
    /// The MPIs, each with what one would type to run its first probe.
    pub mpis: Vec<(MpiFacts, String)>,
}

impl CheckEnvironment {
    /// Of this moment.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn now(date: String, checks: &[Check<'_>]) -> Result<Self, RunError> {
        let facts = |check: &Check<'_>| Ok((MpiFacts::from(check.installation), check.command_line()?));
        Ok(Self {
            date,
            ddtbench_version: env!("CARGO_PKG_VERSION").to_owned(),
            command_line: typed(),
            machine: Machine::this(),
            mpis: checks.iter().map(facts).collect::<Result<_, RunError>>()?,
        })
    }
}

/// How far a check is within a larger one, for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Probes that were run before.
    pub before: usize,
    /// Probes of all MPIs.
    pub total: usize,
}

impl Check<'_> {
    /// Runs the probes, has each kept before the next begins, and gives what was seen.
    ///
    /// # Errors
    /// If the launcher cannot be started, or a record not be kept.
    pub fn run(
        &self,
        progress: Progress,
        keep: &mut dyn FnMut(&ProbeRecord) -> Result<(), FolderError>,
        observer: &mut dyn Observer,
    ) -> Result<(End, Vec<ProbeRecord>), RunError> {
        let mut records = Vec::new();
        for (number, probe) in self.probes.iter().enumerate() {
            let name = format!("{} {}", self.mpi, probe.name);
            observer.begins(progress.before + number + 1, progress.total, &name);
            let start = Instant::now();
            let Some(record) = self.probe(probe, observer)? else {
                return Ok((End::Interrupted, records));
            };
            keep(&record)?;
            tell(&record, start.elapsed(), observer);
            records.push(record);
        }
        Ok((End::Complete, records))
    }

    /// Runs one, and one that fails once more: the second outcome counts, and both are told. `None` if the user wants to
    /// stop.
    fn probe(&self, probe: &Probe, observer: &mut dyn Observer) -> Result<Option<ProbeRecord>, RunError> {
        let Some(first) = self.try_once(probe, observer)? else { return Ok(None) };
        if !is_failure(&first) {
            return Ok(Some(first));
        }
        let second = self.try_once(probe, observer)?;
        Ok(second.map(|second| after(&first, second)))
    }

    fn try_once(&self, probe: &Probe, observer: &mut dyn Observer) -> Result<Option<ProbeRecord>, RunError> {
        let name = [probe.name.to_owned()];
        let run = CaseRun {
            launch: self.launch(probe),
            arguments: &arguments,
            methods: &name,
            timeout_s: self.timeout_s,
        };
        let start = Instant::now();
        let mut log = ProcessLog::default();
        let Some(exit) = run.watch(&name, &mut log, observer)? else { return Ok(None) };
        let (outcome, detail, seconds) = seen(log, exit, start.elapsed());
        let [probe] = name;
        Ok(Some(ProbeRecord { mpi: self.mpi.to_owned(), probe, outcome, detail, seconds }))
    }

    /// The rank program under its launcher. It is not bound: a rank's threads must be able to run side by side.
    fn launch(&self, probe: &Probe) -> Launch<'_> {
        Launch {
            threads: 1,
            installation: self.installation,
            ranks: probe.ranks,
            program: self.program,
            args: &[],
            launcher: self.launcher,
            launcher_args: self.launcher_args,
            bind: false,
            env: Default::default(),
        }
    }

    /// What one would type to run the first probe.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn command_line(&self) -> Result<String, RunError> {
        let Some(probe) = self.probes.first() else { return Ok(String::new()) };
        let args = arguments(&[probe.name.to_owned()]);
        Ok(Launch { args: &args, ..self.launch(probe) }.command_line()?.to_string())
    }
}

/// The rank program's arguments.
fn arguments(probe: &[String]) -> Vec<String> {
    ["probe", &probe[0], "--format", "json"].map(str::to_owned).into()
}

/// The second try of a probe, whose detail tells of the first as well.
fn after(first: &ProbeRecord, second: ProbeRecord) -> ProbeRecord {
    let told = |record: &ProbeRecord| match record.detail.is_empty() {
        true => record.outcome.label().to_owned(),
        false => format!("{}: {}", record.outcome.label(), record.detail),
    };
    let detail = match (first.outcome, &first.detail) == (second.outcome, &second.detail) {
        true => format!("twice {}", told(&second)),
        false => format!("second try {}; first try {}", told(&second), told(first)),
    };
    ProbeRecord { detail, seconds: first.seconds + second.seconds, ..second }
}

/// What a process has told, and what its end says where it has not told all.
fn seen(log: ProcessLog, exit: Exit, took: Duration) -> (Outcome, String, f64) {
    let stage = log.working.as_ref().map(|(_, stage)| stage.as_str());
    let failure = log.failure(exit, stage);
    let ending = failure.detail().unwrap_or_default().to_owned();
    match log.probe {
        // It was told that the probe has failed before it came to its end, which it never did.
        Some((outcome, detail, _)) if !log.done => {
            (outcome, format!("{detail}; then {ending}"), took.as_secs_f64())
        }
        Some(told) => told,
        None => {
            let outcome = match exit {
                Exit::Ended(_) => Outcome::Crashed,
                Exit::Silent(_) => Outcome::TimedOut,
            };
            (outcome, ending, took.as_secs_f64())
        }
    }
}

fn tell(record: &ProbeRecord, took: Duration, observer: &mut dyn Observer) {
    observer.method_ended(&record.probe);
    observer.ended(&[], took);
    if record.outcome != Outcome::Passed {
        let detail = if record.detail.is_empty() { String::new() } else { format!(": {}", record.detail) };
        observer.note(&format!("    {}{detail}", record.outcome.label()));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::experiments::probes::list::{self, PROBES};
    use crate::model::{Case, Measured};

    /// Stands in for a launcher: one probe passes, one dies, one hangs, two hang or die after they were
    /// told to have failed.
    const LAUNCHER: &str = r#"#!/bin/sh
while [ "$1" != probe ]; do shift; done
tell() { printf '{"event":"probe","name":"x","outcome":"%s","detail":"%s","seconds":0.25}\n' "$1" "$2"; }
printf '{"event":"working","method":"%s","stage":"exchange"}\n' "$2"
case $2 in
    any_order) echo "it hurts" >&2; kill -11 $$;;
    zero_count) tell failed "byte 9"; kill -11 $$;;
    startall_sends) exec sleep 1000;;
    unequal_counts) tell failed "byte 7"; exec sleep 1000;;
    ring) tell failed "in 1 of 2"; tell failed "in 2 of 2";;
    *) tell passed "";;
esac
echo '{"event":"done"}'
"#;

    #[derive(Default)]
    struct Notes(Vec<String>);

    impl Observer for Notes {
        fn begins(&mut self, number: usize, total: usize, name: &str) {
            self.0.push(format!("{number}/{total} {name}"));
        }
        fn method_ended(&mut self, _: &str) {}
        fn note(&mut self, text: &str) {
            self.0.push(text.trim().to_owned());
        }
        fn ended(&mut self, _: &[Measured], _: Duration) {}
        fn skipped(&mut self, _: &Case) {}
    }

    #[test]
    fn probes_that_crash_or_hang_take_no_other_with_them() {
        let folder = tempfile::tempdir().unwrap();
        let mpiexec = folder.path().join("launch");
        std::fs::write(&mpiexec, LAUNCHER).unwrap();
        std::fs::set_permissions(&mpiexec, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mpi = Installation::fake(&mpiexec);
        let names = ["equal_counts", "any_order", "unequal_counts", "startall_sends", "ring", "zero_count"];
        let probes: Vec<_> = names.iter().map(|name| list::find(name).unwrap()).collect();
        let check = Check {
            mpi: "fake",
            installation: &mpi,
            program: Path::new("ddtbench-rank"),
            probes: &probes,
            timeout_s: 1.0,
            launcher: None,
            launcher_args: &[],
        };
        let (mut kept, mut notes) = (Vec::new(), Notes::default());
        let mut keep = |record: &ProbeRecord| {
            kept.push(record.clone());
            Ok(())
        };
        let progress = Progress { before: 3, total: 9 };
        let (end, records) = check.run(progress, &mut keep, &mut notes).unwrap();

        assert_eq!((end, &records), (End::Complete, &kept));
        let seen: Vec<_> = records.iter().map(|record| (record.probe.as_str(), record.outcome)).collect();
        use Outcome::*;
        let expected = [Passed, Crashed, Failed, TimedOut, Failed, Failed];
        assert_eq!(seen, names.into_iter().zip(expected).collect::<Vec<_>>());
        let detail = |i: usize| records[i].detail.as_str();
        assert!(detail(1).contains("SIGSEGV") && detail(1).contains("it hurts"), "{}", detail(1));
        assert!(detail(2).starts_with("twice failed: byte 7; then nothing heard for 1 s"), "{}", detail(2));
        assert!(detail(3).contains("1 s during exchange"), "{}", detail(3));
        assert!(
            detail(5).starts_with("twice failed: byte 9; then") && detail(5).contains("SIGSEGV"),
            "{}",
            detail(5)
        );
        let last = ("twice failed: in 2 of 2", 0.5);
        assert_eq!((detail(4), records[4].seconds), last, "what is told last counts, of two tries");
        assert!(notes.0[0] == "4/9 fake equal_counts" && notes.0.contains(&format!("failed: {}", last.0)));
    }

    #[test]
    fn the_second_try_counts_and_both_are_told() {
        let record = |outcome, detail: &str| ProbeRecord {
            mpi: "fake".to_owned(),
            probe: "ring".to_owned(),
            outcome,
            detail: detail.to_owned(),
            seconds: 1.5,
        };
        let first = record(Outcome::TimedOut, "nothing heard for 3 s");
        let both = after(&first, record(Outcome::Passed, ""));
        assert_eq!((both.outcome, both.seconds), (Outcome::Passed, 3.0));
        assert_eq!(both.detail, "second try passed; first try timed out: nothing heard for 3 s");
        assert_eq!(after(&first, first.clone()).detail, "twice timed out: nothing heard for 3 s");
    }

    #[test]
    fn the_command_line_names_a_probe() {
        let mpi = Installation::fake("mpiexec");
        let check = Check {
            mpi: "fake",
            installation: &mpi,
            program: Path::new("ddtbench-rank"),
            probes: &[&PROBES[0]],
            timeout_s: 1.0,
            launcher: None,
            launcher_args: &[],
        };
        let line = check.command_line().unwrap();
        assert!(line.ends_with("mpiexec -n 2 ddtbench-rank probe equal_counts --format json"), "{line}");
    }
}
