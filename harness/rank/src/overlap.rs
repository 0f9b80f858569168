//! Overlap: a communication is started, the ranks compute, and then they wait for it; beside that both by themselves.

mod calibrate;
mod cell;
mod computation;
mod data;
mod exchange;
mod message;
mod operation;
mod threads;
mod traffic;

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{anyhow, bail, ensure};
use apps::{Arrays, Exchange};
use ddtbench::experiments::memory::available_bytes;
use ddtbench::experiments::overlap::methods::NONBLOCKING;
use ddtbench::experiments::overlap::operations::{Operation, Traffic as Communicated};
use ddtbench::experiments::overlap::{Built, KIND, MOST_BYTES, MOST_ROWS, OverlapCase};
use ddtbench::experiments::{Kind, Setup as CaseSetup};
use ddtbench::model::calibration::{CalibratedSize, SizeOf};
use ddtbench::model::conditions::{Cache, Configuration};
use ddtbench::model::event::{Block, Event, Hello};
use ddtbench::model::load::Load;
use ddtbench::model::{Case, Outcome, Phase};
use ddtbench::plan::Limits;

use crate::checked::{Comm, World, identity};
use crate::cli::Overlap;
use crate::environment;
use crate::measure::experiment::{Amount, Experiment, Turn};
use crate::measure::job::Job;
use crate::measure::run_case::run_case;
use crate::measure::session::{Renewal, Session};
use crate::measure::sync::Sync;
use crate::memory::Memory;
use crate::method::Setup;
use crate::regions::Regions;
use cell::{Cell, collected};
use computation::Computation;
use message::MessageTraffic;
use operation::OperationTraffic;
use threads::ThreadCounts;
use traffic::Traffic;

/// Communications before anything is timed, each filled and compared: with and without a computation in between.
const VERIFIED: usize = 3;

/// What was measured before MPI was initialised.
pub struct WithoutMpi {
    computation: Computation,
    /// Times of the computation, in seconds; none where its size is still to be found.
    times_s: Vec<f64>,
    /// Threads of this process.
    threads: usize,
}

impl WithoutMpi {
    /// Computes as the case does, while this is a process like any other. Nobody can agree on a time without MPI: ranks begin with
    /// the next tick of the clock.
    ///
    /// # Errors
    /// A case that cannot be, or threads that the system does not give.
    pub fn measure(args: &Overlap) -> anyhow::Result<Self> {
        /// Times that an interval of the median rests on.
        const TIMES: usize = 9;
        /// Fewer where they take long, in seconds, but as many as an interval needs.
        const LONG_S: f64 = 0.1;
        const FEW: usize = 6;
        let case = args.case()?;
        let order = case.setting.matrix_order.unwrap_or(1);
        let computation = Computation::new(case.setting.threads, usize::try_from(order)?)?;
        let mut times_s = Vec::new();
        if case.setting.matrix_order.is_some() && !args.calibrate {
            wait_for_tick();
            let first_s = computation.time_s();
            let count = if first_s > LONG_S { FEW } else { TIMES };
            times_s.extend((0..count).map(|_| computation.time_s()));
        }
        Ok(Self { computation, times_s, threads: threads::count() })
    }
}

/// Waits for the next full twentieth of a second of the clock that hosts share.
fn wait_for_tick() {
    const TICK: Duration = Duration::from_millis(50);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let passed = now.as_nanos() % TICK.as_nanos();
    std::thread::sleep(TICK - Duration::from_nanos(passed as u64));
}

/// Measures a case with all methods that were asked for, or finds sizes for it.
///
/// # Errors
/// Why it cannot be done; on all ranks alike.
pub fn run(world: &World, args: &Overlap, before: WithoutMpi) -> anyhow::Result<ExitCode> {
    let ranks = world.ranks(args.methods.ranks)?;
    ensure!(ranks >= 2, "one rank in the world: there must be 2 at least");
    ensure!(args.conditions.cache == Cache::Warm, "--cache cold: overlap is measured with warm caches only");
    let case = args.case()?;
    let is_whole = !case.needs_calibration() || args.calibrate;
    ensure!(is_whole, "{case}: bytes or matrix_order are missing, which `ddtbench overlap` finds");
    let built =
        case.build(CaseSetup { ranks, seed: args.conditions.seed }).map_err(|reason| anyhow!(reason))?;
    let begun = Begun { world, args, case: &case, ranks, before };
    match (&case.traffic, &built) {
        (Communicated::Operation(operation), _) => begun.operation(operation),
        (_, Built::Message(app)) => {
            let rank = world.comm.rank()?;
            let pair = world.comm.split(rank / 2, rank % 2)?;
            let all = world.comm.split(0, rank)?;
            let is_all_to_all = matches!(app.exchange(), Exchange::AllToAll { .. });
            let setup = Setup::new(&**app, if is_all_to_all { &all } else { &pair })?;
            let mut memory = Memory::new(Arrays::new(app.arrays()), setup.message_bytes);
            let session = Session {
                setup: &setup,
                job: Job::new(&world.comm, &pair, args.conditions.format)?,
                pair: rank / 2,
                eviction: None,
                regions: Regions::of(&**app, &memory.arrays),
                renewal: Renewal::new(&**app, &setup, &mut memory),
                sync: None,
                generation: 0,
                repetition: 0,
            };
            begun.measure(MessageTraffic { session, memory }, &built)
        }
        (_, Built::Exchange(app)) => {
            exchange::with_traffic(world, &**app, args.conditions.format, |traffic| {
                begun.measure(traffic, &built)
            })
        }
        (_, Built::Operation) => unreachable!("an operation has no app, and nothing else has none"),
    }
}

/// What is known when a case begins.
struct Begun<'a> {
    world: &'a World,
    args: &'a Overlap,
    case: &'a OverlapCase,
    ranks: usize,
    before: WithoutMpi,
}

impl Begun<'_> {
    fn operation(self, operation: &'static Operation) -> anyhow::Result<ExitCode> {
        let (world, rank) = (&self.world.comm, self.world.comm.rank()?);
        // Of an odd number of ranks the last has no other to look at the machine with.
        let peers = world.split(rank / 2, rank % 2)?;
        let job = |peers| Job::new(world, peers, self.args.conditions.format);
        let is_sized = operation.has_bytes && self.case.setting.bytes.is_none();
        if self.args.calibrate && is_sized {
            return self.calibrate_operation(operation, job(&peers)?);
        }
        let bytes = self.case.setting.bytes.unwrap_or(0);
        let traffic = OperationTraffic::new(job(&peers)?, operation, usize::try_from(bytes)?)?;
        self.measure(traffic, &Built::Operation)
    }

    /// The methods: those that were asked for, or all that the case has.
    fn methods(&self, built: &Built) -> anyhow::Result<(Vec<String>, Limits)> {
        let (mut methods, limits) = self.args.methods.of(KIND)?;
        let has = |method: &String| self.case.has(built, method);
        match methods.iter().find(|method| !has(method)) {
            Some(other) if self.args.methods.are_given() => {
                bail!("{} is not communicated by {other}", self.args.test)
            }
            _ => methods.retain(has),
        }
        Ok((methods, limits))
    }

    /// Measures all methods, or finds out how long the communication takes.
    fn measure<'a, T: Traffic<'a>>(self, mut traffic: T, built: &Built) -> anyhow::Result<ExitCode> {
        let (methods, limits) = self.methods(built)?;
        let cell = self.cell(traffic.job().world)?;
        if self.args.calibrate {
            return self.calibrate_case(traffic, cell, &methods);
        }
        let place = environment::place(traffic.job().rank);
        let clock = traffic.job().clock;
        let facts = self.case.message(built, self.ranks);
        let mut hello = environment::hello(self.world, &place, facts, clock, Vec::new())?;
        hello.clocks = Some(cell.sync.facts()?);
        let threads = self.threads_of_mpi(traffic.job().world)?;
        // Threads that sleep until something comes wait for no core.
        hello.threads = self.case.setting.threads + threads.polling;
        let mut tell = |name: &str, count: usize| hello.settings.push((name.to_owned(), count.to_string()));
        tell("threads of MPI in each rank", threads.of_mpi);
        tell("of these, polling", threads.polling);
        let case = Case {
            experiment: KIND.name().to_owned(),
            test: self.args.test.clone(),
            set: self.args.set.clone().unwrap_or_else(|| ddtbench::model::CUSTOM.to_owned()),
            params: self.case.to_string(),
            mpi: identity::compiled_for(),
            ranks: self.ranks,
            cache: self.args.conditions.cache,
            ..Case::default()
        };
        let refusal = self.refusal(threads, &hello)?;
        let bench = Bench { traffic, cell, without_mpi_s: self.before.times_s.clone(), refusal };
        run_case(bench, hello, &methods, limits, case)
    }

    /// The common time and the computation, once all that was measured before is done with.
    fn cell(&self, world: &Comm) -> anyhow::Result<Cell> {
        let setting = &self.case.setting;
        let order = usize::try_from(setting.matrix_order.unwrap_or(1))?;
        let test_every =
            (setting.test_every_us > 0.0).then(|| Duration::from_secs_f64(setting.test_every_us * 1e-6));
        Ok(Cell {
            sync: Sync::new(world)?,
            computation: Computation::new(setting.threads, order)?,
            test_every,
        })
    }

    /// Threads that MPI has begun, of the rank with fewest.
    fn threads_of_mpi(&self, world: &Comm) -> anyhow::Result<ThreadCounts> {
        // Those that computed before MPI was there live on, and as many have come with the computation that is measured now.
        let own = self.before.threads + self.before.computation.threads() - 1;
        world.barrier()?;
        let mine = ThreadCounts::look(own);
        let fewest = world.minima(&[mine.of_mpi as f64, mine.polling as f64])?;
        Ok(ThreadCounts { of_mpi: fewest[0] as usize, polling: fewest[1] as usize })
    }

    /// Why asynchronous progress cannot be measured here: it is not there, or has no core of its own. `hello` is complete on rank 0.
    fn refusal(&self, threads: ThreadCounts, hello: &Hello) -> anyhow::Result<Option<String>> {
        let setting = &self.case.setting;
        let name = setting.configuration.name();
        let needs = Hello { threads: setting.cores(), ranks: hello.ranks.clone(), ..Hello::default() };
        let too_few = Load::of(&needs).filter(|load| load.runnable_threads > load.cores);
        let numbers = too_few.map_or([0.0; 2], |load| [load.runnable_threads as f64, load.cores as f64]);
        let [needed, cores] = self.world.comm.broadcast(numbers)?;
        Ok(match setting.configuration {
            Configuration::Basic => None,
            _ if threads.of_mpi == 0 => {
                Some(format!("configuration={name}: MPI_Init began no thread for asynchronous progress"))
            }
            Configuration::Progress => None,
            Configuration::Dedicated => (needed > 0.0).then(|| {
                format!(
                    "configuration={name}: {needed} cores are needed, one in each rank for the progress thread, and there are {cores}"
                )
            }),
        })
    }

    /// Finds the bytes of an operation for some times, and the matrices for others.
    fn calibrate_operation(
        self,
        operation: &'static Operation,
        mut job: Job<'_>,
    ) -> anyhow::Result<ExitCode> {
        let (methods, _) = self.methods(&Built::Operation)?;
        let mut cell = self.cell(&self.world.comm)?;
        self.say_hello(&mut job, &cell)?;
        let available = available_bytes().unwrap_or(u64::MAX);
        let of_host = self.world.comm.split_shared()?.size()? as u64;
        // A block for each rank on either side, as much in the buffers of an MPI that copies, and the largest of all ranks' machines.
        let most = available / (4 * of_host * self.ranks as u64);
        let most = self.world.comm.minima(&[most.min(MOST_BYTES) as f64])?[0] as u64;
        // The form that every MPI has, whichever are measured.
        let method = NONBLOCKING.to_owned();
        let mut held = Some(job);
        let sizes = calibrate::find(&self.args.communication_s, SizeOf::Bytes, most.max(1), |bytes| {
            let mut job = held.take().expect("put back below");
            job.reporter.working(&method, "calibrate");
            let mut traffic = OperationTraffic::new(job, operation, usize::try_from(bytes)?)?;
            let mut active = traffic.make(&method)?.map_err(|outcome| anyhow!("{outcome:?}"))?;
            let time_s = calibrate::communication_s(&cell, &mut traffic, &mut active)?;
            traffic.teardown(active)?;
            held = Some(traffic.into_job());
            Ok(time_s)
        })?;
        let mut job = held.expect("put back after each size");
        tell(&mut job, &sizes);
        let matrices = self.matrices(&mut job, &mut cell, &self.args.computation_s)?;
        tell(&mut job, &matrices);
        end(job, &methods)
    }

    /// Finds out how long the communication of a case takes by the method that takes longest, and the matrices for some times, or for
    /// that one.
    fn calibrate_case<'a, T: Traffic<'a>>(
        self,
        mut traffic: T,
        mut cell: Cell,
        methods: &[String],
    ) -> anyhow::Result<ExitCode> {
        self.say_hello(traffic.job(), &cell)?;
        let mut longest_s = 0.0_f64;
        for method in methods {
            traffic.job().reporter.working(method, "calibrate");
            if let Ok(mut active) = traffic.make(method)? {
                longest_s = longest_s.max(calibrate::communication_s(&cell, &mut traffic, &mut active)?);
                traffic.teardown(active)?;
            }
        }
        // Three digits: a time that somebody may type.
        let longest_s = rounded(longest_s);
        let bytes = self.case.setting.bytes.unwrap_or(0);
        let message = CalibratedSize {
            of: SizeOf::Message,
            target_s: longest_s,
            size: bytes,
            time_s: longest_s,
            is_found: true,
        };
        let mut targets_s = self.args.computation_s.clone();
        if self.args.as_long {
            targets_s.push(longest_s);
            targets_s.sort_by(f64::total_cmp);
        }
        let mut job = traffic.into_job();
        tell(&mut job, &[message]);
        let matrices = self.matrices(&mut job, &mut cell, &targets_s)?;
        tell(&mut job, &matrices);
        end(job, methods)
    }

    /// The matrices for some times.
    fn matrices(
        &self,
        job: &mut Job<'_>,
        cell: &mut Cell,
        targets_s: &[f64],
    ) -> anyhow::Result<Vec<CalibratedSize>> {
        let threads = self.case.setting.threads;
        calibrate::find(targets_s, SizeOf::MatrixOrder, MOST_ROWS, |order| {
            let method = job.reporter.method.clone();
            job.reporter.working(&method, "calibrate");
            cell.computation = Computation::new(threads, usize::try_from(order)?)?;
            calibrate::median_s(job.world, || Ok(cell.compute()?))
        })
    }

    /// Tells that the process has begun.
    fn say_hello(&self, job: &mut Job<'_>, cell: &Cell) -> anyhow::Result<()> {
        let place = environment::place(job.rank);
        let facts = self.case.message(&Built::Operation, self.ranks);
        let mut hello = environment::hello(self.world, &place, facts, job.clock, Vec::new())?;
        hello.clocks = Some(cell.sync.facts()?);
        job.reporter.report(&Event::Hello(Box::new(hello)));
        Ok(())
    }
}

/// A time in three digits.
fn rounded(time_s: f64) -> f64 {
    format!("{time_s:.2e}").parse().unwrap_or(time_s)
}

/// Reports sizes that were found.
fn tell(job: &mut Job<'_>, sizes: &[CalibratedSize]) {
    sizes.iter().for_each(|size| job.reporter.report(&Event::Size(*size)));
}

/// Ends a process that has found what it was to find.
fn end(mut job: Job<'_>, methods: &[String]) -> anyhow::Result<ExitCode> {
    methods.iter().for_each(|method| job.reporter.ended(method, Outcome::Converged));
    Ok(job.finish()?.exit_code())
}

/// A case as an experiment.
struct Bench<T> {
    traffic: T,
    cell: Cell,
    /// Times of the computation before MPI was initialised; reported with the first block of each method.
    without_mpi_s: Vec<f64>,
    /// Why nothing can be measured.
    refusal: Option<String>,
}

/// A method that was made and is being measured.
struct Measured<A> {
    active: A,
    /// Making it took so long; reported with the first block, as what was measured before MPI was initialised.
    once: Option<f64>,
}

impl<'a, T: Traffic<'a>> Experiment<'a> for Bench<T> {
    type ActiveMethod = Measured<T::Active>;

    fn kind(&self) -> Kind {
        KIND
    }

    fn job(&mut self) -> &mut Job<'a> {
        self.traffic.job()
    }

    fn into_job(self) -> Job<'a> {
        self.traffic.into_job()
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Result<Self::ActiveMethod, Outcome>> {
        let is_refused = !self.traffic.job().everywhere(self.refusal.is_none())?;
        if is_refused {
            let reason = self.refusal.clone().unwrap_or_else(|| "another rank cannot".to_owned());
            return Ok(Err(Outcome::NotAvailable { reason }));
        }
        let start = Instant::now();
        Ok(self
            .traffic
            .make(method)?
            .map(|active| Measured { active, once: Some(start.elapsed().as_secs_f64()) }))
    }

    fn verify(&mut self, measured: &mut Self::ActiveMethod) -> anyhow::Result<Option<String>> {
        let active = &mut measured.active;
        let (mut mismatch, product) = (None, self.cell.computation.checksum());
        for _ in 0..VERIFIED {
            for computes in [false, true] {
                self.traffic.fill(active)?;
                self.traffic.job().world.barrier()?;
                self.traffic.start(active)?;
                if computes {
                    self.cell.computation.run();
                }
                self.traffic.wait(active)?;
                let found = self.traffic.mismatch(active)?;
                mismatch = mismatch.or(found);
                // Nobody fills what others still send.
                self.traffic.job().world.barrier()?;
            }
        }
        let is_same = self.cell.computation.checksum() == product;
        let other = || "the computation beside it came to another result".to_owned();
        Ok(mismatch.or_else(|| (!is_same).then(other)))
    }

    fn repeat(&mut self, measured: &mut Self::ActiveMethod, count: u32) -> anyhow::Result<Turn> {
        self.traffic.fill(&mut measured.active)?;
        Turn::shortest(count, || {
            let readings = self.cell.repeat(&mut self.traffic, &mut measured.active)?;
            Ok(readings.overlapped.1 - readings.overlapped.0)
        })
    }

    fn readings(&self, _: &Self::ActiveMethod) -> Option<u32> {
        None
    }

    fn block(
        &mut self,
        measured: &mut Self::ActiveMethod,
        amount: Amount,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        let active = &mut measured.active;
        let window = self.cell.sync.begin()?;
        self.traffic.fill(active)?;
        for _ in 0..amount.untimed {
            self.cell.repeat(&mut self.traffic, active)?;
        }
        let mut readings = Vec::with_capacity(amount.samples);
        for _ in 0..amount.samples {
            readings.push(self.cell.repeat(&mut self.traffic, active)?);
        }
        let clock = self.cell.sync.end(window)?;
        let clock_error_s = self.cell.sync.residual_s()?;
        let readings: Vec<_> = readings.into_iter().map(|readings| readings.converted(&clock)).collect();
        let mismatch = self.traffic.mismatch(active)?;
        let world = self.traffic.job().world;
        let (once, without_mpi_s) = match measured.once.take() {
            Some(once) => (vec![once], slowest(world, &self.without_mpi_s)?),
            None => Default::default(),
        };
        let block = collected(world, &readings)?.map(|mut block| {
            block.clock_error_s = clock_error_s;
            block.times[Phase::Init] = once;
            block.times[Phase::ComputationWithoutMpi] = without_mpi_s;
            block
        });
        Ok((block, mismatch))
    }

    fn teardown(&mut self, measured: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(self.traffic.teardown(measured.active)?)
    }
}

/// The longest of all ranks of each of some times, of which all have equally many but for noise. Collective.
fn slowest(world: &Comm, mine: &[f64]) -> anyhow::Result<Vec<f64>> {
    let common = world.minima(&[mine.len() as f64])?[0] as usize;
    Ok(world.maxima(&mine[..common])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_three_digits_is_one_to_type() {
        assert_eq!([rounded(0.000_123_456), rounded(1.239)], [0.000_123, 1.24]);
    }
}
