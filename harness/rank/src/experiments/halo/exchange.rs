//! One exchange on this rank. All threads are awake, ranks begin together, and in the first stage each thread computes.
//! Then, stage by stage, threads pack their shares and hand them over, and the first thread ends the stage and unpacks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use common::fine_grained::Emulation;
use common::kinds::halo::Start;

use super::active::ActiveExchange;
use super::method::Parts;
use super::payload::EarlyProbe;
use crate::checked::threads::Lent;
use crate::checked::{CallError, Comm};
use crate::compute::compute;
use crate::measure::sync::Sync;
use crate::payload::{Places, Version};
use crate::reporter::EventReporter;
use crate::team::{Member, Team, locked};

/// Time from the agreement on a start to the start, if clocks are used: longer than the message about it takes.
const MARGIN: Duration = Duration::from_micros(100);

/// The data shared by the threads of a rank in an exchange.
pub struct ExchangeContext<'a> {
    pub parts: &'a Parts,
    pub active: &'a ActiveExchange<'a>,
    /// The data that each thread writes before ranks begin, unless the data has just been filled in.
    pub changes: Option<&'a [Places]>,
    /// The data that is sent.
    pub version: Version,
    pub world: &'a Comm,
    pub sync: &'a Sync,
    /// Reports a failed call, and ends all ranks.
    pub reporter: &'a EventReporter,
    /// How ranks begin together.
    pub start: Start,
    pub emulation: Emulation,
}

/// Times of an exchange, in seconds.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ExchangeReadings {
    /// From the start to the end.
    pub total_s: f64,
    /// Computing of the thread that computes longest.
    pub compute_s: f64,
    /// Packing of the thread that packs longest.
    pub pack_s: f64,
    /// From the last thread's last share to the last arrival, of all stages.
    pub communicate_s: f64,
    /// Unpacking by the first thread, of all stages.
    pub unpack_s: f64,
}

impl ExchangeReadings {
    /// From the longest times over all ranks: the time that the exchange adds to the computing time of the thread that
    /// computes longest on any rank. So a rank is not charged for waiting for another one that computes longer.
    pub fn exchange_s(&self) -> f64 {
        self.total_s - self.compute_s
    }
}

/// Runs one exchange on this rank, whose threads compute for this time in seconds. Returns its times and, with a probe,
/// the bytes that arrived early and the total.
pub fn run(
    context: &ExchangeContext<'_>,
    team: &Team,
    compute_s: &[f64],
    arrival_probe: Option<&EarlyProbe>,
) -> (ExchangeReadings, [f64; 2]) {
    let whole = Mutex::new(ExchangeReadings::default());
    let seen = Mutex::new([0.0; 2]);
    // Per thread: computing and packing.
    let threads = Mutex::new(vec![[0.0f64; 2]; compute_s.len()]);
    // SAFETY: only the first thread, which initialised MPI, uses the context's communicators. The method is called as
    // its functions require, which the barriers of `work` ensure, and was set up with permission for this team's
    // threads to call MPI if they do.
    let lent = unsafe { Lent::new(context) };
    let reporter = context.reporter;
    team.run(|member| {
        let context = lent.get();
        let results = Results { whole: &whole, threads: &threads, seen: &seen };
        if let Err(error) = work(context, member, compute_s[member.number], &results, arrival_probe) {
            // The other threads, and the other ranks, wait for this one.
            reporter.abort(error.outcome(error.to_string()));
        }
    });
    let (mut readings, threads) = (*locked(&whole), locked(&threads).clone());
    let longest = |of: usize| threads.iter().map(|thread| thread[of]).fold(0.0, f64::max);
    (readings.compute_s, readings.pack_s) = (longest(0), longest(1));
    (readings, *locked(&seen))
}

/// The results of the threads.
struct Results<'a> {
    whole: &'a Mutex<ExchangeReadings>,
    threads: &'a Mutex<Vec<[f64; 2]>>,
    seen: &'a Mutex<[f64; 2]>,
}

/// A thread's part of all stages.
fn work(
    context: &ExchangeContext<'_>,
    member: Member<'_>,
    compute_s: f64,
    results: &Results<'_>,
    arrival_probe: Option<&EarlyProbe>,
) -> Result<(), CallError> {
    let ExchangeContext { parts, active, .. } = context;
    let method = &active.method;
    let Results { whole, threads, seen } = results;
    let thread = member.number;
    if let Some(changes) = context.changes {
        // All communication has ended, and each thread changes its own data, which no other thread reads before the barrier.
        changes[thread].write(context.version);
    }
    // All threads are awake before ranks begin.
    member.barrier();
    if member.is_first() {
        begin(context)?;
    }
    let start = Instant::now();
    for (stage, links) in parts.links.stages.iter().enumerate() {
        if member.is_first() {
            // SAFETY: the stage before has ended, and all other threads wait at the next barrier.
            unsafe { method.start(stage) }?;
        }
        member.barrier();
        if stage == 0 {
            locked(threads)[thread][0] = compute(compute_s, context.emulation);
        }
        let mut pack_s = 0.0;
        for (send, link) in links.sends.iter().enumerate() {
            if active.packing.packs() {
                let start = Instant::now();
                // SAFETY: between the barriers of a stage no thread unpacks; each thread packs its own share, once, and
                // earlier sends from there have been complete since the last exchange.
                unsafe { active.pack(parts, (stage, send, thread), link) }?;
                pack_s += start.elapsed().as_secs_f64();
            }
            // SAFETY: after the barrier that follows the start; each thread marks its own share, once, and packs it
            // again only in the next exchange.
            unsafe { method.ready(stage, send, thread) }?;
        }
        locked(threads)[thread][1] += pack_s;
        member.barrier();
        if member.is_first() {
            if let (0, Some(arrival_probe)) = (stage, arrival_probe) {
                // SAFETY: the exchange's memory exists, and only MPI writes to the receive buffers.
                *locked(seen) = unsafe { arrival_probe.arrived_bytes(context.version) };
            }
            let packed = Instant::now();
            // SAFETY: after the barrier that follows the last share; the other threads wait at the next barrier.
            unsafe {
                method.send(stage)?;
                method.finish(stage)?;
            }
            let arrived = Instant::now();
            for (receive, link) in links.receives.iter().enumerate() {
                // SAFETY: the other threads wait at the barrier below, and the stage has ended: all data has arrived.
                unsafe { active.unpack(parts, (stage, receive), link) }?;
            }
            let mut whole = locked(whole);
            whole.communicate_s += (arrived - packed).as_secs_f64();
            whole.unpack_s += arrived.elapsed().as_secs_f64();
            whole.total_s = start.elapsed().as_secs_f64();
        }
        // Later stages pack data received in this one.
        member.barrier();
    }
    Ok(())
}

/// Makes all ranks begin together.
fn begin(context: &ExchangeContext<'_>) -> Result<(), CallError> {
    match context.start {
        Start::Barrier => context.world.barrier(),
        Start::Clock => {
            context.sync.wait_until(context.sync.agree(MARGIN)?);
            Ok(())
        }
    }
}
