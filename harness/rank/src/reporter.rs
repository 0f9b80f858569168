//! Reports the events of a case while it is measured, and the method to blame for a failure.

use std::time::Duration;

use common::model::Outcome;
use common::model::event::{Event, Stage};

use crate::guard::MemoryGuard;
use crate::library_account;
use crate::output::{Output, OutputFormat};

/// Exit code for scripts: a method transferred wrong bytes.
pub const WRONG_DATA: u8 = 1;

/// Reports the events of one process; among all ranks, only rank 0 does.
pub struct EventReporter {
    /// Prints or keeps events.
    pub output: Output,
    /// Ends the process before an MPI's growing memory exhausts the machine's.
    pub guard: Option<MemoryGuard>,
    pub method: String,
    has_wrong_data: bool,
    is_first: bool,
}

impl EventReporter {
    /// For rank `rank` of the world.
    pub fn new(output: Output, rank: usize, guard: Option<MemoryGuard>) -> Self {
        Self { output, guard, method: String::new(), has_wrong_data: false, is_first: rank == 0 }
    }

    pub fn report(&mut self, event: &Event) {
        if self.is_first {
            self.output.report(event);
        }
    }

    /// Reports that work on a method begins; this method is blamed from now on.
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

    /// Reports that all methods have ended, and the library's report on itself. The latter comes last: reading it may
    /// load components of the library, which must not affect measurements.
    pub fn done(&mut self) {
        self.report(&Event::Done);
        if self.is_first {
            self.report(&Event::Library { account: library_account::account() });
        }
    }

    /// For scripts; a program that reads events already knows.
    pub fn exit_code(&self) -> u8 {
        if self.has_wrong_data && self.output.format == OutputFormat::Text { WRONG_DATA } else { 0 }
    }

    /// Reports how an MPI call has failed, and ends all ranks: others may be waiting for this one, so nothing that
    /// needs them is possible any more.
    pub fn abort(&self, outcome: Outcome) -> ! {
        /// Exit code of a job that a failing MPI call has ended.
        const MPI_FAILED: i32 = 3;
        /// If a call failed because another rank has died, the launcher ends this one long before that.
        const LAUNCHER: Duration = Duration::from_secs(1);
        /// When a job is aborted, launchers drop output that they have not forwarded.
        const TO_PASS_ON: Duration = Duration::from_millis(300);
        self.output.fail(&self.method, outcome);
        std::thread::sleep(LAUNCHER);
        self.output.aborting();
        std::thread::sleep(TO_PASS_ON);
        crate::checked::World::abort(MPI_FAILED);
    }
}
