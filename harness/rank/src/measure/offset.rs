//! By how much two clocks differ, of messages that went there and back between them; numbers alone, without MPI.
//!
//! The other clock's reading lies, as far as one can know, in the middle of the way there and back (Cristian 1989); of
//! several exchanges the shortest counts, and half of it is how far off the middle can be.

/// Seconds between two looks from which on their difference says something about the drift.
const LONG_ENOUGH: f64 = 0.1;

/// A message to another clock and back, in seconds: this clock's when it left, the other's when it was there, this clock's
/// when the answer came.
#[derive(Clone, Copy, Debug)]
pub struct ThereAndBack {
    /// When the message left, by this clock.
    pub asked_s: f64,
    /// When it was there, by the other clock.
    pub theirs_s: f64,
    /// When the answer came, by this clock.
    pub heard_s: f64,
}

impl ThereAndBack {
    fn length_s(self) -> f64 {
        self.heard_s - self.asked_s
    }
}

/// What is known of another clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// By how much the other is ahead, when that was found out.
    pub offset_s: f64,
    /// When that was, by this clock.
    pub found_at_s: f64,
    /// How far off it can be.
    pub error_s: f64,
    /// Seconds that the other gains per second.
    pub drift: f64,
}

impl Offset {
    /// What exchanges tell, without drift; `None` if there were none.
    pub fn of(exchanges: &[ThereAndBack]) -> Option<Self> {
        let shortest = exchanges.iter().min_by(|a, b| a.length_s().total_cmp(&b.length_s()))?;
        Some(Self {
            offset_s: shortest.theirs_s - (shortest.asked_s + shortest.heard_s) / 2.0,
            found_at_s: shortest.heard_s,
            error_s: shortest.length_s() / 2.0,
            drift: 0.0,
        })
    }

    /// What later exchanges tell beside this: the drift is that of the time between, where it was long enough.
    pub fn again(self, exchanges: &[ThereAndBack]) -> Self {
        let Some(now) = Self::of(exchanges) else { return self };
        let passed = now.found_at_s - self.found_at_s;
        let drift = if passed >= LONG_ENOUGH { (now.offset_s - self.offset_s) / passed } else { self.drift };
        Self { drift, ..now }
    }

    /// The other's time when this clock says `local_s`.
    #[inline]
    pub fn theirs_s(self, local_s: f64) -> f64 {
        local_s + self.offset_s + self.drift * (local_s - self.found_at_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock beside this one: ahead by so much when this one says 0, and gaining so much per second.
    #[derive(Clone, Copy)]
    struct Other {
        ahead_s: f64,
        drift: f64,
    }

    impl Other {
        fn at(self, local_s: f64) -> f64 {
            local_s + self.ahead_s + self.drift * local_s
        }

        /// Exchanges from `start_s` on, each with its times there and back.
        fn asked(self, start_s: f64, ways_s: &[(f64, f64)]) -> Vec<ThereAndBack> {
            let mut asked_s = start_s;
            let exchange = |&(there_s, back_s): &(f64, f64)| {
                let exchange = ThereAndBack {
                    asked_s,
                    theirs_s: self.at(asked_s + there_s),
                    heard_s: asked_s + there_s + back_s,
                };
                asked_s = exchange.heard_s;
                exchange
            };
            ways_s.iter().map(exchange).collect()
        }
    }

    /// Disturbed on one way or both, but for one that is the shortest, and as long there as back.
    const WAYS_S: [(f64, f64); 4] = [(40e-6, 2e-6), (3e-6, 9e-6), (2e-6, 2e-6), (2e-6, 80e-6)];

    #[test]
    fn the_offset_is_that_of_the_shortest_exchange() {
        let other = Other { ahead_s: -17.25, drift: 0.0 };
        let found = Offset::of(&other.asked(1000.0, &WAYS_S)).unwrap();
        assert!((found.offset_s - -17.25).abs() < 1e-11, "{found:?}");
        assert!((found.error_s - 2e-6).abs() < 1e-11, "half of the way there and back: {found:?}");
        assert!((found.found_at_s - 1_000.000_058).abs() < 1e-11, "{found:?}");
        assert_eq!(found.drift, 0.0);
        assert_eq!(Offset::of(&[]), None);
    }

    #[test]
    fn the_offset_is_off_by_no_more_than_the_error_however_long_one_way_is() {
        let other = Other { ahead_s: 3.5, drift: 0.0 };
        for ways_s in [(9e-6, 1e-6), (1e-6, 9e-6), (10e-6, 0.0), (0.0, 10e-6)] {
            let found = Offset::of(&other.asked(0.0, &[ways_s])).unwrap();
            let off = (found.offset_s - 3.5).abs();
            assert!(off > 3e-6 && off <= found.error_s + 1e-12, "{ways_s:?}: {found:?}");
        }
    }

    #[test]
    fn a_drift_is_recovered_and_carried_on() {
        // 50 us per second, as clocks of two hosts have at worst.
        for drift in [50e-6, -50e-6] {
            let other = Other { ahead_s: 0.75, drift };
            let first = Offset::of(&other.asked(10.0, &WAYS_S)).unwrap();
            let known = first.again(&other.asked(12.0, &WAYS_S));
            assert!((known.drift - drift).abs() < 1e-9, "{known:?}");
            // A second later the clocks are 50 us further apart, of which nothing is left.
            for local_s in [12.0, 12.5, 13.0] {
                assert!((known.theirs_s(local_s) - other.at(local_s)).abs() < 5e-9, "{known:?} at {local_s}");
            }
            assert!(
                (first.theirs_s(13.0) - other.at(13.0)).abs() > 100e-6,
                "nothing is known of it at first"
            );
        }
    }

    #[test]
    fn a_drift_of_too_short_a_time_is_not_believed() {
        let other = Other { ahead_s: 0.0, drift: 0.0 };
        let known = Offset { drift: 7e-6, ..Offset::of(&other.asked(10.0, &WAYS_S)).unwrap() };
        // 10 ms later the error of a disturbed exchange, 20 us, would make a drift of 2 ms per second.
        let later = known.again(&other.asked(10.01, &[(40e-6, 0.0)]));
        assert!((later.offset_s - 20e-6).abs() < 1e-9 && later.drift == 7e-6, "{later:?}");
        let after_all = later.again(&other.asked(10.2, &WAYS_S));
        assert!(after_all.drift != 7e-6, "{after_all:?}");
    }

    #[test]
    fn without_an_exchange_all_stays() {
        let known = Offset { offset_s: 1.0, found_at_s: 2.0, error_s: 3.0, drift: 4.0 };
        assert_eq!(known.again(&[]), known);
        // The clock that all others are set by.
        assert_eq!(Offset::default().again(&[]).theirs_s(5.0), 5.0);
    }
}
