//! The program `ddtbench-rank`: the process that `mpiexec` starts, and the only one that calls MPI. It is a
//! static library for a family of MPIs, which the compiler wrapper of an MPI links with `constants.c`.
//!
//! It measures one case and reports it as events, or as a table if it was started manually. A case that cannot run is refused by
//! all ranks together, with one message and exit code 2. An MPI call that fails on one rank while others wait ends the job.
#![cfg_attr(test, allow(clippy::duplicate_mod, reason = "hand-offs are compiled over `loom` once more"))]

mod binding;
mod bounds;
mod carrier;
mod checked;
mod cli;
mod clock;
mod compute;
mod conformance;
mod device;
mod environment;
mod experiments;
mod guard;
mod handoff;
mod library_account;
mod measure;
mod mechanism;
mod memory;
mod method;
mod output;
mod own_loop;
mod packing;
mod payload;
mod reporter;
mod spans;
mod team;
mod transport;

use std::ffi::c_int;
use std::time::Duration;

use anyhow::anyhow;
use clap::Parser;

use checked::{World, identity, world};
use cli::Cli;
use measure::local_clock::VirtualClocks;

/// Exit code after a refusal.
const REFUSED: u8 = 2;

/// Exit code of a job in which a rank panicked because of a bug in this program.
const PANICKED: i32 = 101;

/// The function that `main` of `constants.c` calls. Returns the exit code.
#[unsafe(no_mangle)]
pub extern "C" fn ddtbench_rank() -> c_int {
    // As for every program in Rust: a closed pipe is an error of a write.
    // SAFETY: no other thread exists yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    std::panic::catch_unwind(run).map_or(PANICKED, c_int::from)
}

fn run() -> u8 {
    let is_first = world::is_launched_first();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help and version are not errors, but end here as well.
            let code = refusal.exit_code() as u8;
            if is_first && refusal.print().is_err() {
                return REFUSED;
            }
            let_rank_0_report(is_first);
            return code;
        }
    };
    let threading = cli.command.threading();
    let memory = cli.command.memory();
    let own_loop = cli.command.own_loop();
    let experiment = experiments::prepare(cli.command);
    let refusal = identity::foreign_library().or_else(identity::foreign_launcher);
    // Before MPI is initialised, since some libraries look for a context then.
    let opened = memory.and_then(|memory| if memory.is_host() { Ok(()) } else { device::open() });
    let refusal = refusal.or_else(|| Some(format!("{:#}", opened.err()?)));
    let world = refusal.map_or_else(|| World::initialize(threading), |reason| Err(anyhow!(reason)));
    if world.is_ok() {
        // A rank that is unwinding would free memory that others still use, and they would wait for it.
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            print(panic);
            World::abort(PANICKED)
        }));
    }
    let (world, result) = match world {
        Ok(world) => {
            let run = || {
                VirtualClocks::check(world.comm.size()?).map_err(|reason| anyhow!(reason))?;
                own_loop.iter().try_for_each(|(object, source)| own_loop::load(object, source))?;
                experiment(&world)
            };
            let result = run();
            (Some(world), result)
        }
        Err(refusal) => (None, Err(refusal)),
    };
    let code = result.unwrap_or_else(|refusal| {
        if is_first {
            eprintln!("error: {refusal:#}");
        }
        let_rank_0_report(is_first);
        REFUSED
    });
    drop(world);
    conformance::report_after_finalize();
    code
}

/// Launchers end all ranks as soon as one exits with a code other than 0, so the others wait until the first has reported the reason.
fn let_rank_0_report(is_first: bool) {
    if !is_first {
        std::thread::sleep(Duration::from_millis(500));
    }
}
