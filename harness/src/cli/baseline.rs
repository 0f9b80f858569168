//! The command `baseline`: runs of an MPI that are kept under a name, and what has become slower since.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, Subcommand};
use ddtbench::folder;
use ddtbench::mpi::interrupt;
use ddtbench::plan::{MOST_LAUNCHES, Plan};
use ddtbench::report::columns::{Align, Column, Table};
use ddtbench::run::{Environment, Machine, RunEnd, this_build};

use super::compare::{JudgeArgs, seconds};
use super::kinds::{GivenArgs, MessageCases};
use super::measure::{self, BeginOptions, EarlyEnd};
use super::output::{self, log};
use super::{numbers, recorded};

/// Runs of a baseline: the fewest whose spread is known.
const RUNS: usize = 3;

#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Measure, several times with pauses between, and keep it under a name
    Save(Box<SaveArgs>),
    /// Show what is kept
    List(PlaceArgs),
    /// Measure the same again, and say what has become slower: exit code 1 if anything is or is broken, 3 if undecided
    Check(CheckArgs),
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The folder that baselines are kept in
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    dir: PathBuf,
}

/// How often is measured, and how far apart: what drifts over minutes must show.
#[derive(Debug, Args)]
pub struct PaceArgs {
    /// Runs, at least 3 [default: 3; of a check as many as the baseline has]
    #[arg(long, value_name = "N", value_parser = numbers::count(MOST_LAUNCHES))]
    runs: Option<usize>,
    /// Time between two runs, as 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = seconds)]
    pause: f64,
}

#[derive(Debug, Args)]
pub struct SaveArgs {
    /// The name: letters, digits, `.`, `_`, `-`
    #[arg(value_parser = name)]
    name: String,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// What is measured; plans of all kinds will do
    #[command(flatten)]
    given: GivenArgs<MessageCases>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The baseline's name
    #[arg(value_parser = name)]
    name: String,
    /// Another MPI than the baseline's, by its name or the path of its mpicc
    #[arg(long, value_name = "NAME")]
    mpi: Option<String>,
    /// The folder for the new runs [default: results/DATE-TIME-check-NAME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show what is built
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    pace: PaceArgs,
    #[command(flatten)]
    judge: JudgeArgs,
    /// Compare although machine or conditions differ
    #[arg(long)]
    anyway: bool,
}

impl BaselineCommand {
    /// Does it; an error is a refusal.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Save(args) => args.execute(),
            Self::List(args) => args.execute(),
            Self::Check(args) => args.execute(),
        }
    }
}

impl SaveArgs {
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let path = self.place.dir.join(&self.name);
        ensure!(!path.exists(), "{} is there already; take another name, or remove it first", path.display());
        // What is under the name is whole.
        let unfinished = self.place.dir.join(format!(".{}.unfinished", self.name));
        ensure!(
            !unfinished.exists(),
            "{} is of an earlier save that was stopped; remove it first",
            unfinished.display()
        );
        let plan = self.given.plan_of_any_kind()?;
        ensure!(
            plan.mpis.len() <= 1 && plan.variants.is_empty(),
            "a baseline is of one MPI; several are held against each other by ddtbench compare --mpi {}",
            plan.mpis.join(",")
        );
        let runs = self.pace.runs(RUNS)?;
        let options = self.given.options(None);
        let have_succeeded = self.pace.measure(runs, &unfinished, &plan, options)?;
        std::fs::rename(&unfinished, &path)
            .with_context(|| format!("{} to {}", unfinished.display(), path.display()))?;
        log(&format!(
            "kept: {}; ddtbench baseline check {} measures the same again",
            path.display(),
            self.name
        ));
        if have_succeeded {
            return Ok(ExitCode::SUCCESS);
        }
        let dir = path.join("1");
        log(&format!(
            "some methods failed, and cannot be checked: ddtbench report {} shows which",
            dir.display()
        ));
        Ok(ExitCode::from(measure::FAILED))
    }
}

impl CheckArgs {
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let path = self.place.dir.join(&self.name);
        let kept = runs_of(&path)?;
        let [first, ..] = kept.as_slice() else {
            bail!(
                "{}: there is no such baseline; ddtbench baseline list shows those that there are",
                path.display()
            );
        };
        ensure!(
            kept.len() >= RUNS,
            "{} has {} of {RUNS} runs that are needed; save it anew",
            path.display(),
            kept.len()
        );
        let mut plan = Plan::read(&first.join(folder::PLAN))?;
        self.refuse_early(first)?;
        plan.mpis = self.mpi.clone().map_or(plan.mpis, |mpi| vec![mpi]);
        let runs = self.pace.runs(kept.len().max(RUNS))?;
        let new = self.out.clone().unwrap_or_else(|| {
            let stamp = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S");
            PathBuf::from(format!("results/{stamp}-check-{}", self.name))
        });
        let options = BeginOptions { verbose: self.verbose, ..BeginOptions::default() };
        self.pace.measure(runs, &new, &plan, options)?;
        log(&format!(
            "new runs: {}; ddtbench compare {} {0} shows this again",
            new.display(),
            path.display()
        ));
        let folders = [path, new];
        self.judge.print(&self.judge.recorded(&folders, self.anyway)?, &folders, true)
    }

    /// Refuses at once what would be refused after all was measured.
    fn refuse_early(&self, first: &Path) -> anyhow::Result<()> {
        if let Some(out) = &self.out {
            let is_empty = std::fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
            ensure!(is_empty, "--out {}: is there and not empty; choose another folder", out.display());
        }
        let Some(then) = environment(first).filter(|_| !self.anyway) else { return Ok(()) };
        let facts = |machine: &Machine, build: Option<String>| {
            [machine.cpu_model.clone(), Some(machine.cpus.to_string()), machine.governor.clone(), build]
        };
        let (then, now) =
            (facts(&then.begun.machine, then.begun.build()), facts(&Machine::this(), this_build()));
        let names = ["CPU", "hardware threads", "governor", "ddtbench build"];
        let pairs = names.iter().zip(then.into_iter().zip(now));
        let differ = pairs.filter(|(_, (then, now))| then != now).map(|(name, (then, now))| {
            let [then, now] = [then, now].map(|fact| fact.unwrap_or_else(|| "unknown".to_owned()));
            format!("{name}: {then} then and {now} now")
        });
        let differ: Vec<String> = differ.collect();
        ensure!(
            differ.is_empty(),
            "{} was measured in other conditions: {}; --anyway compares all the same",
            self.name,
            differ.join("; ")
        );
        Ok(())
    }
}

/// A run's account of itself.
fn environment(run: &Path) -> Option<Environment> {
    Environment::read(&run.join(folder::ENVIRONMENT)).ok().flatten()
}

impl PaceArgs {
    fn runs(&self, default: usize) -> anyhow::Result<usize> {
        let runs = self.runs.unwrap_or(default);
        ensure!(
            runs >= RUNS,
            "--runs {runs}: at least {RUNS} are needed, whose spread tells what is no change"
        );
        Ok(runs)
    }

    /// Measures a plan so many times, into folders with numbers: whether all methods have succeeded.
    fn measure(
        &self,
        runs: usize,
        path: &Path,
        plan: &Plan,
        options: BeginOptions<'_>,
    ) -> anyhow::Result<bool> {
        let mut have_succeeded = true;
        for number in 1..=runs {
            if number > 1 && !self.wait(number, runs) {
                bail!(stopped(path));
            }
            let out = path.join(number.to_string());
            let begun = measure::start(BeginOptions { out: Some(&out), ..options }, plan.clone())?;
            let ended = measure::finish(begun, Vec::new(), options.verbose)?;
            if ended.end == RunEnd::Interrupted {
                bail!(stopped(path));
            }
            have_succeeded &= ended.is_success();
        }
        Ok(have_succeeded)
    }

    /// Waits before a run; `false` if the user has stopped that.
    fn wait(&self, number: usize, runs: usize) -> bool {
        const STEP: Duration = Duration::from_millis(100);
        log(&format!("run {number} of {runs} in {} s", self.pause));
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < self.pause {
            if interrupt::requested() {
                return false;
            }
            std::thread::sleep(STEP);
        }
        !interrupt::requested()
    }
}

fn stopped(path: &Path) -> EarlyEnd {
    log(&format!("stopped; the runs that were made are kept in {}", path.display()));
    EarlyEnd(ExitCode::from(measure::INTERRUPTED))
}

impl PlaceArgs {
    /// A line per baseline.
    fn execute(&self) -> anyhow::Result<ExitCode> {
        let mut rows = Vec::new();
        let mut entries: Vec<PathBuf> = match std::fs::read_dir(&self.dir) {
            Ok(entries) => {
                entries.flatten().map(|entry| entry.path()).filter(|path| is_baseline(path)).collect()
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(anyhow!("{}: {error}", self.dir.display())),
        };
        entries.sort();
        for path in entries {
            rows.extend(row(&path)?);
        }
        if rows.is_empty() {
            log(&format!(
                "{}: no baseline is kept; ddtbench baseline save NAME makes one",
                self.dir.display()
            ));
            return Ok(ExitCode::SUCCESS);
        }
        let table = Table { columns: COLUMNS.to_vec(), rows };
        output::print(table.text(output::width()).as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The columns of the list: the name of a baseline, what was measured, when and where.
const COLUMNS: [Column; 8] = [
    Column::new("name", Align::Left, 0),
    Column::new("runs", Align::Right, 2),
    Column::new("MPI", Align::Left, 2),
    Column::new("kind", Align::Left, 2).rank(2),
    Column::new("cases", Align::Right, 2).rank(3),
    Column::new("from", Align::Left, 2),
    Column::new("to", Align::Left, 2).rank(4),
    Column::new("host", Align::Left, 2).rank(1),
];

/// Whether it is a folder that a baseline may be, and none of a save that was stopped.
fn is_baseline(path: &Path) -> bool {
    path.is_dir() && !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.')
}

/// The row of a baseline; `None` for a folder that is none.
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
        of_first(&|e| e.begun.mpis.first().map(|mpi| format!("{} {}", mpi.mpi.name, mpi.mpi.version))),
        plan.experiment.name().to_owned(),
        plan.cases.len().to_string(),
        of_first(&|e| Some(e.begun.date.clone())),
        last.map(|environment| environment.begun.date).unwrap_or_default(),
        of_first(&|e| e.begun.machine.host.clone()),
    ]))
}

/// The runs of a baseline, in their order; none without it.
fn runs_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    match recorded::runs_within(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        runs => runs.with_context(|| path.display().to_string()),
    }
}

/// A name that is the name of a folder everywhere.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = !text.is_empty() && text.chars().all(is_plain) && !text.starts_with(['.', '-']);
    let wrong =
        || "must be of letters, digits, `.`, `_` and `-`, and begin with neither `.` nor `-`".to_owned();
    if is_name { Ok(text.to_owned()) } else { Err(wrong()) }
}
