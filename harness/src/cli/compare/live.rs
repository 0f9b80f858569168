//! MPIs that are measured in turn, launch by launch, until every row is decided or the time is over.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure};
use ddtbench::compare::{Comparer, ComparisonRow, ComparisonUnit, Comparisons, Side, looks};
use ddtbench::experiments::launches::over_launches;
use ddtbench::folder::Folder;
use ddtbench::model::{Case, Record};
use ddtbench::plan::{Plan, Variant};
use ddtbench::run::{Environment, Run, RunEnd, RunError, Target, Unit};

use super::CompareArgs;
use crate::cli::measure::{self, Begun};
use crate::cli::output::say;
use crate::cli::progress::Progress;
use crate::cli::run_page::RunPage;

/// Launches of each side at most, where nobody says how many: error bars of 20 are a third of those of 3 or less.
const MOST_LAUNCHES: usize = 20;

/// Time of a method in a launch, in seconds: some tens of rounds of most tests, and less than starting the launch takes.
const LAUNCH_TIME_S: f64 = 0.1;

/// What an MPI is called beside itself.
const AGAIN: &str = "again";

/// Measures, and gives the comparison of each other MPI with the first, and the folder of the run; or ends with an exit code.
pub(super) fn compare(args: &CompareArgs) -> anyhow::Result<Result<(Comparisons, PathBuf), ExitCode>> {
    let Begun { checked, targets, folder, mut environment } =
        match measure::start(args.run.conditions.manner(false), plan(args)?)? {
            Ok(begun) => begun,
            Err(code) => return Ok(Err(code)),
        };
    let run = Run { plan: &checked, targets: &targets };
    let labels: Vec<String> = targets.iter().map(Target::label).collect();
    if let [only] = labels.as_slice() {
        return Err(measure::give_back(folder, anyhow!(alone(only))));
    }
    measure::warn_of_shared_cores(&run);
    environment.keep(&folder)?;

    let (most, begun) = (checked.plan.launches(), Instant::now());
    let looks = looks(most);
    let mut comparers: Vec<Comparer> =
        labels[1..].iter().map(|_| Comparer::new(args.judge.settings())).collect();
    let mut live = Live { run, folder, labels, records: Vec::new(), open: None };
    for launch in 0.. {
        match live.launch(launch, &mut environment) {
            Ok(RunEnd::Complete) => {}
            Ok(RunEnd::Interrupted) => {
                let dir = live.folder.path().display();
                say(&format!(
                    "stopped; what was measured is kept: ddtbench compare {dir} shows what it says"
                ));
                return Ok(Err(ExitCode::from(measure::INTERRUPTED)));
            }
            Err(error @ (RunError::Mpi(_) | RunError::NeverBegan { .. })) => {
                return Err(measure::give_back(live.folder, error.into()));
            }
            Err(error) => return Err(error.into()),
        }
        let made = launch + 1;
        let is_last = made == most || begun.elapsed().as_secs_f64() > args.time;
        if !is_last && !looks.contains(&made) {
            continue;
        }
        // After the last look nothing follows: all of the error may be spent.
        let share = if is_last { 1.0 } else { made as f64 / most as f64 };
        let sides: Vec<Side> = live.labels.iter().map(|label| Side::of_mpi(&live.records, label)).collect();
        let others = comparers.iter_mut().zip(&sides[1..]);
        let rows: Vec<_> = others.map(|(comparer, other)| comparer.look(&sides[0], other, share)).collect();
        let undecided = live.leave_open(&rows);
        say(&format!("after {made} launches {undecided} of {} rows are undecided", rows.concat().len()));
        if is_last || undecided == 0 {
            let comparisons = Comparisons::of(args.judge.settings(), ComparisonUnit::Launch, &sides, rows);
            live.finish(&comparisons)?;
            return Ok(Ok((comparisons, live.folder.path().to_owned())));
        }
    }
    unreachable!("some launch is the last")
}

/// A comparison that goes on.
struct Live<'a> {
    run: Run<'a>,
    folder: Folder,
    /// The MPIs as tables name them, the base first.
    labels: Vec<String>,
    records: Vec<Record>,
    /// The cases in which something is undecided, without their MPIs; `None` before the first look.
    open: Option<HashSet<Case>>,
}

impl Live<'_> {
    /// Makes a launch of all cases that are open, on all MPIs.
    fn launch(&mut self, launch: usize, environment: &mut Environment) -> Result<RunEnd, RunError> {
        let is_open = |unit: &Unit| {
            let case = apart(self.run.case(*unit));
            unit.launch == launch && self.open.as_ref().is_none_or(|open| open.contains(&case))
        };
        let units: Vec<Unit> = self.run.units().into_iter().filter(is_open).collect();
        let mut progress = Progress::new(units.len(), &self.run);
        let (folder, done) = (&mut self.folder, HashSet::new());
        let (end, new) = self.run.some(&units, folder, &done, environment, &mut progress)?;
        self.records.extend(new);
        Ok(end)
    }

    /// Leaves the cases open of which a row is undecided, and gives the number of such rows.
    fn leave_open(&mut self, rows: &[Vec<ComparisonRow>]) -> usize {
        let undecided: Vec<&ComparisonRow> =
            rows.iter().flatten().filter(|row| !row.verdict.is_decided()).collect();
        let is_open = |case: &Case| undecided.iter().any(|row| row.subject.is_of(case));
        let cases = self.run.units().into_iter().map(|unit| apart(self.run.case(unit)));
        self.open = Some(cases.filter(is_open).collect());
        undecided.len()
    }

    /// Keeps what was found, with the tables that every run has.
    fn finish(&self, comparisons: &Comparisons) -> anyhow::Result<()> {
        let plan = &self.run.plan.plan;
        let mut records = self.records.clone();
        self.run.in_plan_order(&mut records);
        let over = over_launches(&records, plan.limits.precision());
        self.folder.write_comparison(comparisons)?;
        let compared = comparisons.compared();
        let page = RunPage::of(plan.experiment, &over, &records, &[self.folder.path()], None, &compared);
        page.write(&self.folder, &over)?;
        say(&format!("results: {}; ddtbench compare {0} shows this again", self.folder.path().display()));
        Ok(())
    }
}

fn alone(mpi: &str) -> String {
    let other = if mpi == "openmpi" { "mpich" } else { "openmpi" };
    format!("{mpi} alone was named: a comparison needs two, as --mpi {mpi},{other}, or a --variant of it")
}

/// A case without what tells MPIs apart.
fn apart(case: Case) -> Case {
    Case { mpi: String::new(), mpi_version: String::new(), mpi_variant: String::new(), ..case }
}

/// The plan: of the flags, or of a file of whatever kind; of an MPI that is named twice, one is called otherwise.
fn plan(args: &CompareArgs) -> anyhow::Result<Plan> {
    let conditions = &args.run.conditions;
    let mut plan = args.run.plan_of_any_kind()?;
    if !conditions.has_launches() {
        plan.launches = Some(MOST_LAUNCHES);
    }
    if !conditions.has_max_time() {
        plan.limits.max_time_s = LAUNCH_TIME_S * plan.launches() as f64;
    }
    ensure!(
        plan.launches() >= 3,
        "--launches {}: a difference needs three launches at least",
        plan.launches()
    );
    if let Some(control) = &args.judge.control {
        ensure!(
            plan.methods.contains(control),
            "--control {control} is none of the methods: {}",
            plan.methods.join(", ")
        );
    }
    let mut mpis: Vec<String> = Vec::new();
    for name in &conditions.mpi {
        match mpis.iter().filter(|known| known.split(':').next() == Some(name)).count() {
            0 => mpis.push(name.clone()),
            times => {
                let again = if times == 1 { AGAIN.to_owned() } else { format!("{AGAIN}-{times}") };
                mpis.push(format!("{name}:{again}"));
                plan.variants.push(Variant { name: again, mpi: Some(name.clone()), ..Variant::default() });
            }
        }
    }
    if !mpis.is_empty() {
        plan.mpis = mpis;
    }
    if let ([only], []) = (&plan.mpis[..], &plan.variants[..]) {
        bail!(alone(only));
    }
    Ok(plan)
}
