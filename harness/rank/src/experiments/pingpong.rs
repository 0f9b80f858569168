//! The ping-pong of one case: the pairs of ranks, whether it can run here, and the measurement.

use anyhow::ensure;
use apps::{Arrays, Exchange, Side, WireOrder};
use common::kinds::Kind;
use common::kinds::pingpong::methods::{buffers, can_by_name, transfer};
use common::kinds::pingpong::{self, Pairs};
use common::memory::rank_bytes;
use common::model::conditions::Cache;
use common::model::event::Block;

use crate::bounds::AdoptedBounds;
use crate::checked::World;
use crate::cli::PingPong;
use crate::environment;
use crate::measure::block::{Bout, readings};
use crate::measure::cache::{self, Eviction};
use crate::measure::creation::InARow;
use crate::measure::experiment::{Amount, ScheduledCase, Turn};
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::measure::session::Session;
use crate::measure::sync::Sync;
use crate::measure::verification::verify;
use crate::memory::{Memory, check_room};
use crate::method::{self, Method, Setup};
use crate::own_loop;

/// Measures a ping-pong with all requested methods. Errors are the same on all ranks.
pub fn run(world: &World, args: &PingPong) -> anyhow::Result<u8> {
    let ranks = world.ranks(args.methods.ranks)?;
    check_even(ranks)?;
    let conditions = &args.case.conditions;
    cache::check(conditions.cache)?;
    let mut bounds = AdoptedBounds::new(&world.comm);
    let (test, values, app) = args.case.build(ranks, &mut bounds)?;
    let (methods, limits) =
        args.methods.of_test(Kind::PingPong, test.name, conditions.memory, |name| can_by_name(&app, name))?;
    let buffers = buffers(&methods);
    let staged = Kind::PingPong.staged_bytes(&methods, app.message_bytes());
    check_room(&world.comm, rank_bytes(&app, buffers), staged, conditions.memory)?;

    let place = environment::place(world.comm.rank()?);
    let (pair, me) = place_in_pairing(place.rank, ranks, args.pairs);
    let pair_comm = world.comm.split(pair, me)?;
    let all = world.comm.split(0, place.rank)?;
    let is_all_to_all = matches!(app.exchange, Exchange::AllToAll { .. });
    let setup = Setup::new(&app, if is_all_to_all { &all } else { &pair_comm })?;
    let arrays = if buffers.arrays { Arrays::new } else { Arrays::without_memory }(app.arrays.clone());
    let memory = Memory::new(arrays, app.message_bytes(), buffers, conditions.memory);
    let job = Job::new(&world.comm, &pair_comm, conditions.format)?;
    let pairs = if is_all_to_all { Vec::new() } else { pairing(ranks, args.pairs) };
    let facts = pingpong::facts(&app, WireOrder::Manual);
    let mut hello = environment::hello(world, &place, facts, job.clock, pairs)?;
    hello.notes = bounds.notes;
    let session = Session {
        eviction: (conditions.cache == Cache::Cold).then(|| Eviction::new(&app)),
        sync: if is_all_to_all { None } else { Some(Sync::new(&pair_comm)?) },
        ..Session::new(&job, &setup, if is_all_to_all { 0 } else { pair }, memory)
    };
    let set = args.case.set.as_deref().unwrap_or(test.quick_set().name);
    let case = conditions.case(Kind::PingPong, test.name, set, values.to_string(), ranks);
    run_case(PingPongs { job, session }, hello, &methods, limits, case)
}

/// A method that was set up and is being measured.
struct ActiveMethod<'a> {
    method: Box<dyn Method + 'a>,
    /// Known after its first block.
    in_a_row: Option<InARow>,
}

/// The ping-pong as an experiment.
struct PingPongs<'a> {
    job: Job<'a>,
    session: Session<'a>,
}

impl<'a> ScheduledCase<'a> for PingPongs<'a> {
    type ActiveMethod = ActiveMethod<'a>;

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Self::ActiveMethod> {
        let transfer = transfer(method).map_err(anyhow::Error::msg)?;
        // SAFETY: the memory is allocated once for the case, and outlives all methods.
        let method = unsafe { method::make(transfer, self.session.setup, &mut self.session.memory) }?;
        Ok(ActiveMethod { method, in_a_row: None })
    }

    fn wrong_loop(&mut self, side: Side) -> Option<String> {
        own_loop::wrong(side, self.session.setup.app, &mut self.session.memory.arrays)
    }

    fn verify(
        &mut self,
        ActiveMethod { method, .. }: &mut Self::ActiveMethod,
    ) -> anyhow::Result<Option<String>> {
        method.create()?;
        let mismatch = verify(&mut self.session, &mut **method)?;
        method.free()?;
        Ok(mismatch)
    }

    fn repeat(
        &mut self,
        ActiveMethod { method, .. }: &mut Self::ActiveMethod,
        count: u32,
    ) -> anyhow::Result<Turn> {
        method.create()?;
        let turn = Bout { session: &mut self.session, method: &mut **method }.repeat(count)?;
        method.free()?;
        Ok(turn)
    }

    fn readings(&self, ActiveMethod { method, .. }: &Self::ActiveMethod) -> Option<u32> {
        // The repetitions of a batch would not be cold, and copies to a device would be timed.
        (self.session.eviction.is_none() && self.session.memory.is_host()).then(|| readings(&**method))
    }

    fn block(
        &mut self,
        ActiveMethod { method, in_a_row }: &mut Self::ActiveMethod,
        amount: Amount,
        _: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        let Self { job, session } = self;
        let in_a_row = match in_a_row {
            Some(known) => *known,
            None => *in_a_row.insert(InARow::decide(job, &mut **method)?),
        };
        session.sync.as_mut().map_or(Ok(()), Sync::again)?;
        session.prepare(&mut **method)?;
        let block = Bout { session: &mut *session, method: &mut **method }.run(amount, in_a_row)?;
        let clock_error_s = session.sync.as_ref().map_or(Ok(None), Sync::residual_s)?;
        let block = Block { clock_error_s, ..block };
        session.world.barrier()?;
        method.settle()?;
        session.compare();
        let block = Block {
            compared: session.payload.checks.compared,
            device_copies: session.copies_of_a_message()?,
            ..block
        };
        Ok((session.is_origin().then_some(block), session.payload.checks.wrong()))
    }

    fn teardown(&mut self, active: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(active.method.finish()?)
    }
}

/// Refuses a world without an even number of ranks.
fn check_even(ranks: usize) -> anyhow::Result<()> {
    ensure!(
        ranks >= 2 && ranks.is_multiple_of(2),
        "{ranks} in the world: an even number of ranks is needed, at least 2, since they play in pairs"
    );
    Ok(())
}

/// The pair of a rank, and its number within the pair: 0 is the origin.
fn place_in_pairing(rank: usize, ranks: usize, pairs: Pairs) -> (usize, usize) {
    match pairs {
        Pairs::Adjacent => (rank / 2, rank % 2),
        Pairs::Across => (rank % (ranks / 2), rank / (ranks / 2)),
    }
}

/// Origin and peer of each pair.
fn pairing(ranks: usize, pairs: Pairs) -> Vec<(usize, usize)> {
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
    fn every_rank_has_its_place_in_the_pairing() {
        for pairs in [Pairs::Adjacent, Pairs::Across] {
            for ranks in [2, 4, 10] {
                for (pair, (origin, peer)) in pairing(ranks, pairs).into_iter().enumerate() {
                    assert_eq!(place_in_pairing(origin, ranks, pairs), (pair, 0));
                    assert_eq!(place_in_pairing(peer, ranks, pairs), (pair, 1));
                }
            }
        }
        assert_eq!(pairing(4, Pairs::Across), [(0, 2), (1, 3)]);
    }
}
