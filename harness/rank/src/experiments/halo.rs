//! Halo exchanges between any number of ranks: every micro-app with every method, with threads that compute and hand
//! over their shares. Before timing, all memory is filled and compared for every exchange; afterwards once per block, in which
//! every exchange sends changed values, a few bytes of its messages are checked, and after a quarter of the exchanges all of them.

pub mod active;
mod bulk;
mod collective;
mod exchange;
mod fine;
mod links;
pub mod method;
pub mod payload;
mod put;
mod typed;

use anyhow::{anyhow, ensure};
use apps::{Side, WireOrder};
use common::fine_grained::arrival::Sampler;
use common::kinds::Kind;
use common::kinds::halo::{self, HaloCase, Start};
use common::model::CUSTOM;
use common::model::Phase;
use common::model::conditions::Cache;
use common::model::event::Block;

use crate::bounds::AdoptedBounds;
use crate::checked::World;
use crate::cli::Halo;
use crate::device;
use crate::environment;
use crate::measure::experiment::{Amount, Made, ScheduledCase, Turn};
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::measure::sync::Sync;
use crate::memory::check_room;
use crate::own_loop::OwnLoop;
use crate::payload::ArrivalProbe;
use crate::team::Team;
use active::ActiveExchange;
use exchange::ExchangeReadings;
use method::Parts;
use payload::ExchangePayload;

/// Exchanges before timing, each filled and compared.
const VERIFIED: u32 = 3;

/// Measures a halo exchange with all requested methods. Errors are the same on all ranks.
pub fn run(world: &World, args: &Halo) -> anyhow::Result<u8> {
    let ranks = world.ranks(args.methods.ranks)?;
    let conditions = &args.case.conditions;
    ensure!(conditions.cache == Cache::Warm, "--cache cold: halos are measured with warm caches only");
    let case = args.case()?;
    let mut bounds = AdoptedBounds::new(&world.comm);
    let adopted = HaloCase { values: bounds.adopted(&case.values), ..case.clone() };
    let app = bounds.explain(adopted.build(ranks, conditions.seed).map_err(|reason| anyhow!(reason)))?;
    let can = |name: &str| halo::methods::lack(&*app, ranks, name).is_none();
    let (methods, limits) = args.methods.of_test(Kind::Halo, case.test.name, conditions.memory, can)?;
    let facts = halo::message(&*app, ranks);
    let staged = if conditions.memory.is_host() {
        0
    } else {
        (0..ranks).map(|rank| halo::wire_bytes(&*app, rank)).max().unwrap_or(0)
    };
    check_room(&world.comm, halo::rank_bytes(&*app, ranks), staged, conditions.memory)?;
    let parts =
        Parts::new(&world.comm, &*app, case.setting.reorder, case.setting.threads, conditions.memory)?;
    // After reordering, rank 0 of the grid may not be the reporting process, so all reports use the world.
    let (rank, world_rank) = (parts.rank, world.comm.rank()?);
    let pair = world.comm.split(world_rank / 2, world_rank)?;
    let job = Job::new(&world.comm, &pair, conditions.format)?;
    let sync = Sync::new(&world.comm)?;
    let place = environment::place(world_rank);
    let mut hello = environment::hello(world, &place, facts, job.clock, Vec::new())?;
    hello.clocks = Some(sync.facts()?);
    hello.notes = bounds.notes;
    hello.threads = case.setting.threads;
    let payload = ExchangePayload::new(&*app, &parts);
    let team = Team::new(case.setting.threads).unwrap_or_else(|error| job.abort(&error.into()));
    let bench = HaloExchanges {
        job,
        world,
        payload,
        parts: &parts,
        sampler: case.setting.sampler(conditions.seed, rank).map_err(anyhow::Error::msg)?,
        team,
        case: &case,
        sync,
    };
    let set = args.case.set.as_deref().unwrap_or(CUSTOM);
    let case = conditions.case(Kind::Halo, case.test.name, set, case.to_string(), ranks);
    run_case(bench, hello, &methods, limits, case)
}

/// The data shared by all methods of a case.
struct HaloExchanges<'a> {
    job: Job<'a>,
    case: &'a HaloCase,
    parts: &'a Parts,
    payload: ExchangePayload<'a>,
    world: &'a World,
    sampler: Sampler,
    team: Team,
    sync: Sync,
}

/// Consecutive exchanges by one method.
struct Exchanges {
    /// The longest times over all ranks.
    readings: Vec<ExchangeReadings>,
    /// For a watched exchange: the share of the first stage's bytes that arrived early.
    early: Option<f64>,
    /// Copies of a device's driver on this rank in all exchanges with readings, if they are counted.
    copies: f64,
}

impl HaloExchanges<'_> {
    /// Exchanges once, with changed data. Returns this rank's times and the observations of `arrival_probe`.
    fn once(
        &mut self,
        active: &ActiveExchange<'_>,
        arrival_probe: Option<&ArrivalProbe>,
    ) -> (ExchangeReadings, [f64; 2]) {
        self.payload.checks.change();
        let mut compute_s = vec![0.0; self.case.setting.threads];
        self.sampler.next(&mut compute_s);
        let seen = exchange::run(self, active, &compute_s, arrival_probe);
        self.payload.look();
        seen
    }

    /// Exchanges `count` times, each time with changed data since the last fill. If `watched`, it checks in
    /// the last exchange which data arrives early.
    fn exchange(
        &mut self,
        active: &ActiveExchange<'_>,
        count: u32,
        watched: bool,
    ) -> anyhow::Result<Exchanges> {
        let mut mine = Vec::with_capacity(count as usize);
        let mut exchanges = Exchanges { readings: Vec::new(), early: None, copies: 0.0 };
        for number in 0..count {
            let arrival_probe = (watched && number + 1 == count).then(|| self.payload.probe(active.packing));
            let (readings, seen) = self.once(active, arrival_probe.as_ref());
            if arrival_probe.is_some() {
                let sums = self.job.world.sums(&seen)?;
                exchanges.early = (sums[1] > 0.0).then(|| sums[0] / sums[1]);
            } else {
                mine.push(readings);
            }
            if self.payload.checks.is_compared() {
                self.payload.compare();
                // The caches are others after it, so the next exchange does not count.
                self.once(active, None);
            }
        }
        exchanges.copies = mine.iter().map(|readings| readings.copies).sum();
        // All checks come together after the last exchange: if ranks compared results in between, their caches would change.
        if !mine.is_empty() {
            let longest = self.job.world.maxima(bytemuck::cast_slice(&mine))?;
            exchanges.readings = bytemuck::cast_slice(&longest).to_vec();
        }
        Ok(exchanges)
    }
}

impl<'a> ScheduledCase<'a> for HaloExchanges<'a> {
    type ActiveMethod = Made<ActiveExchange<'a>>;

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn is_random(&self) -> bool {
        self.sampler.is_random()
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Self::ActiveMethod> {
        let transfer = halo::methods::transfer(method).map_err(anyhow::Error::msg)?;
        let calls = self.world.team_calls(self.case.setting.threads);
        Made::timed(|| Ok(ActiveExchange::make(transfer, self.parts, calls)?))
    }

    fn wrong_loop(&mut self, side: Side) -> Option<String> {
        // SAFETY: no other thread runs between exchanges.
        let arrays = unsafe { &mut self.parts.memory.all.get().arrays };
        let mut links = self.parts.links.stages.iter().flat_map(|stage| match side {
            Side::Send => &stage.sends,
            Side::Receive => &stage.receives,
        });
        links.find_map(|link| {
            let face = &link.cut.parts[0];
            let own = OwnLoop::new(face, !self.parts.links.has_loops, link.tag);
            let wrong = own.wrong(side, &face.message(WireOrder::Ddt), arrays)?;
            if self.parts.links.sent() == 1 {
                return Some(wrong);
            }
            let direction = link.along.map_or_else(String::new, |(dimension, is_up)| {
                let rank = if is_up { "next" } else { "previous" };
                format!("to the {rank} rank along dimension {dimension} of the grid; ")
            });
            let hint = "a third argument, int tag, distinguishes messages";
            Some(format!("tag {} ({direction}{hint}): {wrong}", link.tag))
        })
    }

    fn verify(&mut self, Made { active, .. }: &mut Self::ActiveMethod) -> anyhow::Result<Option<String>> {
        let mut mismatch = None;
        for _ in 0..VERIFIED {
            self.payload.fill(active.is_reference());
            self.once(active, None);
            mismatch = mismatch.or_else(|| self.payload.wrong());
        }
        Ok(mismatch)
    }

    fn repeat(&mut self, Made { active, .. }: &mut Self::ActiveMethod, count: u32) -> anyhow::Result<Turn> {
        // If anything is wrong, blocks will report it.
        self.payload.fill(active.is_reference());
        Turn::shortest(count, || Ok(self.once(active, None).0.total_s))
    }

    fn block(
        &mut self,
        Made { active, init_s }: &mut Self::ActiveMethod,
        amount: Amount,
        round: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        self.sync.again()?;
        // A probe reads memory of the host.
        let watched = !active.is_reference() && !self.parts.memory.all_arrays.has_twin();
        self.payload.fill(active.is_reference());
        self.exchange(active, amount.untimed, false)?;
        // Every block of a round has the same random times of threads.
        self.sampler.begin_round(round);
        let count = amount.samples as u32 + u32::from(watched);
        let Exchanges { readings, early, copies } = self.exchange(active, count, watched)?;
        // Times that begin at a barrier do not depend on other ranks' clocks.
        let clock_error_s =
            if self.case.setting.start == Start::Clock { self.sync.residual_s()? } else { None };
        let wrong = self.payload.wrong();
        self.payload.checks.compare(wrong);
        let (mismatch, compared) = (self.payload.checks.wrong(), self.payload.checks.compared);
        let sent = active.method.messages() as f64;
        let messages = Some(self.job.world.maxima(&[sent])?[0] as u64);
        let sums = self.job.world.sums(&[copies, sent * readings.len() as f64])?;
        let device_copies = device::copies().map(|_| sums[0] / sums[1].max(1.0));
        if self.job.rank != 0 {
            return Ok((None, mismatch));
        }
        let early = early.into_iter().collect();
        let mut block =
            Block { batch: 1, messages, early, clock_error_s, compared, device_copies, ..Block::default() };
        block.times[Phase::Init].extend(init_s.take());
        for readings in &readings {
            block.times[Phase::Compute].push(readings.compute_s);
            if active.packing.packs() {
                block.times[Phase::Pack].push(readings.pack_s);
                block.times[Phase::Unpack].push(readings.unpack_s);
            }
            block.times[Phase::Communicate].push(readings.communicate_s);
            block.times[Phase::Total].push(readings.total_s);
            // These are the longest times over all ranks, so that a rank is not charged for waiting for another one that computes longer.
            block.times[Phase::Exchange].push(readings.total_s - readings.compute_s);
        }
        Ok((Some(block), mismatch))
    }

    fn teardown(&mut self, measured: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(measured.active.method.free()?)
    }
}
