//! What is said of a difference: its ratio with the corrected interval, and the verdict.

use serde::{Deserialize, Serialize};

use crate::stats;
use crate::stats::difference::Difference;

/// A verdict on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Works on the base, and fails on the other side.
    Broken,
    /// The corrected interval lies above 1, and reaches beyond the threshold.
    Slower,
    /// It lies below 1, and reaches beyond the threshold.
    Faster,
    /// Fails on the base, and works on the other side.
    Repaired,
    /// Neither: more launches may tell.
    Undecided,
    /// It lies wholly within the threshold.
    Same,
    /// It fails on both sides, or was measured on one alone.
    NotCompared,
}

impl Verdict {
    /// As tables show it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Repaired => "repaired",
            Self::Undecided => "undecided",
            Self::Same => "same",
            Self::NotCompared => "not compared",
        }
    }

    /// Whether there is an answer.
    pub fn is_decided(self) -> bool {
        self != Self::Undecided
    }
}

/// The answer to a question: the other side's value over the base's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The ratio of the times, new over base.
    pub ratio: f64,
    /// Lower end of its corrected interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// Launches, or runs, of the base and of the other side.
    pub units: (usize, usize),
    /// The verdict.
    pub verdict: Verdict,
    /// The smallest change that so many could have shown: the interval's upper end over its middle.
    pub could_see: f64,
    /// Launches, or runs, of each side that would likely decide; missing where there is a decision.
    pub would_decide: Option<usize>,
}

impl Answer {
    /// Of a difference of logarithms, by the interval that misses it in a share of `alpha`; `threshold` is a logarithm.
    pub fn of(difference: &Difference, units: (usize, usize), alpha: f64, threshold: f64) -> Self {
        let (low, high) = difference.interval(alpha);
        let verdict = verdict(low, high, threshold);
        let half = difference.half_width(alpha);
        // Error bars shrink with the root of the number; what lies within the threshold must get clear of its end.
        let distance = match difference.value.abs() {
            value if value > threshold => value,
            value => threshold - value,
        };
        let needed = units.0.min(units.1) as f64 * (half / distance).powi(2);
        Self {
            ratio: difference.value.exp(),
            low: low.exp(),
            high: high.exp(),
            units,
            verdict,
            could_see: half.exp(),
            would_decide: (!verdict.is_decided() && needed.is_finite()).then(|| needed.ceil() as usize),
        }
    }

    /// Of a ratio and its interval, however it was found; `threshold` is a logarithm. What would decide is not known.
    pub(super) fn of_interval(
        ratio: f64,
        (low, high): (f64, f64),
        units: (usize, usize),
        threshold: f64,
    ) -> Self {
        let verdict = verdict(low.ln(), high.ln(), threshold);
        Self { ratio, low, high, units, verdict, could_see: high / ratio, would_decide: None }
    }

    /// As `22.4x [21.9, 23.0]`.
    pub fn text(&self) -> String {
        let places = if self.ratio >= 9.95 { 1 } else { 2 };
        format!("{:.places$}x [{:.places$}, {:.places$}]", self.ratio, self.low, self.high)
    }
}

fn verdict(low: f64, high: f64, threshold: f64) -> Verdict {
    match () {
        () if low > 0.0 && high > threshold => Verdict::Slower,
        () if high < 0.0 && low < -threshold => Verdict::Faster,
        () if -threshold < low && high < threshold => Verdict::Same,
        () => Verdict::Undecided,
    }
}

/// The answers of a family of questions, all of whose intervals together miss in a share of `alpha`, by the levels of
/// [`stats::holm_levels`]. `asked` are the questions of the family that have no difference yet, with those asked here.
pub fn judge(
    differences: &[(Difference, (usize, usize))],
    asked: usize,
    alpha: f64,
    threshold: f64,
) -> Vec<Answer> {
    let chances: Vec<f64> = differences.iter().map(|(difference, _)| difference.p()).collect();
    let levels = stats::holm_levels(&chances, asked, alpha);
    let of = |((difference, units), level): (&(Difference, (usize, usize)), f64)| {
        Answer::of(difference, *units, level, threshold)
    };
    differences.iter().zip(levels).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: f64 = 0.05;

    fn difference(value: f64, error: f64) -> Difference {
        Difference { value, error, freedom: 1000.0 }
    }

    #[test]
    fn a_verdict_is_where_the_interval_lies() {
        let of = |low, high| verdict(low, high, THRESHOLD);
        assert_eq!(of(0.01, 0.06), Verdict::Slower);
        assert_eq!(of(-0.06, -0.01), Verdict::Faster);
        assert_eq!(of(0.01, 0.04), Verdict::Same, "a change that nobody cares for");
        assert_eq!(of(-0.01, 0.06), Verdict::Undecided);
        assert_eq!(of(-0.06, 0.06), Verdict::Undecided);
    }

    #[test]
    fn what_is_undecided_says_what_it_could_see_and_what_would_decide() {
        let of = |value, error| Answer::of(&difference(value, error), (5, 7), 0.05, THRESHOLD);
        let wide = of(0.0, 0.1);
        assert_eq!((wide.verdict, wide.would_decide), (Verdict::Undecided, Some(78)), "{wide:?}");
        assert!((wide.could_see - 1.217).abs() < 1e-3, "{wide:?}");
        let clear = of(1.0, 0.1);
        assert_eq!((clear.verdict, clear.would_decide), (Verdict::Slower, None));
        assert_eq!(Answer::of(&difference(3.1, 0.01), (5, 5), 0.05, THRESHOLD).text(), "22.2x [21.8, 22.6]");
        // It is as near to the threshold as can be: nobody can tell when that is decided.
        assert_eq!(of(THRESHOLD, 0.1).would_decide, None);
    }

    #[test]
    fn the_more_is_asked_the_more_must_be_shown() {
        // 2.2 errors: beyond 5% of one question, not of two.
        let one = (difference(0.22, 0.1), (5, 5));
        assert_eq!(judge(&[one], 1, 0.05, THRESHOLD)[0].verdict, Verdict::Slower);
        assert_eq!(judge(&[one], 2, 0.05, THRESHOLD)[0].verdict, Verdict::Undecided);
        // Another that is clear no longer counts: one is left.
        let clear = (difference(1.0, 0.1), (5, 5));
        let both = judge(&[one, clear], 2, 0.05, THRESHOLD);
        assert!(both.iter().all(|answer| answer.verdict == Verdict::Slower), "{both:?}");
    }
}
