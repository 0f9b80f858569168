//! A run: from a plan to a folder of results, one process of the rank program per case.

mod case;
mod environment;
mod heard;

use std::collections::HashSet;
use std::time::{Duration, Instant};

pub use case::{CaseRun, Finished};
pub use environment::Environment;

use crate::event::Hello;
use crate::folder::{Folder, FolderError, Key};
use crate::mpi::{self, MpiError};
use crate::plan::Plan;
use crate::record::{Case, CaseResult, Record};

/// Who is told how a run goes.
pub trait Observer {
    /// A case begins: its number from 1, and how many there are.
    fn begins(&mut self, number: usize, total: usize, case: &Case);
    /// A method of the case has come to its end.
    fn method_ended(&mut self, method: &str);
    /// A sentence for the user.
    fn note(&mut self, text: &str);
    /// The case has ended and is on the disk.
    fn ended(&mut self, result: &CaseResult, took: Duration);
    /// A case was found finished.
    fn skipped(&mut self, case: &Case);
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All cases have ended.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Results cannot be kept.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The rank program cannot be started.
    #[error(transparent)]
    Mpi(#[from] MpiError),
}

/// What a run works with.
#[derive(Debug)]
pub struct Run<'a> {
    /// The checked plan.
    pub plan: &'a Plan,
    /// The MPI.
    pub installation: &'a mpi::Installation,
    /// The rank program that was built for it.
    pub program: &'a std::path::Path,
}

impl Run<'_> {
    /// Runs what is not in `done`, keeps each case in `folder`, and gives all new records.
    ///
    /// # Errors
    /// If results cannot be kept or the launcher cannot be started; what was finished before is kept.
    pub fn all(
        &self,
        folder: &mut Folder,
        done: &HashSet<Key>,
        environment: &mut Environment,
        observer: &mut dyn Observer,
    ) -> Result<(End, Vec<Record>), RunError> {
        let mut records = Vec::new();
        let total = self.plan.cases.len();
        for i in 0..total {
            let case = self.plan.case(i, &self.installation.name);
            if done.contains(&(case.test.clone(), case.params.clone())) {
                observer.skipped(&case);
                continue;
            }
            observer.begins(i + 1, total, &case);
            let start = Instant::now();
            let run = CaseRun { run: self, case: i };
            let (result, hello) = match run.finish(case, observer)? {
                Finished::Case(result, hello) => (result, hello),
                Finished::Interrupted => return Ok((End::Interrupted, records)),
            };
            records.extend(folder.append(&result)?);
            if let Some(hello) = hello.filter(|_| environment.rank_program.is_none()) {
                environment.rank_program = Some(Hello { message: Default::default(), ..*hello });
                folder.write_environment(environment)?;
            }
            observer.ended(&result, start.elapsed());
        }
        Ok((End::Complete, records))
    }
}
