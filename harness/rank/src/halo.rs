//! Halo exchanges between any number of ranks: every micro-app with every method, threads that compute and hand over.
//! Before timing all memory is filled and compared with every exchange; then once per block, in which every exchange sends
//! changed values and each share of a message is looked at.

mod bulk;
mod exchange;
mod fine;
mod fine_ddt;
mod links;
mod method;
mod neighbour;
mod packing;
mod put;
mod stamps;
mod table;
mod typed;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, ensure};
use apps::Arrays;
use apps::halo::{Field, Version};
use datatypes::Element;
use ddtbench::experiments::Kind;
use ddtbench::experiments::fine_grained::arrival::Sampler;
use ddtbench::experiments::halo::{self, HaloCase, Start};
use ddtbench::model::CUSTOM;
use ddtbench::model::Outcome;
use ddtbench::model::conditions::Cache;
use ddtbench::model::event::Block;
use ddtbench::model::{Case, Phase};

use crate::checked::{Datatype, World, identity};
use crate::cli::Halo;
use crate::environment;
use crate::measure::experiment::{Amount, Experiment, Turn};
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::measure::sync::Sync;
use crate::pattern::Pattern;
use crate::team::Team;
use exchange::{ExchangeContext, Readings};
use links::{HaloMemory, Links};
use method::{HaloMethod, Parts};
use packing::Packing;
use stamps::{Shares, Stamps};

/// Exchanges before anything is timed, each filled and compared.
const VERIFIED: u32 = 3;

/// Measures a halo exchange with all methods that were asked for.
///
/// # Errors
/// Why it cannot be done; on all ranks alike.
pub fn run(world: &World, args: &Halo) -> anyhow::Result<ExitCode> {
    let ranks = world.ranks(args.methods.ranks)?;
    let conditions = &args.conditions;
    ensure!(conditions.cache == Cache::Warm, "--cache cold: halos are measured with warm caches only");
    let ((methods, limits), case) = (args.methods.of(halo::KIND)?, args.case()?);
    let app = case.build(ranks, conditions.seed).map_err(|reason| anyhow!(reason))?;
    let grid_comm = match app.grid() {
        Some(grid) => world.comm.cartesian(grid.dims(), grid.periodic(), case.setting.reorder)?,
        None => world.comm.duplicate()?,
    };
    // After reordering, rank 0 of the grid may not be the process that reports: all that is reported goes through the world.
    let (rank, world_rank) = (grid_comm.rank()?, world.comm.rank()?);
    let pair = world.comm.split(world_rank / 2, world_rank)?;
    let job = Job::new(&world.comm, &pair, conditions.format)?;
    let sync = Sync::new(&world.comm)?;
    let (place, facts) = (environment::place(world_rank), halo::message(&*app, ranks));
    let mut hello = environment::hello(world, &place, facts, job.clock, Vec::new())?;
    hello.clocks = Some(sync.facts()?);
    hello.threads = case.setting.threads;
    let links = Links::new(&*app, rank, case.setting.threads);
    let memory = HaloMemory::new(&*app, rank, &links);
    let displacements: Vec<Vec<i64>> =
        (0..ranks).map(|rank| Arrays::displacements_of(&app.arrays(rank))).collect();
    let byte = Datatype::predefined(Element::Byte);
    let parts = Parts {
        comm: &grid_comm,
        links: &links,
        memory: &memory,
        threads: case.setting.threads,
        byte: &byte,
        displacements: &displacements,
    };
    let field = Field::new(&*app, rank);
    let stamps = Stamps::of_arrays(&links, &memory, &field, case.setting.threads);
    let message_stamps = Stamps::of_messages(&links, &memory, case.setting.threads);
    let team = Team::new(case.setting.threads).unwrap_or_else(|error| job.abort(&error.into()));
    let bench = Bench {
        job,
        world,
        field,
        stamps,
        message_stamps,
        parts,
        sampler: case.setting.sampler(conditions.seed, rank).map_err(anyhow::Error::msg)?,
        round: 0,
        rank,
        team,
        version: Version::from(0),
        case: &case,
        sync,
    };
    let case = Case {
        experiment: halo::KIND.name().to_owned(),
        test: case.test.name.to_owned(),
        set: args.set.clone().unwrap_or_else(|| CUSTOM.to_owned()),
        params: case.to_string(),
        mpi: identity::compiled_for(),
        ranks,
        cache: conditions.cache,
        ..Case::default()
    };
    run_case(bench, hello, &methods, limits, case)
}

/// All that the methods of a case share.
struct Bench<'a> {
    job: Job<'a>,
    case: &'a HaloCase,
    parts: Parts<'a>,
    field: Field,
    /// What changes from exchange to exchange of a block: in the arrays, and in what the reference sends.
    stamps: Stamps,
    message_stamps: Stamps,
    world: &'a World,
    sampler: Sampler,
    round: u32,
    /// This process on the grid.
    rank: usize,
    team: Team,
    sync: Sync,
    /// The data of the last exchange; equal on all ranks.
    version: Version,
}

/// A method that was made and is being measured.
struct ActiveMethod<'a> {
    name: String,
    method: Box<dyn HaloMethod + 'a>,
    packing: Packing,
    /// Making it took so long; reported with the first block.
    init_s: Option<f64>,
}

/// Exchanges of one method, one after the other.
struct Exchanges {
    /// The longest times of all ranks.
    readings: Vec<Readings>,
    /// What this rank got wrong first.
    mismatch: Option<String>,
    /// Of an exchange that was watched: the share of the first stage's bytes that were there early.
    early: Option<f64>,
}

impl Bench<'_> {
    /// Exchanges once; sends what lies there, changed by `stamps`. Gives this rank's times and what `arrival_probe` has seen.
    fn once(
        &mut self,
        active: &ActiveMethod<'_>,
        is_changed: bool,
        arrival_probe: Option<&Shares>,
    ) -> (Readings, [f64; 2]) {
        let stamps = if active.is_reference() { &self.message_stamps } else { &self.stamps };
        let mut compute_s = vec![0.0; self.case.setting.threads];
        self.sampler.next(&mut compute_s);
        let context = ExchangeContext {
            parts: self.parts,
            method: &*active.method,
            packing: &active.packing,
            stamps: is_changed.then_some(stamps),
            version: self.version,
            world: self.job.world,
            sync: &self.sync,
            reporter: &self.job.reporter,
            start: self.case.setting.start,
            emulation: self.case.setting.computing.emulation,
        };
        let seen = exchange::run(&context, &self.team, &compute_s, arrival_probe);
        if is_changed {
            self.version = self.version.next();
        }
        seen
    }

    /// Exchanges `count` times, each time changed values of the last fill, whose shares `arrivals` finds; looks for what is
    /// there early in the last of them, if `watched`.
    fn exchange(
        &mut self,
        active: &ActiveMethod<'_>,
        arrivals: &Shares,
        count: u32,
        watched: bool,
    ) -> anyhow::Result<Exchanges> {
        let mut mine = Vec::with_capacity(count as usize);
        let mut exchanges = Exchanges { readings: Vec::new(), mismatch: None, early: None };
        for number in 0..count {
            let Parts { links, memory, .. } = self.parts;
            let arrival_probe = (watched && number + 1 == count).then(|| {
                let (generation, kind) = (self.version.generation, active.packing.kind());
                Shares::early(links, memory, &self.field, generation, kind, self.rank)
            });
            let (readings, seen) = self.once(active, true, arrival_probe.as_ref());
            if arrival_probe.is_some() {
                let sums = self.job.world.sums(&seen)?;
                exchanges.early = (sums[1] > 0.0).then(|| sums[0] / sums[1]);
            } else {
                mine.extend(readings.list());
            }
            if exchanges.mismatch.is_none() {
                // SAFETY: the memory is the bench's own, and the exchange is over.
                let missing = unsafe { arrivals.missing(self.version) };
                exchanges.mismatch =
                    missing.map(|what| format!("exchange {} since the fill: {what}", self.version.changes));
            }
        }
        // Together, behind the last: ranks that compare notes in between would find other things in their caches.
        if !mine.is_empty() {
            let longest = self.job.world.maxima(&mine)?;
            exchanges.readings =
                longest.as_chunks::<{ Readings::COUNT }>().0.iter().map(Readings::of).collect();
        }
        Ok(exchanges)
    }

    /// Writes new data into what a method sends, and poison into all that it must not change. Gives the shares that will
    /// come.
    fn fill(&mut self, active: &ActiveMethod<'_>) -> Shares {
        self.version = Version::from(self.version.generation + 1);
        let (generation, Parts { links, memory, .. }) = (self.version.generation, self.parts);
        // SAFETY: no other thread runs between exchanges.
        self.field.fill(unsafe { memory.arrays.get() }, generation);
        if !active.is_reference() {
            return Shares::arrived(links, memory, &self.field, generation);
        }
        for link in links.stages.iter().flat_map(|stage| &stage.sends) {
            // SAFETY: as above; all that was sent is complete.
            let bytes = unsafe { memory.outgoing(link.wire.clone()) };
            self.wire_pattern(self.rank, link.tag).write(0, bytes);
        }
        Shares::of_messages(links, memory, |sender, tag, bytes| {
            self.wire_pattern(sender, tag).write(0, bytes)
        })
    }

    /// What is wrong with what has arrived: in the arrays, or for the reference, which leaves those as they are, in the
    /// wire buffer.
    fn mismatch(&self, active: &ActiveMethod<'_>) -> Option<String> {
        let Parts { links, memory, .. } = self.parts;
        if !active.is_reference() {
            // SAFETY: no other thread runs between exchanges.
            let checked = self.field.check(unsafe { memory.arrays.get() }, self.version);
            return checked.err().map(|mismatch| mismatch.to_string());
        }
        links.stages.iter().flat_map(|stage| &stage.receives).find_map(|link| {
            // SAFETY: as above; all messages have arrived.
            let bytes = unsafe { memory.incoming(link.wire.clone()) };
            stamps::take_off(bytes, self.version);
            let at = self.wire_pattern(link.peer, link.tag).first_difference(0, bytes)?;
            Some(format!("byte {at} of the message from rank {} with tag {}", link.peer, link.tag))
        })
    }

    /// The bytes of a message of the reference.
    fn wire_pattern(&self, sender: usize, tag: usize) -> Pattern {
        /// More than any exchange has directions.
        const TAGS: usize = 64;
        Pattern::new(sender * TAGS + tag, self.version.generation as u32)
    }
}

impl ActiveMethod<'_> {
    /// Whether it moves bytes from wire buffer to wire buffer, and leaves the arrays as they are.
    fn is_reference(&self) -> bool {
        self.name == halo::methods::REFERENCE
    }
}

impl<'a> Experiment<'a> for Bench<'a> {
    type ActiveMethod = ActiveMethod<'a>;

    fn kind(&self) -> Kind {
        halo::KIND
    }

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn into_job(self) -> Job<'a> {
        self.job
    }

    fn begin_round(&mut self, round: u32) {
        self.round = round;
    }

    fn is_random(&self) -> bool {
        self.sampler.is_random()
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Result<ActiveMethod<'a>, Outcome>> {
        let implementation = table::implementation(method)?;
        let calls = self.world.team_calls(self.case.setting.threads);
        let start = Instant::now();
        let packing = Packing::new(implementation.packing, self.parts.links, self.parts.memory);
        let made = match implementation.make(self.parts, calls)? {
            Ok(made) => made,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let init_s = Some(start.elapsed().as_secs_f64());
        Ok(Ok(ActiveMethod { name: method.to_owned(), method: made, packing, init_s }))
    }

    fn verify(&mut self, active: &mut ActiveMethod<'a>) -> anyhow::Result<Option<String>> {
        let mut mismatch = None;
        for _ in 0..VERIFIED {
            self.fill(active);
            self.once(active, false, None);
            mismatch = mismatch.or_else(|| self.mismatch(active));
        }
        Ok(mismatch)
    }

    fn repeat(&mut self, active: &mut ActiveMethod<'a>, count: u32) -> anyhow::Result<Turn> {
        // Blocks will tell what is wrong.
        self.fill(active);
        Turn::shortest(count, || Ok(self.once(active, true, None).0.total_s))
    }

    fn readings(&self, _: &ActiveMethod<'a>) -> Option<u32> {
        None
    }

    fn block(
        &mut self,
        active: &mut ActiveMethod<'a>,
        amount: Amount,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        self.sync.again()?;
        let watched = !active.is_reference();
        let arrivals = self.fill(active);
        let before = self.exchange(active, &arrivals, amount.untimed, false)?.mismatch;
        // What counts has the same times of threads in every block of a round.
        self.sampler.begin_round(self.round);
        let count = amount.samples as u32 + u32::from(watched);
        let Exchanges { readings, mismatch, early } = self.exchange(active, &arrivals, count, watched)?;
        // Times that begin at a barrier rest on no other rank's clock.
        let clock_error_s =
            if self.case.setting.start == Start::Clock { self.sync.residual_s()? } else { None };
        let mismatch = before.or(mismatch).or_else(|| self.mismatch(active));
        let messages = active.method.messages().map(|messages| messages as f64);
        // A method that does not know, knows it on no rank.
        let messages = self.job.world.maxima(&[messages.unwrap_or(-1.0)])?[0];
        if self.job.rank != 0 {
            return Ok((None, mismatch));
        }
        let messages = (messages >= 0.0).then_some(messages as u64);
        let early = early.into_iter().collect();
        let mut block = Block { batch: 1, messages, early, clock_error_s, ..Block::default() };
        block.times[Phase::Init].extend(active.init_s.take());
        for readings in &readings {
            block.times[Phase::Compute].push(readings.compute_s);
            if active.packing.packs() {
                block.times[Phase::Pack].push(readings.pack_s);
                block.times[Phase::Unpack].push(readings.unpack_s);
            }
            block.times[Phase::Communicate].push(readings.communicate_s);
            block.times[Phase::Total].push(readings.total_s);
            block.times[Phase::Exchange].push(readings.exchange_s());
        }
        Ok((Some(block), mismatch))
    }

    fn teardown(&mut self, active: ActiveMethod<'a>) -> anyhow::Result<()> {
        Ok(active.method.free()?)
    }
}
