//! One exchange on this rank. All threads are awake, ranks begin together, and in the first stage each thread computes.
//! Then, stage by stage, threads pack their shares and hand them over, and the first thread ends the stage and unpacks.

use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use common::kinds::halo::Start;

use super::HaloExchanges;
use super::active::ActiveExchange;
use crate::checked::CallError;
use crate::checked::threads::Lent;
use crate::compute::compute;
use crate::device;
use crate::payload::ArrivalProbe;
use crate::team::Member;

/// Time from the agreement on a start to the start, if clocks are used: longer than the message about it takes.
const MARGIN: Duration = Duration::from_micros(100);

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
    /// Copies of a device's driver, if they are counted.
    pub copies: f64,
}

/// A thread's times, and at the first thread those of the whole exchange; with a probe, the bytes that arrived early and the total.
type Seen = (ExchangeReadings, [f64; 2]);

/// Runs one exchange on this rank, whose threads compute for this time in seconds, after a change of the data.
/// Returns its times and, with a probe, the bytes that arrived early and the total.
pub fn run(
    bench: &HaloExchanges<'_>,
    active: &ActiveExchange<'_>,
    compute_s: &[f64],
    arrival_probe: Option<&ArrivalProbe>,
) -> Seen {
    // SAFETY: only the first thread, which initialised MPI, uses the communicators of the case. The method is
    // called as its functions require, which the barriers of `work` ensure, and was set up with permission
    // for this team's threads to call MPI if they do.
    let lent = unsafe { (Lent::new(bench), Lent::new(active)) };
    let results = bench.team.results(&bench.job.reporter, |member| {
        let (bench, active) = (lent.0.get(), lent.1.get());
        work(bench, active, member, compute_s[member.number], arrival_probe)
    });
    let (mut readings, seen) = results[0];
    let longest = |time: fn(&Seen) -> f64| results.iter().map(time).fold(0.0, f64::max);
    (readings.compute_s, readings.pack_s) = (longest(|of| of.0.compute_s), longest(|of| of.0.pack_s));
    (readings, seen)
}

/// A thread's part of all stages.
fn work(
    bench: &HaloExchanges<'_>,
    active: &ActiveExchange<'_>,
    member: Member<'_>,
    compute_s: f64,
    arrival_probe: Option<&ArrivalProbe>,
) -> Result<Seen, CallError> {
    let HaloExchanges { parts, payload, case, .. } = bench;
    let (method, thread) = (&active.method, member.number);
    let (mut readings, mut seen) = (ExchangeReadings::default(), [0.0; 2]);
    device::use_here();
    let version = payload.checks.version;
    // All communication has ended, and each thread changes its own data, which no other thread reads
    // before the barrier. Copies to a device may have the bytes of other threads, too.
    match parts.memory.all_arrays.has_twin() {
        false => payload.own()[thread].write(version),
        true if member.is_first() => payload.own().iter().for_each(|own| own.write(version)),
        true => {}
    }
    // All threads are awake before ranks begin.
    member.barrier();
    if member.is_first() {
        begin(bench)?;
    }
    let copies = device::copies();
    let start = Instant::now();
    for (stage, links) in parts.links.stages.iter().enumerate() {
        if member.is_first() {
            // SAFETY: the stage before has ended, and all other threads wait at the next barrier.
            unsafe { method.start(stage) }?;
        }
        member.barrier();
        if stage == 0 {
            readings.compute_s = compute(compute_s, case.setting.computing.emulation);
        }
        for send in 0..links.sends.len() {
            if active.packing.packs() {
                let start = Instant::now();
                // SAFETY: between the barriers of a stage no thread unpacks; each thread packs its own share,
                // once, and earlier sends from there have been complete since the last exchange.
                unsafe { active.pack(stage, send, thread) }?;
                readings.pack_s += start.elapsed().as_secs_f64();
            }
            // SAFETY: after the barrier that follows the start; each thread marks its own share, once, and
            // packs it again only in the next exchange.
            unsafe { method.ready(stage, send, thread) }?;
        }
        member.barrier();
        if member.is_first() {
            if let (0, Some(arrival_probe)) = (stage, arrival_probe) {
                // SAFETY: the exchange's memory exists, and only MPI writes to the receive buffers.
                seen = unsafe { arrival_probe.arrived_bytes() };
            }
            let packed = Instant::now();
            // SAFETY: after the barrier that follows the last share; the other threads wait at the next barrier.
            unsafe {
                method.send(stage)?;
                method.finish(stage)?;
            }
            let arrived = Instant::now();
            // SAFETY: the other threads wait at the barrier below. The stage has ended: all data has arrived.
            unsafe { active.unpack(stage) }?;
            readings.communicate_s += (arrived - packed).as_secs_f64();
            readings.unpack_s += arrived.elapsed().as_secs_f64();
            readings.total_s = start.elapsed().as_secs_f64();
            if let (Some(before), Some(after)) = (copies, device::copies()) {
                readings.copies = (after - before) as f64;
            }
        }
        // Later stages pack data received in this one.
        member.barrier();
    }
    Ok((readings, seen))
}

/// Makes all ranks begin together.
fn begin(HaloExchanges { job, sync, case, .. }: &HaloExchanges<'_>) -> Result<(), CallError> {
    match case.setting.start {
        Start::Barrier => job.world.barrier(),
        Start::Clock => {
            sync.wait_until(sync.agree(MARGIN)?);
            Ok(())
        }
    }
}
