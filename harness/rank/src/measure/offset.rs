//! The difference between two clocks, from messages that went there and back between them; only numbers, without MPI.
//!
//! The best estimate for the other clock's reading is the middle of the round trip (Cristian 1989); of several
//! exchanges the shortest counts, and half its round trip is the error bound. Observations at two times give the drift.
//! Times that are read in between are converted afterwards by interpolation ([`Interpolation`]), times that are needed
//! at once by extrapolation ([`Extrapolation`]), as in Denis, Jaeger, Jeannot and Reynier (2022), section 4.2. All
//! bounds assume that the drift is constant in the meantime.

/// Minimum seconds between two observations for their difference to show the drift.
pub const LONG_ENOUGH_S: f64 = 0.1;

/// Age of the first of the two observations in seconds: between this and twice this. Long, so that the error
/// of the drift is small; not unlimited, because quartz follows the temperature within minutes.
const BASELINE_S: f64 = 10.0;

/// Maximum drift between two clocks: ten times that of quartz, and twice what a kernel adds to adjust its clock.
pub const MOST_DRIFT: f64 = 1e-3;

/// Maximum error of an observation from the steps of the clocks: three readings, truncated to a nanosecond.
const STEPS_S: f64 = 2e-9;

/// A message to another clock and back, in seconds: by this clock when it left, by the other when it arrived,
/// by this clock when the answer arrived.
#[derive(Clone, Copy, Debug)]
pub struct ThereAndBack {
    /// When the message left, by this clock.
    pub asked_s: f64,
    /// When it arrived, by the other clock.
    pub remote_s: f64,
    /// Error bound of that time, if the other clock itself was set by a third.
    pub remote_error_s: f64,
    /// When the answer arrived, by this clock.
    pub received_s: f64,
}

impl ThereAndBack {
    fn error_s(self) -> f64 {
        (self.received_s - self.asked_s) / 2.0 * (1.0 + MOST_DRIFT) + STEPS_S + self.remote_error_s
    }
}

/// The offset of another clock at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// The time of the observation, by this clock.
    pub at_s: f64,
    /// How far the other is ahead.
    pub ahead_s: f64,
    pub error_s: f64,
}

impl Offset {
    /// The offset from exchanges; `None` without any.
    pub fn from_exchanges(exchanges: &[ThereAndBack]) -> Option<Self> {
        let best = exchanges.iter().min_by(|a, b| a.error_s().total_cmp(&b.error_s()))?;
        let at_s = f64::midpoint(best.asked_s, best.received_s);
        Some(Self { at_s, ahead_s: best.remote_s - at_s, error_s: best.error_s() })
    }
}

/// Another clock, as it is known now: the last observation, extrapolated with the drift.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extrapolation {
    /// The last observation.
    pub now: Offset,
    /// Seconds that the other gains per second.
    pub drift: f64,
    drift_error: f64,
    /// The current reference for the drift, and the next one.
    baseline: [Offset; 2],
}

impl Extrapolation {
    /// After the first observation. The drift is unknown. The default is this clock compared with itself.
    pub fn new(first: Offset) -> Self {
        Self { now: first, drift: 0.0, drift_error: MOST_DRIFT, baseline: [first; 2] }
    }

    /// After another observation.
    pub fn then(self, now: Offset) -> Self {
        let (at_s, error_s) = (now.at_s, self.error_s(now.at_s));
        if error_s < now.error_s {
            // A disturbed observation is less precise than the earlier knowledge.
            let now = Offset { at_s, ahead_s: self.remote_s(at_s) - at_s, error_s };
            return Self { now, ..self };
        }
        let [from, next] = self.baseline;
        let is_old = now.at_s - next.at_s >= BASELINE_S;
        let baseline = if is_old { [next, now] } else { [from, next] };
        let (earlier, passed_s) = (baseline[0], now.at_s - baseline[0].at_s);
        let drift = (now.ahead_s - earlier.ahead_s) / passed_s;
        let drift_error = (now.error_s + earlier.error_s) / passed_s;
        // After a short time, or with a slow exchange, the earlier drift is more precise.
        let is_known = passed_s >= LONG_ENOUGH_S && drift_error < MOST_DRIFT;
        let (drift, drift_error) =
            if is_known { (drift, drift_error) } else { (self.drift, self.drift_error) };
        Self { now, drift, drift_error, baseline }
    }

    /// The other clock's time when this one shows `local_s`.
    #[inline]
    pub fn remote_s(&self, local_s: f64) -> f64 {
        local_s + (self.now.ahead_s + self.drift * (local_s - self.now.at_s))
    }

    /// Error bound of that time.
    pub fn error_s(&self, local_s: f64) -> f64 {
        self.now.error_s + self.drift_error * (local_s - self.now.at_s).abs()
    }

    /// The error according to an independent observation.
    pub fn residual(&self, observed: Offset) -> Residual {
        let off_s = (observed.at_s + observed.ahead_s - self.remote_s(observed.at_s)).abs();
        Residual { off_s, beyond_s: off_s - observed.error_s - self.error_s(observed.at_s) }
    }
}

/// The error of a clock according to an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    pub off_s: f64,
    /// The amount by which it exceeds the error bounds of both; below 0 if neither bound is wrong.
    pub beyond_s: f64,
}

impl Residual {
    /// For a clock that cannot have an error.
    pub const NONE: Self = Self { off_s: 0.0, beyond_s: f64::NEG_INFINITY };
}

/// Another clock between two observations: for times of this clock that were read in between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interpolation {
    first: Offset,
    last: Offset,
}

impl Interpolation {
    /// Between the first and the last observation.
    pub fn between(first: Offset, last: Offset) -> Self {
        Self { first, last }
    }

    /// The other clock's time when this one showed `local_s`.
    pub fn remote_s(&self, local_s: f64) -> f64 {
        let passed_s = self.last.at_s - self.first.at_s;
        let share = if passed_s > 0.0 { (local_s - self.first.at_s) / passed_s } else { 1.0 };
        local_s + (self.first.ahead_s + share * (self.last.ahead_s - self.first.ahead_s))
    }

    /// Error bound for times between both observations: that of the worse one.
    pub fn error_s(&self) -> f64 {
        self.first.error_s.max(self.last.error_s)
    }
}

#[cfg(test)]
mod tests;
