//! Alternates launches of MPIs until every row is decided or the time is over.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::IsTerminal as _;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure};
use ddtbench::compare::{Comparer, ComparisonRow, Comparisons, Schedule, Side, Subject};
use ddtbench::experiments::launches::over_launches;
use ddtbench::folder::{self, Folder};
use ddtbench::model::Record;
use ddtbench::mpi::{Target, Variant};
use ddtbench::plan::Plan;
use ddtbench::run::{Environment, Run, RunEnd, RunError, Unit};

use super::CompareArgs;
use crate::cli::measure::{self, BeginOptions, Begun, EarlyEnd};
use crate::cli::output::log;
use crate::cli::progress::Progress;
use crate::cli::run_page::RunPage;

/// Launches of each side at most, if no number is given: of recorded launches 30 find a change of 7% in 70 to 100%
/// (docs/evidence/compare.md).
const MOST_LAUNCHES: usize = 30;

/// Time of a method per launch in seconds: some tens of rounds of most tests, and less than starting the launch takes.
const LAUNCH_TIME_S: f64 = 0.1;

/// The variant of an MPI that is compared with itself.
const AGAIN: &str = "again";

/// Measures. Returns the comparison of each other MPI with the first, and the folder of the run.
pub(super) fn compare(args: &CompareArgs) -> anyhow::Result<(Comparisons, PathBuf)> {
    let options = BeginOptions { time_s: Some(args.time), ..args.given.options(args.out.as_deref()) };
    let Begun { checked, targets, folder, mut environment } = measure::start(options, plan(args)?)?;
    let run = Run { plan: &checked, targets: &targets };
    let labels: Vec<String> = targets.iter().map(Target::label).collect();
    if let [only] = labels.as_slice() {
        return Err(measure::give_back(folder, anyhow!(alone(only))));
    }
    measure::warn_of_shared_cores(&run, &environment.part().mpis);
    environment.keep(&folder)?;

    let begun = Instant::now();
    let mut comparers: Vec<Comparer> =
        labels[1..].iter().map(|_| Comparer::new(args.judge.settings())).collect();
    let cases: Vec<Subject> = run.units().into_iter().map(|unit| Subject::of_case(&run.case(unit))).collect();
    let mut schedule = Schedule::new(cases, checked.plan.launches());
    let mut live = Live { run, folder, labels, records: Vec::new(), status: String::new() };
    let mut rows: Vec<Vec<ComparisonRow>> = Vec::new();
    loop {
        let batch = schedule.next(&rows.iter().flatten().collect::<Vec<_>>());
        let is_over = match live.batch(&batch, &mut schedule, &mut environment, begun, args.time) {
            Ok(Batch::Made) => batch.is_empty(),
            Ok(Batch::TimeIsOver) => true,
            Ok(Batch::Interrupted) => {
                let dir = live.folder.path().display();
                log(&format!("stopped; finished launches are saved: `ddtbench compare {dir}` compares them"));
                bail!(EarlyEnd(ExitCode::from(measure::INTERRUPTED)));
            }
            Err(error @ RunError::Mpi(_)) => {
                return Err(measure::give_back(live.folder, error.into()));
            }
            Err(error) => return Err(error.into()),
        };
        let sides: Vec<Side> = live.labels.iter().map(|label| Side::of_mpi(&live.records, label)).collect();
        let now: HashSet<&Subject> = batch.iter().map(|(case, _)| case).collect();
        let share = |case: &Subject| now.contains(case).then(|| schedule.share(case));
        let others = comparers.iter_mut().zip(&sides[1..]);
        rows = others.map(|(comparer, other)| comparer.interim_test(&sides[0], other, &share)).collect();
        let undecided = rows.iter().flatten().filter(|row| row.is_open()).count();
        if !batch.is_empty() {
            let all = rows.iter().map(Vec::len).sum::<usize>();
            live.status = format!("{undecided} of {all} rows undecided");
            // A terminal shows it in the bar, because only the answer is to remain.
            if !std::io::stderr().is_terminal() {
                log(&format!("after up to {} launches per side: {}", schedule.most_made(), live.status));
            }
        }
        if is_over || undecided == 0 {
            let comparisons = Comparisons::of(args.judge.settings(), &sides, rows);
            live.finish(&comparisons)?;
            return Ok((comparisons, live.folder.path().to_owned()));
        }
    }
}

enum Batch {
    Made,
    TimeIsOver,
    Interrupted,
}

struct Live<'a> {
    run: Run<'a>,
    folder: Folder,
    /// The MPIs as tables name them, the base first.
    labels: Vec<String>,
    records: Vec<Record>,
    /// The result of the last interim test.
    status: String,
}

impl Live<'_> {
    /// Makes launches of these cases, alternating the MPIs within each case.
    fn batch(
        &mut self,
        batch: &[(Subject, Range<usize>)],
        schedule: &mut Schedule,
        environment: &mut Environment,
        begun: Instant,
        time_s: f64,
    ) -> Result<Batch, RunError> {
        for turn in 0.. {
            let due = batch.iter().map(|(case, launches)| (case, launches.start + turn, launches.end));
            let due: HashMap<&Subject, usize> =
                due.filter(|(_, launch, end)| launch < end).map(|(case, launch, _)| (case, launch)).collect();
            if due.is_empty() {
                break;
            }
            let is_due = |unit: &Unit| {
                due.get(&Subject::of_case(&self.run.case(*unit))).is_some_and(|launch| *launch == unit.launch)
            };
            let units: Vec<Unit> = self.run.units().into_iter().filter(is_due).collect();
            let mut progress = Progress::new(units.len(), &self.run).with_status(&self.status);
            let (folder, done) = (&mut self.folder, HashSet::new());
            let (end, new) = self.run.some(&units, folder, &done, environment, &mut progress)?;
            self.records.extend(new);
            self.run.in_plan_order(&mut self.records);
            if end == RunEnd::Interrupted {
                return Ok(Batch::Interrupted);
            }
            due.keys().for_each(|case| schedule.count(case));
            if begun.elapsed().as_secs_f64() > time_s {
                return Ok(Batch::TimeIsOver);
            }
        }
        Ok(Batch::Made)
    }

    /// Writes the comparison, and the tables of a run.
    fn finish(&self, comparisons: &Comparisons) -> anyhow::Result<()> {
        let plan = &self.run.plan.plan;
        let over = over_launches(&self.records, plan.limits.precision());
        self.folder.write_json(folder::COMPARISON, comparisons)?;
        let compared = comparisons.compared();
        let page =
            RunPage::of(plan.experiment, &over, &self.records, &[self.folder.path()], None, &compared, true)?;
        page.write(&self.folder, &over)?;
        log(&format!("results: {}; `ddtbench compare {0}` shows this again", self.folder.path().display()));
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
                plan.variants.push(Variant::of(name, &again, BTreeMap::new()));
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
