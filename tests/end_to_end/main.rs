//! All that is tested on real MPIs, as one binary whose trials are made for each MPI and number of ranks.
//!
//! Nothing need be prepared: the first trial that needs an MPI has `ddtbench` install it, and build its rank
//! program. Where that fails, so do all trials that need it; none is left out in silence.

/// An MPI that errs on purpose.
mod faulty_mpi;
/// A place in the middle of a case where a run can be met.
mod gate;
/// Started commands, and all processes that come of them.
mod job;
/// The rows of a run.
mod results;
/// `ddtbench`, the MPIs and their rank programs.
mod setup;
/// Texts of commands and what they print.
mod texts;
/// What trials have of the machine.
mod trial;
/// Commands as a user types them, and what they keep.
mod typed;

// The trials.
/// What people type: the rank program without `ddtbench`, plans, reports, formats.
mod by_hand;
/// Clocks of ranks that differ, brought to one time.
mod clocks;
/// Commands on every MPI, and their results: errors are detected, and impossible requests refused.
mod commands;
/// Which of two sides is slower.
mod compare;
/// How a run is started, and when it ends.
mod conditions;
/// Checks of partitioned communication.
mod conformance;
/// Ranks, launchers and `ddtbench` itself killed in the middle of a run.
mod cut_off;
/// What stands in the way of measurements.
mod doctor;
/// The engine's comparison with the other ways to pack.
mod engine;
/// The examples for pipelines, as those run them who copy them.
mod examples;
/// Figures of papers, a command each.
mod figures;
/// Exchanges between many ranks.
mod halo;
/// Several MPIs, cache modes and launches in one run.
mod launches;
/// Any layout, as text or in a file.
mod layouts;
/// Every test and method, on every MPI, with 2 and with 4 ranks.
mod moves_bytes;
/// Communication beside computation.
mod overlap;
/// Messages that are finished partition by partition.
mod partitioned;
/// The unit tests of the rank program.
mod rank_program;
/// Without an MPI: what must be refused, and how.
mod refusals;
/// Where clusters differ from a laptop: shared trees, modules, settings, paths, Python's packages, processes left behind.
mod sites;
/// Jobs of a Slurm with two nodes.
mod slurm;
/// What carries the bytes between the ranks of one host.
mod transport;
/// Ranks on two hosts, and what a network can do to them.
mod two_hosts;
/// Datatypes as code.
mod written;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let_interrupts_through();
    let mut arguments = Arguments::from_args();
    let trials = [
        Vec::from(setup::MPIS.map(setup::set_up)),
        refusals::trials(),
        sites::trials(),
        rank_program::trials(),
        moves_bytes::trials(),
        commands::trials(),
        doctor::trials(),
        engine::trials(),
        halo::trials(),
        overlap::trials(),
        clocks::trials(),
        conformance::trials(),
        partitioned::trials(),
        cut_off::trials(),
        by_hand::trials(),
        conditions::trials(),
        launches::trials(),
        layouts::trials(),
        written::trials(),
        compare::trials(),
        examples::trials(),
        figures::trials(),
        transport::trials(),
        two_hosts::trials(),
        slurm::trials(),
    ];
    let trials: Vec<Trial> = trials.into_iter().flatten().collect();
    // A thread for each: trials wait for their places. Those that are asked for run one by one on the main thread: with a thread that
    // ends, the system ends what it has started, as the nodes of Slurm, which several trials use.
    arguments.test_threads = Some(if arguments.ignored { 1 } else { trials.len() });
    let conclusion = libtest_mimic::run(&arguments, trials);
    slurm::down();
    setup::tidy_up();
    conclusion.exit_code()
}

/// Lets all that is started here be interrupted. What a shell starts in the background from a script ignores SIGINT, and so would the
/// `ddtbench` whose end by it is tested.
fn let_interrupts_through() {
    // SAFETY: the default action takes no handler, and no other thread is there yet.
    let before = unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    assert_ne!(before, libc::SIG_ERR, "SIGINT cannot be set to its default action");
}
