//! The command `conform`: random datatypes, and one C program for each fault.

use std::fs;
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use common::conformance::{OPERATIONS, Operation};
use ddtbench::conformance::Conditions;
use ddtbench::conformance::datatypes::{
    ELSEWHERE, FindingList, MpiReport, Replayed, Reports, Session, SessionPlan,
};
use ddtbench::folder::{LockedFolder, REPORT};
use ddtbench::model::conditions::MemoryKind;
use ddtbench::model::plain::plain;
use ddtbench::mpi::{MpiError, Target, interrupt};
use ddtbench::plan::Plan;
use ddtbench::run::{Machine, MpiAccount};

use crate::cli::completions;
use crate::cli::headings::RESULTS;
use crate::cli::kinds::MOST_RANKS;
use crate::cli::measure::{FAILED, INTERRUPTED};
use crate::cli::mpi_args::MpiArgs;
use crate::cli::output::{self, log};
use crate::cli::{numbers, targets};

/// Silence in seconds after which an operation hangs; most take microseconds.
const TIMEOUT_S: f64 = 5.0;

/// Cases without `--cases`, and with `--time` only.
const USUAL_CASES: usize = 4000;
const MOST_CASES: usize = 100_000_000;

/// The list of findings in the folder of a run.
const FINDINGS: &str = "findings.toml";

/// How the report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ConformFormat {
    /// For people
    #[default]
    Text,
    /// Everything, with the C programs
    Json,
    /// A test case for each operation, as JUnit XML
    Junit,
}

#[derive(Debug, Args)]
pub struct DatatypesArgs {
    #[command(flatten)]
    mpis: MpiArgs,
    /// Random layouts to try [default: 4000, or as many as --time allows]
    #[arg(long, value_name = "N", value_parser = numbers::count(MOST_CASES))]
    cases: Option<usize>,
    /// Time for each MPI; findings that are not shrunk until then are reported as they are
    #[arg(long, value_name = "TIME", value_parser = numbers::seconds)]
    time: Option<f64>,
    /// Makes the layouts; the same seed makes the same ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of ranks of operations that need several
    #[arg(short = 'n', long, value_name = "N", default_value_t = 2, value_parser = ranks)]
    ranks: usize,
    /// Try these operations and their forms only; --help-all lists them
    #[arg(long, value_name = "OPERATION", value_delimiter = ',', value_parser = Operation::find, add = completions::operations())]
    only: Vec<&'static Operation>,
    /// Try only the findings of a list, such as findings.toml of another run, or a layout by all operations
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cases", "time", "seed", "known"])]
    replay: Option<PathBuf>,
    /// A list of findings that do not count as new; layouts that contain them are left out
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// An older version of the MPI: a finding that it has, too, does not count as new; a name or a path as for --mpi
    #[arg(long, value_name = "NAME", conflicts_with_all = ["replay", "known"], add = completions::mpis())]
    baseline: Option<String>,
    /// The memory of data that a datatype describes; not host: messages of two ranks, one-sided calls and packing only
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    memory: MemoryKind,
    /// The form of the report
    #[arg(help_heading = RESULTS, long, value_enum, default_value_t)]
    format: ConformFormat,
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(help_heading = RESULTS, short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show build output
    #[arg(help_heading = RESULTS, short, long)]
    verbose: bool,
}

fn ranks(text: &str) -> Result<usize, String> {
    let count = numbers::count(MOST_RANKS)(text)?;
    if count >= 2 { Ok(count) } else { Err(format!("must be a whole number from 2 to {MOST_RANKS}")) }
}

impl DatatypesArgs {
    /// Searches for findings; those that are not known fail.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        // A file may be a pipe that does not end: until it was read, a signal ends the program.
        let list = self.listed()?;
        if let Some(operation) = self.only.iter().find(|operation| !operation.is_possible_in(self.memory)) {
            bail!(
                "--only {}: operations on files, reductions and operations of all ranks need --memory host",
                operation.name
            );
        }
        interrupt::hold();
        let mut plan = self.plan();
        let baselines = self.baselines()?;
        let (folder, targets) =
            super::prepare(&self.mpis, self.out.as_deref(), self.verbose, self.memory, |target| {
                let command = std::env::args().collect::<Vec<_>>().join(" ");
                Ok(MpiAccount::from_target(target, command))
            })?;
        if targets.len() > 1 {
            plan.time = plan.time.map(|time| time * ELSEWHERE / (ELSEWHERE + 1));
        }
        let mut reports = Reports::default();
        for target in &targets {
            let before = reports.findings();
            let baseline = baseline_of(target, &baselines);
            match self.report((target, baseline), &plan, &list, &mut |report| keep(&folder, &before, report))
            {
                Ok(mut report) => {
                    report.settings =
                        MpiAccount::from_target(target, String::new()).settings.unwrap_or_default();
                    keep(&folder, &before, &report);
                    reports.0.push(report);
                }
                Err(MpiError::Interrupted) => break,
                Err(error) => return Err(error.into()),
            }
        }
        if reports.0.iter().all(|report| !report.is_stopped) && targets.len() > 1 {
            self.try_elsewhere(&targets, &plan, &mut reports)?;
        }
        let texts = reports.upstream(&Machine::this().to_string());
        for (name, text) in texts.into_iter().chain([(REPORT.to_owned(), reports.html())]) {
            let path = folder.path().join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let is_stopped = reports.0.len() < targets.len() || reports.0.iter().any(|report| report.is_stopped);
        self.print(&reports, &folder)?;
        Ok(if is_stopped {
            log("stopped; the results so far are kept");
            ExitCode::from(INTERRUPTED)
        } else if reports.has_regressions() {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }

    /// Findings or layouts to try again; without `--replay`, the known findings.
    fn listed(&self) -> anyhow::Result<Replayed> {
        match (&self.replay, &self.known) {
            (Some(file), _) => Replayed::read(file),
            (None, Some(file)) => FindingList::read(file).map(Replayed::Findings),
            (None, None) => Ok(Replayed::Findings(FindingList::default())),
        }
    }

    /// The baseline with its variants, built; none if the user names none.
    fn baselines(&self) -> anyhow::Result<Vec<Target>> {
        let Some(name) = &self.baseline else { return Ok(Vec::new()) };
        let mut plan = Plan { memories: vec![self.memory], ..Plan::default() };
        self.mpis.apply(&mut plan);
        plan.variants.retain(|variant| variant.is_of(name));
        plan.mpis = vec![name.clone()];
        targets::choose(&mut plan, false, self.verbose)
            .and_then(|chosen| chosen.build())
            .with_context(|| format!("--baseline {name}"))
    }

    fn plan(&self) -> SessionPlan {
        let is_chosen = |operation: &&Operation| {
            self.only.is_empty() || self.only.contains(operation) || self.only.contains(&operation.section())
        };
        let usual = if self.time.is_some() { MOST_CASES } else { USUAL_CASES };
        SessionPlan {
            seed: self.seed,
            cases: self.cases.unwrap_or(usual) as u64,
            cases_first: self.cases.is_some(),
            time: self.time.map(Duration::from_secs_f64),
            operations: OPERATIONS
                .iter()
                .filter(is_chosen)
                .filter(|operation| operation.is_possible_in(self.memory))
                .collect(),
            ranks: self.ranks,
        }
    }

    fn report(
        &self,
        (target, baseline): (&Target, Option<&Target>),
        plan: &SessionPlan,
        list: &Replayed,
        save: &mut dyn FnMut(&MpiReport),
    ) -> Result<MpiReport, MpiError> {
        let mut session = self.session(target, baseline, plan)?;
        let mut log = |text: &str| log(&format!("{}: {text}", target.label()));
        match list {
            Replayed::Layouts(layouts) => session.examine(layouts.clone(), &mut log, save),
            Replayed::Findings(list) if self.replay.is_some() => {
                let mut hits = list.all();
                hits.retain(|hit| plan.operations.contains(&hit.operation));
                session.replay(&hits)
            }
            Replayed::Findings(list) => {
                let (title, all) = (target.installation.title(), list.finding.len());
                let known = list.of_mpi(&title);
                if known.is_empty() && all > 0 {
                    log(&format!("none of the {all} known findings is one of {title}"));
                }
                session.search(self.known.as_ref().map(|_| &*known), &mut log, save)
            }
        }
    }

    fn session<'a>(
        &'a self,
        target: &'a Target,
        baseline: Option<&'a Target>,
        plan: &'a SessionPlan,
    ) -> Result<Session<'a>, MpiError> {
        let of = |target| Conditions { memory: self.memory, ..Conditions::on_host(target, TIMEOUT_S) };
        Session::new(of(target), baseline.map(of), plan)
            .map_err(|error| MpiError::Other(format!("no temporary folder: {error}")))
    }

    /// Tries the findings of each MPI on the others. A user who stops that gets the table without the rest.
    fn try_elsewhere(
        &self,
        targets: &[Target],
        plan: &SessionPlan,
        reports: &mut Reports,
    ) -> Result<(), MpiError> {
        for ((target, hits), report) in targets.iter().zip(reports.untried()).zip(&mut reports.0) {
            match self.session(target, None, plan)?.elsewhere(&hits) {
                Ok(results) => report.elsewhere = results,
                Err(MpiError::Interrupted) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn print(&self, reports: &Reports, folder: &LockedFolder) -> anyhow::Result<()> {
        match self.format {
            ConformFormat::Text => {
                let (place, page) = (folder.path().display(), folder.path().join(REPORT));
                let text = reports.text(output::width());
                output::print_text(&plain(&format!("{text}\nPage: {}\nresults: {place}\n", page.display())))
            }
            ConformFormat::Json => {
                output::print(format!("{}\n", serde_json::to_string_pretty(&reports.json())?).as_bytes())
            }
            ConformFormat::Junit => output::print(reports.junit()?.as_bytes()),
        }
    }
}

/// The baseline of an MPI, with the same variant. A variant of the baseline itself is compared with the plain one.
fn baseline_of<'a>(target: &Target, baselines: &'a [Target]) -> Option<&'a Target> {
    let is_alike = |baseline: &&Target| {
        baseline.variant == target.variant && baseline.installation.name != target.installation.name
    };
    baselines.iter().find(is_alike).or(baselines.first())
}

/// Writes the list of new findings to the folder, with those of MPIs before, and a C program for each. A search goes on without it.
fn keep(folder: &LockedFolder, before: &FindingList, report: &MpiReport) {
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        if let Err(error) = fs::write(&path, text) {
            log(&format!("cannot write {}: {error}", path.display()));
        }
    };
    let mut all = before.clone();
    all.add(&report.title, report.new_findings());
    match toml::to_string(&all) {
        Ok(text) => write(FINDINGS, &text),
        Err(error) => log(&format!("cannot write {FINDINGS}: {error}")),
    }
    let programs = report.new_findings().map(|finding| Some(finding.confirmation.code.as_str()));
    for (number, code) in programs.chain(iter::repeat(None)).enumerate() {
        let name = format!("{}.c", report.file_name(number));
        match code.filter(|code| !code.is_empty()) {
            Some(code) => write(&name, code),
            // An earlier list may have had a program here, or have been longer.
            None if fs::remove_file(folder.path().join(name)).is_err() && code.is_none() => break,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use common::conformance::Case;
    use datatypes::{Element, Layout};
    use ddtbench::conformance::datatypes::{Finding, Hit};

    use super::*;

    #[test]
    fn programs_in_the_folder_are_those_of_the_last_list_which_may_lack_some() {
        let dir = tempfile::tempdir().unwrap();
        let folder = LockedFolder::create(&dir.path().join("out")).unwrap();
        let hit = Hit::untried(&Case::with_layout(0, Layout::named(Element::Byte), 1, true));
        let kept = |codes: &[&str]| {
            let mut report =
                MpiReport { findings: vec![Finding::new(hit.clone()); codes.len()], ..MpiReport::default() };
            report
                .findings
                .iter_mut()
                .zip(codes)
                .for_each(|(finding, code)| finding.confirmation.code.push_str(code));
            keep(&folder, &FindingList::default(), &report);
            ["-1.c", "-2.c", "-3.c"]
                .map(|name| fs::read_to_string(folder.path().join(name)).unwrap_or_default())
        };
        assert_eq!(kept(&["a", "b", "c"]), ["a", "b", "c"]);
        assert_eq!(kept(&["", "d"]), ["", "d", ""]);
    }
}
