//! The command `baseline`: saves runs of an MPI under a name, checks an MPI against them, and shows the trend of these checks.
//!
//! A baseline is a folder with its runs `1`, `2`, `3`, and `checks/DATE-TIME`, each with the runs of a check and its result.

mod check;
mod pace;
mod save;
mod trend;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use ddtbench::folder::{self, FolderError};
use ddtbench::plan::Plan;
use ddtbench::report::columns::{Align, Column, Table};
use ddtbench::run::Environment;

use super::output::{self, log};
use super::recorded;
use check::CheckArgs;
use save::SaveArgs;
use trend::TrendArgs;

const CHECKS: &str = "checks";

#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Measure several times, with pauses, and save the runs under a name
    Save(Box<SaveArgs>),
    /// List the baselines
    List(PlaceArgs),
    /// Measure again: exit code 1 if something is slower, broken or undecided
    Check(CheckArgs),
    /// Show all checks of a baseline, and the first one that differs
    Trend(TrendArgs),
    /// Delete a baseline with its checks
    Remove(NamedArgs),
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The folder of the baselines
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    dir: PathBuf,
}

/// A baseline by its name.
#[derive(Debug, Args)]
pub struct NamedArgs {
    /// The baseline's name: letters, digits, `.`, `_`, `-`
    #[arg(value_parser = name)]
    name: String,
    #[command(flatten)]
    place: PlaceArgs,
}

impl BaselineCommand {
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Save(args) => args.execute(),
            Self::List(args) => args.execute(),
            Self::Check(args) => args.execute(),
            Self::Trend(args) => args.execute(),
            Self::Remove(args) => args.remove(),
        }
    }
}

/// Adds the path and advice to an error of the system.
fn at(path: &Path) -> impl FnOnce(std::io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { path, source }
}

fn environment(run: &Path) -> Option<Environment> {
    Environment::read(&run.join(folder::ENVIRONMENT)).ok().flatten()
}

impl NamedArgs {
    fn path(&self) -> PathBuf {
        self.place.dir.join(&self.name)
    }

    /// # Errors
    /// If there is no baseline of that name.
    fn runs(&self) -> anyhow::Result<Vec<PathBuf>> {
        let path = self.path();
        let runs = runs_of(&path)?;
        ensure!(
            !runs.is_empty(),
            "{}: no such baseline; `ddtbench baseline list` shows them",
            path.display()
        );
        Ok(runs)
    }

    fn remove(&self) -> anyhow::Result<ExitCode> {
        let runs = self.runs()?.len();
        let (path, checks) = (self.path(), checks_of(&self.path())?.len());
        std::fs::remove_dir_all(&path).map_err(at(&path))?;
        log(&format!("removed: {} (runs: {runs}, checks: {checks})", path.display()));
        Ok(ExitCode::SUCCESS)
    }
}

impl PlaceArgs {
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let mut rows = Vec::new();
        let mut entries: Vec<PathBuf> = match std::fs::read_dir(&self.dir) {
            Ok(entries) => {
                entries.flatten().map(|entry| entry.path()).filter(|path| is_baseline(path)).collect()
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(at(&self.dir)(error).into()),
        };
        entries.sort();
        for path in entries {
            rows.extend(row(&path)?);
        }
        if rows.is_empty() {
            log(&format!("{}: no baselines; `ddtbench baseline save NAME` makes one", self.dir.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let table = Table { columns: COLUMNS.to_vec(), rows };
        output::print(table.text(output::width()).as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The columns of the list.
const COLUMNS: [Column; 9] = [
    Column::new("name", Align::Left, 0),
    Column::new("runs", Align::Right, 2),
    Column::new("checks", Align::Right, 2),
    Column::new("MPI", Align::Left, 2),
    Column::new("kind", Align::Left, 2).rank(2),
    Column::new("cases", Align::Right, 2).rank(3),
    Column::new("from", Align::Left, 2),
    Column::new("to", Align::Left, 2).rank(4),
    Column::new("host", Align::Left, 2).rank(1),
];

/// Whether it can be a baseline, and is not a save that was stopped.
fn is_baseline(path: &Path) -> bool {
    path.is_dir() && !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.')
}

/// `None` if the folder is not a baseline.
fn row(path: &Path) -> anyhow::Result<Option<Vec<String>>> {
    let runs = runs_of(path)?;
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return Ok(None) };
    let plan = Plan::read(&first.join(folder::PLAN)).with_context(|| format!("{}", path.display()))?;
    let (first, last) = (environment(first), environment(last));
    let of_first =
        |value: &dyn Fn(&Environment) -> Option<String>| first.as_ref().and_then(value).unwrap_or_default();
    Ok(Some(vec![
        path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        runs.len().to_string(),
        checks_of(path)?.len().to_string(),
        of_first(&|e| e.begun.mpis.first().map(|mpi| format!("{} {}", mpi.mpi.name, mpi.mpi.version))),
        plan.experiment.name().to_owned(),
        plan.cases.len().to_string(),
        of_first(&|e| Some(e.begun.date.clone())),
        last.map(|environment| environment.begun.date).unwrap_or_default(),
        of_first(&|e| e.begun.machine.host.clone()),
    ]))
}

/// Empty if the baseline does not exist.
fn runs_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    match recorded::runs_within(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        runs => runs.with_context(|| path.display().to_string()),
    }
}

/// The folders of the finished checks, oldest first.
fn checks_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let checks = path.join(CHECKS);
    let entries = match std::fs::read_dir(&checks) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(&checks))?,
    };
    let all = entries.flatten().map(|entry| entry.path());
    let mut ended: Vec<PathBuf> = all.filter(|check| check.join(folder::COMPARISON).exists()).collect();
    ended.sort();
    Ok(ended)
}

/// A name that every file system accepts as the name of a folder.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = !text.is_empty() && text.chars().all(is_plain) && !text.starts_with(['.', '-']);
    let wrong =
        || "must be of letters, digits, `.`, `_` and `-`, and begin with neither `.` nor `-`".to_owned();
    if is_name { Ok(text.to_owned()) } else { Err(wrong()) }
}
