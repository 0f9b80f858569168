//! All tests on real MPIs: one binary whose trials are made for each MPI and number of ranks.
//!
//! No preparation is needed: the first trial that needs an MPI lets `ddtbench` install it and build its rank
//! program. If that fails, all trials that need it fail; none is skipped silently.

/// An MPI that is wrong on purpose.
mod faulty_mpi;
/// A point in the middle of a case at which a run can be stopped.
mod gate;
/// Started commands and all their descendants.
mod job;
/// The rows of a run.
mod results;
/// `ddtbench`, the MPIs and their rank programs.
mod setup;
/// Texts of commands and what they print.
mod texts;
/// The resources of the machine that trials need.
mod trial;
/// Commands as a user types them, and their results.
mod typed;

// The trials.
/// Commands typed by hand: the rank program without `ddtbench`, plans, reports, formats.
mod by_hand;
/// Commands on every MPI, and their results: errors are detected, and impossible requests refused.
mod commands;
/// Comparisons: which of two sides is slower.
mod compare;
/// The start and the end of a run.
mod conditions;
/// Ranks, launchers and `ddtbench` itself, killed in the middle of a run.
mod cut_off;
/// Random datatypes: planted faults are found, shrunk and confirmed.
mod datatypes;
/// Data in the memory of a device.
mod device;
/// Obstacles to good measurements.
mod doctor;
/// The engine's comparison with the other ways to pack.
mod engine;
/// The examples for pipelines, run as users who copy them would.
mod examples;
/// Figures of papers, one command each.
mod figures;
/// Exchanges between many ranks.
mod halo;
/// The installed program, and the standard's binary interface.
mod installed;
/// Several MPIs, cache modes and launches in one run.
mod launches;
/// Any layout, as text or in a file.
mod layouts;
/// Every test and method, on every MPI, with 2 and with 4 ranks.
mod moves_bytes;
/// Overlap of communication and computation.
mod overlap;
/// Messages that are completed partition by partition.
mod partitioned;
/// The unit tests of the rank program.
mod rank_program;
/// Refusals, without an MPI.
mod refusals;
/// Differences between clusters and a laptop: shared trees, modules, settings, paths, Python's packages, orphaned processes.
mod sites;
/// Jobs of a Slurm with two nodes.
mod slurm;
/// Ranks on two hosts, and failures of the network.
mod two_hosts;
/// Datatypes as code.
mod written;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let_interrupts_through();
    let mut arguments = Arguments::from_args();
    let trials = [
        setup::trials(),
        refusals::trials(),
        sites::trials(),
        rank_program::trials(),
        moves_bytes::trials(),
        commands::trials(),
        doctor::trials(),
        engine::trials(),
        halo::trials(),
        overlap::trials(),
        datatypes::trials(),
        partitioned::trials(),
        cut_off::trials(),
        by_hand::trials(),
        conditions::trials(),
        installed::trials(),
        launches::trials(),
        layouts::trials(),
        written::trials(),
        device::trials(),
        compare::trials(),
        examples::trials(),
        figures::trials(),
        two_hosts::trials(),
        slurm::trials(),
    ];
    let trials: Vec<Trial> = trials.into_iter().flatten().collect();
    // One thread per trial: trials wait for their places.
    arguments.test_threads = Some(trials.len());
    let conclusion = libtest_mimic::run(&arguments, trials);
    slurm::down();
    setup::tidy_up();
    installed::tidy_up();
    conclusion.exit_code()
}

/// Makes all processes started here interruptible. A shell starts background processes of a script with
/// SIGINT ignored. They would inherit that, but tests interrupt `ddtbench` with SIGINT.
fn let_interrupts_through() {
    // SAFETY: the default action has no handler, and there are no other threads yet.
    let before = unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    assert_ne!(before, libc::SIG_ERR, "SIGINT cannot be set to its default action");
}
