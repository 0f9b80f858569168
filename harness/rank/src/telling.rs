//! What a case tells while it is measured, and on whose account a failure would be.

use std::process::ExitCode;
use std::time::Duration;

use ddtbench::event::{Event, Outcome};

use crate::guard::MemoryGuard;
use crate::output::{Format, Output};

/// Exit code for a person's script: a method moved wrong bytes.
pub const WRONG_DATA: u8 = 1;

/// The events of one process; only rank 0's are told.
pub struct Telling {
    /// Where events go.
    pub output: Output,
    /// Ends the process before an MPI's growing memory takes the machine with it.
    pub guard: Option<MemoryGuard>,
    /// The method that is being worked on.
    pub method: String,
    has_wrong_data: bool,
    is_first: bool,
}

impl Telling {
    /// Of the rank `rank` of the world.
    pub fn new(output: Output, rank: usize, guard: Option<MemoryGuard>) -> Self {
        Self { output, guard, method: String::new(), has_wrong_data: false, is_first: rank == 0 }
    }

    /// Tells an event.
    pub fn tell(&mut self, event: &Event) {
        if self.is_first {
            self.output.tell(event);
        }
    }

    /// Work on a method begins.
    pub fn working(&mut self, method: &str, stage: &str) {
        method.clone_into(&mut self.method);
        if let Some(guard) = &self.guard {
            guard.works_on(method);
        }
        self.tell(&Event::Working { method: method.to_owned(), stage: stage.to_owned() });
    }

    /// A method has ended.
    pub fn ended(&mut self, method: &str, outcome: Outcome) {
        self.has_wrong_data |= matches!(outcome, Outcome::WrongData { .. });
        self.tell(&Event::Ended { method: method.to_owned(), outcome });
    }

    /// For a person's script; a program that reads events knows already.
    pub fn exit_code(&self) -> ExitCode {
        if self.has_wrong_data && self.output.format == Format::Text {
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
