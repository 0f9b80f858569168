//! Shared by all checks: the ranks, the comparisons, and the report.

use std::cell::{Cell, RefCell};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::model::check::{Answer, CheckEvent, CheckOutcome};
use serde::{Deserialize, Serialize};

use crate::checked::{CallError, Comm, ThreadMultiple, World};
use crate::environment;
use crate::output::{OutputFormat, print_event};

/// A heartbeat continues for this many times the duration that quadratic growth predicts; and the time between two beats.
const HEARTBEAT_GROWTH: f64 = 4.0;
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// Why a rank cannot continue.
#[derive(Debug)]
pub enum Stop {
    /// MPI returned an error where it should not.
    Call(CallError),
    /// It has its answer, and does not wait for the other ranks.
    Answered(Answer),
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// Comparisons by kind: how many, how many were wrong, and the first wrong one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Tally {
    checks: Vec<Checks>,
    first: String,
}

/// Comparisons of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checks {
    what: String,
    all: u32,
    wrong: u32,
}

impl Tally {
    /// The comparisons of a kind.
    fn checks_of(&mut self, what: &str) -> &mut Checks {
        let place = self.checks.iter().position(|checks| checks.what == what).unwrap_or_else(|| {
            self.checks.push(Checks { what: what.to_owned(), all: 0, wrong: 0 });
            self.checks.len() - 1
        });
        &mut self.checks[place]
    }

    /// Adds the counts of another rank.
    fn add(&mut self, other: &Self) {
        for checks in &other.checks {
            let sum = self.checks_of(&checks.what);
            sum.all += checks.all;
            sum.wrong += checks.wrong;
        }
        if self.first.is_empty() {
            self.first.clone_from(&other.first);
        }
    }

    /// A description of the errors, if there are any.
    fn wrong(&self) -> Option<String> {
        let wrong = self.checks.iter().filter(|checks| checks.wrong > 0);
        let counts: Vec<_> =
            wrong.map(|Checks { what, all, wrong }| format!("{what}: {wrong} of {all}")).collect();
        (!counts.is_empty()).then(|| format!("wrong in {}; first {}", counts.join(", "), self.first))
    }
}

/// The findings of a rank.
#[derive(Serialize, Deserialize)]
struct Account {
    answer: Answer,
    tally: Tally,
}

/// How a check is reported.
#[derive(Clone, Copy)]
pub struct Report {
    name: &'static str,
    format: OutputFormat,
    begin: Instant,
}

impl Report {
    /// Reports an answer, from any rank.
    fn answer(self, answer: Answer) {
        let seconds = self.begin.elapsed().as_secs_f64();
        match self.format {
            OutputFormat::Json => print_event(&CheckEvent::Answered { answer, seconds }),
            OutputFormat::Text => println!("{}: {}", self.name, answer.text()),
        }
    }

    /// Reports an answer as the last one.
    pub fn conclude(self, answer: Answer) {
        self.answer(answer);
        if self.format == OutputFormat::Json {
            print_event(&CheckEvent::Done);
        }
    }

    /// The same for the time when MPI is finalised. Until then the answer is that it `fails`, in case there is never another report.
    pub fn until_finalized(self, fails: &str) -> Self {
        if self.format == OutputFormat::Json {
            self.answer(Answer::new(CheckOutcome::Failed, fails));
        }
        self
    }
}

/// The ranks and the comparisons of one check.
pub struct CheckContext<'a> {
    /// All ranks of the job.
    pub comm: &'a Comm,
    pub rank: usize,
    pub name: &'static str,
    pub report: Report,
    multiple: Option<ThreadMultiple>,
    generation: Cell<u32>,
    tally: RefCell<Tally>,
    /// The answer of this rank if all its comparisons are right.
    answer: RefCell<Answer>,
}

impl<'a> CheckContext<'a> {
    /// The context of a check on this rank.
    pub fn new(world: &'a World, name: &'static str, rank: usize, format: OutputFormat) -> Self {
        let report = Report { name, format, begin: Instant::now() };
        let (generation, tally, answer) = (Cell::new(0), RefCell::default(), RefCell::new(Answer::passed()));
        let (comm, multiple) = (&world.comm, world.multiple());
        if rank == 0 && format == OutputFormat::Json {
            print_event(&environment::library());
        }
        Self { comm, rank, name, report, multiple, generation, tally, answer }
    }

    /// Sets another answer than that all was right, or adds a note.
    pub fn answer(&self, answer: Answer) {
        self.answer.replace(answer);
    }

    /// Permission for any thread to call MPI.
    ///
    /// # Panics
    /// In a check whose row has one thread: only checks with more threads require this permission to run.
    pub fn multiple(&self) -> ThreadMultiple {
        self.multiple.expect("the row of the check has several threads")
    }

    /// A generation of data that no earlier transfer had. Ranks that call this equally often get the same one.
    pub fn next_generation(&self) -> u32 {
        self.generation.update(|generation| generation + 1);
        self.generation.get()
    }

    /// Reports the next stage, which is blamed if there is no later report.
    pub fn work(&self, stage: &str) {
        if self.rank == 0 && self.report.format == OutputFormat::Json {
            print_event(&CheckEvent::Working { stage: stage.to_owned() });
        }
    }

    /// Counts a comparison of a kind, and whether it was `right`.
    pub fn count(&self, what: &str, right: Result<(), String>) {
        let mut tally = self.tally.borrow_mut();
        let checks = tally.checks_of(what);
        checks.all += 1;
        let Err(wrong) = right else { return };
        checks.wrong += 1;
        let first = format!("{what}, check {}: {wrong}", checks.all);
        if tally.first.is_empty() {
            // The ranks may never get to compare their observations.
            self.report.answer(Answer::new(CheckOutcome::Failed, &*first));
            tally.first = first;
        }
    }

    /// A wrong comparison after which the check cannot continue.
    pub fn wrong(&self, what: &str, wrong: String) -> Stop {
        self.count(what, Err(wrong));
        Stop::Answered(Answer::new(CheckOutcome::Failed, self.tally.borrow().wrong().unwrap_or_default()))
    }

    /// Whether no rank has counted an error yet; collective.
    pub fn is_right(&self) -> Result<bool, CallError> {
        self.comm.everywhere(self.tally.borrow().first.is_empty())
    }

    /// The answer of all ranks together; complete on rank 0 only.
    pub fn judge(&self) -> Result<Answer, CallError> {
        let mine = self.answer.borrow().clone();
        let account = Account { answer: mine.clone(), tally: self.tally.borrow().clone() };
        let account = serde_json::to_vec(&account).expect("plain data");
        let all = self.comm.gather(&account)?;
        if all.is_empty() {
            return Ok(mine);
        }
        let read = |text: &Vec<u8>| serde_json::from_slice(text).expect("made by a rank above");
        Ok(judge_together(&all.iter().map(read).collect::<Vec<_>>()))
    }

    /// Reports regularly that a long call is working, for as long as a call with a `count` may take if one
    /// with `less` took `took`. Quadratic growth is slow, but correct.
    pub fn heartbeat(&self, what: &str, took: Duration, less: usize, count: usize) -> Heartbeat {
        let growth = (count as f64 / less as f64).powi(2);
        let most = took.mul_f64(growth * HEARTBEAT_GROWTH);
        let (sender, receiver) = mpsc::channel::<()>();
        if self.rank == 0 && self.report.format == OutputFormat::Json {
            let (begin, event) = (Instant::now(), CheckEvent::Working { stage: what.to_owned() });
            // The thread ends when it is no longer needed, at the latest with its next event.
            std::thread::spawn(move || {
                while begin.elapsed() < most
                    && receiver.recv_timeout(HEARTBEAT_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout)
                {
                    print_event(&event);
                }
            });
        }
        Heartbeat(sender)
    }

    /// Reports an answer and ends the job: other ranks may be waiting for this one.
    pub fn leave(&self, answer: Answer) -> ! {
        /// Exit code of a job that the check itself ended.
        const ENDED: i32 = 3;
        self.report.conclude(answer);
        // When a job is aborted, launchers drop output that they have not forwarded.
        std::thread::sleep(Duration::from_millis(500));
        World::abort(ENDED)
    }
}

/// Reports that a long call works, until it is dropped.
pub struct Heartbeat(#[expect(dead_code, reason = "the thread ends when this is dropped")] mpsc::Sender<()>);

/// The answer from all ranks' accounts: wrong data first, then any rank's other findings.
fn judge_together(all: &[Account]) -> Answer {
    let mut tally = Tally::default();
    all.iter().for_each(|account| tally.add(&account.tally));
    if let Some(wrong) = tally.wrong() {
        return Answer::new(CheckOutcome::Failed, wrong);
    }
    let mut outcomes = all.iter().map(|account| account.answer.outcome);
    let outcome = outcomes.find(|&outcome| outcome != CheckOutcome::Passed).unwrap_or(CheckOutcome::Passed);
    let mut notes: Vec<_> = all.iter().map(|account| account.answer.note.as_str()).collect();
    notes.retain(|note| !note.is_empty());
    // All ranks have the same reason to skip a check.
    notes.dedup();
    Answer::new(outcome, notes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(outcome: CheckOutcome, note: &str) -> Account {
        Account { answer: Answer::new(outcome, note), tally: Tally::default() }
    }

    #[test]
    fn wrong_data_on_any_rank_is_a_failure_that_is_counted_by_kind() {
        let mut all = [account(CheckOutcome::Passed, ""), account(CheckOutcome::Passed, "")];
        for (kind, rights) in [("8/8", [true, true]), ("8/4", [true, false]), ("8/4", [false, false])] {
            let account = &mut all[usize::from(kind == "8/4")];
            for right in rights {
                let checks = account.tally.checks_of(kind);
                checks.all += 1;
                checks.wrong += u32::from(!right);
            }
        }
        all[1].tally.first = "8/4, check 2: byte 7".to_owned();
        let expected = "wrong in 8/4: 3 of 4; first 8/4, check 2: byte 7";
        assert_eq!(judge_together(&all), Answer::new(CheckOutcome::Failed, expected));
    }

    #[test]
    fn the_answer_of_one_rank_is_that_of_all() {
        let skipped = || account(CheckOutcome::Skipped, "no memory");
        assert_eq!(judge_together(&[skipped(), skipped()]), skipped().answer);
        let passed = |note| account(CheckOutcome::Passed, note);
        assert_eq!(judge_together(&[passed(""), passed("2000: 1 ms")]), passed("2000: 1 ms").answer);
        assert_eq!(judge_together(&[passed("")]), Answer::passed());
    }
}
