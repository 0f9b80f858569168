//! Reports what becomes of a case while it is measured, and which method a failure would be the fault of.

use std::process::ExitCode;
use std::time::Duration;

use common::model::Outcome;
use common::model::event::{Event, Stage};

use crate::guard::MemoryGuard;
use crate::library_account;
use crate::output::{Output, OutputFormat};

/// Exit code for a person's script: a method moved wrong bytes.
pub const WRONG_DATA: u8 = 1;

/// Reports the events of one process; of all ranks, rank 0 does.
pub struct EventReporter {
    /// Prints or keeps events.
    pub output: Output,
    /// Ends the process before an MPI's growing memory takes the machine with it.
    pub guard: Option<MemoryGuard>,
    /// The method that is being worked on.
    pub method: String,
    has_wrong_data: bool,
    is_first: bool,
}

impl EventReporter {
    /// Of the rank `rank` of the world.
    pub fn new(output: Output, rank: usize, guard: Option<MemoryGuard>) -> Self {
        Self { output, guard, method: String::new(), has_wrong_data: false, is_first: rank == 0 }
    }

    /// Reports an event.
    pub fn report(&mut self, event: &Event) {
        if self.is_first {
            self.output.report(event);
        }
    }

    /// Reports that work on a method begins, which is blamed from now on.
    pub fn working(&mut self, method: &str, stage: Stage) {
        method.clone_into(&mut self.method);
        if let Some(guard) = &self.guard {
            guard.works_on(method);
        }
        self.report(&Event::Working { method: method.to_owned(), stage });
    }

    /// Reports how a method has ended.
    pub fn ended(&mut self, method: &str, outcome: Outcome) {
        self.has_wrong_data |= matches!(outcome, Outcome::WrongData { .. });
        self.report(&Event::Ended { method: method.to_owned(), outcome });
    }

    /// Reports that all methods have ended, and what the library tells of itself. That comes last: to ask may load components of the
    /// library, which nothing that is measured is to meet.
    pub fn done(&mut self) {
        self.report(&Event::Done);
        if self.is_first {
            self.report(&Event::Library { account: library_account::account() });
        }
    }

    /// For a person's script; a program that reads events knows already.
    pub fn exit_code(&self) -> ExitCode {
        if self.has_wrong_data && self.output.format == OutputFormat::Text {
            ExitCode::from(WRONG_DATA)
        } else {
            ExitCode::SUCCESS
        }
    }

    /// Says how an MPI call has failed, and ends all ranks: others may be waiting for this one, so that nothing that
    /// needs them can be done any more.
    pub fn abort(&self, outcome: Outcome) -> ! {
        /// Exit code of a job that a failing MPI call has ended.
        const MPI_FAILED: i32 = 3;
        /// If a call failed since another rank has died, the launcher ends this one long before that.
        const LAUNCHER: Duration = Duration::from_secs(1);
        /// Launchers drop what they have not passed on when the job is aborted.
        const TO_PASS_ON: Duration = Duration::from_millis(300);
        self.output.fail(&self.method, outcome);
        std::thread::sleep(LAUNCHER);
        self.output.aborting();
        std::thread::sleep(TO_PASS_ON);
        crate::checked::World::abort(MPI_FAILED);
    }
}
