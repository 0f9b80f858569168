//! The process that tries a batch, and what it leaves: faults, counts, and the operation during which it ended.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use common::conformance::{Batch, Case, Fault, FaultKind, OPERATIONS, Operation, Progress};
use tempfile::TempDir;

use super::finding::PLACE;
use super::library;
use crate::conformance::Conditions;
use crate::conformance::process::CheckLog;
use crate::mpi::{Exit, MpiError};

/// Names of its folders begin with it.
const PREFIX: &str = "ddtbench-conform-";

/// Time from making a folder to its lock, at most.
const UNLOCKED: Duration = Duration::from_secs(60);

/// The limit of silence is divided by it where most trials hang.
pub const HURRY: f64 = 4.0;

/// Starts processes for batches, which are exchanged through a folder.
#[derive(Debug)]
pub struct Worker<'a> {
    /// The conditions under which processes are started.
    pub conditions: Conditions<'a>,
    folder: TempDir,
    /// Locks the folder: one without a lock is left over.
    _lock: fs::File,
    /// Processes of operations that need several.
    pub ranks: usize,
    /// The path of messages between ranks, once it is known.
    pub transport: Option<String>,
    /// The text of `MPI_Get_library_version`, and the file of the library, once they are known.
    pub library: Option<(String, Option<String>)>,
    /// A worker for an MPI whose faults do not count.
    pub baseline: Option<Box<Self>>,
    /// When processes are ended, and none is started any more.
    pub deadline: Option<Instant>,
}

/// The results of a process.
#[derive(Debug, Default)]
pub struct BatchEnd {
    /// The faults that it reported, and its crash or hang, unless that follows from an error: then other ranks wait in vain.
    pub faults: Vec<Fault>,
    /// How often each operation was completed, in the order of [`OPERATIONS`].
    pub done: Vec<u64>,
    /// The case and the operation at which it ended, and in which way, if that was before the end of the batch.
    pub ended: Option<(u64, &'static Operation, FaultKind)>,
    /// The case at which the time was over, if that was before the end of the batch.
    pub cut_at: Option<u64>,
}

/// The value, or `None` if the user has stopped, which is noted.
pub fn unless_stopped<T>(result: Result<T, MpiError>, is_stopped: &mut bool) -> Result<Option<T>, MpiError> {
    match result {
        Err(MpiError::Interrupted) => {
            *is_stopped = true;
            Ok(None)
        }
        ended => ended.map(Some),
    }
}

impl<'a> Worker<'a> {
    /// For an MPI.
    ///
    /// # Errors
    /// If no folder can be made.
    pub fn new(conditions: Conditions<'a>, ranks: usize) -> io::Result<Self> {
        let temporary = std::env::temp_dir();
        remove_leftovers(&temporary, UNLOCKED)?;
        let folder = TempDir::with_prefix_in(PREFIX, temporary)?;
        let lock = fs::File::open(folder.path())?;
        // Without locks, folders of killed processes stay.
        let _ = lock.try_lock();
        Ok(Self {
            conditions,
            folder,
            _lock: lock,
            ranks,
            transport: None,
            library: None,
            baseline: None,
            deadline: None,
        })
    }

    /// A folder for files of this run, which are removed with it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Tries the operations that need at least this number of ranks on the cases.
    ///
    /// # Errors
    /// If no process begins, twice, or if the user wants to stop.
    pub fn run(
        &mut self,
        operations: &[&'static Operation],
        least: usize,
        cases: &[Case],
    ) -> Result<BatchEnd, MpiError> {
        let cut_at = Some(cases.first().map_or(0, |case| case.number));
        let nothing = BatchEnd { done: vec![0; OPERATIONS.len()], cut_at, ..BatchEnd::default() };
        if self.is_late() {
            return Ok(nothing);
        }
        if !self.folder().join(Batch::LIBRARY).exists() {
            library::compile(&self.conditions.target.installation, self.folder())?;
        }
        let operations = operations.iter().copied().filter(|operation| operation.ranks == least).collect();
        let ranks = if least == 1 { 1 } else { self.ranks };
        let (cases, asks_transport) = (cases.to_vec(), ranks > 1 && self.transport.is_none());
        let batch = Batch { operations, cases, asks_transport };
        let in_folder = |name: &str| self.folder.path().join(name);
        let failed = |error| MpiError::Other(format!("cannot write a batch: {error}"));
        let text = serde_json::to_vec(&batch).map_err(io::Error::from);
        text.and_then(|text| fs::write(in_folder(Batch::FILE), text)).map_err(failed)?;
        let folder = self.folder.path().display().to_string();
        let args = ["datatypes", &*folder, "--memory", self.conditions.memory.name()].map(str::to_owned);
        let launch = self.conditions.launch(&self.conditions.target.program, ranks, &args);
        let new_log = || {
            for rank in 0..ranks {
                // They do not exist before the first batch.
                let _ = fs::remove_file(in_folder(&Progress::file(rank)));
                let _ = fs::remove_file(in_folder(&Fault::file(rank)));
                let _ = fs::remove_file(in_folder(&Fault::place_file(rank)));
            }
            CheckLog::default()
        };
        let (log, exit) = self.conditions.watch(&launch, self.deadline, new_log)?;
        let end = if log.has_begun() { self.read(ranks, &log, exit)? } else { None };
        self.library = log.library.or(self.library.take());
        self.transport = log.transport.or(self.transport.take());
        Ok(end.unwrap_or(nothing))
    }

    /// Tries something with a limit of silence that is divided by `hurry`, so that a slow operation may count as one that hangs.
    pub fn hurried<T>(&mut self, hurry: f64, trials: impl FnOnce(&mut Self) -> T) -> T {
        self.set_hurry(hurry);
        let result = trials(self);
        self.set_hurry(1.0);
        result
    }

    fn set_hurry(&mut self, hurry: f64) {
        self.conditions.hurry = hurry;
        self.baseline.iter_mut().for_each(|baseline| baseline.conditions.hurry = hurry);
    }

    /// Whether no process is started any more.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Reads what the process has left; `None` if the time was over before its first case.
    fn read(&self, ranks: usize, log: &CheckLog, exit: Exit) -> Result<Option<BatchEnd>, MpiError> {
        let mut end = BatchEnd { done: vec![0; OPERATIONS.len()], ..BatchEnd::default() };
        let mut begun = Vec::new();
        for rank in 0..ranks {
            let text = fs::read_to_string(self.folder.path().join(Fault::file(rank))).unwrap_or_default();
            // A line that was being written when the process was killed is not whole.
            end.faults.extend(text.lines().filter_map(|line| serde_json::from_str::<Fault>(line).ok()));
            let bytes = fs::read(self.folder.path().join(Progress::file(rank))).unwrap_or_default();
            if let Some(progress) = Progress::read(&bytes) {
                begun.extend(progress.begun);
                let of_rank = progress.done.iter().enumerate();
                of_rank.for_each(|(i, done)| end.done[i] = end.done[i].max(*done));
            }
        }
        if log.is_done {
            return Ok(Some(end));
        }
        let detail = log.answer(exit).note;
        let Some((case, number)) = begun.into_iter().min() else {
            if self.is_late() {
                return Ok(None);
            }
            return Err(MpiError::Other(format!("the rank program ended before its first case: {detail}")));
        };
        if self.is_late() && matches!(exit, Exit::Silent(_)) {
            end.cut_at = Some(case);
            return Ok(Some(end));
        }
        let operation = &OPERATIONS[number.min(OPERATIONS.len() - 1)];
        let is_reported = end.faults.iter().any(|fault| fault.case == case && fault.operation == operation);
        let kind = match exit {
            _ if is_reported => FaultKind::Error,
            Exit::Ended(_) => FaultKind::Crash,
            Exit::Silent(_) => FaultKind::Hang,
        };
        end.ended = Some((case, operation, kind));
        let place = (kind == FaultKind::Crash).then(|| self.place(ranks, log)).flatten();
        let place = place.map_or_else(String::new, |place| format!("{PLACE}{place}"));
        let fault = Fault::new(case, operation, kind, format!("{}{place}", ending(&detail)));
        end.faults.extend((!is_reported).then_some(fault));
        Ok(Some(end))
    }

    /// The place where a rank crashed: what the MPI says, or the rank.
    fn place(&self, ranks: usize, log: &CheckLog) -> Option<String> {
        let file = |rank| fs::read_to_string(self.folder.path().join(Fault::place_file(rank))).ok();
        let function = (0..ranks).filter_map(file).find(|place| !place.is_empty());
        log.assertion.clone().or(function.map(|function| format!("in {function}")))
    }
}

/// Removes folders that killed processes have left. A new one is not locked yet.
fn remove_leftovers(temporary: &Path, unlocked: Duration) -> io::Result<()> {
    for entry in fs::read_dir(temporary)?.flatten() {
        let is_own = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let age = || entry.metadata().and_then(|metadata| metadata.modified()).ok()?.elapsed().ok();
        let is_old = is_own && age().is_some_and(|age| age >= unlocked);
        if is_old && fs::File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            // It may be one of another user.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// How a process ended, without its stage and its last output, which have other numbers each time.
fn ending(detail: &str) -> &str {
    detail.split(" during ").next().unwrap_or(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_processes_are_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = temporary.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(Batch::FILE), "{}").unwrap();
            path
        };
        let left = folder("ddtbench-conform-a");
        let (used, other) = (folder("ddtbench-conform-b"), folder("another"));
        let lock = fs::File::open(&used).unwrap();
        lock.try_lock().unwrap();
        let exist = || [&left, &used, &other].map(|path| path.exists());
        remove_leftovers(temporary.path(), UNLOCKED).unwrap();
        assert_eq!(exist(), [true; 3], "they are new");
        remove_leftovers(temporary.path(), Duration::ZERO).unwrap();
        assert_eq!(exist(), [false, true, true]);
    }
}
