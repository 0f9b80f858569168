//! MPIs that are measured in turn, launch by launch, until every row is decided or the time is over.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, ensure};
use ddtbench::compare::{Comparer, Comparison, Comparisons, Overview, Row, Side, Unit, looks};
use ddtbench::experiments::launches::over_launches;
use ddtbench::model::{Case, Record};
use ddtbench::plan::{Plan, Variant};
use ddtbench::run::{End, Run, RunError, Unit as Measured};

use super::CompareArgs;
use crate::cli::measure::{self, Begun};
use crate::cli::output::say;
use crate::cli::progress::Progress;

/// Launches of each side at most, where nobody says how many: error bars of 20 are a third of those of 3 or less.
const MOST_LAUNCHES: usize = 20;

/// Time of a method in a launch, in seconds: some tens of rounds of most tests, and less than starting the launch takes.
const LAUNCH_TIME_S: f64 = 0.1;

/// What an MPI is called beside itself.
const AGAIN: &str = "again";

/// Measures, and gives a comparison of each other MPI with the first; or ends with an exit code.
pub(super) fn compare(args: &CompareArgs) -> anyhow::Result<Result<Comparisons, ExitCode>> {
    let plan = plan(args)?;
    let Begun { checked, targets, mut folder, mut environment } =
        match measure::start(&args.run.conditions, plan, false)? {
            Ok(begun) => begun,
            Err(code) => return Ok(Err(code)),
        };
    if targets.len() < 2 {
        let only = targets[0].label();
        let hint = format!(
            "{only} alone was named: a comparison needs two, as --mpi {only},openmpi, or a --variant of it"
        );
        return Err(measure::give_back(folder, anyhow::anyhow!(hint)));
    }
    let run = Run { plan: &checked, targets: &targets };
    measure::warn_of_shared_cores(&run);
    folder.write_environment(&environment)?;
    folder.write_parts(environment.parts())?;
    let labels: Vec<String> = targets.iter().map(|target| target.label()).collect();
    let mut comparers: Vec<Comparer> = labels[1..].iter().map(|_| Comparer::new(args.settings())).collect();
    let most = checked.plan.launches;
    let begun = Instant::now();
    let (mut records, mut all): (Vec<Record>, Vec<Vec<Row>>) = (Vec::new(), Vec::new());
    let mut sides: Vec<Side> = Vec::new();
    let mut open: Option<HashSet<Case>> = None;
    let mut before = 0;
    'looks: for look in looks(most) {
        let mut made = before;
        for launch in before..look {
            let is_open = |unit: &&Measured| {
                let case = run.case(**unit);
                unit.launch == launch && open.as_ref().is_none_or(|open| open.contains(&apart(&case)))
            };
            let units = run.units();
            let units: Vec<Measured> = units.iter().filter(is_open).copied().collect();
            let mut progress = Progress::new(units.len(), checked.plan.methods.len());
            let result = run.some(&units, &mut folder, &HashSet::new(), &mut environment, &mut progress);
            drop(progress);
            let (end, new) = match result {
                Ok(result) => result,
                Err(error @ (RunError::Mpi(_) | RunError::NeverBegan { .. })) => {
                    return Err(measure::give_back(folder, error.into()));
                }
                Err(error) => return Err(error.into()),
            };
            records.extend(new);
            if end == End::Interrupted {
                say(&format!("stopped; what was measured is kept in {}", folder.path().display()));
                return Ok(Err(ExitCode::from(measure::INTERRUPTED)));
            }
            made = launch + 1;
            if begun.elapsed().as_secs_f64() > args.time {
                break;
            }
        }
        before = made;
        let is_last = made < look || look == most || begun.elapsed().as_secs_f64() > args.time;
        // Nothing follows: all of the error may be spent.
        let share = if is_last { 1.0 } else { made as f64 / most as f64 };
        sides = labels.iter().map(|label| side(&records, label)).collect();
        let others = comparers.iter_mut().zip(&sides[1..]);
        all = others.map(|(comparer, other)| comparer.look(&sides[0], other, share)).collect();
        let undecided: Vec<&Row> = all.iter().flatten().filter(|row| !row.verdict.is_decided()).collect();
        say(&format!(
            "after {made} launches {} of {} rows are undecided",
            undecided.len(),
            all.iter().map(Vec::len).sum::<usize>()
        ));
        if undecided.is_empty() || is_last {
            break 'looks;
        }
        let is_open = |case: &Case| {
            undecided.iter().any(|row| {
                let subject = &row.subject;
                (&subject.test, &subject.params, subject.cache) == (&case.test, &case.params, case.cache)
            })
        };
        open = Some(run.units().iter().map(|unit| apart(&run.case(*unit))).filter(is_open).collect());
    }
    let over = over_launches(&records, checked.plan.limits.precision());
    let page = measure::page(checked.plan.experiment, &over, folder.path());
    folder.write_summary(&over, &page).context("the summary of the comparison")?;
    say(&format!("results: {}; ddtbench compare {0} shows this again", folder.path().display()));
    let comparison = |(label, rows): (&String, Vec<Row>)| Comparison {
        base: labels[0].clone(),
        new: label.clone(),
        threshold: args.threshold,
        unit: Unit::Launch,
        rows,
    };
    let comparisons = labels[1..].iter().zip(all).map(comparison).collect();
    let (settings, sides) = (args.settings(), sides.iter().collect::<Vec<_>>());
    let overview = Overview::of(&sides, settings.alpha, settings.threshold);
    let comparisons = Comparisons { settings, comparisons, overview };
    folder.write_comparison(&comparisons)?;
    Ok(Ok(comparisons))
}

/// The launches of the MPI that tables call `label`.
pub(super) fn side(records: &[Record], label: &str) -> Side {
    Side::of(label, records.iter().filter(|record| record.case.mpi_label() == *label), Unit::Launch)
}

/// A case without what tells MPIs apart.
fn apart(case: &Case) -> Case {
    Case { mpi: String::new(), mpi_version: String::new(), mpi_variant: String::new(), ..case.clone() }
}

/// The plan: of the flags, or of a file of whatever kind; of an MPI that is named twice, one is called otherwise.
fn plan(args: &CompareArgs) -> anyhow::Result<Plan> {
    let conditions = &args.run.conditions;
    let mut plan = match conditions.plan_file() {
        Some(file) => {
            let kind = Plan::read(file)?.experiment;
            conditions.begin(kind, LAUNCH_TIME_S)?
        }
        None => args.run.plan()?,
    };
    if !conditions.has_launches() {
        plan.launches = MOST_LAUNCHES;
    }
    if !conditions.has_max_time() {
        plan.limits.max_time_s = LAUNCH_TIME_S * plan.launches as f64;
    }
    ensure!(plan.launches >= 3, "--launches {}: a difference needs three launches at least", plan.launches);
    if let Some(control) = &args.control {
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
    Ok(plan)
}
