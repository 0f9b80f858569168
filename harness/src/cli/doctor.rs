//! The command `doctor`: finds problems of this machine and its MPIs, and suggests fixes.

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::pingpong::methods::REFERENCE;
use ddtbench::experiments::planned::PlannedCase;
use ddtbench::folder::Folder;
use ddtbench::model::conditions::{Conditions, MemoryKind};
use ddtbench::mpi::{Installation, MpiError, Pmi, Project, interrupt};
use ddtbench::plan::{Limits, Plan};
use ddtbench::report::columns::{breakable, wrapped};
use ddtbench::run::doctor::{self, Finding, Health, Seen};
use ddtbench::run::{Environment, Observer, Part, Run, RunEnd, Unit};

use super::completions;
use super::measure::{self, FAILED};
use super::output::{self, log};
use super::targets;

/// Time per method in seconds: enough to see whether it works.
const GLANCE_S: f64 = 0.02;
/// A process that prints nothing for so many seconds hangs: everything here is quick.
const TIMEOUT_S: f64 = 20.0;

/// Methods that show whether an MPI takes memory of a device, and datatypes there.
const DEVICE: [&str; 2] = [REFERENCE, "ddt"];

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The MPIs, by their names in `ddtbench mpi list` or the paths of their mpicc [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = completions::mpis())]
    mpi: Vec<String>,
    /// Launcher to use instead of the MPI's own, as in `ddtbench run`
    #[arg(long, value_name = "COMMAND")]
    launcher: Option<String>,
    /// Show how rank programs are built and launched
    #[arg(short, long)]
    verbose: bool,
    /// Options for the launcher
    #[arg(last = true, value_name = "LAUNCHER_ARG")]
    launcher_args: Vec<String>,
}

impl DoctorArgs {
    /// Prints the findings. The exit code reports errors.
    pub fn execute(&self) -> anyhow::Result<ExitCode> {
        let mut all = vec![("Machine".to_owned(), doctor::machine())];
        let project = Project::locate()?;
        let mut names = self.mpi.clone();
        if names.is_empty() {
            let mut unusable = |text: &str| all.push(("unusable MPI".to_owned(), doctor::broken(text)));
            names = project.installations(&mut unusable)?.into_iter().map(|mpi| mpi.name).collect();
        }
        if names.is_empty() {
            let advice =
                "no MPI found on this machine; `ddtbench mpi install mpich` installs one without root";
            all.push(("MPIs".to_owned(), doctor::broken(advice)));
        }
        for name in names {
            let found = self.check(&name).or_else(|error| anyhow::Ok(doctor::broken(&reason(error)?)))?;
            all.push((format!("MPI {name}"), found));
        }
        output::print_coloured(&table(&all, output::width().map_or(usize::MAX, usize::from)))?;
        let worst = all.iter().flat_map(|(_, found)| found).map(|finding| finding.health).max();
        Ok(if worst == Some(Health::Error) { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
    }

    /// Briefly runs all methods of ping-pongs, and of transfers by two threads.
    fn check(&self, name: &str) -> anyhow::Result<Vec<Finding>> {
        let (none, two_threads) = (BTreeMap::new(), BTreeMap::from([("threads".to_owned(), "2".to_owned())]));
        let host = MemoryKind::Host;
        let (mpi, ping_pongs) = self.run(name, Kind::PingPong, "nas_lu_y", none.clone(), host)?;
        let (_, transfers) = self.run(name, Kind::Partitioned, "partitioned", two_threads, host)?;
        let on_device = |memory| self.run(name, Kind::PingPong, "nas_lu_y", none.clone(), memory);
        // Without a device, the MPI is tried with a simulated one.
        let (error, device) = match on_device(MemoryKind::Device) {
            Err(error) => (Some(reason(error)?), on_device(MemoryKind::Simulated)),
            tried => (None, tried),
        };
        let pmi = Pmi::here(&mpi)?;
        let mut found = doctor::mpi(&mpi, pmi.as_ref(), &ping_pongs, &transfers);
        match device {
            Ok((_, seen)) => found.push(doctor::device(&seen, mpi.family, error.as_deref())),
            Err(error) => found.push(doctor::no_device(format!("not tried: {}", reason(error)?))),
        }
        Ok(found)
    }

    fn run(
        &self,
        name: &str,
        kind: Kind,
        test: &str,
        params: BTreeMap<String, String>,
        memory: MemoryKind,
    ) -> anyhow::Result<(Installation, Seen)> {
        let case = PlannedCase { test: test.to_owned(), params, ..PlannedCase::default() };
        let limits = Limits { max_time_s: GLANCE_S, timeout_s: TIMEOUT_S, ..Limits::default() };
        let mut plan = Plan {
            mpis: vec![name.to_owned()],
            methods: if memory.is_host() { kind.all_methods() } else { DEVICE.map(str::to_owned).into() },
            memories: vec![memory],
            launcher: self.launcher.clone(),
            launcher_args: self.launcher_args.clone(),
            launches: Some(1),
            cases: vec![case],
            limits,
            ..Plan::of_experiment(kind)
        };
        let chosen = targets::choose(&mut plan, false, self.verbose)?;
        let targets = chosen.build()?;
        let checked = plan.check()?;
        let run = Run { plan: &checked, targets: &targets };
        let unit = Unit {
            case: 0,
            conditions: Conditions { memory, ..Conditions::default() },
            target: 0,
            launch: 0,
        };
        let outer_launcher = run.launch(unit, &[]).outer_launcher()?;
        let place = tempfile::tempdir().context("temporary folder")?;
        let mut folder = Folder::create(&place.path().join("run"), measure::about(&checked))?;
        let mut environment =
            Environment::from_part(checked.plan.to_toml(), Part::now(measure::now(), &run, 0)?);
        log(&format!("checking {name}: {} experiments", kind.name()));
        let (end, mut records) =
            run.measure(&run.units(), &mut folder, &HashSet::new(), &mut environment, &mut Quiet)?;
        if end == RunEnd::Interrupted || interrupt::requested() {
            bail!(MpiError::Interrupted);
        }
        records.retain(|record| record.phase == kind.headline());
        let account = environment.part().mpis.first().and_then(|account| account.rank_program.clone());
        let hello = account.context("its rank program reported nothing")?;
        let mpi = (*chosen.installations().first().context("no MPI")?).clone();
        Ok((mpi, Seen { kind, hello, records, outer_launcher }))
    }
}

/// An error as text, unless the user wants to stop.
fn reason(error: anyhow::Error) -> anyhow::Result<String> {
    if let Some(MpiError::Interrupted) = error.downcast_ref() { Err(error) } else { Ok(format!("{error:#}")) }
}

/// A heading per part, and a line per finding, with colours.
fn table(all: &[(String, Vec<Finding>)], width: usize) -> String {
    let widest = all.iter().flat_map(|(_, found)| found).map(|finding| finding.what.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, found) in all {
        text += &format!("{title}\n");
        for Finding { health, what, text: finding } in found {
            let style = match health {
                Health::Ok | Health::No => anstyle::Style::new(),
                Health::Warning => anstyle::AnsiColor::Yellow.on_default(),
                Health::Error => anstyle::AnsiColor::Red.on_default().bold(),
            };
            let indent = 2 + 9 + widest + 2;
            // Paths are long words.
            let finding = breakable(finding, width.saturating_sub(indent));
            let line = wrapped(&" ".repeat(indent), &finding, width, indent);
            text += &format!("  {style}{health:<9}{style:#}{what:<widest$}  {}", &line[indent..]);
        }
    }
    text
}

/// Ignores all events: findings are printed at the end.
struct Quiet;

impl Observer for Quiet {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_in_columns_of_a_terminal() {
        let finding = |health, text: &str| Finding { health, what: "clock", text: text.to_owned() };
        let long = "a word ".repeat(30);
        let all =
            [("Machine".to_owned(), vec![finding(Health::Ok, "tsc"), finding(Health::Error, long.trim())])];
        let text = anstream::adapter::strip_str(&table(&all, 80)).to_string();
        assert!(text.starts_with("Machine\n  ok       clock  tsc\n  error    clock  a word"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80) && text.lines().count() > 4, "{text}");
    }
}
