//! What all probes share: the ranks, what was counted, and how it is reported.

use std::cell::{Cell, RefCell};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::kinds::probes::METHOD;
use common::model::event::Event;
use common::model::{Outcome, Seen};
use serde::{Deserialize, Serialize};

use crate::checked::{CallError, Comm, ThreadMultiple, World};
use crate::output::{OutputFormat, print_event};

/// A heartbeat goes on for this much longer than the square of the growth lets expect; and the time between two beats.
const HEARTBEAT_GROWTH: f64 = 4.0;
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// What a rank has observed of an MPI in a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Whether it passed, failed, or what else it came to.
    pub what: Seen,
    /// More about it; empty where there is nothing to say.
    pub detail: String,
}

impl Observation {
    /// What was seen, with more about it.
    pub fn new(what: Seen, detail: impl Into<String>) -> Self {
        Self { what, detail: detail.into() }
    }

    /// All was as it should be.
    pub fn fine() -> Self {
        Self::new(Seen::Passed, "")
    }

    /// The same as the outcome of a method.
    pub fn outcome(self) -> Outcome {
        Outcome::Seen { what: self.what, detail: self.detail }
    }
}

/// Why a rank cannot go on.
#[derive(Debug)]
pub enum Stop {
    /// MPI returned an error where none is right.
    Call(CallError),
    /// It has seen enough; the others are not waited for.
    Observation(Observation),
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// An error where one is right.
pub fn refused(error: CallError) -> Stop {
    Stop::Observation(Observation::new(Seen::Refused, error.to_string()))
}

/// What was compared, how often, how often it was wrong, and the first wrong one.
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
    fn of(&mut self, what: &str) -> &mut Checks {
        let place = self.checks.iter().position(|checks| checks.what == what).unwrap_or_else(|| {
            self.checks.push(Checks { what: what.to_owned(), all: 0, wrong: 0 });
            self.checks.len() - 1
        });
        &mut self.checks[place]
    }

    /// Takes in what another rank has counted.
    fn add(&mut self, other: &Self) {
        for checks in &other.checks {
            let sum = self.of(&checks.what);
            sum.all += checks.all;
            sum.wrong += checks.wrong;
        }
        if self.first.is_empty() {
            self.first.clone_from(&other.first);
        }
    }

    /// What was wrong, if anything was.
    fn wrong(&self) -> Option<String> {
        let wrong = self.checks.iter().filter(|checks| checks.wrong > 0);
        let counts: Vec<_> =
            wrong.map(|Checks { what, all, wrong }| format!("{what}: {wrong} of {all}")).collect();
        (!counts.is_empty()).then(|| format!("wrong in {}; first {}", counts.join(", "), self.first))
    }
}

/// What a rank gives to be judged.
#[derive(Serialize, Deserialize)]
struct Account {
    what: Seen,
    detail: String,
    tally: Tally,
}

/// The ranks and the counts of one probe.
pub struct ProbeContext<'a> {
    /// All ranks of the job.
    pub comm: &'a Comm,
    /// This process among them.
    pub rank: usize,
    multiple: Option<ThreadMultiple>,
    name: &'static str,
    format: OutputFormat,
    begin: Instant,
    generation: Cell<u32>,
    tally: RefCell<Tally>,
}

impl<'a> ProbeContext<'a> {
    /// For a probe, on this rank.
    pub fn new(world: &'a World, name: &'static str, rank: usize, format: OutputFormat) -> Self {
        let (generation, tally) = (Cell::new(0), RefCell::default());
        let (comm, multiple) = (&world.comm, world.multiple());
        Self { comm, rank, multiple, name, format, begin: Instant::now(), generation, tally }
    }

    /// Leave for any thread to call MPI.
    ///
    /// # Panics
    /// In a probe that does not say that it has threads: the others are done only where there is leave.
    pub fn multiple(&self) -> ThreadMultiple {
        self.multiple.expect("the probe says that it has threads")
    }

    /// Of data that no transfer had before. Ranks that call it equally often agree.
    pub fn next_generation(&self) -> u32 {
        self.generation.update(|generation| generation + 1);
        self.generation.get()
    }

    /// Says what comes next, in case nothing else is ever reported.
    pub fn work(&self, stage: &str) {
        if self.rank == 0 && self.format == OutputFormat::Json {
            print_event(&Event::Working { method: METHOD.to_owned(), stage: stage.to_owned() });
        }
    }

    /// Counts a comparison of a kind, and whether it was `right`.
    pub fn count(&self, what: &str, right: Result<(), String>) {
        let mut tally = self.tally.borrow_mut();
        let checks = tally.of(what);
        checks.all += 1;
        let Err(wrong) = right else { return };
        checks.wrong += 1;
        let first = format!("{what}, check {}: {wrong}", checks.all);
        if tally.first.is_empty() {
            // The ranks may never come to compare what they have seen.
            self.tell(Observation::new(Seen::Failed, &*first).outcome());
            tally.first = first;
        }
    }

    /// A comparison that was wrong, and after which nothing can go on.
    pub fn wrong(&self, what: &str, wrong: String) -> Stop {
        self.count(what, Err(wrong));
        Stop::Observation(Observation::new(Seen::Failed, self.tally.borrow().wrong().unwrap_or_default()))
    }

    /// Whether no rank has counted anything wrong yet; all ranks ask together.
    pub fn is_right(&self) -> Result<bool, CallError> {
        let is_right = self.tally.borrow().first.is_empty();
        Ok(self.comm.minima(&[f64::from(u8::from(is_right))])?[0] > 0.0)
    }

    /// What all ranks have seen together; complete on rank 0 only.
    pub fn judge(&self, mine: Observation) -> Result<Observation, Stop> {
        let Observation { what, detail } = mine.clone();
        let account = Account { what, detail, tally: self.tally.borrow().clone() };
        let account = serde_json::to_vec(&account).expect("plain data");
        let all = self.comm.gather(&account)?;
        if all.is_empty() {
            return Ok(mine);
        }
        let read = |text: &Vec<u8>| serde_json::from_slice(text).expect("made by a rank above");
        Ok(judge_together(&all.iter().map(read).collect::<Vec<_>>()))
    }

    /// Tells what was seen, from any rank.
    pub fn tell(&self, outcome: Outcome) {
        tell(self.name, self.format, self.begin, outcome);
    }

    /// What is to be said when MPI is finalised, that all was right; until then it is told that it `fails`, for the case
    /// that nothing else is ever reported.
    pub fn final_report(&self, fails: &str) -> FinalReport {
        if self.format == OutputFormat::Json {
            self.tell(Observation::new(Seen::Failed, fails).outcome());
        }
        FinalReport { name: self.name, format: self.format, begin: self.begin }
    }

    /// Goes on to say that it works, though a call takes long, for as long as one of `count` things may, where one of `less`
    /// took `took`: what grows with the square is slow, which is no question of conformance.
    pub fn heartbeat(&self, what: &str, took: Duration, less: usize, count: usize) -> Heartbeat {
        let growth = (count as f64 / less as f64).powi(2);
        let most = took.mul_f64(growth * HEARTBEAT_GROWTH);
        let (sender, receiver) = mpsc::channel::<()>();
        if self.rank == 0 && self.format == OutputFormat::Json {
            let (begin, event) =
                (Instant::now(), Event::Working { method: METHOD.to_owned(), stage: what.to_owned() });
            // The thread ends when it is no longer wanted, at the latest with its next sign.
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

    /// Tells what was seen, and that nothing follows.
    pub fn conclude(&self, outcome: Outcome) {
        conclude(self.name, self.format, self.begin, outcome);
    }

    /// Tells what was seen and ends the job: other ranks may be waiting for this one.
    pub fn leave(&self, outcome: Outcome) -> ! {
        /// Exit code of a job that was ended by the probe itself.
        const ENDED: i32 = 3;
        self.conclude(outcome);
        // Launchers drop what they have not passed on when the job is aborted.
        std::thread::sleep(Duration::from_millis(500));
        World::abort(ENDED)
    }
}

/// Signs of life from a long call, while this lives.
pub struct Heartbeat(#[expect(dead_code, reason = "the thread ends when this is dropped")] mpsc::Sender<()>);

/// What is said when MPI is finalised.
pub struct FinalReport {
    name: &'static str,
    format: OutputFormat,
    begin: Instant,
}

impl FinalReport {
    /// Reports that all was right.
    pub fn say(&self) {
        conclude(self.name, self.format, self.begin, Observation::fine().outcome());
    }
}

fn tell(name: &str, format: OutputFormat, begin: Instant, outcome: Outcome) {
    let seconds = begin.elapsed().as_secs_f64();
    match format {
        OutputFormat::Json => print_event(&Event::Probe { outcome, seconds }),
        OutputFormat::Text => {
            let detail = outcome.detail().map_or_else(String::new, |detail| format!(": {detail}"));
            println!("{name}: {} after {seconds:.3} s{detail}", outcome.label());
        }
    }
}

fn conclude(name: &str, format: OutputFormat, begin: Instant, outcome: Outcome) {
    tell(name, format, begin, outcome);
    if format == OutputFormat::Json {
        print_event(&Event::Done);
    }
}

/// Of the ranks' accounts: wrong data first, then what any rank saw.
fn judge_together(all: &[Account]) -> Observation {
    let mut tally = Tally::default();
    all.iter().for_each(|account| tally.add(&account.tally));
    if let Some(wrong) = tally.wrong() {
        return Observation::new(Seen::Failed, wrong);
    }
    let mut seen = all.iter().map(|account| account.what);
    let what = seen.find(|&what| what != Seen::Passed).unwrap_or(Seen::Passed);
    let mut details: Vec<_> = all.iter().map(|account| account.detail.clone()).collect();
    details.retain(|detail| !detail.is_empty());
    // What keeps all ranks from it is told once; MPI's texts have addresses in them, and differ.
    let is_shared = matches!(what, Seen::Refused | Seen::Skipped);
    details.truncate(if is_shared { 1 } else { details.len() });
    details.dedup();
    Observation::new(what, details.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(what: Seen, detail: &str) -> Account {
        Account { what, detail: detail.to_owned(), tally: Tally::default() }
    }

    #[test]
    fn wrong_data_on_any_rank_is_a_failure_that_is_counted_by_kind() {
        let mut all = [account(Seen::Passed, ""), account(Seen::Passed, "")];
        for (kind, rights) in [("8/8", [true, true]), ("8/4", [true, false]), ("8/4", [false, false])] {
            let account = &mut all[usize::from(kind == "8/4")];
            for right in rights {
                let checks = account.tally.of(kind);
                checks.all += 1;
                checks.wrong += u32::from(!right);
            }
        }
        all[1].tally.first = "8/4, check 2: byte 7".to_owned();
        let expected = "wrong in 8/4: 3 of 4; first 8/4, check 2: byte 7";
        assert_eq!(judge_together(&all), Observation::new(Seen::Failed, expected));
    }

    #[test]
    fn what_one_rank_saw_is_what_was_seen() {
        let seen = judge_together(&[account(Seen::Passed, ""), account(Seen::No, "never")]);
        assert_eq!(seen, Observation::new(Seen::No, "never"));
        let refused = |text| account(Seen::Refused, text);
        assert_eq!(
            judge_together(&[refused("at 1"), refused("at 2")]),
            Observation::new(Seen::Refused, "at 1")
        );
        assert_eq!(judge_together(&[account(Seen::Passed, "")]), Observation::fine());
    }
}
