//! What is in the folder of a run, in the order of its plan: rows stand there as they were measured, in an order that is drawn.

use std::path::{Path, PathBuf};

use anyhow::bail;
use ddtbench::compare;
use ddtbench::folder::{self, FolderError};
use ddtbench::model::{Case, Record};
use ddtbench::plan::Plan;
use ddtbench::report::compared::Compared;
use ddtbench::run::{Environment, in_plan_order};

/// The records of each launch. Those of a folder without a plan of today's form stay in the folder's order.
///
/// # Errors
/// If there are none, or they cannot be understood.
pub(super) fn records(dir: &Path) -> Result<Vec<Record>, FolderError> {
    let mut records = folder::read_records(dir)?;
    let environment = Environment::read(&dir.join(folder::ENVIRONMENT)).ok().flatten();
    let mpis = environment.map(|environment| environment.begun.mpis).unwrap_or_default();
    let label = |mpi: &str, variant: &str| {
        Case { mpi: mpi.to_owned(), mpi_variant: variant.to_owned(), ..Case::default() }.mpi_label()
    };
    let mpis: Vec<String> = mpis.iter().map(|account| label(&account.mpi.name, &account.variant)).collect();
    if let Ok(plan) = Plan::read(&dir.join(folder::PLAN))
        && let Ok(plan) = plan.check()
    {
        in_plan_order(&plan, &mpis, &mut records);
    }
    Ok(records)
}

/// The comparison of those cases of a recorded run that have the same bytes; `None` if its plan has not today's form.
pub(super) fn same_bytes(dir: &Path) -> Option<Compared<'static>> {
    let plan = Plan::read(&dir.join(folder::PLAN)).and_then(Plan::check).ok()?;
    let records = records(dir).ok()?;
    Some(compare::same_bytes(&plan.named_cases(), plan.plan.context(), &records))
}

/// The runs in the folders within a folder, by their numbers or names.
pub(super) fn runs_within(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(path)?.flatten().map(|entry| entry.path());
    let mut runs: Vec<PathBuf> = entries.filter(|path| path.join(folder::LAUNCHES).exists()).collect();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<usize>().ok();
    runs.sort_by_key(|path| (number(path), path.clone()));
    Ok(runs)
}

/// What each launch of all folders came to. Where there are several, each run is called by its folder.
///
/// # Errors
/// If a folder has no records, is named twice, or is of another kind of experiments.
pub(super) fn of_all(dirs: &[PathBuf]) -> anyhow::Result<Vec<Record>> {
    let mut all: Vec<Record> = Vec::new();
    for dir in dirs {
        let mut of_run = records(dir)?;
        let Some(first) = of_run.first() else { bail!("{}: no case has ended", dir.display()) };
        let kind = first.case.experiment;
        if let Some(other) = all.first().filter(|other| other.case.experiment != kind) {
            bail!(
                "{}: a run of {}, beside one of {}",
                dir.display(),
                kind.name(),
                other.case.experiment.name()
            );
        }
        if dirs.len() > 1 {
            Record::name_run(&mut of_run, &dir.display().to_string());
        }
        if all.iter().any(|other| other.case.run == of_run[0].case.run) {
            bail!("{}: is named twice", dir.display());
        }
        all.extend(of_run);
    }
    Ok(all)
}
