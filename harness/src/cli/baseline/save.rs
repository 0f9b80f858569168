//! `baseline save`: several runs of one plan with pauses. The name exists only when all of them are there.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ddtbench::folder;
use ddtbench::plan::Plan;

use super::pace::PaceArgs;
use super::{NamedArgs, at};
use crate::cli::kinds::{GivenArgs, MessageCases};
use crate::cli::measure;
use crate::cli::output::log;

#[derive(Debug, Args)]
pub struct SaveArgs {
    #[command(flatten)]
    baseline: NamedArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// A plan may be of any kind
    #[command(flatten)]
    given: GivenArgs<MessageCases>,
}

impl SaveArgs {
    pub fn execute(&self) -> anyhow::Result<ExitCode> {
        let path = self.baseline.path();
        let NamedArgs { name, place } = &self.baseline;
        ensure!(
            !path.exists(),
            "{} already exists; choose another name, or delete it with `ddtbench baseline remove {name}`",
            path.display()
        );
        // A baseline under its name is always complete.
        let unfinished = place.dir.join(format!(".{name}.unfinished"));
        let plan = self.given.plan_of_any_kind()?;
        ensure!(
            plan.mpis.len() <= 1 && plan.variants.is_empty(),
            "a baseline has one MPI; `ddtbench compare --mpi {}` compares several",
            plan.mpis.join(",")
        );
        let runs = self.pace.kept_runs()?;
        let is_new = !unfinished.exists();
        if !is_new {
            check_plan(&plan, &unfinished)?;
        }
        let made = missing(&unfinished);
        std::fs::create_dir_all(&unfinished).map_err(at(&unfinished))?;
        let lock = lock(&unfinished)?;
        if !is_new {
            log(&format!("continuing the stopped save in {}", unfinished.display()));
        }
        self.pace.keep(&unfinished)?;
        let measured = self.measure(runs, &unfinished, &plan);
        let have_succeeded = measured.inspect_err(|_| {
            // Removes empty folders. A folder with content stays.
            let _ = made.iter().try_for_each(std::fs::remove_dir);
        })?;
        drop(lock);
        std::fs::rename(&unfinished, &path)
            .with_context(|| format!("{} to {}", unfinished.display(), path.display()))?;
        log(&format!("saved: {}; `ddtbench baseline check {name}` measures the same again", path.display()));
        if have_succeeded {
            return Ok(ExitCode::SUCCESS);
        }
        let dir = path.join("1");
        log(&format!(
            "some methods failed and cannot be checked; `ddtbench report {}` shows them",
            dir.display()
        ));
        Ok(ExitCode::from(measure::FAILED))
    }

    /// Measures the runs. All of them use the plan of the first run, which contains found values: sizes of an overlap, the MPI.
    fn measure(&self, runs: usize, unfinished: &Path, plan: &Plan) -> anyhow::Result<bool> {
        let asked = unfinished.join(ASKED);
        if !asked.exists() {
            std::fs::write(&asked, plan.to_toml()).map_err(at(&asked))?;
        }
        let (options, resume) = (self.given.options(None), self.given.resume_options());
        let first = self.pace.measure(1..=1, unfinished, plan, options, resume).inspect_err(|_| {
            if !unfinished.join("1").exists() {
                let _ = std::fs::remove_file(&asked);
            }
        })?;
        let plan = Plan::read(&unfinished.join("1").join(folder::PLAN))?;
        let others = self.pace.measure(2..=runs, unfinished, &plan, options, resume)?;
        Ok(first && others)
    }
}

/// The plan before sizes and MPI were filled in.
const ASKED: &str = "asked.toml";

/// Refuses to resume a save that has another plan.
fn check_plan(plan: &Plan, unfinished: &Path) -> anyhow::Result<()> {
    let Ok(asked) = Plan::read(&unfinished.join(ASKED)) else { return Ok(()) };
    ensure!(
        plan.clone().check()?.plan == asked.check()?.plan,
        "{} belongs to a stopped save with another plan; repeat its command, or remove it",
        unfinished.display()
    );
    Ok(())
}

/// The missing folders of a path, innermost first.
fn missing(folder: &Path) -> Vec<PathBuf> {
    let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    missing.map(Path::to_owned).collect()
}

/// Prevents other saves of the same name.
fn lock(unfinished: &Path) -> anyhow::Result<File> {
    let folder = File::open(unfinished).with_context(|| unfinished.display().to_string())?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => bail!(
            "another `ddtbench baseline save` is using {}; wait for it, or choose another name",
            unfinished.display()
        ),
        // A file system without locks is not a reason to refuse.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(folder),
    }
}

#[cfg(test)]
mod tests {
    use ddtbench::experiments::planned::PlannedCase;

    use super::*;

    #[test]
    fn a_save_goes_on_only_with_its_own_plan_and_not_twice_at_the_same_time() {
        let dir = tempfile::tempdir().unwrap();
        let of = |test: &str| {
            let case = PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
            Plan { cases: vec![case], ..Plan::default() }
        };
        assert!(check_plan(&of("contiguous"), dir.path()).is_ok(), "nothing was begun");
        std::fs::write(dir.path().join(ASKED), of("contiguous").to_toml()).unwrap();
        assert!(check_plan(&of("contiguous"), dir.path()).is_ok());
        let refusal = check_plan(&of("nas_lu_y"), dir.path()).unwrap_err().to_string();
        assert!(refusal.contains("another plan") && refusal.contains("remove it"), "{refusal}");
        let first = lock(dir.path()).unwrap();
        let refusal = lock(dir.path()).unwrap_err().to_string();
        assert!(refusal.contains("another `ddtbench baseline save`"), "{refusal}");
        drop(first);
        assert!(lock(dir.path()).is_ok());
    }
}
