//! The log of one process: its events and last words, and what it says about the methods that it was to measure.

use std::collections::VecDeque;

use crate::model::event::{Block, Event, Hello};
use crate::model::plain::plain;
use crate::model::{Outcome, Phase, Times};
use crate::mpi::{ExitDescription, Line};

/// Lines of the MPI that are kept to explain how a process ended.
const LAST_LINES: usize = 20;

/// Events and last words of one process.
#[derive(Debug, Default)]
pub struct ProcessLog {
    /// Its account of itself.
    pub hello: Option<Box<Hello>>,
    /// The blocks of all methods, as they came.
    pub blocks: Vec<Block>,
    /// Methods that came to their end.
    pub ended: Vec<(String, Outcome)>,
    /// The last method that was begun, and its stage.
    pub working: Option<(String, String)>,
    /// What a probe told last, and its time.
    probe: Option<(Outcome, f64)>,
    /// Whether the process said that it was done.
    pub done: bool,
    /// Whether a rank said that it would end all.
    aborts: bool,
    last_lines: VecDeque<String>,
}

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exit {
    /// By itself.
    Ended(ExitDescription),
    /// It was ended after this silence, in seconds.
    Silent(f64),
}

impl ProcessLog {
    /// Takes a line; gives the event if it is one. Anything else is what the MPI has to say.
    pub fn line(&mut self, line: Line) -> Option<Event> {
        let text = match line {
            Line::Out(text) => match serde_json::from_str::<Event>(&text) {
                Ok(event) => {
                    self.event(event.clone());
                    return Some(event);
                }
                Err(_) => text,
            },
            Line::Err(text) => text,
        };
        if !text.trim().is_empty() {
            self.last_lines.push_back(plain(text.trim()).into_owned());
            if self.last_lines.len() > LAST_LINES {
                self.last_lines.pop_front();
            }
        }
        None
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Hello(hello) => self.hello = Some(hello),
            Event::Transport(transport) => Hello::goes_by(&mut self.hello, transport),
            Event::Working { method, stage } => self.working = Some((method, stage)),
            Event::Block(block) => self.blocks.push(*block),
            Event::Ended { method, outcome } => {
                if !self.has_ended(&method) {
                    let detail = outcome.detail().map(|detail| plain(detail).into_owned());
                    let outcome = detail.map_or(outcome.clone(), |detail| outcome.with_detail(detail));
                    self.ended.push((method, outcome));
                }
            }
            Event::Probe { outcome, seconds } => {
                // Launchers may pass on one rank's line after another's that was told later.
                if self.probe.as_ref().is_none_or(|(_, known)| *known <= seconds) {
                    self.probe = Some((outcome, seconds));
                }
            }
            // Who has asked for it listens by itself.
            Event::Size(_) => {}
            Event::Aborting => self.aborts = true,
            Event::Done => self.done = true,
            Event::Library { account } => {
                if let Some(hello) = &mut self.hello {
                    hello.library_account = account;
                }
            }
        }
    }

    fn has_ended(&self, method: &str) -> bool {
        self.ended.iter().any(|(known, _)| known == method)
    }

    /// The blocks of a method; of a probe, one of the time that it told.
    pub fn blocks_of(&self, method: &str) -> Vec<Block> {
        let probe = self.probe.as_ref().map(|(_, seconds)| {
            let mut times = Times::default();
            times[Phase::Total].push(*seconds);
            Block { method: method.to_owned(), batch: 1, times, ..Block::default() }
        });
        self.blocks.iter().filter(|block| block.method == method).cloned().chain(probe).collect()
    }

    /// Once the process has ended: the methods of `asked` that have an outcome now. The others are to be run
    /// again in a new process. There is always at least one outcome, so that this comes to an end.
    pub fn outcomes(&self, asked: &[String], exit: Exit) -> Vec<(String, Outcome)> {
        if let Some((outcome, _)) = &self.probe {
            let outcome = self.of_probe(outcome, exit);
            return asked.iter().map(|method| (method.clone(), outcome.clone())).collect();
        }
        let ended = self.ended.iter().filter(|(method, _)| asked.contains(method));
        let mut outcomes: Vec<_> =
            ended.map(|(method, outcome)| (method.clone(), self.explained(outcome, exit))).collect();
        let failed = self
            .working
            .as_ref()
            .filter(|(method, _)| !self.done && asked.contains(method) && !self.has_ended(method));
        if let Some((method, stage)) = failed {
            outcomes.push((method.clone(), self.failure(exit, Some(stage))));
        }
        if outcomes.is_empty() {
            outcomes = asked.iter().map(|method| (method.clone(), self.failure(exit, None))).collect();
        }
        outcomes
    }

    /// What a probe came to: it may have told that it has failed before it came to its end, which it never did.
    fn of_probe(&self, reported: &Outcome, exit: Exit) -> Outcome {
        if self.done {
            return reported.clone();
        }
        let stage = self.working.as_ref().map(|(_, stage)| stage.as_str());
        let ending = self.failure(exit, stage);
        let details = [reported, &ending].map(|outcome| outcome.detail().unwrap_or_default());
        reported.clone().with_detail(details.join("; then "))
    }

    /// What a method ended with, once it is known how the process did: where a signal ended a rank, a call of another
    /// rank that fails for that is no fault of the call's. A rank that lives to end all ranks by itself was the first.
    fn explained(&self, outcome: &Outcome, exit: Exit) -> Outcome {
        match (outcome, exit) {
            (Outcome::MpiError { detail }, Exit::Ended(exit)) if !self.aborts && exit.signal().is_some() => {
                Outcome::Crashed { detail: format!("{exit}; another rank then told: {detail}") }
            }
            _ => outcome.clone(),
        }
    }

    /// What the end of the process means for what it was doing.
    pub fn failure(&self, exit: Exit, stage: Option<&str>) -> Outcome {
        let during = match stage {
            Some("verify") => " while verifying".to_owned(),
            Some("measure") => " while measuring".to_owned(),
            Some(stage) => format!(" during {stage}"),
            None if self.hello.is_some() => " before any method".to_owned(),
            None => " before anything was heard of it".to_owned(),
        };
        let lines: Vec<_> = self.last_lines.iter().map(String::as_str).collect();
        let output =
            if lines.is_empty() { String::new() } else { format!("; last words: {}", lines.join(" | ")) };
        match exit {
            Exit::Ended(exit) => Outcome::Crashed { detail: format!("{exit}{during}{output}") },
            Exit::Silent(seconds) => {
                Outcome::TimedOut { detail: format!("nothing heard for {seconds} s{during}{output}") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Seen;

    const KILLED: Exit = Exit::Ended(ExitDescription { code: Some(137), signal: None });

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn log(lines: &[&str]) -> ProcessLog {
        let mut log = ProcessLog::default();
        for line in lines {
            log.line(Line::Out((*line).to_owned()));
        }
        log
    }

    #[test]
    fn a_killed_process_is_the_last_begun_methods_fault() {
        let log = log(&[
            r#"{"event":"working","method":"a","stage":"measure"}"#,
            r#"{"event":"ended","method":"a","outcome":{"outcome":"converged"}}"#,
            r#"{"event":"working","method":"b","stage":"verify"}"#,
            "rank 1 died",
        ]);
        let outcomes = log.outcomes(&names(&["a", "b", "c"]), KILLED);
        assert_eq!(outcomes[0], ("a".to_owned(), Outcome::Converged));
        let detail = outcomes[1].1.detail().unwrap();
        assert!(detail.contains("SIGKILL") && detail.contains("verifying"), "{detail}");
        assert!(detail.contains("rank 1 died"), "{detail}");
        assert_eq!(outcomes.len(), 2, "c is run again");
    }

    #[test]
    fn a_process_that_never_began_fails_all() {
        let mut log = ProcessLog::default();
        log.line(Line::Err("no such file".to_owned()));
        let outcomes = log.outcomes(&names(&["a", "b"]), KILLED);
        assert_eq!(outcomes.len(), 2);
        assert!(outcomes.iter().all(|(_, o)| o.detail().unwrap().contains("no such file")));
    }

    #[test]
    fn an_announced_crash_is_kept_as_it_is() {
        let log = log(&[
            r#"{"event":"working","method":"a","stage":"measure"}"#,
            r#"{"event":"ended","method":"a","outcome":{"outcome":"crashed","detail":"memory"}}"#,
        ]);
        let crashed = Outcome::Crashed { detail: "memory".to_owned() };
        assert_eq!(log.outcomes(&names(&["a", "b"]), KILLED), [("a".to_owned(), crashed)]);
    }

    #[test]
    fn an_mpi_error_beside_a_killed_rank_is_its_consequence() {
        let log = log(&[
            r#"{"event":"working","method":"a","stage":"measure"}"#,
            r#"{"event":"ended","method":"a","outcome":{"outcome":"mpi_error","detail":"MPI_Recv failed"}}"#,
        ]);
        let outcome = |exit| log.outcomes(&names(&["a", "b"]), exit).remove(0).1;
        let crashed = outcome(KILLED);
        let detail = crashed.detail().unwrap();
        assert_eq!(crashed.label(), "crashed");
        assert!(detail.contains("SIGKILL") && detail.contains("MPI_Recv failed"), "{detail}");
        let aborted = Exit::Ended(ExitDescription { code: Some(3), signal: None });
        let error = Outcome::MpiError { detail: "MPI_Recv failed".to_owned() };
        assert_eq!(outcome(aborted), error);
        // Launchers may report how they ended the other ranks.
        let mut log = log;
        log.line(Line::Out(r#"{"event":"aborting"}"#.to_owned()));
        assert_eq!(log.outcomes(&names(&["a", "b"]), KILLED).remove(0).1, error);
    }

    #[test]
    fn what_a_probe_reported_last_counts_in_any_order() {
        let probe = |detail: &str, seconds| {
            let outcome = Outcome::Seen { what: Seen::Failed, detail: detail.to_owned() };
            serde_json::to_string(&Event::Probe { outcome, seconds }).unwrap()
        };
        let log = log(&[&probe("6 of 13", 0.25), &probe("first", 0.125)]);
        let (asked, outcome) = log.outcomes(&names(&["probe"]), KILLED).remove(0);
        let detail = outcome.detail().unwrap();
        assert!(detail.starts_with("6 of 13; then ") && detail.contains("SIGKILL"), "{detail}");
        assert_eq!(log.blocks_of(&asked)[0].times[Phase::Total], [0.25]);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut log = ProcessLog::default();
        for i in 0..100 {
            log.line(Line::Err(format!("word{i}.")));
        }
        let Outcome::TimedOut { detail } = log.failure(Exit::Silent(5.0), None) else { panic!() };
        assert!(detail.contains("for 5 s") && !detail.contains("word79.") && detail.contains("word80."));
    }
}
