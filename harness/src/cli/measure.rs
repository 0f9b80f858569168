//! From a plan to a folder of results and a table, for all kinds of experiments.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use common::parameter::joined;
use ddtbench::compare::{Overview, same_bytes};
use ddtbench::experiments::launches::{over_launches, with_wrong_data};
use ddtbench::experiments::{self, Kind, TextFormat, copies};
use ddtbench::folder::{self, About, Folder, FolderError, LockedFolder, MethodSamples};
use ddtbench::model::conditions::MemoryKind;
use ddtbench::model::plain::plain;
use ddtbench::model::{PairScope, Record};
use ddtbench::mpi::{self, Target, interrupt, shared_memory};
use ddtbench::plan::{CheckedPlan, Plan, memory};
use ddtbench::report::compared::Compared;
use ddtbench::run::{self, Environment, MpiAccount, Observer, Part, Run, RunEnd, RunError, put_long_values};

use super::output::{self, log};
use super::overview;
use super::progress::Progress;
use super::run_page::RunPage;
use super::show::print_results;
use super::targets::{self, Chosen};
use super::wrong_bytes;

pub const INTERRUPTED: u8 = interrupt::EXIT_CODE;
pub(super) const FAILED: u8 = 1;

/// An end that is not an error: after a dry run, or because the user stopped.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("ended early")]
pub struct EarlyEnd(pub ExitCode);

/// A run that is ready: checked, built, with its folder.
pub(super) struct Begun {
    pub checked: CheckedPlan,
    pub targets: Vec<Target>,
    pub folder: Folder,
    pub environment: Environment,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunOptions<'a> {
    /// The folder for the results. Default: named by the date.
    pub out: Option<&'a Path>,
    pub dry_run: bool,
    /// Whether to run programs that another user's plan names.
    pub is_trusted: bool,
    pub verbose: bool,
    pub plan_file: Option<&'a Path>,
    /// Time limit for all launches together, in seconds.
    pub time_s: Option<f64>,
    /// For a resumed run: whether to repeat failed methods, and whether machine and settings may differ.
    pub retry_failed: bool,
    pub anyway: bool,
}

/// Prepares a run, or ends early. A given folder is created first, before anything is installed or built.
pub(super) fn start(options: RunOptions<'_>, plan: Plan) -> anyhow::Result<Begun> {
    options.out.filter(|_| !options.dry_run).map_or(Ok(()), LockedFolder::refuse_used)?;
    let checked = output::reported("preparing the cases", || plan.check());
    let checked = match options.plan_file {
        Some(file) => checked.with_context(|| format!("plan file {}", file.display()))?,
        None => checked?,
    };
    let mut checked = memory::fit(checked).map_err(|reason| anyhow!(reason))?;
    checked.left_out().iter().for_each(|sentence| log(sentence));
    if let Some(reason) = checked.plan.without_verdict() {
        log(&format!("warning: {reason}"));
    }
    if options.dry_run {
        let mpis = targets::check_names(&checked.plan, options.is_trusted)?;
        estimate(&checked, mpis, options.time_s);
        output::print(checked.plan.to_toml().as_bytes())?;
        bail!(EarlyEnd(ExitCode::SUCCESS));
    }
    interrupt::hold();
    let folder = options.out.map(|out| Folder::create(out, about(&checked))).transpose()?;
    let mut chosen = match targets::choose(&mut checked.plan, options.is_trusted, options.verbose) {
        Ok(chosen) => chosen,
        Err(error) => {
            folder.map(Folder::discard);
            return Err(error);
        }
    };
    let mut folder = match folder {
        Some(folder) => folder,
        None => default_folder(&chosen.name_or(checked.plan.experiment.name()), |path| {
            Folder::create(path, about(&checked))
        })?,
    };
    folder.replace_plan(about(&checked))?;
    if let Err(error) = chosen.compile_loop(folder.path()) {
        return Err(give_back(folder, error));
    }
    introduce(&chosen, folder.path());
    if interrupt::requested() {
        bail!(stopped(folder.path()));
    }
    let built = chosen.build().and_then(|targets| {
        let mut checked = with_sizes(checked, &targets, folder.path())?;
        put_long_values(&mut checked, folder.path())?;
        let run = Run { plan: &checked, targets: &targets };
        let begun = Part::now(now(), &run, 0)?;
        let environment = Environment::from_part(checked.plan.to_toml(), begun);
        Ok((checked, targets, environment))
    });
    if interrupt::requested() {
        bail!(stopped(folder.path()));
    }
    match built {
        Ok((checked, targets, environment)) => {
            folder.replace_plan(about(&checked))?;
            Ok(Begun { checked, targets, folder, environment })
        }
        Err(error) => Err(give_back(folder, error)),
    }
}

/// Adds missing sizes to the plan, found on the first of these MPIs. The plan is unchanged if no size is
/// missing or the user stops. `dir` is the folder of the run.
pub(super) fn with_sizes(
    checked: CheckedPlan,
    targets: &[Target],
    dir: &Path,
) -> anyhow::Result<CheckedPlan> {
    let Some(first) = targets.first() else { return Ok(checked) };
    let Some(selected) = run::calibrated(&checked.plan, first, dir, &mut Notes)? else { return Ok(checked) };
    selected.notes.iter().for_each(|note| log(note));
    ensure!(!selected.cases.is_empty(), "nothing to run: no sizes were found for any case");
    memory::fit(Plan { cases: selected.cases, ..checked.plan }.check()?).map_err(|reason| anyhow!(reason))
}

pub(super) struct Notes;

impl Observer for Notes {
    fn note(&mut self, text: &str) {
        log(text);
    }
}

pub(super) fn about(checked: &CheckedPlan) -> About {
    About {
        plan: checked.plan.to_toml(),
        phases: checked.plan.experiment.phases(),
        numbers: checked.number_names(),
    }
}

pub(super) struct Ended {
    pub end: RunEnd,
    pub kind: Kind,
    pub over: Vec<Record>,
    pub same_bytes: Compared<'static>,
    /// The best of each MPI.
    pub overviews: Vec<Overview>,
    pub folder: Folder,
    /// Commands that find the cause of wrong bytes.
    pub to_isolate: Vec<String>,
    /// The names of the figure's pictures, and whether all of them could be drawn.
    pub figure: Option<(Vec<String>, bool)>,
    /// How the loops were compiled.
    pub loops: Option<String>,
    pub notes: Vec<String>,
}

/// Measures the part of a run that is not in `records`, and writes all results.
pub(super) fn finish(begun: Begun, mut records: Vec<Record>, verbose: bool) -> anyhow::Result<Ended> {
    let Begun { checked, targets, mut folder, mut environment } = begun;
    let run = Run { plan: &checked, targets: &targets };
    let units = run.units();
    if verbose {
        environment.part().mpis.iter().for_each(|account| output::log_command(&account.first_case));
    }
    warn_of_shared_cores(&run, &environment.part().mpis);
    folder.unlocked().into_iter().for_each(log);
    environment.keep(&folder)?;
    estimate(&checked, run.targets.len(), None);
    let done = records.iter().filter_map(|record| Some((record.case.clone(), record.launch?))).collect();
    let mut progress = Progress::new(units.len(), &run);
    let result = run.measure(&units, &mut folder, &done, &mut environment, &mut progress);
    drop(progress);
    let (end, new) = match result {
        Ok(result) => result,
        Err(error @ RunError::Mpi(_)) => {
            return Err(give_back(folder, error.into()));
        }
        Err(error @ RunError::Conditions(_)) => {
            // The part that began under other conditions has no results.
            if environment.resumed.pop().is_some() {
                environment.keep(&folder)?;
                return Err(error.into());
            }
            return Err(give_back(folder, error.into()));
        }
        Err(error) => return Err(anyhow::Error::from(error).context(resume_hint(folder.path()))),
    };
    records.extend(new);
    run.in_plan_order(&mut records);
    let kind = checked.plan.experiment;
    let over = over_launches(&records, checked.plan.limits.precision());
    let same_bytes = same_bytes(&checked.named_cases(), checked.plan.context(), &records);
    let overviews = overview::overviews(&records, None)?;
    let (mut figure_drawn, mut loops) = (false, None);
    if !over.is_empty() {
        let figure = checked.plan.figure.as_ref();
        environment.keep(&folder)?;
        let mut compared = same_bytes.clone();
        overview::add(&mut compared, &overviews);
        copies::add(&mut compared, &records);
        let page = RunPage::new(kind, &over, &records, &[folder.path()], figure, &compared, true)?;
        let is_drawn = |name: &String| page.pictures.iter().any(|drawn| drawn.name == *name);
        figure_drawn = figure.is_some_and(|figure| figure.file_names().iter().all(is_drawn));
        page.write(&folder, &over).with_context(|| resume_hint(folder.path()))?;
        loops = page.loops;
        write_formats(&folder, &checked.plan, &records).with_context(|| resume_hint(folder.path()))?;
    }
    let to_isolate = wrong_bytes::commands(&checked, &targets, &over, folder.path())?;
    let figure = checked.plan.figure.map(|figure| (figure.file_names(), figure_drawn));
    let notes = environment.notes;
    Ok(Ended { end, kind, over, same_bytes, overviews, folder, to_isolate, figure, loops, notes })
}

fn write_formats(folder: &Folder, plan: &Plan, records: &[Record]) -> anyhow::Result<()> {
    let of_headline = records.iter().filter(|record| record.phase == plan.experiment.headline());
    let wrong = with_wrong_data(records);
    let is_right = |record: &&Record| !wrong.contains(&(&record.case, record.method.as_str()));
    let all = of_headline.filter(|record| record.pair == PairScope::All).filter(is_right);
    let known: HashMap<_, _> =
        all.map(|record| ((&*record.case, record.launch, &*record.method), record)).collect();
    for name in &plan.formats {
        let TextFormat { file, header, lines, .. } =
            experiments::text_format(plan.experiment, name).map_err(|reason| anyhow!(reason))?;
        folder.write_lines(file, &header(), |MethodSamples { case, launch, method, blocks }| {
            let record = known.get(&(&*case, Some(launch), &*method));
            record.map_or_else(String::new, |record| lines(record, &blocks))
        })?;
    }
    Ok(())
}

impl Ended {
    /// Prints the summary or all details, and the folder of the results.
    pub fn print(&self, with_details: bool) -> anyhow::Result<ExitCode> {
        if !self.over.is_empty() {
            let mut compared = self.same_bytes.clone();
            overview::add(&mut compared, &self.overviews);
            copies::add(&mut compared, &self.over);
            print_results(
                self.kind,
                &self.over,
                self.loops.as_deref(),
                &compared,
                with_details,
                &self.notes,
            )?;
        }
        if self.end == RunEnd::Interrupted || !self.is_success() {
            shared_memory::message().iter().for_each(|sentence| log(sentence));
        }
        let dir = self.folder.path();
        if self.end == RunEnd::Interrupted {
            bail!(stopped(dir));
        }
        let page = dir.join(folder::REPORT);
        let mut text = format!("\nPage: {}\n", page.display());
        if !with_details {
            text += &format!("All methods: ddtbench report {} --details\n", dir.display());
        }
        let file = |name: &str| dir.join("figures").join(name).display().to_string();
        match &self.figure {
            Some((names, true)) => {
                text.extend(names.iter().map(|name| format!("Figure: {}.svg, data: {0}.csv\n", file(name))))
            }
            Some((names, false)) => log(&format!(
                "not drawn: {}: too few results; a longer --max-time may help",
                names.join(", ")
            )),
            None => {}
        }
        for command in &self.to_isolate {
            text += &format!("To isolate the wrong bytes: {command}\n");
        }
        text += &format!("results: {}\n", dir.display());
        output::print_text(&plain(&text))?;
        let is_drawn = self.figure.as_ref().is_none_or(|(_, is_drawn)| *is_drawn);
        Ok(if is_drawn && self.is_success() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    pub fn is_success(&self) -> bool {
        is_success(self.kind, &self.over)
    }
}

pub(super) fn warn_of_shared_cores(run: &Run<'_>, accounts: &[MpiAccount]) {
    let plan = &run.plan.plan;
    let threads = run.plan.cases.iter().map(|case| case.process_settings.threads).max().unwrap_or(1);
    if run.units().iter().any(|unit| run.launch(*unit, &[]).is_oversubscribed()) {
        let of = if threads > 1 { format!(" of up to {threads} threads") } else { String::new() };
        let set = |account: &MpiAccount| {
            let all = joined(&account.added_settings);
            (!all.is_empty()).then(|| format!("; {all} is set for {}", account.label()))
        };
        let set: String = accounts.iter().filter_map(set).collect();
        log(&format!(
            "warning: {} ranks{of} share {} cores: they are not bound, and times do not apply to other machines{set}",
            plan.ranks(),
            mpi::cores()
        ));
    }
}

/// Logs the longest duration of a run, unless it is short. `time_s` limits the whole run.
fn estimate(checked: &CheckedPlan, mpis: usize, time_s: Option<f64>) {
    const SHORT: f64 = 20.0;
    let plan = &checked.plan;
    let starts = plan.cases.len() * plan.conditions().count() * plan.launches() * mpis;
    let longest_s = (starts as f64 * (checked.expected_s() + START_S)).min(time_s.unwrap_or(f64::INFINITY));
    if longest_s > SHORT {
        let duration = indicatif::HumanDuration(Duration::from_secs_f64(longest_s));
        log(&format!(
            "up to {starts} launches, about {duration} on a quiet machine (methods stop early once precise enough)"
        ));
    }
}

/// Approximate duration of a launch in seconds, without the measurement: MPI_Init, datatypes, verification.
const START_S: f64 = 0.7;

/// Removes the folder of a run that could not begin. If cases have ended, adds how to resume.
pub(super) fn give_back(folder: Folder, error: anyhow::Error) -> anyhow::Error {
    let hint = resume_hint(folder.path());
    if folder.discard() { error } else { error.context(hint) }
}

/// Whether every method has valid times, except methods that the MPI does not support.
fn is_success(kind: Kind, records: &[Record]) -> bool {
    let asked = |record: &&Record| record.phase == kind.headline() && !record.outcome.is_lacking();
    let is_simulated = |record: &Record| record.case.memory == MemoryKind::Simulated;
    let has_times =
        |record: &Record| (record.median_s.is_some() || is_simulated(record)) && record.outcome.counts();
    let mut asked = records.iter().filter(asked).peekable();
    asked.peek().is_some() && asked.all(has_times)
}

pub(super) fn introduce(chosen: &Chosen, dir: &Path) {
    for mpi in chosen.installations() {
        let from = output::short(&mpi.mpicc);
        log(&format!("MPI: {}, {} ({}: {from})", mpi.name, mpi.title(), mpi.source));
    }
    log(&format!("results: {}", dir.display()));
}

pub(super) fn resume_hint(dir: &Path) -> String {
    let name = dir.display();
    if dir.join(folder::PLAN).exists() {
        format!("stopped; finished cases are saved, and `ddtbench run --resume {name}` continues")
    } else {
        format!(
            "stopped; {name} was moved or removed: `ddtbench run --resume DIR` continues in its new place"
        )
    }
}

/// Logs how to resume.
pub(super) fn stopped(dir: &Path) -> EarlyEnd {
    log(&resume_hint(dir));
    EarlyEnd(ExitCode::from(INTERRUPTED))
}

/// `results/DATE-TIME-WHAT` in the current folder, with a number if two runs begin in the same second. `create` makes it.
pub(super) fn default_folder<F>(
    what: &str,
    create: impl Fn(&Path) -> Result<F, FolderError>,
) -> anyhow::Result<F> {
    let stem = format!("results/{}-{what}", run::now().strftime("%Y-%m-%d-%H%M%S"));
    let names = (2..).map(|number| format!("{stem}-{number}"));
    for name in std::iter::once(stem.clone()).chain(names) {
        match create(Path::new(&name)) {
            Err(FolderError::NotEmpty(_) | FolderError::InUse(_)) => {}
            result => return Ok(result?),
        }
    }
    unreachable!("there is always a next number")
}

pub(super) fn now() -> String {
    run::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

#[cfg(test)]
mod tests {
    use ddtbench::model::{Outcome, Phase};

    use super::*;

    #[test]
    fn how_to_go_on_is_said_of_a_folder_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        assert!(resume_hint(folder.path()).contains("was moved or removed"));
        std::fs::write(folder.path().join(folder::PLAN), "").unwrap();
        assert!(resume_hint(folder.path()).contains(&format!("--resume {}", folder.path().display())));
    }

    #[test]
    fn a_run_succeeds_if_all_has_times_that_count() {
        let record = |outcome: &str, median_s| Record {
            phase: Phase::Exchange,
            outcome: Outcome::from_label(outcome).unwrap(),
            median_s,
            ..Record::default()
        };
        let is_success = |records: &[Record]| is_success(Kind::Halo, records);
        let (measured, lacking) = (record("converged", Some(1.0)), record("not available", None));
        assert!(is_success(&[measured.clone(), lacking.clone()]));
        assert!(!is_success(&[lacking]), "nothing was measured");
        for failed in [record("invalid", Some(1.0)), record("crashed", None), record("crashed", Some(1.0))] {
            assert!(!is_success(&[measured.clone(), failed]));
        }
        // Other phases do not count as success.
        assert!(is_success(&[measured, Record { phase: Phase::Init, ..record("converged", None) }]));
    }
}
