//! Partitioned transfers between two ranks: rank 0 finishes a message partition by partition, rank 1 receives
//! it. All mechanisms use the same memory, interleaved.

mod repetition;
mod watch;

use std::time::Instant;

use anyhow::ensure;
use common::fine_grained::arrival::Sampler;
use common::fine_grained::costs::Costs;
use common::kinds::Kind;
use common::kinds::partitioned::{Setting, methods};
use common::model::Phase;
use common::model::conditions::Cache;
use common::model::event::{Block, Stage};
use datatypes::Element;

use crate::checked::{CallError, Comm, Datatype, World, identity};
use crate::cli::Partitioned;
use crate::environment;
use crate::measure::cache::{self, evict_buffer};
use crate::measure::experiment::{Amount, Made, ScheduledCase, Turn};
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::measure::sync::Sync;
use crate::mechanism::{Channel, Mechanism, Role, calibration, table};
use crate::memory::{Region, Wire};
use crate::payload::{ArrivalProbe, Checks, Link, Mismatch, Moved, Places, Run, Runs, Wrong, source_of};
use crate::team::Team;
use repetition::{PartitionPlan, TransferReadings};

/// Repetitions of each block in which the receiver watches partitions arrive. It measures a latency and a
/// share of bytes, which vary little between repetitions.
const WATCHED: u32 = 2;
/// With more partitions than this they are not watched: checking each one once would take longer than the transfer.
const MOST_WATCHED: usize = 4096;
/// Transfers for verification before measuring; each one is compared.
const VERIFIED: u32 = 3;

/// Measures a partitioned transfer with all requested mechanisms. Errors are the same on all ranks.
pub fn run(world: &World, args: &Partitioned) -> anyhow::Result<u8> {
    let ranks = world.ranks(args.methods.ranks)?;
    ensure!(ranks == 2, "{ranks} ranks in the world: one sends and one receives, so there must be 2");
    let conditions = &args.conditions;
    cache::check(conditions.cache)?;
    let ((names, limits), setting) = (args.methods.of_kind(Kind::Partitioned)?, args.setting()?);
    let job = Job::new(&world.comm, &world.comm, conditions.format)?;
    let place = environment::place(job.rank);
    let sync = Sync::new(&world.comm)?;
    let mut hello = environment::hello(world, &place, setting.message(), job.clock, vec![(0, 1)])?;
    hello.clocks = Some(sync.facts()?);
    hello.threads = setting.threads;
    let byte = Datatype::predefined(Element::Byte);
    let team = Team::new(setting.threads).unwrap_or_else(|error| job.abort(&error.into()));
    let roles = roles(place.rank, setting.both_ways);
    let bytes = usize::try_from(setting.bytes)?;
    let mut buffers: Vec<Wire> = roles.iter().map(|_| Wire::new(bytes)).collect();
    let moved = moved(&mut buffers, &roles, place.rank);
    let bench = PartitionedTransfers {
        job,
        world,
        roles,
        plan: PartitionPlan::new(&setting, conditions.seed),
        sampler: setting.sampler(conditions.seed, place.rank).map_err(anyhow::Error::msg)?,
        team,
        watcher: world.comm.duplicate()?,
        buffers,
        is_cold: conditions.cache == Cache::Cold,
        starts_all: args.startall,
        moved,
        checks: Checks::default(),
        byte: &byte,
        costs: None,
        setting: &setting,
        sync,
    };
    let (test, set) = (common::kinds::partitioned::TEST, common::model::CUSTOM);
    let case = conditions.case(Kind::Partitioned, test, set, setting.to_string(), ranks);
    run_case(bench, hello, &names, limits, case)
}

/// The roles of a rank: in the transfer from rank 0 to rank 1, and in the one back.
fn roles(rank: usize, both_ways: bool) -> Vec<Role> {
    let roles = if rank == 0 { [Role::Sender, Role::Receiver] } else { [Role::Receiver, Role::Sender] };
    roles[..if both_ways { 2 } else { 1 }].to_vec()
}

/// The message of each direction.
fn moved(buffers: &mut [Wire], roles: &[Role], rank: usize) -> Moved {
    let mut moved = Moved::default();
    for (buffer, role) in buffers.iter_mut().zip(roles) {
        let sender = if *role == Role::Sender { rank } else { 1 - rank };
        let run = Run { at: 0, bytes: buffer.len(), source: source_of(sender, 0, 0) };
        // SAFETY: buffers outlive all mechanisms, and are written and compared between transfers.
        let places = unsafe { Places::new(buffer.region(), Runs::from_runs([run])) };
        match role {
            Role::Sender => moved.sends.push(places),
            Role::Receiver => moved.receives.push(Link { peer: sender, tag: 0, places }),
        }
    }
    moved
}

/// The data shared by all mechanisms of a case.
struct PartitionedTransfers<'a> {
    job: Job<'a>,
    setting: &'a Setting,
    world: &'a World,
    roles: Vec<Role>,
    plan: PartitionPlan,
    sampler: Sampler,
    team: Team,
    sync: Sync,
    /// A communicator without any messages: probing it lets MPI progress others.
    watcher: Comm,
    /// The memory of the transfer in each direction.
    buffers: Vec<Wire>,
    is_cold: bool,
    starts_all: bool,
    moved: Moved,
    checks: Checks,
    byte: &'a Datatype,
    /// The costs of messages, once a mechanism needs them.
    costs: Option<&'static Costs>,
}

/// This rank's end of a mechanism in each direction.
type Mechanisms<'a> = Vec<Box<dyn Mechanism + 'a>>;

impl<'a> PartitionedTransfers<'a> {
    fn memory(&mut self, way: usize) -> Region {
        // It outlives all mechanisms, and is only written and compared between transfers; the plan's partitions cover all of its bytes.
        self.buffers[way].region()
    }

    fn channel(&mut self, way: usize) -> Channel<'a> {
        let memory = self.memory(way);
        Channel {
            comm: self.job.world,
            peer: 1 - self.job.rank,
            tag: 0,
            role: self.roles[way],
            memory,
            partitions: self.plan.ranges.clone(),
            receive_partitions: self.setting.receive_partitions(),
            of_thread: self.plan.of_thread.clone(),
            calls: self.world.team_calls(self.setting.threads),
            starts_all: self.starts_all,
            byte: self.byte,
        }
    }

    /// Transfers once, with other data. A receiver may watch it. Returns the readings of both ranks, at the sender.
    fn transfer(
        &mut self,
        mechanisms: &[Box<dyn Mechanism + 'a>],
        is_watched: bool,
    ) -> anyhow::Result<Option<[TransferReadings; 2]>> {
        let version = self.checks.change();
        self.moved.write(version);
        if self.is_cold {
            self.buffers.iter().for_each(|buffer| evict_buffer(buffer));
        }
        let mut compute_s = vec![0.0; self.setting.threads];
        self.sampler.next(&mut compute_s);
        let ends: Vec<usize> = self.plan.ranges.iter().map(|range| range.end).collect();
        let partitions: Vec<Places> = self.moved.received().flat_map(|places| places.parts(&ends)).collect();
        let arrival_probe = is_watched.then(|| ArrivalProbe::new(version, &partitions));
        let mine = repetition::run(self, mechanisms, &compute_s, arrival_probe.as_ref());
        Ok(<[TransferReadings; 2]>::try_from(self.job.world.gather_values(&mine)?).ok())
    }

    /// The first error in the data that was received last, or next to it.
    fn wrong(&mut self) -> Option<Mismatch> {
        let in_partition = |wrong: Wrong| {
            let partition = self.plan.ranges.iter().position(|range| range.contains(&wrong.at));
            format!("byte {}, in partition {}: {}", wrong.at, partition.unwrap_or_default(), wrong.values())
        };
        let wrong = self.moved.wrong(self.checks.version).map(|(_, wrong)| in_partition(wrong));
        wrong.or_else(|| self.buffers.iter_mut().find_map(Wire::stray_byte))
    }

    /// Transfers several times in a block; all bytes of each transfer are compared.
    fn transfers(
        &mut self,
        mechanisms: &[Box<dyn Mechanism + 'a>],
        count: u32,
        is_watched: bool,
    ) -> anyhow::Result<Vec<[TransferReadings; 2]>> {
        let mut pairs = Vec::with_capacity(count as usize);
        for _ in 0..count {
            // Waiting for data that arrives wrong would be in vain.
            pairs.extend(self.transfer(mechanisms, is_watched && self.checks.wrong().is_none())?);
            let wrong = self.wrong();
            self.checks.look(None);
            self.checks.compare(wrong);
        }
        Ok(pairs)
    }

    /// Half of an empty message's round trip, at the sender: the shortest of several.
    fn message_latency_s(&self) -> Result<f64, CallError> {
        const TRIPS: usize = 5;
        let mut shortest_s = f64::INFINITY;
        for _ in 0..TRIPS {
            let start = Instant::now();
            for role in [Role::Sender, Role::Receiver] {
                self.job.world.pass_token(role == self.roles[0], 1 - self.job.rank, 0)?;
            }
            shortest_s = shortest_s.min(start.elapsed().as_secs_f64() / 2.0);
        }
        Ok(shortest_s)
    }

    /// Repetitions that are watched: none with too many partitions, and none if both ranks send, because the
    /// watching thread then has its own partitions.
    fn watched(&self) -> u32 {
        let can_watch = !self.setting.both_ways && self.plan.ranges.len() <= MOST_WATCHED;
        if can_watch { WATCHED } else { 0 }
    }
}

impl<'a> ScheduledCase<'a> for PartitionedTransfers<'a> {
    type ActiveMethod = Made<Mechanisms<'a>>;

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn is_random(&self) -> bool {
        self.sampler.is_random()
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Self::ActiveMethod> {
        if let Some(vcis) = self.setting.vcis.filter(|_| !identity::is_mpich()) {
            let reason = format!("vcis={vcis}: virtual interfaces are MPICH's; this is another MPI");
            return Err(CallError::NotPossible { reason }.into());
        }
        let transfer = methods::transfer(method).map_err(anyhow::Error::msg)?;
        let channel = self.channel(0);
        table::check(transfer, &channel, self.setting.both_ways)?;
        if transfer.needs_costs(channel.partitions.len()) && self.costs.is_none() {
            self.job.reporter.working(method, Stage::Calibrate);
            let costs = calibration::measure(&channel)?;
            // They outlive every mechanism, and are small.
            self.costs = Some(Box::leak(Box::new(costs)));
        }
        let channels: Vec<_> = (0..self.roles.len()).map(|way| self.channel(way)).collect();
        Made::timed(|| {
            let mechanisms = channels.into_iter().map(|channel| table::make(transfer, channel, self.costs));
            Ok(mechanisms.collect::<Result<_, _>>()?)
        })
    }

    fn verify(&mut self, Made { active, .. }: &mut Self::ActiveMethod) -> anyhow::Result<Option<String>> {
        let mut mismatch = None;
        self.checks.fill();
        for number in 0..VERIFIED + self.watched() {
            self.transfer(active, number >= VERIFIED && mismatch.is_none())?;
            mismatch = mismatch.or(self.wrong());
        }
        Ok(mismatch)
    }

    fn repeat(&mut self, Made { active, .. }: &mut Self::ActiveMethod, count: u32) -> anyhow::Result<Turn> {
        Turn::shortest(count, || {
            // If anything is wrong, blocks will report it.
            let pairs = self.transfers(active, 1, false)?;
            let total_s = |pair| repetition::transfer_times(pair, self.setting.both_ways).total_s;
            Ok(pairs.iter().map(total_s).fold(f64::INFINITY, f64::min))
        })
    }

    fn block(
        &mut self,
        Made { active, init_s }: &mut Self::ActiveMethod,
        amount: Amount,
        round: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        self.sync.again()?;
        let message_latency_s = Some(self.message_latency_s()?);
        self.checks.fill();
        self.transfers(active, amount.untimed, false)?;
        // Every block of a round has the same random times of threads.
        self.sampler.begin_round(round);
        let counted = self.transfers(active, amount.samples as u32, false)?;
        let messages = active[0].messages().map(|n| n as u64);
        let clock_error_s = self.sync.residual_s()?;
        let watched = self.transfers(active, self.watched(), true)?;
        let (mismatch, compared) = (self.checks.wrong(), self.checks.compared);
        if self.job.rank > 0 {
            return Ok((None, mismatch));
        }
        let mut block =
            Block { batch: 1, messages, message_latency_s, clock_error_s, compared, ..Block::default() };
        block.times[Phase::Init].extend(init_s.take());
        for pair in &counted {
            let transfer_times = repetition::transfer_times(pair, self.setting.both_ways);
            block.times[Phase::Compute].push(transfer_times.compute_s);
            block.times[Phase::Delay].push(transfer_times.delay_s);
            block.times[Phase::AfterLast].push(transfer_times.after_last_s);
            block.times[Phase::Total].push(transfer_times.total_s);
            block.times[Phase::Solution].push(transfer_times.total_s - transfer_times.compute_s);
        }
        for pair in &watched {
            let Some((first_s, early)) = repetition::early_bird(pair, &self.plan) else { continue };
            block.times[Phase::FirstPartition].extend(first_s);
            block.early.push(early);
        }
        Ok((Some(block), mismatch))
    }

    fn teardown(&mut self, made: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(made.active.into_iter().try_for_each(|mechanism| mechanism.free())?)
    }
}
