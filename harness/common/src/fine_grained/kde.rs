//! A density estimated from samples of time, and draws from it.

use rand::{Rng, RngExt};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::stats::{mean_and_variance, quantile, sorted};

/// A kernel density estimate of times, which are never negative.
///
/// Each sample contributes a normal distribution around it, all with the same standard deviation (the
/// bandwidth). The part below 0 is reflected. Silverman, "Density Estimation for Statistics and Data
/// Analysis" (1986), sections 2.4 and 2.10: f(x) = 1/n sum of (phi(x - x_i) + phi(x + x_i)) for x >= 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Kde {
    samples_s: Vec<f64>,
    pub(super) bandwidth_s: f64,
}

impl Kde {
    /// The estimate from samples in seconds. The default bandwidth is that of [`silverman_s`]; with 0, draws
    /// are the samples themselves.
    pub fn new(samples_s: &[f64], bandwidth_s: Option<f64>) -> Result<Self, String> {
        let is_time = |&time: &f64| time.is_finite() && time >= 0.0;
        if let Some(bad) = samples_s.iter().chain(&bandwidth_s).find(|time| !is_time(time)) {
            return Err(format!(
                "{bad} s is not a valid sample or bandwidth: must be finite and not negative"
            ));
        }
        let samples_s = sorted(samples_s.iter().copied());
        let usual_s = silverman_s(&samples_s).ok_or("a density needs at least one sample")?;
        Ok(Self { samples_s, bandwidth_s: bandwidth_s.unwrap_or(usual_s) })
    }

    /// A time drawn from the estimate, in seconds: a sample plus a normal deviate, reflected at 0.
    pub fn draw_s(&self, random: &mut impl Rng) -> f64 {
        let sample = self.samples_s[random.random_range(0..self.samples_s.len())];
        (sample + self.bandwidth_s * standard_normal(random)).abs()
    }
}

/// Silverman's rule for the bandwidth from sorted samples: 0.9 min(s, IQR/1.34) n^(-1/5), equation 3.31 of
/// his book; in the samples' unit. `None` without samples.
///
/// s has n - 1 degrees of freedom; quartiles are those of [`quantile`]. If the quartiles are equal, only s is
/// used, as in R's `bw.nrd0`; equal samples have bandwidth 0.
pub fn silverman_s(sorted: &[f64]) -> Option<f64> {
    let deviation = mean_and_variance(sorted)?.1.sqrt();
    let range = (quantile(sorted, 0.75)? - quantile(sorted, 0.25)?) / 1.34;
    let spread = if range > 0.0 { deviation.min(range) } else { deviation };
    Some(0.9 * spread * (sorted.len() as f64).powf(-0.2))
}

/// A deviate of the standard normal distribution: its quantile at a uniform deviate, so each draw takes
/// exactly one number from the generator.
pub fn standard_normal(random: &mut impl Rng) -> f64 {
    // 53 bits plus half a step, so the value is neither 0 nor 1.
    let uniform = ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    Normal::standard().inverse_cdf(uniform)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::stats::mean;

    /// Two humps, one of which extends below 0.
    const HUMPS: [f64; 8] = [0.1, 0.2, 0.4, 0.5, 5.0, 5.1, 5.5, 6.0];

    /// Kolmogorov's distance between 20000 draws and another estimate. The probability of a time up to x: a
    /// reflected kernel has as much between 0 and x as the kernel has between -x and x.
    fn distance(drawn: &Kde, estimate: &Kde) -> f64 {
        let mut random = Pcg64::seed_from_u64(5);
        let draws = sorted((0..20_000).map(|_| drawn.draw_s(&mut random)));
        assert!(draws[0] >= 0.0);
        let steps = draws.iter().enumerate().map(|(i, &draw)| {
            let chance = |&sample: &f64| {
                let kernel = Normal::new(sample, estimate.bandwidth_s).unwrap();
                kernel.cdf(draw) - kernel.cdf(-draw)
            };
            let expected =
                mean(&estimate.samples_s.iter().map(chance).collect::<Vec<_>>()).unwrap() * 20_000.0;
            (expected - i as f64).abs().max((expected - (i + 1) as f64).abs())
        });
        steps.fold(0.0, f64::max) / 20_000.0
    }

    #[test]
    fn draws_follow_the_estimate_and_are_never_negative() {
        let of = |bandwidth| Kde::new(&HUMPS, bandwidth).unwrap();
        for bandwidth in [None, Some(0.3), Some(1e-3), Some(20.0)] {
            // With 20000 draws, 1.63 / sqrt(20000) = 0.0115 is exceeded in 1% of cases.
            let distance = distance(&of(bandwidth), &of(bandwidth));
            assert!(distance < 0.0115, "bandwidth {bandwidth:?}: {distance}");
        }
        assert!(distance(&of(Some(0.2)), &of(Some(2.0))) > 0.05, "another estimate");
    }

    #[test]
    fn the_bandwidth_is_that_of_the_rule() {
        // R: bw.nrd0(1:10) is 1.719286: sd 3.027650, IQR 4.5 / 1.34 = 3.358209.
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let expected = 0.9 * (82.5_f64 / 9.0).sqrt() * 10_f64.powf(-0.2);
        assert!((silverman_s(&ten).unwrap() - expected).abs() < 1e-12);
        assert!((expected - 1.719_286).abs() < 1e-6, "{expected}");
        // An outlier increases s, but not the quartiles.
        let outlier = sorted(ten.iter().copied().chain([1000.0]));
        let expected = 0.9 * 5.0 / 1.34 * 11_f64.powf(-0.2);
        assert!((silverman_s(&outlier).unwrap() - expected).abs() < 1e-12);
        // Equal quartiles, equal samples, one sample, none.
        assert!(silverman_s(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]).unwrap() > 1.0);
        assert_eq!(silverman_s(&[2.0; 5]), Some(0.0));
        assert_eq!(silverman_s(&[2.0]), Some(0.0));
        assert_eq!(silverman_s(&[]), None);
    }

    #[test]
    fn without_bandwidth_the_samples_themselves_are_drawn() {
        let (kde, mut random) = (Kde::new(&HUMPS, Some(0.0)).unwrap(), Pcg64::seed_from_u64(5));
        assert!((0..1000).all(|_| HUMPS.contains(&kde.draw_s(&mut random))));
        assert_eq!(Kde::new(&[2.0; 5], None).unwrap().bandwidth_s, 0.0);
    }

    #[test]
    fn what_is_no_sample_is_refused() {
        for (samples, bandwidth) in
            [(&[][..], None), (&[], Some(1.0)), (&[-1.0], None), (&[f64::NAN], None), (&[1.0], Some(-1.0))]
        {
            assert!(Kde::new(samples, bandwidth).is_err(), "{samples:?} {bandwidth:?}");
        }
    }
}
