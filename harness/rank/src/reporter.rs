//! Reports the events of a case while it is measured, and the method to blame for a failure.

use std::time::Duration;

use common::model::conditions::Rule;
use common::model::event::{Block, Event, Hello, Stage};
use common::model::{Case, Measured, Outcome};

use crate::guard::MemoryGuard;
use crate::library_account;
use crate::output::{OutputFormat, print_event, print_table};

/// Exit code for scripts: a method transferred wrong bytes.
pub const WRONG_DATA: u8 = 1;

/// Reports the events of one process; among all ranks, only rank 0 does. It prints them, or keeps them for a table.
pub struct EventReporter {
    format: OutputFormat,
    hello: Option<Box<Hello>>,
    blocks: Vec<Block>,
    ended: Vec<(String, Outcome)>,
    /// Ends the process before an MPI's growing memory exhausts the machine's.
    pub guard: Option<MemoryGuard>,
    pub method: String,
    has_wrong_data: bool,
    is_first: bool,
}

impl EventReporter {
    /// For rank `rank` of the world.
    pub fn new(format: OutputFormat, rank: usize) -> Self {
        Self {
            format,
            hello: None,
            blocks: Vec::new(),
            ended: Vec::new(),
            guard: None,
            method: String::new(),
            has_wrong_data: false,
            is_first: rank == 0,
        }
    }

    pub fn report(&mut self, event: &Event) {
        match event {
            _ if !self.is_first => {}
            _ if self.format == OutputFormat::Json => print_event(event),
            Event::Hello(hello) => self.hello = Some(hello.clone()),
            Event::Block(block) => self.blocks.push((**block).clone()),
            Event::Ended { method, outcome } => self.ended.push((method.clone(), outcome.clone())),
            Event::Transport(transport) => Hello::goes_by(&mut self.hello, transport.clone()),
            Event::Size(size) => println!("{size:?}"),
            Event::Working { .. } | Event::Aborting | Event::Done | Event::Library { .. } => {}
        }
    }

    /// Prints the kept events as the table of a case; prints nothing without kept events, as when events are printed.
    pub fn table(&mut self, case: &Case, rule: Rule) {
        let Some(hello) = self.hello.take() else { return };
        let blocks =
            |method: &str| self.blocks.iter().filter(|block| block.method == method).cloned().collect();
        let measured =
            |(method, outcome): (String, Outcome)| Measured { blocks: blocks(&method), method, outcome };
        let methods: Vec<_> = std::mem::take(&mut self.ended).into_iter().map(measured).collect();
        print_table(&hello, case.experiment, case, rule, &methods);
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

    /// Reports that all methods have ended, and the library's report on itself. The latter comes last:
    /// reading it may load components of the library, which must not affect measurements.
    pub fn done(&mut self) {
        self.report(&Event::Done);
        if self.is_first {
            self.report(&Event::Library { account: library_account::account() });
        }
    }

    /// For scripts; a program that reads events already knows.
    pub fn exit_code(&self) -> u8 {
        if self.has_wrong_data && self.format == OutputFormat::Text { WRONG_DATA } else { 0 }
    }

    /// Reports how an MPI call has failed, and ends all ranks: others may be waiting for this one, so nothing
    /// that needs them is possible any more.
    pub fn abort(&self, outcome: Outcome) -> ! {
        /// Exit code of a job that a failing MPI call has ended.
        const MPI_FAILED: i32 = 3;
        /// If a call failed because another rank has died, the launcher ends this one long before that.
        const LAUNCHER: Duration = Duration::from_secs(1);
        /// When a job is aborted, launchers drop output that they have not forwarded.
        const TO_PASS_ON: Duration = Duration::from_millis(300);
        let method = self.method.clone();
        if self.format == OutputFormat::Text {
            eprintln!("error: {method}: {}", outcome.detail().unwrap_or_default());
            std::thread::sleep(LAUNCHER);
        } else {
            print_event(&Event::Ended { method, outcome });
            std::thread::sleep(LAUNCHER);
            print_event(&Event::Aborting);
        }
        std::thread::sleep(TO_PASS_ON);
        crate::checked::World::abort(MPI_FAILED);
    }
}
