//! Draws of the threads' times.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::{Arrival, s_per_byte};
use crate::fine_grained::kde::{Kde, standard_normal};
use crate::fine_grained::trace::Trace;

/// Draws the computing time of every thread of one rank, iteration by iteration. The same arguments give the
/// same times.
#[derive(Clone, Debug)]
pub struct Sampler {
    arrival: Arrival,
    /// The density of [`Arrival::Kde`].
    pub(super) density: Option<Kde>,
    compute_s: f64,
    threads: usize,
    /// Delay between a thread and its partition if that is the one with the last index: 0 except for [`Arrival::Delay`].
    pub last_partition_delay_s: f64,
    /// The seed of this rank's stream.
    seed: u64,
    random: Pcg64,
}

impl Sampler {
    /// A sampler for rank `rank`, whose `threads` threads compute for `compute_s` seconds and hand over
    /// partitions of `partition_bytes`, which only matter to [`Arrival::Delay`].
    ///
    /// Each rank has its own stream; its seed is the rank-th number drawn with `seed`. If all ranks drew the
    /// same times, as in CMB, they would all be late together and none would wait for another.
    pub fn new(
        arrival: &Arrival,
        compute_s: f64,
        threads: usize,
        partition_bytes: u64,
        seed: u64,
        rank: usize,
    ) -> Result<Self, String> {
        arrival.check()?;
        if !(compute_s.is_finite() && compute_s >= 0.0) {
            return Err(format!("a computing time of {compute_s} s: it must be finite and not negative"));
        }
        if threads == 0 {
            return Err("a rank of 0 threads: it must have at least 1".to_owned());
        }
        let is_share = matches!(arrival, Arrival::Laggard { .. } | Arrival::Uniform { .. });
        if is_share && compute_s == 0.0 {
            return Err(format!(
                "arrival \"{arrival}\" is a share of the computing time, which must be above 0"
            ));
        }
        let (mut last_partition_delay_s, mut density) = (0.0, None);
        match *arrival {
            Arrival::Kde { ref source, bandwidth_s } => {
                let trace = Trace::load(source).map_err(|error| format!("arrival \"{arrival}\": {error}"))?;
                density = Some(Kde::new(&trace.pooled_s(), bandwidth_s)?);
            }
            Arrival::Delay { gamma_us_per_mb } => {
                last_partition_delay_s = s_per_byte(gamma_us_per_mb) * partition_bytes as f64;
            }
            _ => {}
        }
        let seed = nth(seed, rank);
        let random = Pcg64::seed_from_u64(seed);
        let arrival = arrival.clone();
        Ok(Self { arrival, density, compute_s, threads, last_partition_delay_s, seed, random })
    }

    /// Goes to the first iteration of a round. A round always has the same times, whatever was drawn before.
    pub fn begin_round(&mut self, round: u32) {
        self.random = Pcg64::seed_from_u64(nth(self.seed, round as usize));
    }

    /// Whether iterations differ.
    pub fn is_random(&self) -> bool {
        matches!(self.arrival, Arrival::Uniform { .. } | Arrival::Normal { .. } | Arrival::Kde { .. })
    }

    /// Fills in the computing time of each thread for the next iteration, in seconds; never negative.
    ///
    /// # Panics
    /// If the slice does not have one element per thread.
    pub fn next(&mut self, compute_s: &mut [f64]) {
        assert_eq!(compute_s.len(), self.threads, "a time for each thread");
        let (mean_s, random) = (self.compute_s, &mut self.random);
        match (&self.arrival, &self.density) {
            (_, Some(density)) => compute_s.fill_with(|| density.draw_s(random)),
            (Arrival::Laggard { fraction }, _) => {
                compute_s.fill(mean_s);
                compute_s[0] = mean_s * (1.0 + fraction);
            }
            (Arrival::Uniform { fraction }, _) => {
                let mut draw = || mean_s * (1.0 + fraction * (2.0 * random.random::<f64>() - 1.0));
                compute_s.fill_with(|| draw().max(0.0));
            }
            (Arrival::Normal { sigma_s }, _) => {
                compute_s.fill_with(|| (mean_s + sigma_s * standard_normal(random)).max(0.0));
            }
            _ => compute_s.fill(mean_s),
        }
    }
}

/// The number at `index` among those drawn with `seed`, used to seed a stream. Streams of one PCG generator
/// that differ only in their increment are correlated.
fn nth(seed: u64, index: usize) -> u64 {
    let mut seeds = Pcg64::seed_from_u64(seed);
    seeds.advance(index as u128);
    seeds.next_u64()
}
