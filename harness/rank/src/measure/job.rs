//! All ranks of a case, and the services for all kinds of experiments.

use common::model::Outcome;
use common::model::event::{Event, MachineState};

use super::state::StateProbe;
use crate::checked::{CallError, Comm};
use crate::clock::Clock;
use crate::environment;
use crate::guard::MemoryGuard;
use crate::output::OutputFormat;
use crate::reporter::EventReporter;
use crate::transport::Hosts;

/// The ranks that measure a case together.
pub struct Job<'a> {
    /// All ranks of the run.
    pub world: &'a Comm,
    pub rank: usize,
    /// Measures the machine's state, with this process's peer if it has one.
    probe: StateProbe<'a>,
    pub clock: Clock,
    /// Reports the events of the case.
    pub reporter: EventReporter,
    pub hosts: Hosts,
    processes_of_host: usize,
    /// Whether ranks or their threads must share cores and wait for each other.
    waits_for_cores: bool,
}

impl<'a> Job<'a> {
    /// The ranks of `world`. The communicator `peers` has this process and the one that measures the
    /// machine's state with it, or only this process.
    pub fn new(world: &'a Comm, peers: &'a Comm, format: OutputFormat) -> anyhow::Result<Self> {
        let rank = world.rank()?;
        Ok(Self {
            world,
            rank,
            probe: StateProbe::new(peers)?,
            clock: Clock::measure(),
            reporter: EventReporter::new(format, rank),
            hosts: Hosts::of_world(world, &environment::place(rank))?,
            processes_of_host: world.split_shared()?.size()?,
            waits_for_cores: false,
        })
    }

    /// Gets from rank 0 whether there are more runnable threads than cores, and reports the transport between ranks; collective.
    pub fn begin(&mut self, waits: bool) -> anyhow::Result<()> {
        let [waits] = self.world.broadcast([f64::from(u8::from(waits))])?;
        self.waits_for_cores = waits > 0.0;
        let transport = self.hosts.account(self.world)?;
        self.reporter.report(&Event::Transport(transport));
        Ok(())
    }

    /// Starts the guard that ends the process before an MPI exhausts the machine's memory: the memory of the
    /// case itself is allocated by now.
    pub fn guard_memory(&mut self) {
        self.reporter.guard = MemoryGuard::watch(self.processes_of_host);
    }

    /// A description of errors on any rank: `None` if there are none; otherwise all mismatches on rank 0, and
    /// an empty text on other ranks.
    pub fn any_mismatch(&self, mine: Option<String>) -> Result<Option<String>, CallError> {
        if self.world.everywhere(mine.is_none())? {
            return Ok(None);
        }
        Ok(Some(with_ranks(&self.world.gather(mine.unwrap_or_default().as_bytes())?)))
    }

    /// The state of the machine. All pairs measure it at the same time, so that none disturbs another's block. If ranks wait for
    /// cores, the latency between them is mostly waiting time and not a property of the machine, so it counts as not measured.
    pub fn state(&mut self) -> Result<MachineState, CallError> {
        self.world.barrier()?;
        let state = self.probe.read()?;
        Ok(if self.waits_for_cores { MachineState { latency_s: 0.0, ..state } } else { state })
    }

    /// Reports that this rank cannot continue, and ends all ranks.
    pub fn abort(&self, error: &anyhow::Error) -> ! {
        let detail = format!("rank {}: {error:#}", self.rank);
        self.reporter.abort(match error.downcast_ref::<CallError>() {
            Some(call) => call.outcome(detail),
            None => Outcome::MpiError { detail },
        })
    }

    /// Reports that all methods have ended and the library's report on itself, and frees shared resources; collective.
    pub fn finish(&mut self) -> Result<(), CallError> {
        self.reporter.done();
        drop(self.reporter.guard.take());
        self.probe.finish()
    }
}

/// The descriptions of all ranks, each once, with its first rank; empty ones are of ranks without an error.
fn with_ranks(all: &[Vec<u8>]) -> String {
    let mut texts = Vec::new();
    for (rank, text) in all.iter().enumerate() {
        if text.is_empty() || all[..rank].contains(text) {
            continue;
        }
        let others = match all[rank + 1..].iter().filter(|other| *other == text).count() {
            0 => String::new(),
            1 => " (also on another rank)".to_owned(),
            others => format!(" (also on {others} other ranks)"),
        };
        texts.push(format!("rank {rank} of the world: {}{others}", String::from_utf8_lossy(text)));
    }
    texts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_errors_of_ranks_are_listed_once() {
        let text =
            |texts: &[&str]| with_ranks(&texts.iter().map(|t| t.as_bytes().to_vec()).collect::<Vec<_>>());
        assert_eq!(text(&["", "a"]), "rank 1 of the world: a");
        assert_eq!(
            text(&["b", "a", "b", "b", "a"]),
            "rank 0 of the world: b (also on 2 other ranks); rank 1 of the world: a (also on another rank)"
        );
    }
}
