//! Results in the folder of a run, in the order of its plan: the files have them in measured order, which is random.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::bail;
use ddtbench::compare;
use ddtbench::folder::{self, FolderError};
use ddtbench::model::{Case, Record};
use ddtbench::plan::{CheckedPlan, Plan};
use ddtbench::report::compared::Compared;
use ddtbench::run::{Environment, MpiAccount, asked_for, in_plan_order};

use super::output::log;

/// The records of each launch, in the folder's order if this version cannot read the plan.
///
/// # Errors
/// If there are none, or if they cannot be read.
pub(super) fn records(dir: &Path) -> Result<Vec<Record>, FolderError> {
    let mut records = folder::read_records(dir)?;
    let file = dir.join(folder::ENVIRONMENT);
    let environment = Environment::read(&file).ok().flatten();
    if let Some(environment) = &environment {
        let refuse = |reason| FolderError::Broken { path: file, reason };
        environment.check_origin(&records).map_err(refuse)?;
    }
    let mpis = environment.map(|environment| environment.begun.mpis).unwrap_or_default();
    let mpis: Vec<String> = mpis.iter().map(MpiAccount::label).collect();
    if let Ok(plan) = Plan::read(&dir.join(folder::PLAN))
        && let Ok(plan) = plan.check()
    {
        in_plan_order(&plan, &mpis, &mut records);
    }
    Ok(records)
}

/// The comparison of recorded cases that have the same bytes. `None` if this version cannot read the plan.
pub(super) fn same_bytes(dir: &Path) -> Option<Compared<'static>> {
    let plan = Plan::read(&dir.join(folder::PLAN)).and_then(Plan::check).ok()?;
    let records = records(dir).ok()?;
    Some(compare::same_bytes(&plan.named_cases(), plan.plan.context(), &records))
}

/// The methods of a case of a plan.
pub(super) fn methods_of(checked: &CheckedPlan) -> impl Fn(&Case) -> Option<Vec<String>> {
    let of_case: HashMap<(&str, &str), usize> = (0..checked.cases.len())
        .map(|i| ((checked.plan.cases[i].test.as_str(), checked.cases[i].params.as_str()), i))
        .collect();
    move |case| {
        let i = of_case.get(&(case.test.as_str(), case.params.as_str()))?;
        Some(checked.methods_of(*i, case.memory))
    }
}

/// Rows and files that a person has removed or edited, or that a killed run has not written. Conclusions from the rest may be wrong.
pub(super) fn damage(dir: &Path, records: &[Record]) -> anyhow::Result<Vec<String>> {
    let environment = Environment::read(&dir.join(folder::ENVIRONMENT)).map_err(anyhow::Error::msg)?;
    let file = dir.join(folder::PLAN);
    let plan = if file.exists() { Some(Plan::read(&file)?) } else { None };
    let mut damage = Vec::new();
    match (&plan, &environment) {
        (None, _) => {
            damage.push(format!("{} is missing, so that missing rows cannot be found", folder::PLAN))
        }
        (_, None) => {
            damage.push(format!("{} is missing, so that the conditions are unknown", folder::ENVIRONMENT))
        }
        (Some(plan), Some(environment)) => {
            if Plan::parse(&environment.plan).is_ok_and(|begun| begun != *plan) {
                damage.push(format!("{} is not the plan with which the run began", folder::PLAN));
            }
        }
    }
    let checked = plan.and_then(|plan| plan.check().ok());
    let methods = |case: &Case| methods_of(checked.as_ref()?)(case);
    damage.extend(folder::lacking_rows(dir, records, methods)?);
    damage.extend(folder::lacking_figures(dir, records));
    damage.extend(folder::changed_files(dir)?);
    Ok(damage.into_iter().map(|damage| format!("{}: {damage}", dir.display())).collect())
}

/// Warns if the folder has fewer records than measured or planned.
pub(super) fn warn_of_lacks(dir: &Path, records: &[Record]) -> anyhow::Result<()> {
    let planned = || {
        let environment = Environment::read(&dir.join(folder::ENVIRONMENT)).ok().flatten()?;
        let plan = Plan::read(&dir.join(folder::PLAN)).ok()?.check().ok()?;
        // A comparison ends once it is decided.
        if dir.join(folder::COMPARISON).exists() {
            return None;
        }
        let of_launch = plan.cases.len() * plan.plan.conditions().count() * environment.begun.mpis.len();
        lack(of_launch * plan.plan.launches(), records, dir)
    };
    let lacks = damage(dir, records)?.into_iter().chain(planned());
    lacks.for_each(|lack| log(&format!("warning: {lack}")));
    Ok(())
}

fn lack(planned: usize, records: &[Record], dir: &Path) -> Option<String> {
    let found: HashSet<_> = records.iter().map(|record| (asked_for(&record.case), record.launch)).collect();
    let dir = dir.display();
    (found.len() < planned).then(|| {
        format!(
            "{dir} has {} of {planned} planned launches; `ddtbench run --resume {dir}` measures all others",
            found.len()
        )
    })
}

/// The records of all launches of all folders. If there are several folders, they name the runs.
///
/// # Errors
/// If a folder has no records, is given twice, or is of another kind of experiments.
pub(super) fn of_all(dirs: &[PathBuf]) -> anyhow::Result<Vec<Record>> {
    let mut all: Vec<Record> = Vec::new();
    for dir in dirs {
        let mut of_run = records(dir)?;
        warn_of_lacks(dir, &of_run)?;
        let Some(first) = of_run.first() else { bail!("{}: no finished case", dir.display()) };
        let kind = first.case.experiment;
        if let Some(other) = all.first().filter(|other| other.case.experiment != kind) {
            bail!(
                "{}: a run of {} cannot be shown with one of {}",
                dir.display(),
                kind.name(),
                other.case.experiment.name()
            );
        }
        if dirs.len() > 1 {
            Record::name_run(&mut of_run, &dir.display().to_string());
        }
        if all.iter().any(|other| other.case.run == of_run[0].case.run) {
            bail!("{}: is given twice", dir.display());
        }
        all.extend(of_run);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn launches_that_are_planned_and_not_there_are_counted() {
        let of = |launch, transport: &str| Record {
            case: Arc::new(Case { transport: transport.to_owned(), ..Case::default() }),
            launch: Some(launch),
            ..Record::default()
        };
        let records = [of(0, "shm"), of(0, "shm"), of(1, "tcp")];
        assert_eq!(lack(2, &records, Path::new("run")), None);
        let lack = lack(3, &records, Path::new("run")).unwrap();
        assert!(lack.contains("2 of 3 planned") && lack.contains("--resume run"), "{lack}");
    }
}
