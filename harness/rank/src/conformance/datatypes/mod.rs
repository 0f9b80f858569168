//! Operations on the datatypes of a batch of cases. Before each call the process notes what it does in a file that survives its end,
//! and each fault is in a file before the next call, so that crashes and hangs lose nothing.

mod arena;
mod bench;
mod crash;
mod progress;
mod run;
mod subject;

use std::fs::{self, File};
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use common::conformance::{Batch, Case, Fault, FaultKind, Need, OPERATIONS, Operation, Progress};
use common::model::check::CheckEvent;

use crate::checked::World;
use crate::cli::Datatypes;
use crate::environment;
use crate::output::print_event;
use crate::transport::Hosts;
use bench::{Bench, Halt};
use progress::ProgressFile;
use subject::Subject;

/// Time between two signs of life.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// The exit code of a rank that cannot continue with the others.
const FAILED: i32 = 1;

/// Tries the operations of a batch.
///
/// # Errors
/// If its files cannot be read or written to.
pub fn run(world: &World, args: &Datatypes) -> anyhow::Result<u8> {
    let file = args.folder.join(Batch::FILE);
    let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let batch: Batch =
        serde_json::from_slice(&text).with_context(|| format!("{} is invalid", file.display()))?;
    let bench = Bench::new(world, &args.folder, args.memory)?;
    let (rank, ranks) = (bench.rank, world.comm.size()?);
    let mut worker = Worker {
        progress: ProgressFile::create(&args.folder.join(Progress::file(rank)))?,
        faults: File::create(args.folder.join(Fault::file(rank)))?,
        operations: operations(&batch, ranks)?,
        ranks,
        reports_bounds: batch.operations.contains(&&OPERATIONS[0]),
        next_beat: Instant::now(),
        bench,
    };
    crash::watch(&args.folder.join(Fault::place_file(rank)))?;
    worker.beat(0);
    if rank == 0 {
        print_event(&environment::library());
    }
    if batch.asks_transport {
        let transport = Hosts::of_world(&world.comm, &environment::place(rank))?.account(&world.comm)?;
        if rank == 0 {
            print_event(&CheckEvent::Transport { name: transport.name() });
        }
    }
    if !bench::is_plain(&worker.bench.own)? {
        worker.operations.retain(|operation| !operation.needs(Need::Plain));
    }
    for case in &batch.cases {
        worker.try_case(case)?;
    }
    worker.progress.end();
    if rank == 0 {
        print_event(&CheckEvent::Done);
    }
    Ok(0)
}

/// The operations of a batch, without the first one, `bounds`, which is part of making a [`Subject`].
fn operations(batch: &Batch, ranks: usize) -> anyhow::Result<Vec<&'static Operation>> {
    for Operation { name, ranks: needed, .. } in &batch.operations {
        ensure!(*needed == ranks.min(2), "{name} needs {needed} ranks, and there are {ranks}");
    }
    Ok(batch.operations.iter().copied().filter(|operation| operation.number() > 0).collect())
}

/// The state of this process.
struct Worker<'a> {
    bench: Bench<'a>,
    progress: ProgressFile,
    faults: File,
    operations: Vec<&'static Operation>,
    reports_bounds: bool,
    ranks: usize,
    next_beat: Instant,
}

impl Worker<'_> {
    fn try_case(&mut self, case: &Case) -> anyhow::Result<()> {
        let Some(subject) = self.subject(case)? else { return Ok(()) };
        for i in 0..self.operations.len() {
            let operation = self.operations[i];
            if !case.tries(operation) {
                continue;
            }
            let number = operation.number();
            self.begin(case, number)?;
            match run::run(&self.bench, &subject, operation, case.origin * 1024 + number as u64) {
                Ok(()) => self.progress.complete(number),
                Err(Halt::Unsuitable) => {}
                Err(Halt::WrongBytes(wrong)) => {
                    self.progress.complete(number);
                    let fault = Fault::new(case.number, operation, wrong.kind, wrong.detail);
                    let adopted = subject.has_other_bounds.then(|| subject.layout.with_resized());
                    let is_error = fault.kind == FaultKind::Error;
                    self.report(&Fault { adopted, ..fault })?;
                    if is_error && self.ranks > 1 {
                        // The other ranks would wait in vain until the watchdog ends them; the launcher ends them now.
                        std::process::exit(FAILED);
                    }
                }
            }
        }
        Ok(())
    }

    /// Creates the datatype; `None` if nothing can be tried with it.
    fn subject(&mut self, case: &Case) -> anyhow::Result<Option<Subject>> {
        let bounds = &OPERATIONS[0];
        if case.skipped.contains(&bounds) {
            return Ok(None);
        }
        self.begin(case, bounds.number())?;
        let mut faults = Vec::new();
        let subject = match Subject::new(case, &self.bench.own, &mut faults) {
            Ok(subject) => subject,
            Err(error) => {
                if let Halt::WrongBytes(wrong) = Halt::from(error) {
                    faults.push(Fault::new(case.number, bounds, FaultKind::Error, wrong.detail));
                }
                None
            }
        };
        if self.reports_bounds {
            self.progress.complete(bounds.number());
            faults.iter().try_for_each(|fault| self.report(fault))?;
        }
        Ok(subject.filter(|subject| self.bench.has_room(&subject.data_of(1))))
    }

    /// An operation begins on all ranks at the same time, so that the one that is to blame is known.
    fn begin(&mut self, case: &Case, operation: usize) -> anyhow::Result<()> {
        self.bench.world.barrier()?;
        self.progress.begin(case.number, operation);
        self.beat(case.number);
        Ok(())
    }

    fn beat(&mut self, case: u64) {
        if self.bench.rank == 0 && Instant::now() >= self.next_beat {
            self.next_beat = Instant::now() + HEARTBEAT;
            print_event(&CheckEvent::Working { stage: format!("case {case}") });
        }
    }

    fn report(&mut self, fault: &Fault) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(fault)?;
        line.push('\n');
        self.faults.write_all(line.as_bytes()).context("cannot write a fault")
    }
}
