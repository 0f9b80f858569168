//! The ping-pong of one case: who plays with whom, whether it can be done here, and then the measurement.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use apps::{Arrays, Exchange, MicroApp, WireOrder};
use ddtbench::event::{Block, Event, MessageFacts, Outcome};
use ddtbench::experiment::Experiment as Kind;
use ddtbench::plan::{Cache, Pairs};

use crate::checked::{Comm, World, identity, world};
use crate::cli::PingPong;
use crate::guard::MemoryGuard;
use crate::measure::cache::{self, Eviction};
use crate::measure::clock::Clock;
use crate::measure::experiment::{Amount, Experiment, Turn};
use crate::measure::job::Job;
use crate::measure::session::Session;
use crate::measure::state::StateProbe;
use crate::measure::{block, schedule};
use crate::memory::Memory;
use crate::method::{Method, Setup, table};
use crate::output::{Format, Output};
use crate::regions::Regions;
use crate::telling::Telling;
use crate::verify::verify;
use crate::{steady, surroundings};

/// Exit code for a person's script: a method moved wrong bytes.
pub const WRONG_DATA: u8 = 1;

/// Measures the case.
///
/// # Errors
/// Why it cannot be done; on all ranks alike.
pub fn run(world: &World, args: &PingPong) -> anyhow::Result<ExitCode> {
    let ranks = world.comm.size()?;
    check_ranks(ranks, args.ranks)?;
    cache::check(args.case.cache)?;
    let (methods, limits) = (args.methods()?, args.limits.limits()?);
    let (test, values, app) = args.case.build(ranks)?;
    let processes_of_host = world.comm.split_shared()?.size()?;
    check_memory(&world.comm, &*app, processes_of_host)?;

    let place = surroundings::place(world.comm.rank()?);
    let (pair, me) = seat(place.rank, ranks, args.pairs);
    let pair_comm = world.comm.split(pair, me)?;
    let all = world.comm.split(0, place.rank)?;
    let is_all_to_all = matches!(app.exchange(), Exchange::AllToAll { .. });
    let setup = Setup::new(&*app, if is_all_to_all { &all } else { &pair_comm })?;
    let memory = Memory::new(Arrays::new(app.arrays()), setup.message_bytes);
    let clock = Clock::measure();
    let pairs = if is_all_to_all { Vec::new() } else { seats(ranks, args.pairs) };
    let facts = MessageFacts::of(&*app, WireOrder::Manual);
    let hello = surroundings::hello(world, &place, facts, clock, pairs)?;
    let mut session = Session {
        setup: &setup,
        job: Job {
            world: &world.comm,
            rank: place.rank,
            probe: Some(StateProbe::new(&pair_comm)?),
            clock,
            telling: Telling::new(
                Output::new(args.case.format),
                place.rank,
                MemoryGuard::watch(processes_of_host),
            ),
        },
        pair: if is_all_to_all { 0 } else { pair },
        eviction: (args.case.cache == Cache::Cold).then(|| Eviction::new(&*app)),
        regions: Regions::of(&*app, &memory.arrays),
        generation: 0,
    };
    session.job.telling.tell(&Event::Hello(Box::new(hello)));
    let mut pingpong = PingPongs { session, memory };
    if let Err(error) = schedule::run(&mut pingpong, &methods, limits) {
        pingpong.session.job.abort(&error);
    }
    let mut telling = pingpong.session.job.finish()?;
    if args.case.format == Format::Json {
        return Ok(ExitCode::SUCCESS);
    }
    if place.rank == 0 {
        telling.output.table(args.case.case(test, &values, identity::compiled_for(), ranks), limits.rule);
    }
    Ok(if telling.has_wrong_data { ExitCode::from(WRONG_DATA) } else { ExitCode::SUCCESS })
}

/// The ping-pong as an experiment.
struct PingPongs<'a> {
    session: Session<'a>,
    memory: Memory,
}

impl<'a> Experiment<'a> for PingPongs<'a> {
    type Course = Box<dyn Method + 'a>;

    fn kind(&self) -> Kind {
        Kind::PingPong
    }

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.session.job
    }

    fn needs(&self, method: &str) -> &'static [&'static str] {
        table::needs(method)
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Result<Self::Course, Outcome>> {
        table::make(method, self.session.setup, &mut self.memory).map(Ok)
    }

    fn verify(&mut self, method: &mut Self::Course) -> anyhow::Result<Option<String>> {
        method.create()?;
        let complaint = verify(&mut self.session, &mut self.memory, &mut **method)?;
        method.free()?;
        Ok(complaint)
    }

    fn repeat(&mut self, method: &mut Self::Course, count: u32) -> anyhow::Result<Turn> {
        method.create()?;
        let turn = block::repeat(&self.session, &mut self.memory, &mut **method, count)?;
        method.free()?;
        Ok(turn)
    }

    fn readings(&self, method: &Self::Course) -> Option<u32> {
        // What a batch would repeat is no longer cold.
        self.session.eviction.is_none().then(|| block::readings(&**method))
    }

    fn block(
        &mut self,
        method: &mut Self::Course,
        amount: Amount,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        let Self { session, memory } = self;
        steady::prepare(session, memory, &mut **method)?;
        let block = block::run(session, memory, &mut **method, amount)?;
        session.job.world.barrier()?;
        let complaint = steady::check(session, memory, &mut **method)?;
        Ok((session.is_origin().then_some(block), complaint))
    }

    fn dismiss(&mut self, method: Self::Course) -> anyhow::Result<()> {
        Ok(method.finish()?)
    }
}

/// Refuses a world that cannot play, or is not the one that was asked for.
fn check_ranks(ranks: usize, asked: Option<usize>) -> anyhow::Result<()> {
    if let Some(reason) = world::wrong_launcher(&identity::compiled_for(), ranks, asked) {
        bail!(reason);
    }
    if let Some(asked) = asked.filter(|&asked| asked != ranks) {
        bail!("--ranks {asked}: the launcher has started {ranks}");
    }
    if ranks < 2 || !ranks.is_multiple_of(2) {
        bail!(
            "{ranks} in the world: an even number of ranks is needed, at least 2, since they play in pairs"
        );
    }
    Ok(())
}

/// Refuses arrays that the ranks of one of the hosts cannot have.
fn check_memory(world: &Comm, app: &dyn MicroApp, processes_of_host: usize) -> anyhow::Result<()> {
    let available = ddtbench::memory::available_bytes().unwrap_or(u64::MAX);
    let checked = ddtbench::memory::check_ranks(app, processes_of_host, available);
    let complaint = checked.clone().err().unwrap_or_default();
    let complaints = world.gather(complaint.as_bytes())?;
    if world.minima(&[f64::from(u8::from(checked.is_ok()))])?[0] > 0.0 {
        return Ok(());
    }
    let first = complaints.iter().find(|complaint| !complaint.is_empty());
    Err(anyhow!(first.map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or(complaint)))
}

/// The pair of a rank, and its number in it: 0 is the origin.
fn seat(rank: usize, ranks: usize, pairs: Pairs) -> (usize, usize) {
    match pairs {
        Pairs::Adjacent => (rank / 2, rank % 2),
        Pairs::Across => (rank % (ranks / 2), rank / (ranks / 2)),
    }
}

/// Origin and peer of each pair.
fn seats(ranks: usize, pairs: Pairs) -> Vec<(usize, usize)> {
    (0..ranks / 2)
        .map(|pair| match pairs {
            Pairs::Adjacent => (2 * pair, 2 * pair + 1),
            Pairs::Across => (pair, pair + ranks / 2),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_its_seat() {
        for pairs in [Pairs::Adjacent, Pairs::Across] {
            for ranks in [2, 4, 10] {
                for (pair, (origin, peer)) in seats(ranks, pairs).into_iter().enumerate() {
                    assert_eq!(seat(origin, ranks, pairs), (pair, 0));
                    assert_eq!(seat(peer, ranks, pairs), (pair, 1));
                }
            }
        }
        assert_eq!(seats(4, Pairs::Across), [(0, 2), (1, 3)]);
    }

    #[test]
    fn odd_and_other_numbers_of_ranks_are_refused() {
        assert!(check_ranks(4, Some(4)).is_ok());
        assert!(check_ranks(4, Some(2)).unwrap_err().to_string().contains("started 4"));
        assert!(check_ranks(3, None).unwrap_err().to_string().contains("even"));
    }
}
