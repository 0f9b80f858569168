//! Creating and freeing datatypes. A sample is for one datatype, or if one is too short for the clock, the
//! mean of several in a row. The number is decided once for a case and for all of its ranks, so that no
//! record mixes the two: creating one may take about as long as the clock needs, and if each block decided
//! separately, some samples would be for one datatype and some for several.

use common::stats;

use super::job::Job;
use crate::checked::CallError;
use crate::clock::Clock;
use crate::method::Method;

/// Maximum datatypes in a row.
const MOST: f64 = 1000.0;

/// Datatypes for the decision, by their medians; the first ones run with cold caches.
const TRIALS: usize = 15;

/// Number of datatypes per sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InARow {
    /// Datatypes created between two readings of the clock.
    pub made: u32,
    /// Datatypes freed between two readings of the clock.
    pub freed: u32,
}

impl InARow {
    /// Decides for a method, which has no datatypes at that time. Rank 0 decides for all.
    pub fn decide(job: &Job<'_>, method: &mut dyn Method) -> Result<Self, CallError> {
        if !method.ends().creates {
            return Ok(Self { made: 1, freed: 1 });
        }
        let (mut made_s, mut freed_s) = (Vec::new(), Vec::new());
        for _ in 0..TRIALS {
            made_s.push(job.clock.time(|| method.create())?);
            freed_s.push(job.clock.time(|| method.free())?);
        }
        let counts = [made_s, freed_s].map(|times| f64::from(count(times, job.clock)));
        let [made, freed] = job.world.broadcast(counts)?.map(|count| count as u32);
        Ok(Self { made, freed })
    }

    /// The time to create one datatype, or to free it, given that a single one took `once_s`.
    pub fn one_s(
        self,
        clock: Clock,
        method: &mut dyn Method,
        frees: bool,
        once_s: f64,
    ) -> Result<f64, CallError> {
        let count = if frees { self.freed } else { self.made };
        if count == 1 {
            return Ok(once_s);
        }
        let made_s = clock.time(|| (0..count).try_for_each(|_| method.create()))?;
        let freed_s = clock.time(|| (0..count).try_for_each(|_| method.free()))?;
        Ok(if frees { freed_s } else { made_s } / f64::from(count))
    }
}

/// The number of repetitions of something with these times in a sample that is long enough for the clock.
fn count(times_s: Vec<f64>, clock: Clock) -> u32 {
    let once_s = stats::median(&stats::sorted(times_s)).unwrap_or(0.0);
    (clock.shortest_corrected_s(2) / once_s.max(clock.step_s)).ceil().clamp(1.0, MOST) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_of_as_many_as_the_clock_needs_whatever_single_ones_took() {
        let clock = Clock { step_s: 1e-9, cost_s: 26e-9 };
        let ns = |times: &[f64]| times.iter().map(|time| time * 1e-9).collect::<Vec<_>>();
        assert!((clock.shortest_corrected_s(2) - 130e-9).abs() < 1e-12);
        assert_eq!(count(ns(&[900.0, 131.0, 5000.0, 129.0, 134.0]), clock), 1);
        assert_eq!(count(ns(&[900.0, 131.0, 120.0, 129.0, 129.5]), clock), 2);
        assert_eq!(count(ns(&[10.0]), clock), 13);
        assert_eq!(count(ns(&[0.0]), clock), 130);
    }
}
