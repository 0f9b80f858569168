//! Alternates launches of MPIs until every row is decided or the time is over.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure};
use ddtbench::compare::{Comparisons, Launches, Schedule, Side, Subject, Turn, until_decided};
use ddtbench::experiments::launches::over_launches;
use ddtbench::folder::{self, Folder};
use ddtbench::model::Record;
use ddtbench::mpi::{Target, Variant};
use ddtbench::plan::Plan;
use ddtbench::run::{Environment, Run, RunEnd, RunError, Unit};

use super::CompareArgs;
use crate::cli::measure::{self, Begun, EarlyEnd, RunOptions};
use crate::cli::output::log;
use crate::cli::progress::Progress;
use crate::cli::run_page::RunPage;

/// Launches of each side at most, if no number is given: of recorded launches 30 find a change of 7% in 70 to
/// 100% (docs/evidence/compare.md).
const MOST_LAUNCHES: usize = 30;

/// Time of a method per launch in seconds: some tens of rounds of most tests, and less than starting the launch takes.
const LAUNCH_TIME_S: f64 = 0.1;

/// The variant of an MPI that is compared with itself.
const AGAIN: &str = "again";

/// Measures. Returns the comparison of each other MPI with the first, the folder of the run, and the exit code.
pub(super) fn compare(args: &CompareArgs) -> anyhow::Result<(Comparisons, PathBuf, ExitCode)> {
    let options = RunOptions { time_s: Some(args.time), ..args.given.options(args.out.as_deref()) };
    let Begun { checked, targets, folder, mut environment } = measure::start(options, plan(args)?)?;
    let run = Run { plan: &checked, targets: &targets };
    let labels: Vec<String> = targets.iter().map(Target::label).collect();
    if let [only] = labels.as_slice() {
        return Err(measure::give_back(folder, anyhow!(alone(only))));
    }
    measure::warn_of_shared_cores(&run, &environment.part().mpis);
    environment.keep(&folder)?;

    let cases: Vec<Subject> = run.units().into_iter().map(|unit| Subject::of_case(&run.case(unit))).collect();
    let mut schedule = Schedule::new(cases, checked.plan.launches());
    let (begun, time_s) = (Instant::now(), args.time);
    let progress = Some(Progress::new(run.units().len(), &run).within(time_s));
    let mut live = Live { run, folder, environment, labels, records: Vec::new(), progress, begun, time_s };
    let settings = args.judge.settings();
    let ended = until_decided(&settings, &mut schedule, &mut live);
    live.progress = None;
    match ended {
        Ok(_) => {
            let mut comparisons = Comparisons::after_tests(settings, checked.plan.launches(), &live.records);
            let code = args.judge.gate(&mut comparisons, args.gate);
            live.finish(&comparisons)?;
            Ok((comparisons, live.folder.path().to_owned(), code))
        }
        Err(None) => {
            let dir = live.folder.path().display();
            log(&format!("stopped; finished launches are saved: `ddtbench compare {dir}` compares them"));
            bail!(EarlyEnd(ExitCode::from(measure::INTERRUPTED)))
        }
        Err(Some(error @ RunError::Mpi(_))) => Err(measure::give_back(live.folder, error.into())),
        Err(Some(error)) => Err(error.into()),
    }
}

struct Live<'a> {
    run: Run<'a>,
    folder: Folder,
    environment: Environment,
    /// The MPIs as tables name them, the base first.
    labels: Vec<String>,
    records: Vec<Record>,
    /// With the result of the last interim test; `None` at the end.
    progress: Option<Progress>,
    begun: Instant,
    /// The time limit in seconds.
    time_s: f64,
}

impl Launches for Live<'_> {
    /// `None`: the user has stopped.
    type Error = Option<RunError>;

    /// Alternates the MPIs within each case.
    fn make(&mut self, due: &[(&Subject, usize)]) -> Result<Turn, Option<RunError>> {
        let due: HashMap<&Subject, usize> = due.iter().copied().collect();
        let is_due = |unit: &Unit| {
            due.get(&Subject::of_case(&self.run.case(*unit))).is_some_and(|launch| *launch == unit.launch)
        };
        let units: Vec<Unit> = self.run.units().into_iter().filter(is_due).collect();
        let (folder, done) = (&mut self.folder, HashSet::new());
        let progress = self.progress.as_mut().expect("it has not ended");
        let (end, new) = self.run.measure(&units, folder, &done, &mut self.environment, progress)?;
        self.records.extend(new);
        self.run.in_plan_order(&mut self.records);
        match end {
            RunEnd::Interrupted => Err(None),
            RunEnd::Complete if self.begun.elapsed().as_secs_f64() > self.time_s => Ok(Turn::Last),
            RunEnd::Complete => Ok(Turn::Made),
        }
    }

    /// All launches that were made count.
    fn sides(&self, _: &dyn Fn(&Record) -> bool) -> Vec<Side> {
        self.labels.iter().map(|label| Side::of_mpi(&self.records, label)).collect()
    }

    fn tested(&mut self, open: usize, all: usize, most_made: usize) {
        let status = format!("{open} of {all} rows need more launches");
        self.progress
            .iter_mut()
            .for_each(|progress| progress.set_status(&format!("{open} of {all} rows open")));
        // A terminal shows it in the bar, because only the answer is to remain.
        if !std::io::stderr().is_terminal() {
            log(&format!("after up to {most_made} launches per side: {status}"));
        }
    }
}

impl Live<'_> {
    /// Writes the comparison, and the tables of a run.
    fn finish(&self, comparisons: &Comparisons) -> anyhow::Result<()> {
        let plan = &self.run.plan.plan;
        let over = over_launches(&self.records, plan.limits.precision());
        self.folder.write_json(folder::COMPARISON, comparisons)?;
        let (kind, dirs) = (plan.experiment, [self.folder.path()]);
        let page = RunPage::new(kind, &over, &self.records, &dirs, None, &comparisons.compared(), true)?;
        page.write(&self.folder, &over)?;
        self.environment.notes.iter().for_each(|note| log(note));
        let dir = self.folder.path().display();
        log(&format!("results: {dir}; `ddtbench compare {dir}` shows this again"));
        log(&format!("one page for all MPIs, also for printing: {dir}/{}", folder::REPORT));
        Ok(())
    }
}

fn alone(mpi: &str) -> String {
    let other = if mpi == "openmpi" { "mpich" } else { "openmpi" };
    format!("only {mpi} was given: a comparison needs two, such as --mpi {mpi},{other}, or a --variant of it")
}

/// The plan of the flags, or of a file of any kind. An MPI that is given twice becomes a variant of itself.
fn plan(args: &CompareArgs) -> anyhow::Result<Plan> {
    let conditions = &args.given.conditions;
    let mut plan = args.given.plan_of_any_kind()?;
    if !conditions.has("launches") {
        plan.launches = Some(MOST_LAUNCHES);
    }
    if !conditions.has("limits.max_time_s") {
        plan.limits.max_time_s = LAUNCH_TIME_S * plan.launches() as f64;
    }
    ensure!(plan.launches() >= 3, "--launches {}: must be at least 3", plan.launches());
    let mut mpis: Vec<String> = Vec::new();
    for name in &conditions.mpis.names {
        match mpis.iter().filter(|known| known.split(':').next() == Some(name)).count() {
            0 => mpis.push(name.clone()),
            times => {
                let again = if times == 1 { AGAIN.to_owned() } else { format!("{AGAIN}-{times}") };
                mpis.push(format!("{name}:{again}"));
                plan.variants.push(Variant::for_mpi(name, &again, BTreeMap::new()));
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
