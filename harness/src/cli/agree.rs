//! `agree`: our ping-pong beside that of the Intel MPI Benchmarks, to check an installation with.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{anyhow, bail, ensure};
use clap::Args;
use ddtbench::experiments::agreement::table;
use ddtbench::experiments::pingpong;
use ddtbench::mpi::{Family, Project};
use ddtbench::plan::{MOST_LAUNCHES, Plan, Variant};
use ddtbench::run::{AgreeError, IMB, Run, agree_plan, imb_mismatch};

use super::measure::INTERRUPTED;
use super::output::{self, say};
use super::progress::Progress;
use super::{numbers, targets};

#[derive(Debug, Args)]
pub struct AgreeArgs {
    /// Bytes of the messages
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_value = "8,1024,65536,1048576")]
    sizes: Vec<u64>,
    /// Launches of each; an interval needs six
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = numbers::count(MOST_LAUNCHES))]
    launches: usize,
    /// Time of each size in a launch
    #[arg(long, value_name = "SECONDS", default_value_t = 0.3)]
    max_time: f64,
    /// The MPI, by its name in `ddtbench mpi list` or the path of its mpicc
    #[arg(long, value_name = "NAME")]
    mpi: Option<String>,
    /// Measure the MPI a second time with environment variables set for both programs: nocma:MPIR_CVAR_CH4_CMA_ENABLE=0
    #[arg(long = "variant", value_name = "NAME:VARIABLE=VALUE")]
    variants: Vec<Variant>,
    /// The program IMB-MPI1 [default: that in PATH, or of Intel MPI installed here]
    #[arg(long, value_name = "FILE")]
    imb: Option<PathBuf>,
    /// Show what is built
    #[arg(short, long)]
    verbose: bool,
}

impl AgreeArgs {
    /// Runs both in turn and prints the ratios; an error is a refusal.
    pub fn execute(&self) -> anyhow::Result<ExitCode> {
        if let Some(file) = &self.imb {
            ensure!(file.is_file(), "--imb {}: there is no such file", file.display());
        }
        let mut plan = Plan::of(pingpong::KIND);
        plan.limits.max_time_s = self.max_time;
        // Launches are made one by one, in turn with the other program's.
        plan.launches = Some(1);
        plan.mpis = self.mpi.clone().into_iter().collect();
        plan.variants.clone_from(&self.variants);
        let mut plan = agree_plan(&self.sizes, plan)?;
        // Looked for first: without it nothing has to be installed.
        let imb = self.find(&Project::locate()?)?;
        let chosen = targets::choose(&mut plan.plan, self.verbose, false)?;
        for mpi in chosen.installations() {
            if let Some(reason) = imb_mismatch(&imb, mpi.family == Family::OpenMpi) {
                bail!(reason);
            }
            say(&format!("MPI: {}, {}; {}", mpi.name, mpi.title(), output::short(&imb)));
        }
        let targets = chosen.build()?;
        for (i, target) in targets.iter().enumerate() {
            let run = Run { plan: &plan, targets: std::slice::from_ref(target) };
            let mut progress = Progress::new(self.launches, &run);
            let agreed = run.agree(&imb, self.launches, &mut progress);
            drop(progress);
            let text = match agreed {
                Ok(agreements) => table::table(&agreements, output::width()),
                Err(AgreeError::Interrupted) => return Ok(ExitCode::from(INTERRUPTED)),
                Err(error) => return Err(error.into()),
            };
            let head = if targets.len() > 1 { format!("{}\n", target.label()) } else { String::new() };
            output::print(format!("{}{head}{text}", if i > 0 { "\n" } else { "" }).as_bytes())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The program: as named, in `PATH`, of an Intel MPI on this machine, or of one that is installed here.
    fn find(&self, project: &Project) -> anyhow::Result<PathBuf> {
        if let Some(file) = &self.imb {
            return Ok(file.canonicalize()?);
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
        folders.extend(env::var_os("I_MPI_ROOT").map(|root| Path::new(&root).join("bin")));
        for mpi in project.installations(&mut say)? {
            folders.extend(mpi.mpicc.parent().map(Path::to_owned));
        }
        folders.iter().map(|folder| folder.join(IMB)).find(|file| file.is_file()).ok_or_else(|| {
            anyhow!(
                "{IMB} is not in PATH, nor beside an MPI of `ddtbench mpi list`; name it with --imb, or install the one of \
                 Intel MPI, which runs on MPICH too: ddtbench mpi install impi"
            )
        })
    }
}
