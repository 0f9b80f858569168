//! The environment of a run: the MPI, where each rank may run, and the variables that control them.

use common::model::check::CheckEvent;
use common::model::conditions::SETTING_PREFIXES;
use common::model::event::{self, Hello, MessageFacts, RankPlace};

use crate::binding;
use crate::checked::{World, identity};
use crate::clock::Clock;
use crate::device;

/// The place of this process, whose rank is `rank`.
pub fn place(rank: usize) -> RankPlace {
    RankPlace { rank, host: host(), pid: std::process::id(), cpus: binding::affinity(0) }
}

pub fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is given with its length.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) } != 0 {
        return String::new();
    }
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// Variables that control an MPI or its transports, by name; and those that replace the real clocks.
pub fn settings() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
    };
    let mut settings: Vec<_> = std::env::vars_os()
        .map(text)
        .filter(|(name, _)| SETTING_PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix)))
        .collect();
    settings.sort();
    settings
}

/// The MPI library of this process, as an event of a check.
pub fn library() -> CheckEvent {
    CheckEvent::Library { version: identity::library_version(), path: identity::library_path() }
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The description of this job; complete on rank 0 only.
pub fn hello(
    world: &World,
    place: &RankPlace,
    message: MessageFacts,
    clock: Clock,
    pairs: Vec<(usize, usize)>,
) -> anyhow::Result<Hello> {
    let ranks = world.comm.gather_values(place)?;
    let devices = world.comm.gather_values(&device::facts().cloned())?.into_iter().flatten().collect();
    let version = identity::library_version();
    let device = version.lines().find_map(|line| line.split_once("Device:"));
    Ok(Hello {
        version: event::VERSION,
        library_version: joined(version.lines().next().unwrap_or_default()),
        device: device.map(|(_, device)| joined(device)),
        mpi_standard: identity::standard()?,
        abi: Some(identity::OWN),
        library_path: identity::library_path(),
        thread_level: world.thread_level.to_owned(),
        clock_step_s: clock.step_s,
        clock_cost_s: clock.cost_s,
        mpi_wtick_s: world.tick_s(),
        message,
        ranks,
        threads: 1,
        pairs,
        settings: settings(),
        library_account: Vec::new(),
        build: format!("{}; tuned loops: {}", env!("DDTBENCH_BUILD"), apps::tuned_vectors()),
        transport: None,
        devices,
        clocks: None,
        notes: Vec::new(),
        bad_ending: None,
    })
}
