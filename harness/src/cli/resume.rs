//! Resumes a run that was cut off, or repeats its failures. Everything is checked before anything is changed.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use ddtbench::folder::{self, About, Done, Recorded};
use ddtbench::model::Record;
use ddtbench::mpi::interrupt;
use ddtbench::plan::{CheckedPlan, Plan, memory};
use ddtbench::run::{Environment, Part, Run, put_long_values};

use super::measure::{self, Begun, RunOptions};
use super::output::log;
use super::recorded::methods_of;
use super::targets::{self, Chosen};

/// Prepares the run in a folder for resuming, and reads its records. Whoever may write to `above` may have put the run there.
pub(super) fn reopen(
    options: RunOptions<'_>,
    dir: &Path,
    above: Option<&Path>,
) -> anyhow::Result<(Begun, Vec<Record>)> {
    let recorded = Recorded::open(dir)?;
    let file = dir.join(folder::PLAN);
    let of_file = || format!("plan file {}", file.display());
    let plan = Plan::parse(&recorded.plan).with_context(of_file)?.within(&file).within(dir);
    let plan = above.into_iter().fold(plan, Plan::within);
    let mut checked = memory::fit(plan.check().with_context(of_file)?).map_err(|reason| anyhow!(reason))?;
    let earlier = Environment::read(&dir.join(folder::ENVIRONMENT)).map_err(|reason| anyhow!(reason))?;
    match &earlier {
        Some(earlier) => {
            let of_account = || dir.join(folder::ENVIRONMENT).display().to_string();
            let is_own = earlier.check_origin(&recorded.records);
            is_own.map_err(|reason| anyhow!(reason)).with_context(of_account)?;
            refuse_edits(&recorded.plan, &earlier.plan, dir)?;
        }
        None => refuse_unknown_origin(&recorded.records, dir)?,
    }
    let mut chosen = targets::choose(&mut checked.plan, options.is_trusted, options.verbose)?;
    if let Some(earlier) = &earlier {
        refuse_other_mpis(&chosen, earlier, dir)?;
    }
    chosen.compile_loop(dir)?;
    measure::introduce(&chosen, dir);
    let targets = chosen.build()?;
    // A run that was stopped early may have a plan without sizes.
    let mut checked = if earlier.is_none() { measure::with_sizes(checked, &targets, dir)? } else { checked };
    if interrupt::requested() {
        bail!(measure::stopped(dir));
    }
    put_long_values(&mut checked, dir)?;
    let run = Run { plan: &checked, targets: &targets };
    let done = done(&checked, &recorded.records, options.retry_failed);
    let part = Part::now(measure::now(), &run, done.len())?;
    let environment = match earlier {
        Some(mut earlier) => {
            go_on_elsewhere(&earlier.elsewhere(&part), options.anyway, dir)?;
            if !options.anyway {
                earlier.held_to = earlier.accounts().cloned().collect();
            }
            let warnings = [earlier.other_host(&part), earlier.other_build(&part)];
            warnings.iter().flatten().for_each(|warning| log(warning));
            earlier.resumed.push(part);
            earlier
        }
        None => Environment::from_part(checked.plan.to_toml(), part),
    };
    let records = recorded.records.clone();
    recorded.lacking(&done)?.iter().for_each(|warning| log(&format!("warning: {warning}")));
    let about = About { plan: checked.plan.to_toml(), ..measure::about(&checked) };
    let (mut folder, moved) = recorded.resume(&done, about.clone())?;
    folder.replace_plan(about)?;
    let why =
        if options.retry_failed { "its case had not ended or had failed" } else { "its case had not ended" };
    for file in moved {
        log(&format!("set aside because {why}: {}", file.display()));
    }
    let is_done =
        |record: &Record| record.launch.is_some_and(|launch| done.contains(&(record.case.clone(), launch)));
    let records = records.into_iter().filter(is_done).collect();
    Ok((Begun { checked, targets, folder, environment }, records))
}

/// Refuses times of unknown origin: a run writes the account of machine, MPIs and plan before its first result.
fn refuse_unknown_origin(records: &[Record], dir: &Path) -> anyhow::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    bail!(
        "{} is missing, so the machine and the MPI of the {} rows of {} are unknown; restore it, or begin a new run with \
         `ddtbench run --plan {}`",
        dir.join(folder::ENVIRONMENT).display(),
        records.len(),
        folder::LAUNCHES,
        dir.join(folder::PLAN).display()
    )
}

/// The cases and launches that need not run again: all their methods have ended, and with `retry_failed` none has failed.
fn done(checked: &CheckedPlan, records: &[Record], retry_failed: bool) -> Done {
    let kind = checked.plan.experiment;
    let mut done = Recorded::done(records, kind.headline(), methods_of(checked));
    if retry_failed {
        for record in records.iter().filter(|record| record.has_failed()) {
            if let Some(launch) = record.launch {
                done.remove(&(record.case.clone(), launch));
            }
        }
    }
    done
}

/// Results from another machine or other settings go into the same tables, so this needs a warning.
fn go_on_elsewhere(differ: &[String], anyway: bool, dir: &Path) -> anyhow::Result<()> {
    match (differ, anyway) {
        ([], _) => Ok(()),
        (_, true) => {
            log(&format!("warning: {}; the column `part` distinguishes its parts", differ.join("; ")));
            Ok(())
        }
        (_, false) => bail!(
            "the run in {} would continue under other conditions: {}; --anyway resumes it, and the column `part` distinguishes \
             its parts",
            dir.display(),
            differ.join("; ")
        ),
    }
}

/// A plan that was edited after the run began is another plan.
fn refuse_edits(now: &str, then: &str, dir: &Path) -> anyhow::Result<()> {
    let lines =
        |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let (now, then): (Vec<String>, Vec<String>) = (lines(now), lines(then));
    let Some(i) = (0..now.len().max(then.len())).find(|&i| now.get(i) != then.get(i)) else { return Ok(()) };
    let line =
        |lines: &[String]| lines.get(i).map_or_else(|| "nothing".to_owned(), |line| format!("`{line}`"));
    bail!(
        "{}: the plan was edited after the run began: it had {} where it has {} now; undo that, or start a new run: \
         ddtbench run --plan FILE",
        dir.join(folder::PLAN).display(),
        line(&then),
        line(&now)
    )
}

/// Results of another version of an MPI do not belong to the run.
fn refuse_other_mpis(chosen: &Chosen, earlier: &Environment, dir: &Path) -> anyhow::Result<()> {
    for installation in chosen.installations() {
        let known = earlier.begun.mpis.iter().find(|account| account.mpi.name == installation.name);
        let Some(account) = known else { continue };
        let then = format!("{} {}", account.mpi.family.title(), account.mpi.version);
        if then != installation.title() {
            bail!(
                "`{}` is {} now and was {then} when the run in {} began; start a new run",
                installation.name,
                installation.title(),
                dir.display()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ddtbench::model::{Case, Outcome};

    use super::*;

    #[test]
    fn a_case_in_which_a_method_has_failed_is_done_unless_that_is_tried_again() {
        let plan: Plan = toml::from_str(
            "schema = 1\nmethods = [\"reference\", \"manual\", \"ddt\"]\ncases = [{ test = \"nas_lu_y\" }]",
        )
        .unwrap();
        let checked = plan.check().unwrap();
        let params = checked.cases[0].params.clone();
        let case = Arc::new(Case { test: "nas_lu_y".to_owned(), params, ..Case::default() });
        let phase = checked.plan.experiment.headline();
        let launch = |launch: usize, outcomes: [&str; 3]| {
            let record = |(method, outcome): (&str, &str)| Record {
                case: Arc::clone(&case),
                launch: Some(launch),
                method: method.to_owned(),
                outcome: Outcome::from_label(outcome).unwrap(),
                phase,
                ..Record::default()
            };
            ["reference", "manual", "ddt"].into_iter().zip(outcomes).map(record).collect::<Vec<_>>()
        };
        let failures = ["crashed", "timed out", "invalid", "wrong data", "MPI error"];
        let mut records: Vec<Record> = launch(0, ["converged", "time limit", "not available"]);
        for (i, failure) in failures.iter().enumerate() {
            records.extend(launch(i + 1, ["converged", failure, "converged"]));
        }
        assert_eq!(done(&checked, &records, false).len(), 1 + failures.len());
        assert_eq!(done(&checked, &records, true), [(case, 0)].into());
    }

    #[test]
    fn times_of_unknown_origin_are_refused() {
        assert!(refuse_unknown_origin(&[], Path::new("run")).is_ok(), "it was stopped before the first");
        let refusal = refuse_unknown_origin(&[Record::default()], Path::new("run")).unwrap_err().to_string();
        assert!(refusal.contains("run/environment.json is missing"), "{refusal}");
        assert!(refusal.contains("--plan run/plan.toml"), "{refusal}");
    }
}
