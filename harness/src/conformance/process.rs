//! The process of one check: starts and watches it, and retries a failed check.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::{CheckResult, Conditions};
use crate::model::check::{Answer, Check, CheckEvent, CheckOutcome};
use crate::model::plain::plain;
use crate::mpi::{Exit, LastOutput, Launch, Line, LineEvents, MpiError, Sign, StandIn};

/// On a busy machine, ranks may take longer to begin than any operation: the second try has so many times the limit of silence.
const PATIENCE: f64 = 6.0;

impl Conditions<'_> {
    /// The answer to a check. A failed check is tried again, and the second answer counts, because the machine may have caused the first.
    ///
    /// # Errors
    /// If the launcher cannot be started, or twice starts no process, or the user wants to stop.
    pub fn run(&self, check: &Check) -> Result<CheckResult, MpiError> {
        let args = arguments(check);
        let launch = self.launch_check(check, &args);
        let watch = || self.watch(&launch, None, CheckLog::default).map(|(log, exit)| log.answer(exit));
        let first = watch()?;
        let answer = if first.outcome.is_failure() { after(&first, watch()?) } else { first };
        Ok(CheckResult::new(self.target, check, answer))
    }

    /// Runs a process to its end, or until `end`, and again if none begins. `log` makes its empty log.
    ///
    /// # Errors
    /// If the launcher cannot be started, or twice starts no process before the end, or the user wants to stop.
    pub(crate) fn watch(
        &self,
        launch: &Launch<'_>,
        end: Option<Instant>,
        log: impl FnMut() -> CheckLog,
    ) -> Result<(CheckLog, Exit), MpiError> {
        let timeouts_s = [self.timeout_s / self.hurry, PATIENCE * self.timeout_s];
        let (log, exit, _) = launch.watch_begun(end, timeouts_s, log, CheckLog::line, CheckLog::has_begun)?;
        let loaded = log.library.as_ref();
        if let Some(reason) =
            loaded.and_then(|(version, path)| launch.installation.other_library(version, path.as_deref()))
        {
            return Err(MpiError::Other(reason));
        }
        if log.has_begun() || end.is_some_and(|end| Instant::now() >= end) {
            Ok((log, exit))
        } else {
            Err(launch.never_began(&launch.installation.name, "twice", log.answer(exit).note))
        }
    }

    /// The command that runs a check by hand.
    ///
    /// # Errors
    /// If a launcher cannot be parsed.
    pub fn command_line(&self, check: &Check) -> Result<String, MpiError> {
        Ok(self.launch_check(check, &arguments(check)).command_line()?.to_string())
    }

    fn launch_check<'l>(&'l self, check: &Check, args: &'l [String]) -> Launch<'l> {
        Launch { threads: check.threads, ..self.launch(&self.target.program, check.ranks, args) }
    }

    /// A program under the launcher. Its ranks are not bound, so that threads of a rank can run at the same time.
    pub(crate) fn launch<'l>(&'l self, program: &'l Path, ranks: usize, args: &'l [String]) -> Launch<'l> {
        Launch {
            installation: &self.target.installation,
            ranks,
            threads: 1,
            program,
            args,
            programs: &self.target.programs,
            bind: false,
            memory: self.memory,
            stand_in: self.target.stand_in.as_deref().map(StandIn::folder),
            env: BTreeMap::new(),
        }
    }
}

/// The arguments of the rank program.
fn arguments(check: &Check) -> [String; 4] {
    ["conform", check.name, "--format", "json"].map(str::to_owned)
}

/// The second answer, with a note about both.
fn after(first: &Answer, second: Answer) -> Answer {
    let note = if *first == second {
        format!("twice {}", second.text())
    } else {
        format!("second try {}; first try {}", second.text(), first.text())
    };
    Answer { note, ..second }
}

/// The place of a crash that the heap notices: the write that damaged it may be long ago, and the text that it prints is chance.
pub(crate) const DAMAGED_HEAP: &str = "in a damaged heap";
/// Parts of glibc's messages, such as those that begin with `malloc(): ` or `realloc(): `.
const OF_HEAP: [&str; 6] =
    ["free(): ", "lloc(): ", "chunk(): ", "double free", "corrupted size", "glibc error: malloc"];

/// The events and the last output of a process.
#[derive(Debug, Default)]
pub(crate) struct CheckLog {
    stage: Option<String>,
    /// The last answer, and its time.
    answer: Option<(Answer, f64)>,
    /// The text of `MPI_Get_library_version`, and the file of the library, if it is in a file.
    pub(crate) library: Option<(String, Option<String>)>,
    /// The path of messages, if the process has found it out.
    pub(crate) transport: Option<String>,
    /// Whether the process has printed its last event.
    pub(crate) is_done: bool,
    /// The first assertion that failed, in the MPI's words, or [`DAMAGED_HEAP`].
    pub(crate) assertion: Option<String>,
    output: LastOutput,
}

impl CheckLog {
    /// Takes a line, and returns its meaning for the watchdog.
    pub(crate) fn line(&mut self, line: Line) -> Sign {
        let (events, rest) = match line {
            Line::Out(text) => {
                let LineEvents { events, rest, .. } = LineEvents::<CheckEvent>::from_line(&text, "check");
                (events, rest)
            }
            Line::Err(text) => (Vec::new(), text),
        };
        if self.assertion.is_none() && OF_HEAP.into_iter().any(|part| rest.contains(part)) {
            self.assertion = Some(DAMAGED_HEAP.to_owned());
        }
        if self.assertion.is_none() && rest.to_lowercase().contains("assertion") {
            // UCX begins with a host and a process.
            let text = rest.trim().strip_prefix('[').and_then(|text| text.split_once(']'));
            let text = text.map_or(rest.trim(), |(_, text)| text.trim_start());
            self.assertion = Some(plain(text).into_owned());
        }
        self.output.add(&rest);
        events.into_iter().map(|event| self.event(event)).last().unwrap_or(Sign::Noise)
    }

    fn event(&mut self, event: CheckEvent) -> Sign {
        match event {
            CheckEvent::Working { stage } => self.stage = Some(stage),
            CheckEvent::Answered { answer, seconds } => {
                if self.answer.as_ref().is_none_or(|(_, known)| *known <= seconds) {
                    self.answer =
                        Some((Answer { note: plain(&answer.note).into_owned(), ..answer }, seconds));
                }
            }
            CheckEvent::Library { version, path } => {
                let lines = version.lines().map(|line| plain(line.trim_end()).into_owned());
                self.library = Some((lines.collect::<Vec<_>>().join("\n"), path));
            }
            CheckEvent::Transport { name } => self.transport = Some(name),
            CheckEvent::Done => {
                self.is_done = true;
                return Sign::Done;
            }
        }
        Sign::Alive
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.stage.is_some() || self.answer.is_some() || self.is_done
    }

    /// The result of the check. The process may have reported a failure and then died or hung.
    pub(crate) fn answer(&self, exit: Exit) -> Answer {
        let during = match &self.stage {
            Some(stage) => format!(" during {stage}"),
            None => " before the first event".to_owned(),
        };
        let ending = || self.output.explain(exit, &during);
        match &self.answer {
            Some((answer, _)) if self.is_done => answer.clone(),
            Some((answer, _)) => Answer::new(answer.outcome, format!("{}; then {}", answer.note, ending())),
            None => {
                let outcome = match exit {
                    Exit::Ended(_) => CheckOutcome::Crashed,
                    Exit::Silent(_) => CheckOutcome::TimedOut,
                };
                Answer::new(outcome, ending())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::{PARTITIONED, find};
    use crate::mpi::{Installation, Target, fake_program};

    /// Replaces a launcher: one check passes, one dies, one hangs, two hang or die after reporting a failure,
    /// and one reports in the wrong order.
    const LAUNCHER: &str = r#"#!/bin/sh
[ -e "${0%/*}/broken" ] && { echo 'no port' >&2; exit 3; }
while [ "$1" != conform ]; do shift; done
answer() { printf '{"check":"answered","answer":{"outcome":"%s","note":"%s"},"seconds":%s}\n' "$1" "$2" "$3"; }
echo '{"check":"working","stage":"exchange"}'
case $2 in
    any_order) echo "it hurts" >&2; kill -11 $$;;
    zero_count) answer failed "byte 9" 0.25; kill -11 $$;;
    startall_sends) exec sleep 1000;;
    unequal_counts) answer failed "byte 7" 0.25; exec sleep 1000;;
    ring) answer failed "in 2 of 2" 0.5; answer failed "in 1 of 2" 0.25;;
    *) answer passed "" 0.25;;
esac
echo '{"check":"done"}'
"#;

    #[test]
    fn checks_that_crash_or_hang_are_answered_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let mpiexec = fake_program(folder.path().join("launch"), LAUNCHER);
        let target = Target::fake(Installation::fake(mpiexec), "ddtbench-rank");
        let conditions = Conditions::on_host(&target, 1.0);
        let run = |name: &str| conditions.run(find(PARTITIONED, name).unwrap()).unwrap();
        let expect = |name: &str, outcome: CheckOutcome, begin: &str, contains: &str| {
            let result = run(name);
            assert_eq!(result.answer.outcome, outcome, "{result:?}");
            let note = &result.answer.note;
            assert!(note.starts_with(begin) && note.contains(contains), "{result:?}");
        };
        assert_eq!(run("equal_counts").answer, Answer::new(CheckOutcome::Passed, ""));
        expect("any_order", CheckOutcome::Crashed, "twice crashed", "SIGSEGV");
        expect("any_order", CheckOutcome::Crashed, "twice crashed", "it hurts");
        expect("unequal_counts", CheckOutcome::Failed, "twice failed: byte 7; then no output for 1 s", "");
        expect("startall_sends", CheckOutcome::TimedOut, "twice timed out", "1 s during exchange");
        expect("zero_count", CheckOutcome::Failed, "twice failed: byte 9; then", "SIGSEGV");
        assert_eq!(run("ring").answer, Answer::new(CheckOutcome::Failed, "twice failed: in 2 of 2"));
        assert_eq!(run("ring").ranks, 4);
        std::fs::write(folder.path().join("broken"), "").unwrap();
        let error = conditions.run(&PARTITIONED[0]).unwrap_err().to_string();
        assert!(error.contains("started no process") && error.contains("no port"), "{error}");
    }

    #[test]
    fn a_damaged_heap_is_the_same_whatever_notices_it() {
        let place = |text: &str| {
            let mut log = CheckLog::default();
            log.line(Line::Err(text.to_owned()));
            log.assertion
        };
        let heap =
            ["double free or corruption (out)", "Fatal glibc error: malloc assertion failure"].map(place);
        assert!(heap.iter().all(|place| place.as_deref() == Some(DAMAGED_HEAP)), "{heap:?}");
        let others = ["[a:1] a.c:7: Assertion", "no memory is free"].map(place);
        assert_eq!(others, [Some("a.c:7: Assertion".to_owned()), None]);
    }

    #[test]
    fn the_second_try_counts_and_the_note_has_both() {
        let first = Answer::new(CheckOutcome::TimedOut, "no output for 3 s");
        let both = after(&first, Answer::new(CheckOutcome::Passed, ""));
        let note = "second try passed; first try timed out: no output for 3 s";
        assert_eq!(both, Answer::new(CheckOutcome::Passed, note));
        assert_eq!(after(&first, first.clone()).note, "twice timed out: no output for 3 s");
    }
}
