//! The engine's comparison for one case: every way to pack and unpack the same message, in one process, without communication.
//!
//! Nothing is received in place here. If a test's application receives directly into its array, the message is unpacked
//! anyway, with a plain copy as the hand-written loop. An all-to-all has the layout for two ranks.

mod active_method;
mod verify;

use std::time::Instant;

use anyhow::ensure;
use apps::{Arrays, MicroApp, Side, WireOrder};
use common::kinds::Kind;
use common::kinds::engine::methods::{EngineTask, task};
use common::kinds::engine::{self, PackingOrder};
use common::kinds::pingpong::{self, methods::can_by_name};
use common::memory::{Buffers, engine_bytes};
use common::model::conditions::{Cache, MemoryKind};
use common::model::event::{Block, LineBytes, MessageFacts};
use common::model::{MethodInfo, Phase, Times};

use crate::bounds::AdoptedBounds;
use crate::checked::{CallError, World};
use crate::cli::Engine;
use crate::device;
use crate::environment;
use crate::measure::cache::{self, Eviction};
use crate::measure::experiment::{Amount, ScheduledCase, Turn};
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::memory::{Memory, check_room};
use crate::method::Setup;
use crate::method::message_packer::MessagePacker;
use crate::own_loop;
use crate::spans::line_bytes;
use active_method::{PackingMethod, PlainCopy};
use verify::EnginePayload;

/// The two sides of a message, with their phases.
const SIDES: [(Side, Phase); 2] = [(Side::Send, Phase::Pack), (Side::Receive, Phase::Unpack)];

/// Compares the requested methods on one message.
pub fn run(world: &World, args: &Engine) -> anyhow::Result<u8> {
    let processes = world.ranks(None)?;
    ensure!(processes == 1, "{processes} ranks in the world: the comparison is one of one process");
    let kind = args.case.conditions.memory;
    cache::check(args.case.conditions.cache)?;
    let mut bounds = AdoptedBounds::new(&world.comm);
    let (test, values, app) = args.case.build(engine::RANKS, &mut bounds)?;
    let (methods, limits) =
        args.methods.of_test(Kind::Engine, test.name, kind, |name| can_by_name(&app, name))?;
    let methods = chosen(&app, args.order, &methods)?;
    let staged = Kind::Engine.staged_bytes(&methods, app.message_bytes());
    check_room(&world.comm, engine_bytes(&app), staged, kind)?;

    let order = args.order.wire_order();
    let setup = Setup { ranks: engine::RANKS, ..Setup::new(&app, &world.comm)? };
    let arrays = Arrays::new(app.arrays.clone());
    let mut memory = Memory::new(arrays, app.message_bytes(), Buffers::ALL, kind);
    let [pack, unpack] = SIDES.map(|(side, _)| line_bytes(&app.message(side, order), &memory.arrays));
    let lines = LineBytes { pack, unpack };
    let job = Job::new(&world.comm, &world.comm, args.case.conditions.format)?;
    let facts = MessageFacts { line_bytes: Some(lines), ..pingpong::facts(&app, order) };
    let mut hello = environment::hello(world, &environment::place(0), facts, job.clock, Vec::new())?;
    hello.notes = bounds.notes;
    let eviction = (args.case.conditions.cache == Cache::Cold).then(|| Eviction::new(&app));
    // SAFETY: arrays and wire buffers are allocated once, and moving their owner does not move them.
    let payload = unsafe { EnginePayload::new(&app, order, &mut memory) };
    let setup = &setup;
    let bench =
        EngineComparison { job, setup, memory, kind, order, lines, eviction, payload, device_copies: None };
    let order = app.send.orders_differ().then(|| format!(" {}={}", engine::ORDER, args.order.name()));
    let set = args.case.set.as_deref().unwrap_or(test.quick_set().name);
    let params = values.to_string() + &order.unwrap_or_default();
    let case = args.case.conditions.case(Kind::Engine, test.name, set, params, 1);
    run_case(bench, hello, &methods, limits, case)
}

/// The methods that can pack in this order of bytes.
fn chosen(app: &MicroApp, order: PackingOrder, names: &[String]) -> anyhow::Result<Vec<String>> {
    let possible = engine::methods::in_order(order, app.send.orders_differ());
    let is_asked = |method: &&MethodInfo| names.iter().any(|name| name == method.name);
    let methods: Vec<_> = possible.filter(is_asked).map(|method| method.name.to_owned()).collect();
    ensure!(
        !methods.is_empty(),
        "the loops pack in the order `{}`, and in no other",
        PackingOrder::Manual.name()
    );
    Ok(methods)
}

/// The comparison as an experiment: the data shared by all methods of a case.
struct EngineComparison<'a> {
    job: Job<'a>,
    /// The message that is packed.
    setup: &'a Setup<'a>,
    memory: Memory,
    kind: MemoryKind,
    /// The order in which its bytes are packed.
    order: WireOrder,
    /// Bytes of the cache lines that packing and unpacking touch.
    lines: LineBytes,
    /// The lines to evict between repetitions; `None` if caches stay warm.
    eviction: Option<Eviction>,
    payload: EnginePayload,
    /// Copies of a device's driver in the samples of a block, for packing and unpacking once; `None` if they are not counted.
    device_copies: Option<f64>,
}

impl EngineComparison<'_> {
    /// Evicts the memory used on one side, if caches must be cold.
    fn evict(&self, active: &PackingMethod<'_>, side: Side) {
        let Some(eviction) = &self.eviction else { return };
        match active {
            PackingMethod::Packs(_) => eviction.evict_side(side, self.setup, &self.memory),
            PackingMethod::Copies(copy) => copy.both(side).into_iter().for_each(cache::evict_buffer),
        }
    }

    /// Packs several times, then unpacks equally often.
    fn times(&mut self, active: &mut PackingMethod<'_>, amount: Amount) -> Result<Times, CallError> {
        let (clock, mut times) = (self.job.clock, Times::default());
        self.device_copies = device::copies().map(|_| 0.0);
        for (i, (side, phase)) in SIDES.into_iter().enumerate() {
            times[phase].reserve_exact(amount.samples);
            (0..amount.untimed).try_for_each(|_| active.work(side, &mut self.memory))?;
            for _ in 0..amount.samples {
                self.payload.looks[i].poison();
                self.evict(active, side);
                let copies = device::copies();
                let start = Instant::now();
                (0..amount.batch).try_for_each(|_| active.work(side, &mut self.memory))?;
                times[phase].push(clock.between(start, Instant::now(), 1) / f64::from(amount.batch));
                if let (Some(sum), Some(before), Some(after)) =
                    (&mut self.device_copies, copies, device::copies())
                {
                    *sum += (after - before) as f64;
                }
                self.payload.look(&self.memory, i);
                if self.payload.checks.is_compared() {
                    self.payload.compare(&self.memory, active, i);
                    // The caches are others after it, so the next repetition does not count.
                    active.work(side, &mut self.memory)?;
                }
            }
        }
        let all = f64::from(amount.batch) * amount.samples as f64;
        self.device_copies = self.device_copies.map(|copies| copies / all);
        Ok(times)
    }
}

impl<'a> ScheduledCase<'a> for EngineComparison<'a> {
    type ActiveMethod = PackingMethod<'a>;

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn make(&mut self, method: &str) -> anyhow::Result<PackingMethod<'a>> {
        let message_bytes = self.setup.message_bytes;
        let work = match task(method).map_err(anyhow::Error::msg)? {
            EngineTask::Packs(packing) => {
                let packer = MessagePacker::new(self.setup, &mut self.memory, packing, packing, self.order)?;
                PackingMethod::Packs(Box::new(packer))
            }
            EngineTask::CopiesMessage => {
                PackingMethod::Copies(PlainCopy::new(message_bytes, message_bytes, self.kind))
            }
            // A copy reads and writes, so it touches lines of twice its bytes.
            EngineTask::CopiesLines => PackingMethod::Copies(PlainCopy::new(
                self.lines.pack as usize / 2,
                self.lines.unpack as usize / 2,
                self.kind,
            )),
        };
        Ok(work)
    }

    fn wrong_loop(&mut self, side: Side) -> Option<String> {
        own_loop::wrong(side, self.setup.app, &mut self.memory.arrays)
    }

    fn verify(&mut self, active: &mut PackingMethod<'a>) -> anyhow::Result<Option<String>> {
        Ok(verify::verify(self, active)?)
    }

    /// The time of a repetition is that of the shorter side.
    fn repeat(&mut self, active: &mut PackingMethod<'a>, count: u32) -> anyhow::Result<Turn> {
        active.create()?;
        self.payload.use_wires(&mut self.memory, active);
        self.payload.looks = Default::default();
        let once = Amount { untimed: 0, samples: 1, batch: 1 };
        let turn = Turn::shortest(count, || {
            let times = self.times(active, once)?;
            Ok(SIDES.map(|(_, phase)| times[phase][0]).into_iter().fold(f64::INFINITY, f64::min))
        })?;
        active.free()?;
        Ok(turn)
    }

    /// `None` for cold caches, because the repetitions of a batch would not be cold.
    fn readings(&self, _: &PackingMethod<'a>) -> Option<u32> {
        self.eviction.is_none().then_some(2)
    }

    fn block(
        &mut self,
        active: &mut PackingMethod<'a>,
        amount: Amount,
        _: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        let clock = self.job.clock;
        self.payload.prepare(&mut self.memory, active);
        let create_s = clock.time(|| active.create())?;
        let mut times = self.times(active, amount)?;
        let free_s = clock.time(|| active.free())?;
        if active.creates() {
            times[Phase::Create].push(create_s);
            times[Phase::Free].push(free_s);
        }
        (0..SIDES.len()).for_each(|i| self.payload.compare(&self.memory, active, i));
        let EnginePayload { checks, .. } = &self.payload;
        let block = Block {
            batch: amount.batch,
            times,
            compared: checks.compared,
            device_copies: self.device_copies,
            ..Block::default()
        };
        Ok((Some(block), checks.wrong()))
    }
}
