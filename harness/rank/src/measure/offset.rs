//! By how much two clocks differ, of messages that went there and back between them; numbers alone, without MPI.
//!
//! The other clock's reading lies, as far as one can know, in the middle of the way there and back (Cristian 1989); of
//! several exchanges the best counts, and half of its way is how far off the middle can be. What was found at two times
//! gives the drift. Times that are read in between are converted afterwards by the line between both ([`Interpolation`]),
//! times that are needed at once by its continuation ([`Extrapolation`]), as in Denis, Jaeger, Jeannot and Reynier (2022),
//! section 4.2. All bounds hold for clocks whose drift stays the same meanwhile.

/// Seconds between two looks from which on their difference says something about the drift.
pub const LONG_ENOUGH_S: f64 = 0.1;

/// Seconds that the first of the two looks lies behind: from this to twice this. Long, so that the error of a drift is a
/// small one; not for ever, since quartz follows the temperature, within minutes.
const BASELINE_S: f64 = 10.0;

/// What two clocks gain on each other at most: ten times what quartz does, and twice what a kernel adds to bring its clock
/// to the right time.
pub const MOST_DRIFT: f64 = 1e-3;

/// What the steps of the clocks can add to the error of a look: three readings, cut off at a nanosecond.
const STEPS_S: f64 = 2e-9;

/// A message to another clock and back, in seconds: this clock's when it left, the other's when it was there, this clock's
/// when the answer came.
#[derive(Clone, Copy, Debug)]
pub struct ThereAndBack {
    /// When the message left, by this clock.
    pub asked_s: f64,
    /// When it was there, by the other clock.
    pub theirs_s: f64,
    /// How far off that can be, where the other has it from a third.
    pub theirs_error_s: f64,
    /// When the answer came, by this clock.
    pub received_s: f64,
}

impl ThereAndBack {
    fn error_s(self) -> f64 {
        (self.received_s - self.asked_s) / 2.0 * (1.0 + MOST_DRIFT) + STEPS_S + self.theirs_error_s
    }
}

/// By how much another clock is ahead at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// When that was, by this clock.
    pub at_s: f64,
    /// By how much the other is ahead.
    pub ahead_s: f64,
    /// How far off it can be.
    pub error_s: f64,
}

impl Offset {
    /// What exchanges tell; `None` if there were none.
    pub fn of(exchanges: &[ThereAndBack]) -> Option<Self> {
        let best = exchanges.iter().min_by(|a, b| a.error_s().total_cmp(&b.error_s()))?;
        let at_s = f64::midpoint(best.asked_s, best.received_s);
        Some(Self { at_s, ahead_s: best.theirs_s - at_s, error_s: best.error_s() })
    }

    /// Seconds that the other has gained per second since `earlier`, and how far off that can be.
    fn drift_since(self, earlier: Self) -> (f64, f64) {
        let passed_s = self.at_s - earlier.at_s;
        ((self.ahead_s - earlier.ahead_s) / passed_s, (self.error_s + earlier.error_s) / passed_s)
    }
}

/// Another clock, as far as it is known now: what was found last, carried on with the drift.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extrapolation {
    now: Offset,
    drift: f64,
    drift_error: f64,
    /// What the drift is counted from, and what it will be counted from next.
    baseline: [Offset; 2],
}

impl Extrapolation {
    /// After the first look. Nothing is known of the drift; the default is the clock that is compared with itself.
    pub fn new(first: Offset) -> Self {
        Self { now: first, drift: 0.0, drift_error: MOST_DRIFT, baseline: [first; 2] }
    }

    /// After another look.
    pub fn then(self, now: Offset) -> Self {
        let (at_s, error_s) = (now.at_s, self.error_s(now.at_s));
        if error_s < now.error_s {
            // A disturbed look tells less than was known before.
            let now = Offset { at_s, ahead_s: self.theirs_s(at_s) - at_s, error_s };
            return Self { now, ..self };
        }
        let [from, next] = self.baseline;
        let is_old = now.at_s - next.at_s >= BASELINE_S;
        let baseline = if is_old { [next, now] } else { [from, next] };
        let (drift, drift_error) = now.drift_since(baseline[0]);
        // After so short a time, or so long a way, the drift before says more.
        let is_known = now.at_s - baseline[0].at_s >= LONG_ENOUGH_S && drift_error < MOST_DRIFT;
        let (drift, drift_error) =
            if is_known { (drift, drift_error) } else { (self.drift, self.drift_error) };
        Self { now, drift, drift_error, baseline }
    }

    /// What was found last.
    pub fn last(&self) -> Offset {
        self.now
    }

    /// Seconds that the other gains per second.
    pub fn drift(&self) -> f64 {
        self.drift
    }

    /// The other's time when this clock says `local_s`.
    #[inline]
    pub fn theirs_s(&self, local_s: f64) -> f64 {
        local_s + (self.now.ahead_s + self.drift * (local_s - self.now.at_s))
    }

    /// How far off that can be.
    pub fn error_s(&self, local_s: f64) -> f64 {
        self.now.error_s + self.drift_error * (local_s - self.now.at_s).abs()
    }

    /// How far off it is, as far as another look can tell that it does not rest on.
    pub fn residual(&self, look: Offset) -> Residual {
        let off_s = (look.at_s + look.ahead_s - self.theirs_s(look.at_s)).abs();
        Residual { off_s, beyond_s: off_s - look.error_s - self.error_s(look.at_s) }
    }
}

/// How far off a clock is, as far as a look can tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// In seconds.
    pub off_s: f64,
    /// By how much more than the errors of both allow; below 0 where that of neither is wrong.
    pub beyond_s: f64,
}

impl Residual {
    /// Of what cannot be off.
    pub const NONE: Self = Self { off_s: 0.0, beyond_s: f64::NEG_INFINITY };
}

/// Another clock between two looks: for times of this clock that were read meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interpolation {
    first: Offset,
    last: Offset,
}

impl Interpolation {
    /// Between what was found first and last.
    pub fn between(first: Offset, last: Offset) -> Self {
        Self { first, last }
    }

    /// The other's time when this clock said `local_s`.
    pub fn theirs_s(&self, local_s: f64) -> f64 {
        let passed_s = self.last.at_s - self.first.at_s;
        let share = if passed_s > 0.0 { (local_s - self.first.at_s) / passed_s } else { 1.0 };
        local_s + (self.first.ahead_s + share * (self.last.ahead_s - self.first.ahead_s))
    }

    /// How far off that can be, of times between both looks: as much as the worse of them.
    pub fn error_s(&self) -> f64 {
        self.first.error_s.max(self.last.error_s)
    }
}

#[cfg(test)]
mod tests;
