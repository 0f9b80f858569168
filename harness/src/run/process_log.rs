//! The log of one process: its events, its last output, and how its methods ended.

use crate::model::Outcome;
use crate::model::calibration::CalibratedSize;
use crate::model::event::{Block, Event, Hello, Stage};
use crate::model::plain::plain;
use crate::mpi::{Exit, LastOutput, Line, LineEvents};

/// Events and last output of one process.
#[derive(Debug, Default)]
pub struct ProcessLog {
    /// Its account of itself.
    pub hello: Option<Box<Hello>>,
    /// The blocks of all methods, in order.
    pub blocks: Vec<Block>,
    pub ended: Vec<(String, Outcome)>,
    /// The last method that was begun, and its stage.
    pub working: Option<(String, Stage)>,
    /// Whether the process reported its end.
    pub done: bool,
    /// The sizes that were found.
    sizes: Vec<CalibratedSize>,
    /// Number of lines whose event could not be read.
    pub torn: usize,
    /// Whether a rank reported that it would abort.
    aborts: bool,
    /// Whether two jobs reported, so that neither had the machine for itself.
    is_twice: bool,
    output: LastOutput,
}

impl ProcessLog {
    /// Takes a line, and returns its events. Other lines are output of the MPI.
    pub fn line(&mut self, line: Line) -> Vec<Event> {
        let text = match line {
            Line::Out(text) => text,
            Line::Err(text) => {
                self.output.add(&text);
                return Vec::new();
            }
        };
        let LineEvents { mut events, rest, is_torn } = LineEvents::<Event>::from_line(&text, "event");
        self.output.add(&rest);
        self.torn += usize::from(is_torn);
        events.retain(|event| self.is_new(event));
        events.iter().for_each(|event| self.event(event.clone()));
        events
    }

    /// Whether an event counts: repeated events, as of launchers that print lines twice, and those of a second job do not.
    fn is_new(&mut self, event: &Event) -> bool {
        let is_same_block = |known: &&Block, block: &Block| {
            (&known.method, known.block, known.pair) == (&block.method, block.block, block.pair)
        };
        let known = match event {
            Event::Hello(hello) => self.hello.as_ref().map(|known| known.ranks == hello.ranks),
            Event::Block(block) => {
                let known = self.blocks.iter().rev().find(|known| is_same_block(known, block));
                known.map(|known| known == &**block)
            }
            Event::Size(size) => self.sizes.contains(size).then_some(true),
            Event::Library { .. } => None,
            _ if self.done => Some(true),
            _ => None,
        };
        if known == Some(false) {
            self.is_twice = true;
            self.blocks.clear();
        }
        known.is_none() && !(self.is_twice || self.done && matches!(event, Event::Block(_)))
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
            Event::Size(size) => self.sizes.push(size),
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

    pub fn blocks_of(&self, method: &str) -> Vec<Block> {
        self.blocks.iter().filter(|block| block.method == method).cloned().collect()
    }

    /// The methods of `asked` that have an outcome, after the process has ended. The others run again in a
    /// new process. There is always at least one outcome, so that this terminates.
    pub fn outcomes(&self, asked: &[String], exit: Exit) -> Vec<(String, Outcome)> {
        if self.is_twice {
            let detail = "the launcher started the job twice at once, so no time is that of a single job; \
                          check the command that --dry-run prints, and the settings of the launcher";
            let crashed = Outcome::Crashed { detail: detail.to_owned() };
            return asked.iter().map(|method| (method.clone(), crashed.clone())).collect();
        }
        let ended = self.ended.iter().filter(|(method, _)| asked.contains(method));
        let mut outcomes: Vec<_> =
            ended.map(|(method, outcome)| (method.clone(), self.explained(outcome, exit))).collect();
        let failed = self
            .working
            .as_ref()
            .filter(|(method, _)| !self.done && asked.contains(method) && !self.has_ended(method));
        if let Some((method, stage)) = failed {
            outcomes.push((method.clone(), self.failure(exit, Some(*stage))));
        }
        if outcomes.is_empty() {
            outcomes = asked.iter().map(|method| (method.clone(), self.failure(exit, None))).collect();
        }
        outcomes
    }

    /// The outcome of a method, given how the process ended: if a signal ended a rank, failed calls of other
    /// ranks are a consequence. A rank that lives long enough to abort all ranks was the first.
    fn explained(&self, outcome: &Outcome, exit: Exit) -> Outcome {
        match (outcome, exit) {
            (Outcome::MpiError { detail }, Exit::Ended(exit)) if !self.aborts && exit.signal().is_some() => {
                Outcome::Crashed { detail: format!("{exit}; another rank then reported: {detail}") }
            }
            _ => outcome.clone(),
        }
    }

    /// How a finished process ended, unless with exit code 0.
    pub fn bad_ending(&self, exit: Exit) -> Option<String> {
        match exit {
            _ if !self.done => None,
            Exit::Ended(exit) if exit.success() => None,
            Exit::Ended(exit) => {
                Some(format!("MPI_Finalize or the launcher failed after the measurements: {exit}"))
            }
            Exit::Silent(seconds) => Some(format!(
                "MPI_Finalize did not return within {seconds} s after the measurements; the ranks were killed"
            )),
        }
    }

    /// The outcome of the current method, given how the process ended.
    pub fn failure(&self, exit: Exit, stage: Option<Stage>) -> Outcome {
        let during = match stage {
            Some(Stage::Verify) => " while verifying".to_owned(),
            Some(Stage::Measure) => " while measuring".to_owned(),
            Some(stage @ (Stage::Pack | Stage::Unpack)) => {
                let has_left = matches!(exit, Exit::Ended(exit) if exit.signal().is_none());
                let what = if has_left { ", which ended the process" } else { "" };
                format!(" in your function `{stage}`{what}")
            }
            Some(stage) => format!(" during {stage}"),
            None if self.hello.is_some() => " before any method".to_owned(),
            None => " before the first event".to_owned(),
        };
        let detail = self.output.explain(exit, &during);
        match exit {
            Exit::Ended(_) => Outcome::Crashed { detail },
            Exit::Silent(_) => Outcome::TimedOut { detail },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::RankPlace;
    use crate::model::{Phase, Times};
    use crate::mpi::ExitDescription;

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

    /// A line as a rank program prints it.
    fn line(event: Event) -> String {
        serde_json::to_string(&event).unwrap()
    }

    fn hello(pid: u32) -> String {
        let rank = RankPlace { rank: 0, host: "h".to_owned(), pid, cpus: vec![0] };
        line(Event::Hello(Box::new(Hello { ranks: vec![rank], ..Hello::default() })))
    }

    fn block(round: usize, time_s: f64) -> String {
        let times = Times::from([(Phase::RoundTrip, vec![time_s])]);
        line(Event::Block(Box::new(Block {
            method: "a".to_owned(),
            block: round,
            times,
            ..Block::default()
        })))
    }

    #[test]
    fn what_is_printed_twice_counts_once() {
        let lines = [hello(1), block(0, 1e-6), block(1, 2e-6), line(Event::Done)];
        let mut log = ProcessLog::default();
        let taken = |log: &mut ProcessLog, line: &String| log.line(Line::Out(line.clone())).len();
        for line in &lines {
            assert_eq!((taken(&mut log, line), taken(&mut log, line)), (1, 0), "{line}");
        }
        assert_eq!(taken(&mut log, &block(2, 3e-6)), 0);
        assert_eq!((log.blocks.len(), log.outcomes(&names(&["a"]), KILLED)[0].1.label()), (2, "crashed"));
        assert!(!log.is_twice);
    }

    #[test]
    fn a_job_that_is_started_twice_has_no_times() {
        let [first, second] = [[hello(1), block(0, 1e-6)], [hello(2), block(0, 2e-6)]];
        let mixed = [&first[0], &first[1], &second[1]];
        let after_the_first = [&first[0], &first[1], &line(Event::Done), &second[0], &second[1]];
        for lines in [&mixed[..], &after_the_first] {
            let mut log = ProcessLog::default();
            lines.iter().for_each(|line| drop(log.line(Line::Out((*line).clone()))));
            let (_, outcome) = log.outcomes(&names(&["a"]), KILLED).remove(0);
            assert!(outcome.detail().unwrap().contains("started the job twice"), "{outcome:?}");
            assert!(log.blocks.is_empty());
        }
    }

    #[test]
    fn an_mpi_error_next_to_a_killed_rank_is_its_consequence() {
        let mut log = log(&[
            r#"{"event":"ended","method":"a","outcome":{"outcome":"mpi_error","detail":"MPI_Recv failed"}}"#,
        ]);
        let outcome = |log: &ProcessLog, code| {
            let exit = Exit::Ended(ExitDescription { code: Some(code), signal: None });
            log.outcomes(&names(&["a", "b"]), exit).remove(0).1
        };
        assert_eq!(outcome(&log, 3).label(), "MPI error");
        let crashed = format!("{:?}", outcome(&log, 137));
        assert!(crashed.starts_with("Crashed") && crashed.contains("SIGKILL"), "{crashed}");
        assert!(crashed.contains("then reported: MPI_Recv failed"), "{crashed}");
        // Launchers may report how they ended the other ranks.
        log.line(Line::Out(line(Event::Aborting)));
        assert_eq!(outcome(&log, 137).label(), "MPI error");
    }

    #[test]
    fn an_end_that_is_bad_is_reported_once_all_was_measured() {
        let ended = |code| Exit::Ended(ExitDescription { code: Some(code), signal: None });
        let mut log = log(&[r#"{"event":"working","method":"a","stage":"measure"}"#]);
        assert_eq!(log.bad_ending(ended(7)), None, "that is its method's end");
        log.line(Line::Out(line(Event::Done)));
        assert_eq!(log.bad_ending(ended(0)), None);
        assert!(log.bad_ending(ended(3)).unwrap().ends_with("exit code 3"));
        assert!(log.bad_ending(Exit::Silent(10.0)).unwrap().contains("10 s"));
    }
}
