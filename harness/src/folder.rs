//! The run folder: which results are stored, and when. It does not use plans, processes or MPIs.
//!
//! To store a finished case of a launch, its samples, blocks and figures are appended and synced, and only then its rows of
//! `launches.csv`, in one write. A case with these rows for all of its methods is done. Other content was left by a run that was
//! cut off: when the run is resumed, it is set aside, and never deleted.
//!
//! `summary.csv`, `figures.csv`, `report.html` and the folder `figures` are made from the others, and can be made again.

mod checksums;
pub(crate) mod gzip;
mod locked_folder;
mod log;
mod pictures;
pub(crate) mod recorded;
pub(crate) mod rows;
pub(crate) mod samples;
pub(crate) mod torn;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::cells;
use crate::model::event::{MessageFacts, TimedApart};
use crate::model::{BlockState, Case, CaseResult, Phase, Record};
pub use checksums::changed_files;
pub use locked_folder::LockedFolder;
use locked_folder::{RESULTS_MODE, replace_by};
use log::Log;
pub use pictures::write_pictures;
pub use recorded::{Done, Recorded, lacking_figures, lacking_rows, read_records, read_times, runs_within};
use rows::FigureRow;
pub use samples::MethodSamples;

/// The plan as it was checked, so that a run can be resumed or repeated.
pub const PLAN: &str = "plan.toml";
/// Machine, MPIs and settings.
pub const ENVIRONMENT: &str = "environment.json";
/// A row per part of the run: when, where and by which version.
pub const RUNS: &str = "runs.csv";
/// A row per case, with the number that represents it in the files of samples and blocks.
pub const CASES: &str = "cases.csv";
/// Every raw sample.
pub const SAMPLES: &str = "samples.csv.gz";
/// The state of the machine for each block.
pub const BLOCKS: &str = "blocks.csv.gz";
/// The results of checks of the MPIs.
pub const CHECKS: &str = "checks.csv";
pub const LAUNCH_FIGURES: &str = "launch_figures.csv";
/// The times of each launch: a row per method and phase.
pub const LAUNCHES: &str = "launches.csv";
/// The times over all launches.
pub const SUMMARY: &str = "summary.csv";
/// The figures over all launches.
pub const FIGURES: &str = "figures.csv";
pub const COMPARISON: &str = "comparison.json";
/// The results as a page.
pub const REPORT: &str = "report.html";
pub const PICTURES: &str = "figures";
/// The folder of values that are too long for a command line.
pub const VALUES: &str = "values";
/// The user's loop, compiled.
pub const OWN_LOOP: &str = "own.so";
/// The folder for parts that cannot be used.
pub const SET_ASIDE: &str = "set-aside";

/// The folder of a run, which results are being written to.
#[derive(Debug)]
pub struct Folder {
    locked: LockedFolder,
    about: About,
    numbers: HashMap<Arc<Case>, usize>,
    cases: Log,
    samples: Log,
    blocks: Log,
    figures: Log,
    launches: Log,
}

/// Information about a run that the folder needs.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub plan: String,
    /// The phases of its kind of experiments.
    pub phases: &'static [Phase],
    /// The parameters with a separate column.
    pub numbers: Vec<String>,
}

/// The results of a case in a launch.
#[derive(Clone, Copy, Debug)]
pub struct FinishedCase<'a> {
    pub result: &'a CaseResult,
    pub records: &'a [Record],
    /// The states of all blocks, method by method.
    pub states: &'a [Vec<BlockState>],
    pub numbers: &'a [(String, f64)],
    /// Which phases of a block were timed in separate repetitions.
    pub apart: TimedApart,
}

/// Why results cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder is not empty.
    #[error("{} is not empty; choose another folder with --out{}", .0.display(), go_on(.0))]
    NotEmpty(PathBuf),
    /// Another process writes there.
    #[error("another ddtbench is writing to {}", .0.display())]
    InUse(PathBuf),
    #[error("{}: {source}{}", .path.display(), remedy(.source))]
    Io {
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Not the folder of a run.
    #[error("{}: {}", .path.display(), recorded::why_not_a_run(.path, .missing))]
    NotARun {
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// The file cannot be parsed.
    #[error("{}: {reason}", .path.display())]
    Broken {
        path: PathBuf,
        /// The error, and its place.
        reason: String,
    },
}

/// Advice for an error of the system.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "; it is a file, not a folder: choose another folder (--out)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder with write permission (--out)"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or choose another folder (--out)"
        }
        _ => "",
    }
}

/// A hint how to resume a run in this folder.
fn go_on(path: &Path) -> String {
    match path.join(PLAN).exists() {
        true => format!(", or resume that run: ddtbench run --resume {}", path.display()),
        false => String::new(),
    }
}

type Result<T> = std::result::Result<T, FolderError>;

/// Adds the path to an error of the system.
fn at(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { path, source }
}

impl Deref for Folder {
    type Target = LockedFolder;

    fn deref(&self) -> &LockedFolder {
        &self.locked
    }
}

/// Writes a value to a file in the folder of a run, and returns its absolute path.
pub fn keep_value(dir: &Path, name: &str, value: &str) -> Result<PathBuf> {
    let folder = dir.join(VALUES);
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let file = std::path::absolute(folder.join(name)).map_err(at(&folder))?;
    replace_by(&file, RESULTS_MODE, |to| to.write_all(value.as_bytes()))?;
    Ok(file)
}

impl Folder {
    /// Creates the folder of a new run, and tests that it can be written to.
    ///
    /// # Errors
    /// If the folder is not empty, is a file, or cannot be written to.
    pub fn create(path: &Path, about: About) -> Result<Self> {
        let locked = LockedFolder::create(path)?;
        locked.write(PLAN, about.plan.as_bytes())?;
        Self::open(locked, about, HashMap::new())
    }

    /// Removes the files of a run that could not begin, so that the corrected run can use the folder. Does
    /// nothing and returns `false` if a case has ended.
    pub fn discard(self) -> bool {
        if !self.launches.is_empty() {
            return false;
        }
        self.locked.discard(&[&checksums::FILES[..], &[OWN_LOOP]].concat());
        true
    }

    fn open(locked: LockedFolder, about: About, numbers: HashMap<Arc<Case>, usize>) -> Result<Self> {
        let log = |name| Log::open(&locked.path().join(name));
        // Until the run ends, files change.
        let _ = fs::remove_file(locked.path().join(checksums::CHECKSUMS));
        Ok(Self {
            cases: log(CASES)?,
            samples: log(SAMPLES)?,
            blocks: log(BLOCKS)?,
            figures: log(LAUNCH_FIGURES)?,
            launches: log(LAUNCHES)?,
            locked,
            about,
            numbers,
        })
    }

    /// Replaces the plan before the first case ends, for example with the found sizes of cases.
    pub fn replace_plan(&mut self, about: About) -> Result<()> {
        self.about = about;
        self.locked.write(PLAN, self.about.plan.as_bytes())
    }

    /// Replaces the times and figures over all launches, and the page.
    pub fn write_summary(&self, records: &[Record], page: &str) -> Result<()> {
        self.locked.write(SUMMARY, &times_csv(records))?;
        self.locked.write(FIGURES, &figures_csv(records))?;
        self.locked.write(REPORT, page.as_bytes())
    }

    /// Replaces a file that is made of the samples: `header`, then `lines` of each method of each case and
    /// launch in measured order.
    ///
    /// # Errors
    /// If it cannot be written, or the samples cannot be read.
    pub fn write_lines(
        &self,
        file: &str,
        header: &str,
        mut lines: impl FnMut(MethodSamples) -> String,
    ) -> Result<()> {
        let of_cases = self.numbers.iter().map(|(case, number)| (*number, case.clone())).collect();
        let samples = recorded::read(&self.path().join(SAMPLES))?;
        replace_by(&self.path().join(file), RESULTS_MODE, |to| {
            to.write_all(header.as_bytes())?;
            samples::each_method(&samples, &of_cases, |method| to.write_all(lines(method).as_bytes()))
        })
    }

    /// Keeps a finished case of a launch.
    ///
    /// # Errors
    /// If the disk is full, for example. The files are then unchanged.
    pub fn append(&mut self, finished: FinishedCase<'_>) -> Result<()> {
        let before = self.lengths();
        let known = self.numbers.len();
        self.try_append(finished).inspect_err(|_| {
            self.cut(&before);
            self.numbers.retain(|_, number| *number < known);
        })
    }

    fn try_append(&mut self, finished: FinishedCase<'_>) -> Result<()> {
        let FinishedCase { result, records, states, apart, .. } = finished;
        let number = self.number(finished)?;
        let phases = self.about.phases;
        append(
            &mut self.samples,
            || samples::samples_header(phases),
            samples::samples(number, result, phases, apart),
        )?;
        append(&mut self.blocks, samples::blocks_header, samples::blocks(number, result, states))?;
        let header = || cells::header(&cells::columns(&FigureRow::default()));
        append(&mut self.figures, header, cells::rows(FigureRow::all(records)))?;
        // Last, because these rows mark the case as done.
        append(&mut self.launches, times_header, cells::rows(records))
    }

    /// The number of a case. A new case is written first.
    fn number(&mut self, finished: FinishedCase<'_>) -> Result<usize> {
        let case = &finished.result.case;
        if let Some(number) = self.numbers.get(case) {
            return Ok(*number);
        }
        let number = self.numbers.len();
        let MessageFacts { bytes, segments, array_bytes, .. } = finished.result.message;
        let value = |name: &String| {
            let found = finished.numbers.iter().find(|(known, _)| known == name);
            // A whole number is written without a decimal point.
            found.map_or_else(String::new, |(_, value)| value.to_string())
        };
        let values: Vec<String> = self.about.numbers.iter().map(value).collect();
        let row = cells::rows([(case, number, bytes, segments, array_bytes, values)]);
        append(&mut self.cases, || cells::header(&case_columns(&self.about.numbers)), row)?;
        self.numbers.insert(case.clone(), number);
        Ok(number)
    }

    fn logs(&mut self) -> impl Iterator<Item = &mut Log> {
        // The rows that mark the case go first, so that no cut leaves them without the data.
        [&mut self.launches, &mut self.figures, &mut self.blocks, &mut self.samples, &mut self.cases]
            .into_iter()
    }

    fn lengths(&mut self) -> Vec<u64> {
        self.logs().map(|log| log.len()).collect()
    }

    fn cut(&mut self, lengths: &[u64]) {
        self.logs().zip(lengths).for_each(|(log, &length)| log.cut(length));
    }
}

/// Appends rows, after the header if the file is empty.
fn append(log: &mut Log, header: impl FnOnce() -> Vec<u8>, rows: Vec<u8>) -> Result<()> {
    let header = if log.is_empty() { header() } else { Vec::new() };
    log.append(&[header, rows].concat())
}

pub fn times_csv(records: &[Record]) -> Vec<u8> {
    [times_header(), cells::rows(records)].concat()
}

/// Figures of records over launches as a table, each with the latency of its state of the machine.
pub fn figures_csv(records: &[Record]) -> Vec<u8> {
    #[derive(Default, Serialize)]
    struct LatencyColumn {
        state_latency_s: Option<f64>,
    }
    let of_record = |record: &Record| {
        let state_latency_s = record.state_latency_s;
        FigureRow::all(std::slice::from_ref(record))
            .map(move |row| (row, LatencyColumn { state_latency_s }))
            .collect::<Vec<_>>()
    };
    let header = cells::header(&cells::columns(&(FigureRow::default(), LatencyColumn::default())));
    [header, cells::rows(records.iter().flat_map(of_record))].concat()
}

fn times_header() -> Vec<u8> {
    cells::header(&cells::columns(&Record::default()))
}

/// The columns of the cases: the key, the case's number, the message, and these numeric parameters. A
/// parameter with the name of another column, such as `bytes`, becomes `param_bytes`.
fn case_columns(numbers: &[String]) -> Vec<String> {
    let own = ["number", "bytes", "segments", "array_bytes"].map(str::to_owned);
    let mut columns = [cells::columns(&Case::default()), own.to_vec()].concat();
    let is_taken = |name: &String| columns.contains(name);
    let numbers: Vec<String> = numbers
        .iter()
        .map(|name| if is_taken(name) { format!("param_{name}") } else { name.clone() })
        .collect();
    columns.extend(numbers);
    columns
}

#[cfg(test)]
mod tests;
