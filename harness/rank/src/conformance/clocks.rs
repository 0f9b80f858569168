//! How well the clocks of all ranks are synchronised.
//!
//! If all ranks read the same clock of one kernel, that clock is the truth, after different clocks are simulated on top of it by
//! [`VirtualClocks`], which have large offsets, and drift. Otherwise further messages show whether the clock contradicts them.

use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use common::model::check::Answer;
use common::stats;
use common::units;

use super::context::{CheckContext, Stop};
use crate::checked::CallError;
use crate::measure::local_clock::{VirtualClocks, monotonic_s};
use crate::measure::sync::Sync;

/// Number of times that are read and converted, and the pause between two: a fifth of a second in total, in
/// which virtual clocks drift apart by about ten times the error that messages allow.
const READINGS: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Number of synchronisations that are timed, and of starts at an agreed time.
const TIMED: usize = 15;

/// Time from the agreement on a start to the start: enough for more ranks than cores.
const MARGIN: Duration = Duration::from_millis(2);

/// The observations of this rank; the maximum of each.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Worst {
    /// Offset of this rank's clock from rank 0's, and its measured drift.
    apart_s: f64,
    drift: f64,
    /// Error of converted times and its bound: converted at once, and afterwards.
    at_once_s: [f64; 2],
    afterwards_s: [f64; 2],
    /// How late it left an agreed time, and how long a synchronisation takes; median.
    late_s: f64,
    took_s: f64,
}

impl Worst {
    /// The maximum over all ranks; collective.
    fn of_all(self, context: &CheckContext<'_>) -> Result<Self, CallError> {
        let all = context.comm.maxima(bytemuck::cast_slice(&[self]))?;
        Ok(bytemuck::cast_slice(&all)[0])
    }
}

/// Reads times in a block, converts them at once and afterwards, and compares them with the truth, if it is known.
pub fn agree(context: &CheckContext<'_>) -> Result<(), Stop> {
    let clocks = VirtualClocks::of_environment().unwrap_or_default();
    let has_truth = Sync::by(context.comm, None)?.facts()?.shared;
    let mut sync = Sync::by(context.comm, clocks)?;
    let facts = sync.facts()?;
    let mut worst = Worst::default();
    let mut took_s = Vec::with_capacity(TIMED);
    for _ in 0..TIMED {
        context.comm.barrier()?;
        let start = Instant::now();
        sync.again()?;
        took_s.push(start.elapsed().as_secs_f64());
        let start_s = sync.agree(MARGIN)?;
        worst.late_s = worst.late_s.max(sync.wait_until(start_s));
    }
    worst.took_s = stats::median(&stats::sorted(took_s)).unwrap_or_default();
    let window = sync.begin()?;
    // The truth, and the readings of this rank.
    let mut readings = Vec::with_capacity(READINGS);
    for _ in 0..READINGS {
        std::thread::sleep(PAUSE);
        let real_s = monotonic_s();
        let local_s = sync.clock.at(real_s);
        readings.push([real_s, local_s]);
        let (zero_s, possible_s) = (sync.zero.remote_s(local_s), sync.zero.error_s(local_s));
        worst.apart_s = worst.apart_s.max((local_s - zero_s).abs());
        if has_truth {
            compare(context, "at once", [zero_s, real_s], possible_s, &mut worst.at_once_s);
        }
    }
    let residual = sync.residual()?;
    if let Some(residual) = residual {
        let contradiction = units::seconds(residual.off_s);
        let wrong = || format!("messages show that it is {contradiction} off, more than both allow");
        context.count("messages", if residual.beyond_s <= 0.0 { Ok(()) } else { Err(wrong()) });
    }
    let between = sync.end(window)?;
    if has_truth {
        for [real_s, local_s] in readings {
            let times_s = [between.remote_s(local_s), real_s];
            compare(context, "afterwards", times_s, between.error_s(), &mut worst.afterwards_s);
        }
    }
    worst.drift = sync.zero.drift.abs();
    let worst = worst.of_all(context)?;
    if context.rank > 0 {
        return Ok(());
    }
    let s = units::seconds;
    let mut note = match residual {
        None => vec!["all ranks read one clock".to_owned()],
        Some(residual) => vec![
            format!("clocks {} apart, gaining {:.1} ppm", s(worst.apart_s), worst.drift * 1e6),
            format!(
                "at most {} off when set, {} later {} by messages",
                s(facts.error_s),
                s(PAUSE.as_secs_f64() * READINGS as f64),
                s(residual.off_s)
            ),
            format!("setting them takes {}", s(worst.took_s)),
        ],
    };
    if let (true, Some(_)) = (has_truth, residual) {
        let of = |[off_s, possible_s]: [f64; 2]| format!("{} of {} possible", s(off_s), s(possible_s));
        note.push(format!(
            "truly off by {} at once, {} afterwards",
            of(worst.at_once_s),
            of(worst.afterwards_s)
        ));
    }
    note.push(format!("latest start {} late", s(worst.late_s)));
    context.answer(Answer { note: note.join("; "), ..Answer::passed() });
    Ok(())
}

/// Whether a time is close enough to the truth; keeps the largest difference and the largest bound.
fn compare(
    context: &CheckContext<'_>,
    what: &str,
    [time_s, truth_s]: [f64; 2],
    possible_s: f64,
    worst: &mut [f64; 2],
) {
    let off_s = (time_s - truth_s).abs();
    *worst = [worst[0].max(off_s), worst[1].max(possible_s)];
    let wrong =
        || format!("rank {}: off by {off_s:.3e} s, at most {possible_s:.3e} s is possible", context.rank);
    context.count(what, if off_s <= possible_s { Ok(()) } else { Err(wrong()) });
}
