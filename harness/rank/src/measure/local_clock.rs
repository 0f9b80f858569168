//! The clock of this process, for comparison with those of other ranks; in tests it can be a virtual one.
//!
//! On one machine all processes read the same clock, so [`sync`](super::sync) would have no effect. An environment
//! variable therefore makes each rank read a clock with an offset and a drift, both multiplied by its rank.

use std::env;

use super::offset::MOST_DRIFT;

/// The variable: offset in microseconds, drift in parts per million, and optionally the number of ranks on a simulated host.
pub const VIRTUAL: &str = "DDTBENCH_VIRTUAL_CLOCK";

/// Virtual clocks that disagree, based on the real one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VirtualClocks {
    /// Offset of rank 1; rank 2 has twice that, and so on.
    pub ahead_s: f64,
    /// Seconds that rank 1 gains per second; rank 2 gains twice that, and so on.
    pub drift: f64,
    /// Ranks that are treated as being on one host, although each has its own clock; by default, those that share memory.
    pub ranks_per_host: Option<usize>,
}

impl VirtualClocks {
    /// The virtual clocks from the environment, if any.
    pub fn of_environment() -> Result<Option<Self>, String> {
        env::var(VIRTUAL).ok().map(|text| Self::parse(&text)).transpose()
    }

    /// Refuses values in the environment that cannot work on this number of ranks.
    /// Also refuses a drift that no real clock has, for which bounds would not be valid.
    pub fn check(ranks: usize) -> Result<(), String> {
        Self::of_environment()?.map_or(Ok(()), |clocks| clocks.check_drift(ranks))
    }

    fn check_drift(self, ranks: usize) -> Result<(), String> {
        let others = ranks.max(2) - 1;
        let most_ppm = MOST_DRIFT * 1e6 / others as f64;
        // A small tolerance for rounding.
        if self.drift.abs() * 1e6 <= most_ppm * (1.0 + 1e-9) {
            return Ok(());
        }
        let ppm = self.drift * 1e6;
        Err(format!(
            "{VIRTUAL}: {ppm:.0} ppm times {others}: clocks of two ranks gain at most 1000 ppm on each other, so on {ranks} ranks \
             give at most {most_ppm:.0}"
        ))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{VIRTUAL}={text:?}: must be MICROSECONDS,PPM or MICROSECONDS,PPM,RANKS_PER_HOST, for example 5000,200,2"
            )
        };
        let mut words = text.split(',').map(str::trim);
        let mut number = || words.next()?.parse::<f64>().ok().filter(|number| number.is_finite());
        let (ahead_us, ppm) = number().zip(number()).ok_or_else(wrong)?;
        let ranks_per_host = words.next().map(|word| word.parse().ok().filter(|&ranks| ranks > 0));
        match (ranks_per_host, words.next()) {
            (Some(None), _) | (_, Some(_)) => Err(wrong()),
            (ranks_per_host, None) => Ok(Self {
                ahead_s: ahead_us * 1e-6,
                drift: ppm * 1e-6,
                ranks_per_host: ranks_per_host.flatten(),
            }),
        }
    }

    pub fn of_rank(self, rank: usize) -> LocalClock {
        LocalClock { ahead_s: self.ahead_s * rank as f64, drift: self.drift * rank as f64 }
    }
}

/// The clock that a rank reads; the default is the real one.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalClock {
    ahead_s: f64,
    drift: f64,
}

impl LocalClock {
    /// Seconds since some instant; never less than an earlier reading.
    #[inline]
    pub fn now_s(self) -> f64 {
        self.at(monotonic_s())
    }

    /// Its time when the real clock shows `real_s`.
    #[inline]
    pub fn at(self, real_s: f64) -> f64 {
        real_s + (self.ahead_s + self.drift * real_s)
    }
}

/// The kernel's monotonic clock, in seconds since an instant that all processes of one host share.
pub fn monotonic_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer lives through the call, which fills it; a monotonic clock exists on every supported system.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_clocks_are_ahead_and_gain_by_rank() {
        let clocks = VirtualClocks::parse("5000, 200").unwrap();
        assert_eq!(clocks.ranks_per_host, None);
        let [zero, two] = [0, 2].map(|rank| clocks.of_rank(rank));
        assert_eq!(zero.at(100.0), 100.0);
        assert!((two.at(100.0) - (100.0 + 0.01 + 0.04)).abs() < 1e-12);
        assert_eq!(VirtualClocks::parse("-3,0,2").unwrap().ranks_per_host, Some(2));
        assert_eq!(LocalClock::default().at(7.25), 7.25);
    }

    #[test]
    fn what_is_no_clock_is_refused_with_what_would_be_right() {
        for text in ["", "5000", "5000,", "5000,x", "5000,200,0", "5000,200,x", "5000,200,2,1", "inf,0"] {
            let error = VirtualClocks::parse(text).unwrap_err();
            assert!(error.contains(VIRTUAL) && error.contains("5000,200,2"), "{error}");
        }
    }
}
