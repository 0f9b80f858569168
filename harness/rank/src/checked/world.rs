//! Initialisation, and the world of ranks.

use std::ffi::c_int;

use anyhow::bail;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::ffi;

use super::threads::{TeamCalls, ThreadMultiple};
use super::{CallError, Comm, identity};

/// The level at which any thread may call MPI at any time.
pub const MULTIPLE: &str = "MPI_THREAD_MULTIPLE";

/// MPI between initialisation and finalisation.
pub struct World {
    /// `MPI_COMM_WORLD`.
    pub comm: Comm,
    /// The thread level provided, by its name in the standard.
    pub thread_level: &'static str,
    /// Finalises MPI when dropped, hence after the communicator.
    _universe: Universe,
}

impl World {
    /// Initialises MPI; its errors are returned instead of fatal. MPI may provide less than the requested
    /// `threading`; see [`World::multiple`].
    pub fn initialize(threading: Threading) -> anyhow::Result<Self> {
        let (universe, level) = mpi::initialize_with_threading(threading)
            .ok_or_else(|| anyhow::anyhow!("MPI is initialised already"))?;
        let comm = Comm::world();
        comm.return_errors()?;
        let thread_level = match level {
            Threading::Single => "MPI_THREAD_SINGLE",
            Threading::Funneled => "MPI_THREAD_FUNNELED",
            Threading::Serialized => "MPI_THREAD_SERIALIZED",
            Threading::Multiple => MULTIPLE,
        };
        Ok(Self { comm, thread_level, _universe: universe })
    }

    /// The number of ranks, if it is the requested one (`asked`).
    pub fn ranks(&self, asked: Option<usize>) -> anyhow::Result<usize> {
        let ranks = self.comm.size()?;
        if let Some(reason) = wrong_launcher(&identity::title(), ranks, asked) {
            bail!(reason);
        }
        if let Some(asked) = asked.filter(|&asked| asked != ranks) {
            bail!("{asked} ranks were requested, but the launcher started {ranks}");
        }
        Ok(ranks)
    }

    /// Permission for each of the `threads` threads of a process, including this one, to call MPI.
    pub fn team_calls(&self, threads: usize) -> Result<TeamCalls, String> {
        let lack = || format!("{threads} threads call MPI, and this MPI gives {}", self.thread_level);
        TeamCalls::for_threads(threads, self.multiple()).ok_or_else(lack)
    }

    /// Permission for any thread to call MPI at any time; `None` if the MPI does not provide it.
    pub fn multiple(&self) -> Option<ThreadMultiple> {
        (self.thread_level == MULTIPLE).then_some(ThreadMultiple(()))
    }

    /// `MPI_Wtick` in seconds.
    pub fn tick_s(&self) -> f64 {
        // SAFETY: MPI is initialised while `self` lives.
        unsafe { ffi::RSMPI_Wtick() }
    }

    /// Ends all ranks at once, for a rank that cannot continue while others wait for it.
    pub fn abort(exit_code: c_int) -> ! {
        // SAFETY: MPI ends every process of the world, and no data of this one is used afterwards. If a thread that may
        // not call MPI does this, it has found a bug, and the process ends in any case: below at the latest.
        let aborted = unsafe { call!(MPI_Abort(ffi::RSMPI_COMM_WORLD, exit_code)) };
        // If even that fails, only exiting remains.
        let _: Result<(), CallError> = aborted;
        std::process::exit(exit_code)
    }
}

/// Environment variables for the number of ranks, and the launchers that set them.
const SIZES: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec"),
    ("PMI_SIZE", "a PMI launcher (MPICH's or Intel's mpiexec, or srun --mpi=pmi2)"),
    ("MPI_LOCALNRANKS", "Hydra (MPICH's or Intel's mpiexec)"),
    ("SLURM_NTASKS", "srun or sbatch"),
];

/// Environment variables with which launchers give a process its rank.
const RANKS: &[&str] = &["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// Whether this process reports before, or without, MPI: the launcher's first process, or one started without a launcher.
pub fn is_launched_first() -> bool {
    RANKS.iter().find_map(|name| std::env::var(name).ok()).is_none_or(|rank| rank == "0")
}

/// The reason why a world of one rank is probably due to the wrong launcher, if more ranks were requested
/// (`asked`) or a launcher's variables give more.
fn wrong_launcher(library: &str, size: usize, asked: Option<usize>) -> Option<String> {
    if size > 1 {
        return None;
    }
    let reason = SIZES.iter().find_map(|(variable, launcher)| {
        let ranks: usize = std::env::var(variable).ok()?.parse().ok()?;
        (ranks > 1).then(|| format!("{launcher} set {variable}={ranks}"))
    });
    let reason =
        reason.or_else(|| asked.filter(|&ranks| ranks > 1).map(|ranks| format!("{ranks} were requested")))?;
    Some(format!(
        "every process is in a separate MPI_COMM_WORLD, although {reason}: the launcher belongs to another MPI, or there is \
         none. This program has loaded {library}; start it with that MPI's mpiexec"
    ))
}
