//! The run folder: what is kept, and when.
//!
//! A finished case is kept by appending its samples and blocks, syncing, and only then its rows of
//! `summary.csv`, in one write. These rows are the mark: a case is done if and only if they are there for all of
//! its methods. Whatever else is in the files is left of a run that was cut off, and is removed when it is resumed.

mod engine;
mod log;
mod place;
mod probes;
mod torn;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::experiment::Experiment;
use crate::partitioned::probe::ProbeRecord;
use crate::plan::{Format, Plan, PlanError};
use crate::record::{CaseResult, Record};
use crate::{report, summary};
pub use engine::{ENGINE, EngineFolder, read_engine};
use log::Log;
use place::{Place, replace};
pub use probes::{PROBES, ProbeFolder, read_probes};

/// The plan.
pub const PLAN: &str = "plan.toml";
/// Machine, MPI and settings.
pub const ENVIRONMENT: &str = "environment.json";
/// Every raw sample.
pub const SAMPLES: &str = "samples.csv";
/// The machine beside each block.
pub const BLOCKS: &str = "blocks.csv";
/// The figures.
pub const SUMMARY: &str = "summary.csv";
/// The figures as a page.
pub const REPORT: &str = "report.html";
/// The original suite's text format.
pub const ORIGINAL: &str = "ddtbench.out";
/// Where the lines of each case end in [`ORIGINAL`], whose lines do not tell: `test,params,end_bytes`.
const ORIGINAL_INDEX: &str = ".ddtbench.out.csv";

/// Test and parameters: what tells the cases of one run apart.
pub type Key = (String, String);

/// A folder that results are being written to. No other process writes to it meanwhile.
#[derive(Debug)]
pub struct Folder {
    place: Place,
    samples: Log,
    blocks: Log,
    summary: Log,
    original: Option<(Log, Log)>,
}

/// Why results cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// There is something already.
    #[error("{} is there and not empty; choose another folder with --out{}", .0.display(), go_on(.0))]
    NotEmpty(PathBuf),
    /// Another process writes there.
    #[error("another ddtbench is writing to {}", .0.display())]
    InUse(PathBuf),
    /// The system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// No folder of a run.
    #[error("{} is not the folder of a run: it has no {missing}", .path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// A file that cannot be understood.
    #[error("{}: {reason}", .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plan in it.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// How to go on with what is in a folder.
fn go_on(path: &Path) -> String {
    match path.join(PLAN).exists() {
        true => format!(", or go on with it: ddtbench run --resume {}", path.display()),
        false => String::new(),
    }
}

type Result<T> = std::result::Result<T, FolderError>;

/// Adds the path to an error of the system.
fn at(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { path, source }
}

impl Folder {
    /// Makes the folder of a new run, and shows that it can be written to.
    ///
    /// # Errors
    /// A folder that is not empty, a file in its place, or one that cannot be written to.
    pub fn create(path: &Path, plan: &Plan) -> Result<Self> {
        let place = Place::create(path)?;
        place.write(PLAN, plan.to_toml().as_bytes())?;
        Self::open(place, plan)
    }

    /// Removes what was made for a run that could not begin, so that the corrected one may have the folder. Does
    /// nothing and gives `false` where a case has ended.
    pub fn discard(self) -> bool {
        if !self.summary.is_empty() {
            return false;
        }
        self.place.discard(&[PLAN, ENVIRONMENT, SAMPLES, BLOCKS, SUMMARY, PROBES, ORIGINAL, ORIGINAL_INDEX]);
        true
    }

    /// Opens the folder of a run that was cut off, and removes what is left of unfinished cases.
    ///
    /// # Errors
    /// A folder of no run, files that cannot be understood or written to.
    pub fn resume(path: &Path) -> Result<(Self, Plan, Vec<Record>)> {
        let mut plan = read_plan(path)?;
        plan.check()?;
        let place = Place::reopen(path)?;
        let summary = path.join(SUMMARY);
        let records = if summary.exists() { whole_records(&summary)? } else { Vec::new() };
        let done = done(&records, &plan);
        for name in [SUMMARY, SAMPLES, BLOCKS] {
            torn::keep(&path.join(name), &done)?;
        }
        torn::keep_original(&path.join(ORIGINAL), &path.join(ORIGINAL_INDEX), &done)?;
        let records: Vec<_> = records.into_iter().filter(|record| done.contains(&key(record))).collect();
        if !records.is_empty() {
            let today = report::csv::summary(&records, true);
            let begun = fs::read(&summary).map_err(at(&summary))?;
            // Begun before columns were added: rows of two widths would stand under one header.
            if header(&begun) != header(&today) {
                replace(&summary, &today)?;
            }
        }
        let folder = Self::open(place, &plan)?;
        Ok((folder, plan, records))
    }

    fn open(place: Place, plan: &Plan) -> Result<Self> {
        let log = |name| Log::open(&place.path().join(name));
        let original = plan.formats.contains(&Format::Ddtbench);
        Ok(Self {
            samples: log(SAMPLES)?,
            blocks: log(BLOCKS)?,
            summary: log(SUMMARY)?,
            original: if original { Some((log(ORIGINAL)?, log(ORIGINAL_INDEX)?)) } else { None },
            place,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Replaces the plan, for example when the MPI's name has become known.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_plan(&self, plan: &Plan) -> Result<()> {
        self.place.write(PLAN, plan.to_toml().as_bytes())
    }

    /// Replaces the account of the machine.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_environment(&self, environment: &impl Serialize) -> Result<()> {
        self.place.write_json(ENVIRONMENT, environment)
    }

    /// Replaces the page that people read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_report(&self, records: &[Record]) -> Result<()> {
        self.place.write(REPORT, page(self.path(), records).as_bytes())
    }

    /// What probes have told already.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn probes(&self) -> Result<Vec<ProbeRecord>> {
        match self.path().join(PROBES).exists() {
            true => read_probes(self.path()),
            false => Ok(Vec::new()),
        }
    }

    /// Keeps what a probe told.
    ///
    /// # Errors
    /// If the disk is full, for example; the file is then as it was.
    pub fn append_probe(&mut self, record: &ProbeRecord) -> Result<()> {
        probes::append(&mut Log::open(&self.path().join(PROBES))?, record)
    }

    /// Keeps a finished case, and gives its records.
    ///
    /// # Errors
    /// If the disk is full, for example; the files are then as they were.
    pub fn append(&mut self, case: &CaseResult) -> Result<Vec<Record>> {
        let records = summary::records(case);
        let before = self.lengths();
        self.try_append(case, &records).inspect_err(|_| self.cut(&before))?;
        Ok(records)
    }

    fn try_append(&mut self, case: &CaseResult, records: &[Record]) -> Result<()> {
        self.samples.append(&report::csv::samples(case, self.samples.is_empty()))?;
        self.blocks.append(&report::csv::blocks(case, self.blocks.is_empty()))?;
        if let Some((text, index)) = &mut self.original {
            let header = if text.is_empty() { report::ddtbench_format::header() } else { String::new() };
            text.append(format!("{header}{}", report::ddtbench_format::lines(case)).as_bytes())?;
            let end = text.len().to_string();
            let mut row = csv::Writer::from_writer(Vec::new());
            row.write_record([&case.case.test, &case.case.params, &end]).expect("memory does not fail");
            index.append(&row.into_inner().expect("memory does not fail"))?;
        }
        // Last: this is the mark.
        self.summary.append(&report::csv::summary(records, self.summary.is_empty()))
    }

    fn logs(&mut self) -> impl Iterator<Item = &mut Log> {
        // The mark goes first, so that no cut leaves it without what it stands for.
        let original = self.original.iter_mut().flat_map(|(text, index)| [index, text]);
        [&mut self.summary, &mut self.blocks, &mut self.samples].into_iter().chain(original)
    }

    fn lengths(&mut self) -> Vec<u64> {
        self.logs().map(|log| log.len()).collect()
    }

    fn cut(&mut self, lengths: &[u64]) {
        self.logs().zip(lengths).for_each(|(log, &length)| log.cut(length));
    }
}

/// The plan of a run's folder, as it is written.
///
/// # Errors
/// If there is none, or it cannot be understood.
pub fn read_plan(path: &Path) -> Result<Plan> {
    let file = path.join(PLAN);
    if !file.exists() {
        return Err(FolderError::NotARun { path: path.to_owned(), missing: PLAN });
    }
    Ok(Plan::read(&file)?)
}

/// The records of a run's folder; of a run that was cut off, those that are whole.
///
/// # Errors
/// If there are none, or they cannot be understood.
pub fn read_records(path: &Path) -> Result<Vec<Record>> {
    let file = path.join(SUMMARY);
    if !file.exists() {
        return Err(FolderError::NotARun { path: path.to_owned(), missing: SUMMARY });
    }
    whole_records(&file)
}

/// The records as a page, with the folder's account of the machine.
pub fn page(path: &Path, records: &[Record]) -> String {
    let environment = fs::read_to_string(path.join(ENVIRONMENT)).unwrap_or_default();
    report::html::html(records, environment.trim_end())
}

fn whole_records(file: &Path) -> Result<Vec<Record>> {
    let bytes = fs::read(file).map_err(at(file))?;
    report::csv::read_summary(torn::whole_rows(&bytes))
        .map_err(|error| FolderError::Broken { path: file.to_owned(), reason: error.to_string() })
}

/// The first line of a table.
fn header(table: &[u8]) -> Option<&[u8]> {
    table.split(|&byte| byte == b'\n').next()
}

fn key(record: &Record) -> Key {
    (record.test.clone(), record.params.clone())
}

/// The cases of a plan whose methods all have their row of the whole.
pub fn done(records: &[Record], plan: &Plan) -> HashSet<Key> {
    let whole = |record: &&Record| Experiment::of_whole(record.phase).is_some();
    let seen: HashSet<(Key, &str)> =
        records.iter().filter(whole).map(|record| (key(record), record.method.as_str())).collect();
    let finished = |&i: &usize| {
        let case = plan.case_key(i);
        plan.methods_of(i).iter().all(|method| seen.contains(&(case.clone(), method.as_str())))
    };
    (0..plan.cases.len()).filter(finished).map(|i| plan.case_key(i)).collect()
}

#[cfg(test)]
mod tests;
