//! A run: from a plan to a folder of results, one process of the rank program per case.

mod agree;
mod case;
mod environment;
mod heard;
mod known_probes;
mod probed;

use std::collections::HashSet;
use std::time::{Duration, Instant};

pub use agree::{AgreeError, IMB, mismatch as imb_mismatch, plan as agree_plan};
pub use case::{CaseRun, Finished};
pub(crate) use environment::typed;
pub use environment::{Environment, Machine, MpiFacts};
pub(crate) use heard::{Exit, Heard};
pub use known_probes::forget as forget_probes;

use crate::event::{Hello, MessageFacts};
use crate::folder::{Folder, FolderError, Key};
use crate::load::Load;
use crate::mpi::{self, MpiError};
use crate::plan::{CUSTOM, Plan};
use crate::record::{Case, CaseResult, Measured, Record};

/// Who is told how a run goes.
pub trait Observer {
    /// A case begins: its number from 1, how many there are, and its name.
    fn begins(&mut self, number: usize, total: usize, name: &str);
    /// A method of the case has come to its end.
    fn method_ended(&mut self, method: &str);
    /// A sentence for the user.
    fn note(&mut self, text: &str);
    /// The case has ended and is on the disk.
    fn ended(&mut self, methods: &[Measured], took: Duration);
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
        let known = folder.probes()?;
        let (end, probes) = self.probe(folder, known, observer)?;
        if end == End::Interrupted {
            return Ok((end, Vec::new()));
        }
        let mut records = Vec::new();
        let total = self.plan.cases.len();
        for i in 0..total {
            let case = self.plan.case(i, &self.installation.name);
            if done.contains(&(case.test.clone(), case.params.clone())) {
                observer.skipped(&case);
                continue;
            }
            observer.begins(i + 1, total, &label(&case));
            let start = Instant::now();
            let (methods, hello) = match self.finish(i, observer)? {
                Finished::Case(methods, hello) => (methods, hello),
                Finished::Interrupted => return Ok((End::Interrupted, records)),
            };
            let mut methods = methods;
            self.mark(i, &mut methods, &probes);
            let result = CaseResult {
                rule: self.plan.limits.rule,
                message: self.message(i, hello.as_deref()),
                load: hello.as_deref().and_then(Load::of),
                case,
                methods,
            };
            records.extend(folder.append(&result)?);
            if let Some(hello) = hello.filter(|_| environment.rank_program.is_none()) {
                environment.rank_program = Some(Hello { message: Default::default(), ..*hello });
                folder.write_environment(environment)?;
            }
            observer.ended(&result.methods, start.elapsed());
        }
        Ok((End::Complete, records))
    }

    /// The message of case `i`, as the rank program told it; our own figures where none did.
    fn message(&self, i: usize, hello: Option<&Hello>) -> MessageFacts {
        hello.map_or_else(|| self.plan.message(i), |hello| hello.message)
    }
}

/// A case's name for the user: the test and what tells its sizes.
fn label(case: &Case) -> String {
    format!("{} {}", case.test, if case.set == CUSTOM { &case.params } else { &case.set })
}
