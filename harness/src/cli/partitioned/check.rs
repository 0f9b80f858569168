//! `partitioned --check`: probes on MPIs, a table, and an exit code that tells whether they conform.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use ddtbench::folder::ProbeFolder;
use ddtbench::mpi::{Installation, Project, interrupt};
use ddtbench::partitioned::check::{Check, CheckEnvironment, Progress, TIMEOUT_S};
use ddtbench::partitioned::probe::{self, PROBES, Probe, ProbeRecord};
use ddtbench::report;
use ddtbench::run::{End, RunError, forget_probes};

use super::{CheckFormat, PartitionedArgs};
use crate::cli::conditions::{FAILED, INTERRUPTED, now};
use crate::cli::output::{self, say};
use crate::cli::progress::Progress as Bar;

/// An MPI with the rank program that was built for it.
type Built = (Installation, PathBuf);

impl PartitionedArgs {
    /// Runs the probes; a probe that fails is no error.
    pub(super) fn run_check(&self) -> anyhow::Result<ExitCode> {
        let probes = self.probes()?;
        let conditions = &self.conditions;
        conditions.refuse_limits("--check")?;
        if let Some((flag, _)) = self.sweep.given().iter().find(|(_, is_given)| *is_given) {
            bail!("{flag} cannot be used with --check, whose probes have messages of their own");
        }
        let timeout_s = conditions.timeout.unwrap_or(TIMEOUT_S);
        if !(timeout_s.is_finite() && timeout_s > 0.0) {
            bail!("--timeout {timeout_s}: a positive number of seconds is needed");
        }
        // A folder that was asked for is tried before anything is installed or built.
        let folder = conditions.out.as_deref().map(ProbeFolder::create).transpose()?;
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
        let launcher_args = conditions.launcher_args();
        let check = |(installation, program)| Check {
            installation,
            program,
            probes: &probes,
            timeout_s,
            launcher: conditions.launcher.as_deref(),
            launcher_args: &launcher_args,
        };
        let checks: Vec<_> = mpis.iter().map(|(mpi, program)| check((mpi, program.as_path()))).collect();
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

    fn probes(&self) -> anyhow::Result<Vec<&'static Probe>> {
        if self.probes.is_empty() {
            return Ok(PROBES.iter().collect());
        }
        let mut probes: Vec<&Probe> = Vec::new();
        for name in &self.probes {
            let probe = probe::find(name).map_err(|reason| anyhow!(reason))?;
            if !probes.contains(&probe) {
                probes.push(probe);
            }
        }
        Ok(probes)
    }

    /// The MPIs, each once.
    fn mpis(&self) -> anyhow::Result<Vec<Built>> {
        let mut project = Project::locate()?;
        project.verbose = self.conditions.verbose;
        let names: Vec<_> = match &self.conditions.mpi {
            Some(names) => names.split(',').map(Some).collect(),
            None => vec![None],
        };
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
                CheckFormat::Table => report::probes::table(&records, output::width()).into_bytes(),
                CheckFormat::Csv => report::probes::csv(&records, true),
            })?;
        }
        if let Some(folder) = &folder {
            let stopped = if end == End::Interrupted { "stopped; what was finished: " } else { "results: " };
            say(&format!("{stopped}{}", folder.path().display()));
        }
        Ok(match end {
            End::Interrupted => ExitCode::from(INTERRUPTED),
            End::Complete if records.iter().any(ProbeRecord::is_failure) => ExitCode::from(FAILED),
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
