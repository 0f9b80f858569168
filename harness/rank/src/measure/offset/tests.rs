use super::*;

/// Another clock: its offset when this one shows 0, and the seconds that it gains per second.
#[derive(Clone, Copy)]
struct Other {
    ahead_s: f64,
    drift: f64,
}

impl Other {
    fn at(self, local_s: f64) -> f64 {
        local_s + self.ahead_s + self.drift * local_s
    }

    /// How far a time of this clock is off that was found for `local_s`.
    fn off(self, local_s: f64, found_s: f64) -> f64 {
        (found_s - self.at(local_s)).abs()
    }

    /// Exchanges from `start_s` on, each with its durations there and back.
    fn exchanges(self, start_s: f64, ways_s: &[(f64, f64)]) -> Vec<ThereAndBack> {
        let mut received_s = start_s;
        let exchange = |&(there_s, back_s): &(f64, f64)| {
            let asked_s = received_s;
            received_s = asked_s + there_s + back_s;
            ThereAndBack { asked_s, remote_s: self.at(asked_s + there_s), remote_error_s: 0.0, received_s }
        };
        ways_s.iter().map(exchange).collect()
    }

    fn offset(self, start_s: f64, ways_s: &[(f64, f64)]) -> Offset {
        Offset::from_exchanges(&self.exchanges(start_s, ways_s)).unwrap()
    }
}

/// Disturbed on one way or both, except the shortest one, which takes equally long there and back.
const WAYS_S: [(f64, f64); 4] = [(40e-6, 2e-6), (3e-6, 9e-6), (2e-6, 2e-6), (2e-6, 80e-6)];

/// All take equally long, with the maximum error: all of the time is spent there, or all of it back.
const LATE_S: [(f64, f64); 1] = [(10e-6, 0.0)];
const EARLY_S: [(f64, f64); 1] = [(0.0, 10e-6)];

#[test]
fn the_offset_is_that_of_the_shortest_exchange_within_its_error() {
    let found = Other { ahead_s: -17.25, drift: 0.0 }.offset(1000.0, &WAYS_S);
    assert!((found.ahead_s - -17.25).abs() < 1e-11, "{found:?}");
    assert!((found.error_s - 2e-6).abs() < 5e-9, "half of the way there and back: {found:?}");
    assert!((found.at_s - 1_000.000_056).abs() < 1e-11, "{found:?}");
    assert_eq!(Offset::from_exchanges(&[]), None);
    for drift in [0.0, MOST_DRIFT, -MOST_DRIFT] {
        let other = Other { ahead_s: 3.5, drift };
        for ways_s in [(9e-6, 1e-6), (1e-6, 9e-6), LATE_S[0], EARLY_S[0]] {
            let found = other.offset(50.0, &[ways_s]);
            let off = other.off(found.at_s, found.at_s + found.ahead_s);
            assert!(off > 3e-6 && off <= found.error_s, "{ways_s:?}: {found:?}, off by {off}");
        }
    }
}

#[test]
fn what_the_other_has_from_a_third_is_off_by_as_much_more() {
    // Rank 3 asks rank 1, which has asked rank 0: a chain, each with its own clock.
    let (zero, ways_s) = (Other { ahead_s: -5.0, drift: 300e-6 }, [(6e-6, 1e-6)]);
    let one = Extrapolation::new(zero.offset(20.0, &ways_s));
    let three = Other { ahead_s: 0.25, drift: -100e-6 };
    let mut exchanges = three.exchanges(20.0, &ways_s);
    for exchange in &mut exchanges {
        let local_s = exchange.remote_s;
        (exchange.remote_s, exchange.remote_error_s) = (one.remote_s(local_s), one.error_s(local_s));
    }
    let found = Offset::from_exchanges(&exchanges).unwrap();
    let off = zero.off(three.at(found.at_s), found.at_s + found.ahead_s);
    assert!(off <= found.error_s, "{found:?}, off by {off}");
    assert!(found.error_s > 2.0 * 3.5e-6, "both ways count: {found:?}");
}

#[test]
fn a_drift_is_recovered_and_carried_on_within_the_error_however_the_ways_were() {
    for drift in [50e-6, -600e-6] {
        let other = Other { ahead_s: 0.75, drift };
        let first = Extrapolation::new(other.offset(10.0, &WAYS_S));
        let known = first.then(other.offset(12.0, &WAYS_S));
        assert!((known.drift - drift).abs() < 1e-9, "{known:?}");
        assert!([12.0, 12.5, 13.0].iter().all(|&at| other.off(at, known.remote_s(at)) < 5e-9), "{known:?}");
        let off = other.off(13.0, first.remote_s(13.0));
        assert!(off > 100e-6 && off <= first.error_s(13.0), "nothing is known of it at first: {off}");
    }
    let other = Other { ahead_s: 0.75, drift: 400e-6 };
    // Two observations with opposite errors give a drift of 20 us per second: the bound is not wide.
    for (first, last, is_worst) in [(EARLY_S, LATE_S, true), (LATE_S, EARLY_S, true), (LATE_S, LATE_S, false)]
    {
        let known = Extrapolation::new(other.offset(10.0, &first)).then(other.offset(10.5, &last));
        let share = |local_s| other.off(local_s, known.remote_s(local_s)) / known.error_s(local_s);
        assert!([10.5, 10.6, 12.0].iter().all(|&at| share(at) <= 1.0), "{known:?}");
        assert_eq!(share(12.0) > 0.9, is_worst, "{known:?}: {}", share(12.0));
        let between = Interpolation::between(other.offset(10.0, &first), other.offset(10.002, &last));
        for local_s in [10.000_01, 10.000_3, 10.001, 10.002] {
            let off = other.off(local_s, between.remote_s(local_s));
            assert!(off <= between.error_s(), "{between:?} at {local_s}: off by {off}");
        }
    }
    // Observations without an error leave none in between, whatever the drift.
    let exact = |at_s| Offset { at_s, ahead_s: other.at(at_s) - at_s, error_s: 0.0 };
    assert!(other.off(17.0, Interpolation::between(exact(10.0), exact(30.0)).remote_s(17.0)) < 1e-11);
}

#[test]
fn a_drift_of_too_short_a_time_is_not_believed() {
    let other = Other { ahead_s: 0.0, drift: 0.0 };
    let known = Extrapolation::new(other.offset(10.0, &WAYS_S));
    // 30 ms later the error of a disturbed exchange, 20 us, would give a drift of 0.7 ms per second.
    let later = known.then(other.offset(10.03, &[(40e-6, 0.0)]));
    assert!((later.now.ahead_s - 20e-6).abs() < 1e-9 && later.drift == 0.0, "{later:?}");
    assert_eq!(later.drift_error, MOST_DRIFT);
    // A drift that is less certain than no drift at all is not used either.
    let worse = known.then(other.offset(10.2, &[(400e-6, 0.0)]));
    assert_eq!((worse.drift, worse.drift_error), (0.0, MOST_DRIFT));
    let after_all = later.then(other.offset(10.2, &WAYS_S));
    assert!(after_all.drift_error < 30e-6 && after_all.drift.abs() < 1e-9, "{after_all:?}");
}

#[test]
fn a_disturbed_offset_does_not_replace_a_better_one() {
    let other = Other { ahead_s: -2.0, drift: 100e-6 };
    let known = Extrapolation::new(other.offset(10.0, &WAYS_S)).then(other.offset(11.0, &WAYS_S));
    // A rank was without its core for 8 ms in every exchange.
    let disturbed = known.then(other.offset(11.5, &[(8e-3, 1e-6)]));
    let off = other.off(11.6, disturbed.remote_s(11.6));
    assert!(off <= disturbed.error_s(11.6) && disturbed.error_s(11.6) < 10e-6, "{disturbed:?}, off by {off}");
    assert_eq!(disturbed.drift, known.drift);
    // As time passes the knowledge becomes less certain, and an observation as good as the others counts again.
    let later = disturbed.then(other.offset(12.0, &WAYS_S));
    assert!((later.now.error_s - 2e-6).abs() < 1e-8, "{later:?}");
}

#[test]
fn a_drift_that_changes_slowly_is_followed() {
    let offset =
        |at_s: f64| Offset { at_s, ahead_s: 10e-6 * at_s + 20e-6 * (at_s - 40.0).max(0.0), error_s: 1e-6 };
    let mut known = Extrapolation::new(offset(0.0));
    for step in 1..800 {
        known = known.then(offset(f64::from(step) * 0.1));
        let since_s = known.now.at_s - known.baseline[0].at_s;
        assert!(step <= 200 || (BASELINE_S - 0.05..2.0 * BASELINE_S + 0.05).contains(&since_s), "{since_s}");
    }
    assert!((known.drift - 30e-6).abs() < 1e-9, "{known:?}");
}

#[test]
fn an_offset_shows_the_error_of_the_clock() {
    let other = Other { ahead_s: 1.0, drift: 0.0 };
    let known = Extrapolation::new(other.offset(10.0, &WAYS_S));
    let residual = known.residual(other.offset(10.5, &LATE_S));
    assert!((residual.off_s - 5e-6).abs() < 1e-8 && residual.beyond_s < 0.0, "{residual:?}");
    // A step that no drift explains, half a second later.
    let stepped = Other { ahead_s: 1.000_8, drift: 0.0 };
    let residual = known.residual(stepped.offset(10.5, &WAYS_S));
    assert!((residual.off_s - 800e-6).abs() < 1e-8 && residual.beyond_s > 290e-6, "{residual:?}");
}
