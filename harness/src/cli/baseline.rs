//! The command `baseline`: runs of an MPI that are kept under a name, and what has become slower since.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use ddtbench::experiments::Kind;
use ddtbench::experiments::overlap::calibration::CALIBRATED;
use ddtbench::folder::{self, FolderError};
use ddtbench::mpi::interrupt;
use ddtbench::plan::{MOST_LAUNCHES, Plan};
use ddtbench::report::columns::{Align, Column, Table};
use ddtbench::run::{self, Environment, Machine, MpiAccount, RunEnd, this_build};

use super::compare::{JudgeArgs, seconds};
use super::kinds::{GivenArgs, MessageCases};
use super::measure::{self, BeginOptions, EarlyEnd};
use super::output::{self, log};
use super::resume::{self, ResumeOptions};
use super::{numbers, recorded, trust};

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
    /// Compare even if the machine or settings differ
    #[arg(long)]
    anyway: bool,
    /// Run the programs that the baseline's plan names although it is another user's
    #[arg(long)]
    trust: bool,
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
        let plan = self.given.plan_of_any_kind()?;
        ensure!(
            plan.mpis.len() <= 1 && plan.variants.is_empty(),
            "a baseline is of one MPI; several are held against each other by ddtbench compare --mpi {}",
            plan.mpis.join(",")
        );
        let runs = self.pace.runs(RUNS)?;
        let is_new = !unfinished.exists();
        if !is_new {
            check_plan(&plan, &unfinished)?;
        }
        let made = missing(&unfinished);
        std::fs::create_dir_all(&unfinished).map_err(at(&unfinished))?;
        let lock = lock(&unfinished)?;
        if !is_new {
            log(&format!("going on with the save in {}, which was stopped", unfinished.display()));
        }
        let resume = self.given.resume_options();
        let measured = self.pace.measure(runs, &unfinished, &plan, self.given.options(None), resume);
        let have_succeeded = measured.inspect_err(|_| {
            // What was made for nothing; a folder that has something stays.
            let _ = made.iter().try_for_each(std::fs::remove_dir);
        })?;
        drop(lock);
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
        let file = first.join(folder::PLAN);
        let mut plan = Plan::read(&file)?;
        trust::check(&plan, &[&file, first, &path, &self.place.dir], self.trust)?;
        self.refuse_early(first)?;
        plan.mpis = self.mpi.clone().map_or(plan.mpis, |mpi| vec![mpi]);
        let runs = self.pace.runs(kept.len().max(RUNS))?;
        let new = self.out.clone().unwrap_or_else(|| {
            let stamp = run::now().strftime("%Y-%m-%d-%H%M%S");
            PathBuf::from(format!("results/{stamp}-check-{}", self.name))
        });
        // Each of its runs may have known more than the others.
        let environments =
            if self.anyway { Vec::new() } else { kept.iter().filter_map(|run| environment(run)).collect() };
        let held_to: Vec<MpiAccount> = environments.iter().flat_map(Environment::accounts).cloned().collect();
        let options = BeginOptions { verbose: self.verbose, held_to: &held_to, ..BeginOptions::default() };
        self.pace.measure(runs, &new, &plan, options, ResumeOptions::default())?;
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

/// Adds the path, and what helps, to an error of the system.
fn at(path: &Path) -> impl FnOnce(std::io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { path, source }
}

/// Refuses to go on with a save that has another plan.
fn check_plan(plan: &Plan, unfinished: &Path) -> anyhow::Result<()> {
    let Ok(begun) = Plan::read(&unfinished.join("1").join(folder::PLAN)) else { return Ok(()) };
    ensure!(
        is_begun(plan.clone().check()?.plan, &begun),
        "{} is of an earlier save that was stopped, and its plan is another one; repeat the command that it was begun by, or remove it",
        unfinished.display()
    );
    Ok(())
}

/// Whether a run with the plan `begun` was begun by `plan`: the MPI may have been chosen since, and sizes found for times.
fn is_begun(mut plan: Plan, begun: &Plan) -> bool {
    if plan.mpis.is_empty() {
        plan.mpis.clone_from(&begun.mpis);
    }
    let finds_sizes = plan.experiment == Kind::Overlap && plan.cases.len() == begun.cases.len();
    for (case, begun) in plan.cases.iter_mut().zip(&begun.cases).filter(|_| finds_sizes) {
        let found = begun.params.iter().filter(|(name, _)| CALIBRATED.contains(&name.as_str()));
        for (name, value) in found {
            case.params.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    plan == *begun
}

/// The folders that must be made for one, from within outwards.
fn missing(folder: &Path) -> Vec<PathBuf> {
    let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    missing.map(Path::to_owned).collect()
}

/// Keeps other saves of the same name out while it is open.
fn lock(unfinished: &Path) -> anyhow::Result<File> {
    let folder = File::open(unfinished).with_context(|| unfinished.display().to_string())?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => bail!(
            "another ddtbench baseline save measures into {}; wait until it has ended, or choose another name",
            unfinished.display()
        ),
        // A file system without locks is not a reason to refuse.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(folder),
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

    /// Measures a plan so many times, into folders with numbers, or goes on with what they have: whether all methods have succeeded.
    fn measure(
        &self,
        runs: usize,
        path: &Path,
        plan: &Plan,
        options: BeginOptions<'_>,
        resume: ResumeOptions,
    ) -> anyhow::Result<bool> {
        let (mut have_succeeded, mut plan) = (true, plan.clone());
        for number in 1..=runs {
            let out = path.join(number.to_string());
            let (begun, records) = if out.join(folder::PLAN).exists() {
                resume::reopen(resume, &out)?
            } else if number == 1 || self.wait(number, runs) {
                let begun = measure::start(BeginOptions { out: Some(&out), ..options }, plan.clone())?;
                (begun, Vec::new())
            } else {
                bail!(stopped(path))
            };
            // The sizes that the first run has found for times are those of all.
            plan.cases.clone_from(&begun.checked.plan.cases);
            let ended = measure::finish(begun, records, options.verbose)?;
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
    log(&format!(
        "stopped; the runs that were made are kept in {}; ddtbench baseline save goes on with a save",
        path.display()
    ));
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
            Err(error) => return Err(at(&self.dir)(error).into()),
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

#[cfg(test)]
mod tests {
    use ddtbench::experiments::planned::PlannedCase;

    use super::*;

    #[test]
    fn a_save_whose_sizes_were_found_in_its_first_run_goes_on() {
        let plan = |params: &[(&str, &str)]| {
            let params = params.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            let case = PlannedCase { test: "isend".to_owned(), params, ..PlannedCase::default() };
            Plan { cases: vec![case], ..Plan::of(Kind::Overlap) }.check().unwrap().plan
        };
        let (times, found) = (
            [("communication_us", "100"), ("computation_us", "200")],
            [("bytes", "3000"), ("matrix_order", "160")],
        );
        let begun = Plan { mpis: vec!["mpich".to_owned()], ..plan(&[times, found].concat()) };
        assert!(is_begun(plan(&times), &begun));
        assert!(!is_begun(plan(&[("communication_us", "100"), ("computation_us", "300")]), &begun));
        assert!(!is_begun(Plan { seed: 7, ..plan(&times) }, &begun));
        assert!(!is_begun(plan(&times), &Plan { mpis: begun.mpis.clone(), ..plan(&found) }));
    }

    #[test]
    fn a_save_goes_on_only_with_its_own_plan_and_not_twice_at_the_same_time() {
        let dir = tempfile::tempdir().unwrap();
        let of = |test: &str| {
            let case = PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
            Plan { cases: vec![case], ..Plan::default() }
        };
        assert!(check_plan(&of("contiguous"), dir.path()).is_ok(), "nothing was begun");
        std::fs::create_dir(dir.path().join("1")).unwrap();
        let begun = Plan { mpis: vec!["mpich".to_owned()], ..of("contiguous") }.check().unwrap().plan;
        std::fs::write(dir.path().join("1").join(folder::PLAN), begun.to_toml()).unwrap();
        assert!(check_plan(&of("contiguous"), dir.path()).is_ok());
        let refusal = check_plan(&of("nas_lu_y"), dir.path()).unwrap_err().to_string();
        assert!(refusal.contains("another one") && refusal.contains("remove it"), "{refusal}");
        let first = lock(dir.path()).unwrap();
        let refusal = lock(dir.path()).unwrap_err().to_string();
        assert!(refusal.contains("another ddtbench baseline save"), "{refusal}");
        drop(first);
        assert!(lock(dir.path()).is_ok());
    }
}
