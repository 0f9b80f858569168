//! Finds the bytes and the matrices that take the requested times.

use common::model::calibration::{CalibratedSize, SizeOf};
use common::stats::{self, SearchStep, SizeSearch};

use super::cell::Cell;
use super::traffic::Traffic;
use crate::checked::Comm;

/// Measurements of a size, whose median counts: enough that one or two disturbed ones do not matter.
const REPETITIONS: usize = 7;
/// Above this time in seconds, fewer measurements must be enough: seven of a second each would take too long.
const LONG_S: f64 = 0.05;
/// The number of measurements in that case.
const FEW: usize = 3;

/// The median of several measurements, each the longest over all ranks; the first ones decide how many there are. Collective.
pub fn median_s(world: &Comm, mut measure: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    // The first measurement includes cold caches and page faults.
    measure()?;
    while times.len() < if times.first().is_some_and(|&time| time > LONG_S) { FEW } else { REPETITIONS } {
        let mine = measure()?;
        times.push(world.maxima(&[mine])?[0]);
    }
    Ok(stats::median(&stats::sorted(times)).unwrap_or_default())
}

/// Finds the size, at most `most`, for each of these times in seconds, rising. Collective: all ranks take the
/// same steps, because the times are maxima over all ranks.
pub fn find(
    targets_s: &[f64],
    of: SizeOf,
    most: u64,
    mut time_s: impl FnMut(u64) -> anyhow::Result<f64>,
) -> anyhow::Result<Vec<CalibratedSize>> {
    let power = if of == SizeOf::MatrixOrder { 3.0 } else { 1.0 };
    let mut search = SizeSearch::new(1, most, power);
    let mut sizes = Vec::new();
    for &target_s in targets_s {
        let mut trials = 0;
        let (size, time_s, is_found) = loop {
            match search.next(target_s, trials) {
                SearchStep::Try(size) => search.add(size, time_s(size)?),
                SearchStep::Found(size, time_s) => break (size, time_s, true),
                SearchStep::Nearest(size, time_s) => break (size, time_s, false),
            }
            trials += 1;
        };
        sizes.push(CalibratedSize { of, target_s, size, time_s, is_found });
    }
    Ok(sizes)
}

/// How long a communication takes by itself, by the common clock of all ranks; the median of several, in seconds. Collective.
pub fn communication_s<T: Traffic>(
    world: &Comm,
    cell: &mut Cell,
    traffic: &mut T,
    active: &mut T::Active,
) -> anyhow::Result<f64> {
    // Finding sizes takes seconds, in which clocks drift apart.
    cell.sync.again()?;
    traffic.fill(active)?;
    median_s(world, || {
        // The drift between ranks since the last synchronisation is small compared with the measured time.
        let [start_s, end_s] =
            cell.communicate(traffic, active)?.0.map(|time_s| cell.sync.zero.remote_s(time_s));
        // The latest end minus the earliest start.
        let both = world.maxima(&[end_s, -start_s])?;
        Ok(both[0] + both[1])
    })
}
