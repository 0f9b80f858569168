//! A file per kind of experiments, named as in `common::kinds`, each with its timed loops.
//!
//! Code shared by several kinds is next to this folder: `method/` and `mechanism/` send, `measure/` times, `checked/` calls MPI.

mod engine;
mod halo;
mod overlap;
mod partitioned;
mod pingpong;

use crate::checked::World;
use crate::cli::Command;
use crate::conformance;
use overlap::WithoutMpi;

/// An experiment that waits for MPI.
pub type Prepared = Box<dyn FnOnce(&World) -> anyhow::Result<u8>>;

/// The experiment of a command. Measurements without MPI are made here, before it is initialised.
pub fn prepare(command: Command) -> Prepared {
    match command {
        Command::Pingpong(args) => Box::new(move |world| pingpong::run(world, &args)),
        Command::Engine(args) => Box::new(move |world| engine::run(world, &args)),
        Command::Partitioned(args) => Box::new(move |world| partitioned::run(world, &args)),
        Command::Halo(args) => Box::new(move |world| halo::run(world, &args)),
        Command::Overlap(args) => {
            let before = WithoutMpi::measure(&args);
            Box::new(move |world| overlap::run(world, &args, before?))
        }
        Command::Conform(args) => Box::new(move |world| conformance::run(world, &args)),
        Command::Datatypes(args) => Box::new(move |world| conformance::datatypes::run(world, &args)),
    }
}
