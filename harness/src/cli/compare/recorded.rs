//! Compares recorded runs: one run with several MPIs, or a base and others, each a run or a folder of runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure};
use ddtbench::compare::{Comparer, ComparisonUnit, Comparisons, Settings, Side, foreign};
use ddtbench::folder::{self, FolderError, LAUNCHES};
use ddtbench::model::Record;
use ddtbench::plan::Plan;
use ddtbench::run::{Difference, Environment, MpiAccount};

use crate::cli::recorded;
use crate::cli::run_page::comparisons;

/// Compares the first folder with each other one; in a single folder, the first MPI with each other one.
pub(super) fn compare(folders: &[PathBuf], settings: &Settings, anyway: bool) -> anyhow::Result<Comparisons> {
    let [folder] = folders else { return compare_sides(folders, settings, anyway) };
    ensure!(!folder.is_file(), "{}: a table is one side; give two, BASE and NEW", folder.display());
    let only = Recording::read(folder, anyway)?;
    let labels = Record::mpis(&only.records);
    ensure!(
        labels.len() > 1 && only.runs.len() == 1,
        "{}: a single folder must have one run with several MPIs; it has {} with {}",
        only.name,
        only.runs.len(),
        labels.join(", ")
    );
    if folder.join(folder::COMPARISON).exists() {
        comparisons(&only.runs[0], &only.records)?;
        return again(&only.runs[0], &only.records, settings);
    }
    Ok(compared(&Side::of_mpis(&only.records), settings))
}

/// A comparison that was measured until it was decided. Its file is not believed.
pub(in crate::cli) fn again(
    dir: &Path,
    records: &[Record],
    settings: &Settings,
) -> anyhow::Result<Comparisons> {
    let plan = Plan::read(&dir.join(folder::PLAN))?;
    Ok(Comparisons::after_tests(settings.clone(), plan.launches(), records))
}

/// Compares the first folder with each other one.
fn compare_sides(folders: &[PathBuf], settings: &Settings, anyway: bool) -> anyhow::Result<Comparisons> {
    let sides =
        folders.iter().map(|folder| Recording::read(folder, anyway)).collect::<anyhow::Result<Vec<_>>>()?;
    for Recording { name, records, .. } in &sides {
        let mpis = Record::mpis(records);
        ensure!(
            mpis.len() == 1,
            "{name} has several MPIs ({}), and a side of a comparison has one: `ddtbench compare {name}` compares them with each other, \
             and a run with --mpi {} is a side",
            mpis.join(", "),
            mpis[0]
        );
    }
    for (i, side) in sides.iter().enumerate() {
        for earlier in &sides[..i] {
            ensure!(
                earlier.identities()?.is_disjoint(&side.identities()?),
                "{} and {} have the same measurement: each side needs its own runs",
                earlier.name,
                side.name
            );
        }
    }
    let [base, others @ ..] = sides.as_slice() else { bail!("no folder") };
    let mut conditions = Vec::new();
    for other in others {
        if base.runs.is_empty() != other.runs.is_empty() {
            let needed = "a table of another program can only be compared with a table, and a run with runs";
            bail!("{} and {}: {needed}", base.name, other.name);
        }
        let differ = base.differences(other);
        let text = format!(
            "{} and {} were measured under different conditions: {}",
            base.name,
            other.name,
            differ.join("; ")
        );
        if !differ.is_empty() && !anyway {
            bail!("{text}; add --anyway to compare nevertheless");
        }
        conditions.push(if differ.is_empty() { String::new() } else { text });
    }
    let of_runs = |(name, recording): (&String, &Recording)| {
        let mut side = Side::from_records(name, &recording.records, ComparisonUnit::Run);
        // A table does not name its conditions.
        if recording.runs.is_empty() {
            side.place.clear();
        }
        side
    };
    let names = short_names(folders);
    let mut compared = compared(&names.iter().zip(&sides).map(of_runs).collect::<Vec<_>>(), settings);
    if sides.iter().any(|side| side.runs.is_empty()) {
        // Their methods are not those that an application chooses from.
        compared.overviews.clear();
        compared.comparisons.iter_mut().for_each(|comparison| comparison.is_of_tables = true);
    }
    for (comparison, conditions) in compared.comparisons.iter_mut().zip(conditions) {
        comparison.conditions = conditions;
    }
    Ok(compared)
}

/// The last parts of paths, as many as distinguish them.
fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf, parts: usize| {
        let all: Vec<_> = path.components().collect();
        all[all.len().saturating_sub(parts)..].iter().collect::<PathBuf>().display().to_string()
    };
    let most = paths.iter().map(|path| path.components().count()).max().unwrap_or_default();
    let of = |parts| paths.iter().map(|path| name(path, parts)).collect::<Vec<_>>();
    let is_enough = |parts: &usize| of(*parts).iter().collect::<BTreeSet<_>>().len() == paths.len();
    of((1..most).find(is_enough).unwrap_or(most))
}

fn compared(sides: &[Side], settings: &Settings) -> Comparisons {
    let test = |new| Comparer::new(settings.clone()).interim_test(&sides[0], new, &|_| Some(1.0));
    let rows = sides[1..].iter().map(test).collect();
    Comparisons::from_sides(settings.clone(), sides, rows)
}

struct Recording {
    name: String,
    runs: Vec<PathBuf>,
    records: Vec<Record>,
    environments: Vec<Option<Environment>>,
}

impl Recording {
    /// Reads runs, or the table of another program. Refuses damaged folders, unless `anyway`.
    fn read(path: &Path, anyway: bool) -> anyhow::Result<Self> {
        if path.is_file() {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|error| anyhow!("{name}: {error}"))?;
            let records = foreign::records(&text).map_err(|reason| anyhow!("{name}: {reason}"))?;
            return Ok(Self { name, runs: Vec::new(), records, environments: Vec::new() });
        }
        let runs = runs_of(path)?;
        let mut records = Vec::new();
        for run in &runs {
            let mut of_run = recorded::records(run)?;
            let damage = if anyway { Vec::new() } else { recorded::damage(run, &of_run)? };
            ensure!(damage.is_empty(), "{}; add --anyway to compare nevertheless", damage.join("; "));
            recorded::warn_of_lacks(run, &of_run)?;
            // Runs from before runs had ids still need their own.
            let unnamed = of_run.iter_mut().filter(|record| record.case.run.is_empty());
            Record::name_run(unnamed, &run.canonicalize()?.to_string_lossy());
            records.extend(of_run);
        }
        let environment = |run: &PathBuf| {
            Environment::read(&run.join(folder::ENVIRONMENT)).map_err(|reason| anyhow!(reason))
        };
        let environments = runs.iter().map(environment).collect::<anyhow::Result<_>>()?;
        let recording = Self { name: path.display().to_string(), runs, records, environments };
        ensure!(!recording.records.is_empty(), "{}: no finished case", path.display());
        Ok(recording)
    }

    /// Differences in conditions that would be mistaken for differences between MPIs.
    fn differences(&self, other: &Self) -> Vec<String> {
        type Condition = fn(&Recording) -> BTreeSet<String>;
        let conditions: [(&str, Condition); 7] = [
            ("CPU", |r| r.of_environments(|e| e.begun.machine.cpu_model.clone())),
            ("hardware threads", |r| r.of_environments(|e| Some(e.begun.machine.cpus.to_string()))),
            ("governor", |r| r.of_environments(|e| e.begun.machine.governor.clone())),
            ("hosts", |r| r.of_records(|record| record.case.hosts.to_string())),
            ("transport", |r| r.of_records(|record| record.case.transport.clone())),
            ("ddtbench build", |r| r.environments.iter().flatten().flat_map(Environment::builds).collect()),
            ("binding", |r| {
                let plans = r.runs.iter().filter_map(|run| Plan::read(&run.join(folder::PLAN)).ok());
                plans.map(|plan| if plan.bind { "bound" } else { "not bound" }.to_owned()).collect()
            }),
        ];
        let mut differ: Vec<String> = conditions
            .iter()
            .map(|(name, of)| (name, of(self), of(other)))
            .filter(|(_, here, there)| here != there)
            .map(|(name, here, there)| format!("{name}: {} and {}", list(&here), list(&there)))
            .collect();
        let accounts = |r: &'_ Self| -> Vec<MpiAccount> {
            r.environments.iter().flatten().flat_map(Environment::accounts).cloned().collect()
        };
        differ.extend(other_settings(&accounts(self), &accounts(other)));
        let cases = |r: &Self| r.of_records(|record| format!("{} {}", record.case.test, record.case.params));
        if cases(self).is_disjoint(&cases(other)) {
            differ.push("no common cases".to_owned());
        }
        differ
    }

    fn of_environments(&self, value: fn(&Environment) -> Option<String>) -> BTreeSet<String> {
        self.environments.iter().flatten().filter_map(value).collect()
    }

    /// Its runs by their ids, or a table by its place.
    fn identities(&self) -> anyhow::Result<BTreeSet<String>> {
        match self.runs.is_empty() {
            true => Ok([Path::new(&self.name).canonicalize()?.display().to_string()].into()),
            false => Ok(self.of_records(|record| record.case.run.clone())),
        }
    }

    fn of_records(&self, value: fn(&Record) -> String) -> BTreeSet<String> {
        self.records.iter().map(value).collect()
    }
}

/// Different settings of two sides with MPIs of the same family. Between families, settings always differ.
fn other_settings(here: &[MpiAccount], there: &[MpiAccount]) -> Vec<String> {
    let families = |side: &[MpiAccount]| side.iter().map(|account| account.mpi.family.name()).collect();
    let [of_here, of_there]: [BTreeSet<&str>; 2] = [families(here), families(there)];
    if of_here.len() != 1 || of_here != of_there {
        return Vec::new();
    }
    let [here, there]: [Vec<&MpiAccount>; 2] = [here.iter().collect(), there.iter().collect()];
    let text = |found: Difference| format!("{}: {} and {}", found.name, found.values[0], found.values[1]);
    MpiAccount::differences(&here, &there).into_iter().map(text).collect()
}

fn list(values: &BTreeSet<String>) -> String {
    let all: Vec<&str> = values.iter().map(String::as_str).collect();
    if all.is_empty() { "unknown".to_owned() } else { all.join(", ") }
}

/// All runs in these folders with a finished case.
pub(super) fn runs(folders: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let runs = folders.iter().map(|folder| runs_of(folder)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut ended = Vec::new();
    for run in runs.concat() {
        if !recorded::records(&run)?.is_empty() {
            ended.push(run);
        }
    }
    Ok(ended)
}

/// The run in a folder, or the runs in its subfolders.
fn runs_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.join(LAUNCHES).exists() || path.join(folder::SUMMARY).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let runs = folder::runs_within(path);
    if runs.is_empty() {
        let refusal = FolderError::NotARun { path: path.to_owned(), missing: LAUNCHES };
        bail!(
            "{refusal}, or subfolders with these; without --mpi, arguments are folders of runs, or tables of other programs"
        );
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use ddtbench::mpi::{Family, Installation};

    use super::*;

    fn account(family: Family, cma: &str) -> MpiAccount {
        let mpi = Installation { family, ..Installation::default() };
        let settings = Some([("MPIR_CVAR_CH4_CMA_ENABLE".to_owned(), cma.to_owned())].into());
        MpiAccount { mpi, settings, ..MpiAccount::default() }
    }

    #[test]
    fn sides_are_named_by_what_distinguishes_their_paths() {
        let names = |paths: [&str; 2]| short_names(&paths.map(PathBuf::from));
        assert_eq!(names(["/a/results/before", "results/after"]), ["before", "after"]);
        assert_eq!(names(["/ci/41/out", "/ci/42/out/"]), ["41/out", "42/out"]);
        assert_eq!(names(["a", "a"]), ["a", "a"]);
        assert_eq!(names(["a", "b/a"]), ["a", "b/a"]);
    }

    #[test]
    fn only_sides_of_one_makers_mpi_are_held_to_the_same_settings() {
        let [off, on] = ["0", "1"].map(|cma| account(Family::Mpich, cma));
        let found = other_settings(&[off.clone(), off.clone()], &[on]);
        assert_eq!(found, ["MPIR_CVAR_CH4_CMA_ENABLE: \"0\" and \"1\""]);
        let off = [off];
        assert_eq!(other_settings(&off, &off), [""; 0]);
        assert_eq!(other_settings(&off, &[account(Family::OpenMpi, "1")]), [""; 0]);
    }
}
