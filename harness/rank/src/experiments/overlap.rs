//! Overlap: a communication is started, the ranks compute, and then they wait for it; both are also measured by themselves.

mod bench;
mod calibrate;
mod cell;
mod computation;
mod exchange;
mod matrix;
mod message;
mod operation;
mod sizes;
mod sums;
mod threads;
mod traffic;
mod without_mpi;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{bail, ensure};
use apps::Context as CaseContext;
use apps::{Arrays, Exchange};
use common::cores;
use common::kinds::Kind;
use common::kinds::overlap::operations::{Operation, Traffic as Communicated};
use common::kinds::overlap::{Built, OverlapCase};
use common::limits::Limits;
use common::memory::Buffers;
use common::model::CUSTOM;
use common::model::conditions::{Cache, Configuration, MemoryKind};
use common::model::event::{Hello, RankPlace};
use common::model::load::Load;
use common::model::transport::Medium;

use crate::binding;
use crate::bounds::AdoptedBounds;
use crate::checked::{Comm, World, identity};
use crate::cli::{CaseArgs, Overlap};
use crate::environment;
use crate::experiments::halo::method::Parts;
use crate::experiments::halo::payload::ExchangePayload;
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::measure::session::Session;
use crate::measure::sync::Sync;
use crate::memory::Memory;
use crate::method::Setup;
use crate::transport::Hosts;
use bench::OverlapExperiment;
use cell::Cell;
use computation::Computation;
use exchange::ExchangeTraffic;
use operation::OperationTraffic;
use threads::ThreadCounts;
use traffic::Traffic;
pub use without_mpi::WithoutMpi;

/// Measures a case with all requested methods, or finds sizes for it. Errors are the same on all ranks.
pub fn run(world: &World, args: &Overlap, before: WithoutMpi) -> anyhow::Result<u8> {
    let ranks = world.ranks(args.methods.ranks)?;
    ensure!(ranks >= 2, "one rank in the world: there must be 2 at least");
    ensure!(
        args.case.conditions.cache == Cache::Warm,
        "--cache cold: overlap is measured with warm caches only"
    );
    let case = args.case()?;
    let is_whole = !case.needs_calibration() || args.calibrate;
    ensure!(is_whole, "{case}: bytes or matrix_order are missing, which `ddtbench overlap` finds");
    let (mut bounds, mut adopted) = (AdoptedBounds::new(&world.comm), case.clone());
    if let Communicated::Message(_, values) | Communicated::Exchange(_, values) = &mut adopted.traffic {
        *values = bounds.adopted(values);
    }
    let context = CaseContext { ranks, seed: args.case.conditions.seed };
    let built = bounds.explain(adopted.build(context))?;
    let start = CaseStart { world, args, case: &case, ranks, before, notes: bounds.notes };
    match (&case.traffic, &built) {
        (Communicated::Operation(operation), _) => start.operation(operation),
        (_, Built::Message(app)) => {
            let rank = world.comm.rank()?;
            let pair = world.comm.split(rank / 2, rank % 2)?;
            let all = world.comm.split(0, rank)?;
            let is_all_to_all = matches!(app.exchange, Exchange::AllToAll { .. });
            let setup = Setup::new(app, if is_all_to_all { &all } else { &pair })?;
            let memory = Memory::new(
                Arrays::new(app.arrays.clone()),
                app.message_bytes(),
                Buffers::ALL,
                MemoryKind::Host,
            );
            let job = Job::new(&world.comm, &pair, args.case.conditions.format)?;
            let session = Session::new(&job, &setup, rank / 2, memory);
            start.measure(job, session, &built)
        }
        (_, Built::Exchange(app)) => {
            let parts = Parts::new(&world.comm, &**app, false, exchange::THREADS, MemoryKind::Host)?;
            let pair = world.comm.split(parts.rank / 2, parts.rank)?;
            let job = Job::new(&world.comm, &pair, args.case.conditions.format)?;
            let payload = ExchangePayload::new(&**app, &parts);
            let calls = world.team_calls(exchange::THREADS);
            start.measure(job, ExchangeTraffic { parts: &parts, payload, calls }, &built)
        }
        (_, Built::Operation) => unreachable!("an operation has no app, and nothing else has none"),
    }
}

/// Threads of this process, by number.
type Threads = BTreeSet<libc::pid_t>;

/// The entry for a rank whose threads were not bound.
const NOT_BOUND: &str = "not bound";

/// The result of binding the MPI's threads to the core that is left free for them; complete on rank 0.
struct Binding {
    /// The core of each rank, or why there is none.
    cores: String,
    /// Ranks in which no thread was bound.
    unbound_ranks: usize,
}

/// The facts known when a case begins.
struct CaseStart<'a> {
    world: &'a World,
    args: &'a Overlap,
    case: &'a OverlapCase,
    ranks: usize,
    before: WithoutMpi,
    /// Notes on its layouts.
    notes: Vec<String>,
}

impl CaseStart<'_> {
    fn operation(self, operation: &'static Operation) -> anyhow::Result<u8> {
        let (world, rank) = (&self.world.comm, self.world.comm.rank()?);
        // With an odd number of ranks, the last one has no partner for measuring the machine's state.
        let peers = world.split(rank / 2, rank % 2)?;
        let job = Job::new(world, &peers, self.args.case.conditions.format)?;
        let is_sized = operation.has_bytes() && self.case.setting.bytes.is_none();
        if self.args.calibrate && is_sized {
            return self.calibrate_operation(operation, job);
        }
        let (bytes, element) = (self.case.setting.bytes.unwrap_or(0), self.case.setting.element);
        let traffic = OperationTraffic::new(world, operation, element, usize::try_from(bytes)?)?;
        self.measure(job, traffic, &Built::Operation)
    }

    /// The methods: the requested ones, or all that the case has.
    fn methods(&self, built: &Built) -> anyhow::Result<(Vec<String>, Limits)> {
        let (mut methods, limits) =
            self.args.methods.of_test(Kind::Overlap, &self.args.case.test, MemoryKind::Host, |_| true)?;
        let has = |method: &String| self.case.has(built, method);
        match methods.iter().find(|method| !has(method)) {
            Some(other) if self.args.methods.are_given() => {
                bail!("{} is not communicated by {other}", self.args.case.test)
            }
            _ => methods.retain(has),
        }
        Ok((methods, limits))
    }

    /// Measures all methods, or the time of the communication.
    fn measure(self, job: Job<'_>, traffic: impl Traffic, built: &Built) -> anyhow::Result<u8> {
        let (methods, limits) = self.methods(built)?;
        // Our own threads are those from before MPI was initialised, and the computing ones, which do not exist yet.
        let mut of_mpi = threads::all();
        of_mpi.retain(|thread| !self.before.threads.contains(thread));
        let cell = self.cell(job.world)?;
        if self.args.calibrate {
            return self.calibrate_case(job, traffic, cell, &methods);
        }
        let place = environment::place(job.rank);
        let facts = self.case.message(built, self.ranks);
        let mut hello = environment::hello(self.world, &place, facts, job.clock, Vec::new())?;
        hello.clocks = Some(cell.sync.facts()?);
        hello.notes.clone_from(&self.notes);
        let own = threads::all().difference(&of_mpi).copied().collect();
        let threads = threads_of_mpi(job.world, &own)?;
        let refusal = self.refusal(threads, &place)?;
        let is_dedicated = self.case.setting.configuration == Configuration::Dedicated;
        let binding =
            if is_dedicated && refusal.is_none() { Some(self.dedicate(&of_mpi, &own)?) } else { None };
        // Sleeping threads do not need a core.
        hello.threads = self.case.setting.threads + threads.polling;
        let mut set = |name: &str, what: String| hello.settings.push((name.to_owned(), what));
        set("threads of MPI in each rank", threads.of_mpi.to_string());
        set("of these, polling", threads.polling.to_string());
        if self.case.setting.configuration != Configuration::Basic {
            set("asynchronous progress", refusal.clone().unwrap_or_else(|| "in force".to_owned()));
        }
        if let Some(Binding { cores, .. }) = &binding {
            set("core of the progress thread", cores.clone());
        }
        let unbound_ranks = binding.map(|binding| binding.unbound_ranks);
        let CaseArgs { test, set, conditions, .. } = &self.args.case;
        let set = set.as_deref().unwrap_or(CUSTOM);
        let case = conditions.case(Kind::Overlap, test, set, self.case.to_string(), self.ranks);
        let without_mpi_s = self.before.times_s.clone();
        let bench = OverlapExperiment { job, traffic, cell, without_mpi_s, unbound_ranks, refusal };
        run_case(bench, hello, &methods, limits, case)
    }

    /// The common time and the computation, created after all earlier measurements.
    fn cell(&self, world: &Comm) -> anyhow::Result<Cell> {
        let setting = &self.case.setting;
        let order = usize::try_from(setting.matrix_order.unwrap_or(1))?;
        let test_every =
            (setting.test_every_us > 0.0).then(|| Duration::from_secs_f64(setting.test_every_us * 1e-6));
        Ok(Cell {
            sync: Sync::new(world)?,
            computation: Computation::new(setting.threads, order, setting.rim_share())?,
            test_every,
        })
    }

    /// Binds MPI's threads to one of this rank's own cores, and all others to the remaining cores. Returns
    /// the result, which is complete on rank 0.
    fn dedicate(&self, of_mpi: &Threads, own: &Threads) -> anyhow::Result<Binding> {
        let world = &self.world.comm;
        let cores = binding::own_cores(world)?;
        let are_own = world.everywhere(cores.is_some())?;
        let name = match cores.as_deref().filter(|_| are_own).and_then(<[_]>::split_last) {
            None => NOT_BOUND.to_owned(),
            Some((free, rest)) => {
                // The core's hardware threads are joined with a plus.
                let name = || free.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
                let is_bound = binding::bind(of_mpi, free) && binding::bind(own, &rest.concat());
                if is_bound { name() } else { NOT_BOUND.to_owned() }
            }
        };
        let names = world.gather(name.as_bytes())?;
        let names: Vec<_> = names.iter().map(|core| String::from_utf8_lossy(core)).collect();
        let unbound_ranks = names.iter().filter(|name| *name == NOT_BOUND).count();
        let names = match are_own {
            true => names.join(", "),
            false => "left free, and nothing bound to it: ranks share their cores".to_owned(),
        };
        Ok(Binding { cores: names, unbound_ranks })
    }

    /// Why asynchronous progress cannot be measured here: it is not active, or has no separate core. Collective.
    fn refusal(&self, threads: ThreadCounts, place: &RankPlace) -> anyhow::Result<Option<String>> {
        let setting = &self.case.setting;
        let name = setting.configuration.name();
        Ok(match setting.configuration {
            Configuration::Basic => None,
            _ if threads.of_mpi == 0 => {
                Some(format!("configuration={name}: MPI_Init began no thread for asynchronous progress"))
            }
            _ if !self.may_progress()? => Some(format!(
                "configuration={name}: Open MPI has a progress thread for TCP alone, and bytes go another way; with --mca pml ob1 \
                 --mca btl tcp,self behind -- they go by TCP"
            )),
            Configuration::Progress => None,
            Configuration::Dedicated => {
                self.too_few_cores(place)?.map(|reason| format!("configuration={name}: {reason}"))
            }
        })
    }

    /// Why a core of each rank cannot be reserved: the ranks of a host have too few cores in total, or one rank has too few.
    fn too_few_cores(&self, place: &RankPlace) -> anyhow::Result<Option<String>> {
        let (world, needed) = (&self.world.comm, self.case.setting.cores());
        // Hardware threads of one core do not count as two cores.
        let cores = cores::by_core(&place.cpus).iter().map(|threads| cores::core(threads[0])).collect();
        let ranks = world.gather_values(&RankPlace { cpus: cores, ..place.clone() })?;
        let needs = Hello { threads: needed, ranks, ..Hello::default() };
        let too_few = Load::from_hello(&needs).filter(|load| load.runnable_threads > load.cores);
        let numbers = too_few.map_or([0.0; 2], |load| [load.runnable_threads as f64, load.cores as f64]);
        let [of_all, there] = world.broadcast(numbers)?;
        let own = binding::own_cores(world)?.map_or(f64::INFINITY, |cores| cores.len() as f64);
        let fewest = world.minima(&[own])?[0];
        Ok(match () {
            () if of_all > 0.0 => Some(format!(
                "{of_all} cores are needed, one in each rank for the progress thread, and there are {there}"
            )),
            () if fewest < needed as f64 => Some(format!(
                "{needed} cores are needed in each rank, one of them for the progress thread, and a rank has {fewest} of its own"
            )),
            () => None,
        })
    }

    /// Whether threads that the MPI has started can progress messages: Open MPI's other threads, such as PMIx's, have other work.
    fn may_progress(&self) -> anyhow::Result<bool> {
        if !identity::library_version().contains("Open MPI") {
            return Ok(true);
        }
        let world = &self.world.comm;
        let transport = Hosts::of_world(world, &environment::place(world.rank()?))?.account(world)?;
        let [goes_by_tcp] = world.broadcast([f64::from(u8::from(transport.media() == [Medium::Tcp]))])?;
        Ok(goes_by_tcp > 0.0)
    }
}

/// Threads that MPI has started, for the rank with the fewest; `own` are the other threads of this rank. Collective.
fn threads_of_mpi(world: &Comm, own: &Threads) -> anyhow::Result<ThreadCounts> {
    /// On a busy machine, a thread that polls has no core for some of them.
    const SAMPLES: usize = 5;
    world.barrier()?;
    let samples = (0..SAMPLES).map(|_| ThreadCounts::sample(own));
    let mine = samples.max_by_key(|counts| counts.polling).unwrap_or_default();
    let fewest = world.minima(&[mine.of_mpi as f64, mine.polling as f64])?;
    Ok(ThreadCounts { of_mpi: fewest[0] as usize, polling: fewest[1] as usize })
}
