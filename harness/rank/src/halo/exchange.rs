//! One exchange on this rank: in the first stage each thread computes; then, stage by stage, threads pack their shares and
//! hand them over, and the first thread ends the stage and unpacks.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ddtbench::partitioned::Emulation;

use super::method::{HaloMethod, Parts};
use super::packing::Packing;
use super::sight::Sight;
use crate::checked::CallError;
use crate::compute::compute;
use crate::measure::sync::Sync;
use crate::team::{Member, Team};
use crate::telling::Telling;

/// What the threads of a rank share in an exchange.
pub struct Site<'a> {
    pub parts: Parts<'a>,
    pub method: &'a dyn HaloMethod,
    pub packing: &'a Packing,
    pub sync: &'a Sync,
    /// Ends all ranks.
    pub telling: &'a Telling,
    pub emulation: Emulation,
}

/// When an exchange begins, and how long its threads compute.
pub struct Times<'a> {
    /// The agreed start, in seconds of the common time; `None` where ranks have just left a barrier.
    pub start_s: Option<f64>,
    /// Computing of each thread, in seconds.
    pub compute_s: &'a [f64],
}

/// Times of an exchange, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    /// From the start to the end, without the thread that computes longest.
    pub exchange_s: f64,
    /// That thread's computing.
    pub compute_s: f64,
    /// Packing of the thread that packs longest.
    pub pack_s: f64,
    /// From the last thread's last share to the last arrival, of all stages.
    pub communicate_s: f64,
    /// Unpacking.
    pub unpack_s: f64,
}

impl Readings {
    /// As a list, of which ranks can find the longest.
    pub fn list(&self) -> [f64; 5] {
        [self.exchange_s, self.compute_s, self.pack_s, self.communicate_s, self.unpack_s]
    }

    /// Of a list.
    pub fn of(list: &[f64]) -> Self {
        let [exchange_s, compute_s, pack_s, communicate_s, unpack_s] = *list else {
            unreachable!("as many as there are")
        };
        Self { exchange_s, compute_s, pack_s, communicate_s, unpack_s }
    }
}

/// Runs one exchange on this rank. Gives its times and, with something to look for, the bytes that were there early and
/// all that could have been.
pub fn run(site: &Site<'_>, team: &Team, times: &Times<'_>, sight: Option<&Sight>) -> (Readings, [f64; 2]) {
    let whole = Mutex::new(Readings::default());
    let seen = Mutex::new([0.0; 2]);
    // Per thread: computing and packing.
    let threads = Mutex::new(vec![[0.0f64; 2]; times.compute_s.len()]);
    if let Some(start_s) = times.start_s {
        site.sync.wait_until(start_s);
    }
    let start = Instant::now();
    team.run(|member| {
        if let Err(error) =
            work(site, member, times, &Kept { whole: &whole, threads: &threads, seen: &seen }, sight)
        {
            // The other threads, and the other ranks, wait for this one.
            site.telling.abort(&error.to_string());
        }
    });
    let total_s = start.elapsed().as_secs_f64();
    let (mut readings, threads) = (*locked(&whole), locked(&threads).clone());
    let longest = |of: usize| threads.iter().map(|thread| thread[of]).fold(0.0, f64::max);
    (readings.compute_s, readings.pack_s) = (longest(0), longest(1));
    readings.exchange_s = total_s - readings.compute_s;
    (readings, *locked(&seen))
}

/// What threads leave behind.
struct Kept<'a> {
    whole: &'a Mutex<Readings>,
    threads: &'a Mutex<Vec<[f64; 2]>>,
    seen: &'a Mutex<[f64; 2]>,
}

/// What a thread that failed left behind is never read: the job ends.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread's part of all stages.
fn work(
    site: &Site<'_>,
    member: Member<'_>,
    times: &Times<'_>,
    kept: &Kept<'_>,
    sight: Option<&Sight>,
) -> Result<(), CallError> {
    let Site { parts, method, packing, .. } = site;
    let Kept { whole, threads, seen } = kept;
    let thread = member.number;
    for (stage, links) in parts.links.stages.iter().enumerate() {
        if member.is_first() {
            method.start(stage)?;
        }
        member.barrier();
        if stage == 0 {
            locked(threads)[thread][0] = compute(times.compute_s[thread], site.emulation);
        }
        let mut pack_s = 0.0;
        for (send, link) in links.sends.iter().enumerate() {
            if packing.packs() {
                let start = Instant::now();
                packing.pack(parts.memory, (stage, send, thread), link);
                pack_s += start.elapsed().as_secs_f64();
            }
            method.ready(stage, send, thread)?;
        }
        locked(threads)[thread][1] += pack_s;
        member.barrier();
        if member.is_first() {
            if let (0, Some(sight)) = (stage, sight) {
                *locked(seen) = sight.look();
            }
            let packed = Instant::now();
            method.finish(stage)?;
            let arrived = Instant::now();
            for (receive, link) in links.receives.iter().enumerate() {
                packing.unpack(parts.memory, (stage, receive), link);
            }
            let mut whole = locked(whole);
            whole.communicate_s += (arrived - packed).as_secs_f64();
            whole.unpack_s += arrived.elapsed().as_secs_f64();
        }
        // Later stages pack what this one brought.
        member.barrier();
    }
    Ok(())
}
