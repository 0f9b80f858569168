//! The flags that choose MPIs and their launcher.

use clap::Args;
use ddtbench::mpi::Variant;
use ddtbench::plan::Plan;

use super::completions;
use super::conditions::replace;
use super::headings::WHERE;

#[derive(Debug, Args)]
pub struct MpiArgs {
    /// MPIs: names in `ddtbench mpi list`, or paths of their mpicc; each case runs on all of them before the next
    #[arg(id = "mpi", help_heading = WHERE, long, value_name = "NAME", value_delimiter = ',', add = completions::mpis())]
    pub names: Vec<String>,
    /// Also run with these environment variables, shown as another MPI: nocma:MPIR_CVAR_CH4_CMA_ENABLE=0; for
    /// one of several MPIs: mpich/nocma:...
    #[arg(help_heading = WHERE, long = "variant", value_name = "NAME:VARIABLE=VALUE")]
    pub variants: Vec<Variant>,
    /// Launcher to use instead of the MPI's own: srun, a path, or a command with options
    #[arg(help_heading = WHERE, long, value_name = "COMMAND")]
    pub launcher: Option<String>,
    /// Options for the launcher
    #[arg(help_heading = WHERE, last = true, value_name = "LAUNCHER_ARG")]
    pub launcher_args: Vec<String>,
}

impl MpiArgs {
    /// Puts them into a plan.
    pub fn apply(&self, plan: &mut Plan) {
        replace(&mut plan.mpis, &self.names);
        plan.variants.extend(self.variants.iter().cloned());
        plan.launcher = self.launcher.clone().or(plan.launcher.take());
        plan.launcher_args.extend(self.launcher_args.iter().cloned());
    }
}
