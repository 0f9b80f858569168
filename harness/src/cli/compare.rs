//! The command `compare`: alternates launches of two MPIs, versions or settings until every row is decided,
//! or compares recorded runs.

mod judge;
mod live;
pub(super) mod recorded;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use clap::Args;
use ddtbench::mpi::Family;

pub(super) use judge::{JudgeArgs, share};

use super::kinds::{GivenArgs, MessageCases};
use super::numbers::seconds;

#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub(super) judge: JudgeArgs,
    /// Time limit for all measurements, such as 90s or 10m
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    time: f64,
    /// Exit code 1 if something is slower or broken, 3 if something is undecided
    #[arg(long)]
    gate: bool,
    /// Compare even if the machine or settings differ
    #[arg(long)]
    anyway: bool,
    /// The folder for the results [default: results/DATE-TIME-pingpong]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// TEST is a test, or without --mpi, --variant and --plan the folder of a run
    #[command(flatten)]
    given: GivenArgs<MessageCases>,
}

impl CompareArgs {
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let mpis = &self.given.conditions.mpis;
        // MPIs are measured, not recorded runs compared.
        let is_live = !mpis.names.is_empty() || !mpis.variants.is_empty() || self.given.plan_file().is_some();
        let (comparisons, folders, code) = match is_live {
            true => {
                let (comparisons, folder, code) = live::compare(&self)?;
                (comparisons, vec![folder], code)
            }
            false => {
                let folders: Vec<PathBuf> = self.given.cases.tests.tests.iter().map(PathBuf::from).collect();
                ensure!(
                    !folders.is_empty(),
                    "nothing to compare: give MPIs, such as --mpi mpich,openmpi, or the folders of two runs, BASE and NEW"
                );
                let is_mpi = |path: &PathBuf| {
                    let name = path.to_string_lossy();
                    let is_it = |of: &Family| name.split('-').next() == Some(of.name());
                    !path.exists() && Family::ALL.iter().any(is_it)
                };
                if folders.iter().all(is_mpi) {
                    let names: Vec<_> = folders.iter().map(|name| name.to_string_lossy()).collect();
                    bail!("no such folders; for MPIs: ddtbench compare --mpi {}", names.join(","));
                }
                let conditions = &self.given.conditions;
                let measuring = [
                    ("methods", "--method"),
                    ("launches", "--launches"),
                    ("caches", "--cache"),
                    ("memories", "--memory"),
                    ("pack", "--pack"),
                ];
                let given = measuring.into_iter().find(|(key, _)| conditions.has(key)).map(|(_, flag)| flag);
                if let Some(flag) = given.or(conditions.limit()) {
                    bail!(
                        "{flag} is for measuring: recorded runs are compared as they are; to measure, add --mpi"
                    );
                }
                let mut comparisons = self.judge.recorded(&folders, self.anyway)?;
                let code = self.judge.gate(&mut comparisons, self.gate);
                (comparisons, folders, code)
            }
        };
        self.judge.print(&comparisons, &folders)?;
        Ok(code)
    }
}
