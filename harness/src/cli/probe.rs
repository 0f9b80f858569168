//! The command `probe`: probes on MPIs, a table, and an exit code that tells whether they conform.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use ddtbench::experiments::probes::list::{self, PROBES, Probe, is_failure};
use ddtbench::experiments::probes::table;
use ddtbench::folder::{ProbeFolder, probes_csv};
use ddtbench::model::probe::ProbeRecord;
use ddtbench::mpi::{Installation, Project, interrupt};
use ddtbench::run::check::{Check, CheckEnvironment, Progress, TIMEOUT_S};
use ddtbench::run::{End, RunError, forget_probes};

use super::measure::{FAILED, INTERRUPTED, now};
use super::output::{self, say};
use super::progress::Progress as Bar;

/// An MPI with the rank program that was built for it.
type Built = (Installation, PathBuf);

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Probes, by name; all if there is none
    #[arg(value_name = "PROBE")]
    pub(super) probes: Vec<String>,
    /// What is printed
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: ProbeFormat,
    /// The MPIs, by their names in `ddtbench mpi list` or the paths of their mpicc [default: the preferred one]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) mpi: Vec<String>,
    /// Another launcher than the MPI's: srun, a path, or a command with options
    #[arg(long, value_name = "COMMAND")]
    pub(super) launcher: Option<String>,
    /// Time of a probe, after which it is ended [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<f64>,
    /// A folder for the results
    #[arg(short, long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Show what is built
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// More options for the launcher
    #[arg(last = true, value_name = "LAUNCHER_ARG")]
    pub(super) launcher_args: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProbeFormat {
    /// Tables
    Table,
    /// Rows
    Csv,
}

impl ProbeArgs {
    /// Runs the probes; a probe that fails is no error.
    pub fn execute(&self) -> anyhow::Result<ExitCode> {
        let probes = self.probes()?;
        let timeout_s = self.timeout.unwrap_or(TIMEOUT_S);
        if !(timeout_s.is_finite() && timeout_s > 0.0) {
            bail!("--timeout {timeout_s}: a positive number of seconds is needed");
        }
        // A folder that was asked for is tried before anything is installed or built.
        let folder = self.out.as_deref().map(ProbeFolder::create).transpose()?;
        let mpis = match self.mpis() {
            Ok(_) if interrupt::requested() => {
                folder.map(ProbeFolder::discard);
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Ok(mpis) => mpis,
            Err(error) => {
                folder.map(ProbeFolder::discard);
                return Err(error);
            }
        };
        let checks: Vec<_> = mpis.iter().map(|mpi| self.check(mpi, &probes, timeout_s)).collect();
        for (mpi, _) in &mpis {
            let from = mpi.mpicc.display();
            say(&format!("MPI: {}, {} ({}: {from})", mpi.name, mpi.title(), mpi.source.label()));
        }
        for (_, program) in &mpis {
            forget_probes(program).with_context(|| format!("beside {}", program.display()))?;
        }
        if let Some(folder) = &folder {
            folder.write_environment(&CheckEnvironment::now(now(), &checks)?)?;
        }
        self.all(&checks, folder)
    }

    fn check<'a>(
        &'a self,
        (installation, program): &'a Built,
        probes: &'a [&'static Probe],
        timeout_s: f64,
    ) -> Check<'a> {
        Check {
            mpi: &installation.name,
            installation,
            program,
            probes,
            timeout_s,
            launcher: self.launcher.as_deref(),
            launcher_args: &self.launcher_args,
        }
    }

    fn probes(&self) -> anyhow::Result<Vec<&'static Probe>> {
        if self.probes.is_empty() {
            return Ok(PROBES.iter().collect());
        }
        let mut probes: Vec<&Probe> = Vec::new();
        for name in &self.probes {
            let probe = list::find(name).map_err(|reason| anyhow!(reason))?;
            if !probes.contains(&probe) {
                probes.push(probe);
            }
        }
        Ok(probes)
    }

    /// The MPIs, each once.
    fn mpis(&self) -> anyhow::Result<Vec<Built>> {
        let mut project = Project::locate()?;
        project.verbose = self.verbose;
        let named = self.mpi.iter().map(|name| Some(name.as_str()));
        let names: Vec<_> = if self.mpi.is_empty() { vec![None] } else { named.collect() };
        let mut mpis: Vec<Built> = Vec::new();
        for name in names {
            let installation = project.pick(name, &mut say)?;
            if interrupt::requested() || mpis.iter().any(|(known, _)| known.name == installation.name) {
                continue;
            }
            let program = project.rank_program(&installation, &mut say)?;
            mpis.push((installation, program));
        }
        Ok(mpis)
    }

    fn all(&self, checks: &[Check<'_>], mut folder: Option<ProbeFolder>) -> anyhow::Result<ExitCode> {
        let total = checks.iter().map(|check| check.probes.len()).sum();
        let mut records: Vec<ProbeRecord> = Vec::new();
        let mut end = End::Complete;
        let mut bar = Bar::new(total, 1);
        for check in checks {
            let mut keep = |record: &ProbeRecord| {
                records.push(record.clone());
                folder.as_mut().map_or(Ok(()), |folder| folder.append(record))
            };
            let before = checks.iter().take_while(|earlier| !std::ptr::eq(*earlier, check));
            let progress = Progress { before: before.map(|check| check.probes.len()).sum(), total };
            match check.run(progress, &mut keep, &mut bar) {
                Ok((End::Complete, _)) => {}
                Ok((End::Interrupted, _)) => {
                    end = End::Interrupted;
                    break;
                }
                Err(error) => {
                    drop(bar);
                    return Err(refusal(error, folder));
                }
            }
        }
        drop(bar);
        if !records.is_empty() {
            output::print(&match self.format {
                ProbeFormat::Table => table::table(&records, output::width()).into_bytes(),
                ProbeFormat::Csv => probes_csv(&records, true),
            })?;
        }
        if let Some(folder) = &folder {
            let stopped = if end == End::Interrupted { "stopped; what was finished: " } else { "results: " };
            say(&format!("{stopped}{}", folder.path().display()));
        }
        Ok(match end {
            End::Interrupted => ExitCode::from(INTERRUPTED),
            End::Complete if records.iter().any(is_failure) => ExitCode::from(FAILED),
            End::Complete => ExitCode::SUCCESS,
        })
    }
}

/// Why it could not go on; what was seen before is kept.
fn refusal(error: RunError, folder: Option<ProbeFolder>) -> anyhow::Error {
    let Some(folder) = folder else { return error.into() };
    let kept = format!("stopped; what was finished is kept in {}", folder.path().display());
    let error = anyhow::Error::from(error);
    if folder.discard() { error } else { error.context(kept) }
}
