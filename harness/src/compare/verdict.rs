//! The answer for a difference: its ratio with the corrected interval, and the verdict.

use serde::Serialize;

use crate::report::verdict::Verdict;
use crate::report::{ratio, units};
use crate::stats::difference::Difference;

/// The answer to a question: the other side's value relative to the base's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The ratio: new divided by base.
    pub ratio: f64,
    /// Lower end of its corrected interval.
    pub low: f64,
    pub high: f64,
    /// Launches, or runs, of the base and of the other side.
    pub units: (usize, usize),
    pub verdict: Verdict,
    /// Whether the change is shown to be larger than the threshold.
    pub beyond: bool,
    /// The smallest change that so many launches would show to be beyond the threshold.
    pub detectable: f64,
    /// Launches, or runs, per side that would probably decide; missing after a decision.
    pub would_decide: Option<usize>,
    /// Whether it is adjusted to one latency and speed of copies within its state.
    pub adjusted: bool,
}

impl Estimate {
    /// From a difference of logarithms, with the interval that misses with probability `alpha`; `threshold` is a logarithm.
    pub fn from_difference(
        difference: &Difference,
        units: (usize, usize),
        alpha: f64,
        threshold: f64,
    ) -> Self {
        let (low, high) = difference.interval(alpha);
        let half = difference.half_width(alpha);
        // The variance decreases with the number of launches, except for its lasting part, and the interval must end before the threshold.
        let distance = (difference.value.abs() - threshold).abs();
        let lasting = (difference.lasting / difference.error).powi(2);
        let needed = (distance / half).powi(2) - lasting;
        let needed = units.0.min(units.1) as f64 * (1.0 - lasting) / needed.max(0.0);
        // JSON has no infinite numbers.
        let ends = (low.exp().max(f64::MIN_POSITIVE), high.exp().min(f64::MAX));
        let answer = Self::of_interval(difference.value.exp(), ends, units, threshold);
        let would_decide = (!answer.is_decided() && needed.is_finite()).then(|| needed.ceil() as usize);
        let detectable = (half + threshold).exp().min(f64::MAX);
        Self { would_decide, detectable, adjusted: difference.is_adjusted, ..answer }
    }

    /// From a ratio and its interval; `threshold` is a logarithm. The number of launches for a decision is unknown.
    pub(super) fn of_interval(
        ratio: f64,
        (low, high): (f64, f64),
        units: (usize, usize),
        threshold: f64,
    ) -> Self {
        let (from, to) = (low.ln(), high.ln());
        Self {
            ratio,
            low,
            high,
            units,
            verdict: Verdict::of_interval(from, to, threshold),
            beyond: from >= threshold || to <= -threshold,
            detectable: (high / ratio * threshold.exp()).min(f64::MAX),
            would_decide: None,
            adjusted: false,
        }
    }

    /// Whether no more launches are needed: the change is shown to be larger than the threshold, or within it.
    pub const fn is_decided(&self) -> bool {
        self.beyond || matches!(self.verdict, Verdict::Same)
    }

    /// The same with a final verdict from fewer launches. The interval is limited by the
    /// verdict. If the estimate contradicts the verdict, it is not changed: the verdict is withdrawn.
    pub(super) fn with(self, verdict: Verdict, threshold: f64) -> Self {
        let (least, most) = verdict.ratios(threshold);
        if !(least..=most).contains(&self.ratio) {
            return self;
        }
        let (low, high) = (self.low.max(least), self.high.min(most));
        Self { low, high, verdict, beyond: verdict.is_change(), would_decide: None, ..self }
    }

    /// Example: `22.4x [21.9, 23.0]`.
    pub fn text(&self) -> String {
        let places = match self.ratio {
            ratio if ratio >= 9.95 => 1,
            ratio if ratio < SMALL => 3,
            _ => 2,
        };
        let number = |value: f64| if value < SMALL { digits(value) } else { format!("{value:.places$}") };
        ratio::text(self.ratio, "x", (self.low, self.high), number)
    }

    /// The smallest change that as many launches would detect, for an undecided row.
    pub(super) fn detectable_text(&self) -> String {
        match self.detectable {
            factor if factor > ratio::FAR => "launches vary too much to detect a change".to_owned(),
            factor if factor >= 2.0 => format!("only changes above {factor:.1}x would be detected"),
            factor => format!("only changes above {} would be detected", units::percent(factor - 1.0)),
        }
    }
}

/// Ratios below this are shown with two digits.
const SMALL: f64 = 0.095;

/// A value with two digits, also if it is small.
fn digits(value: f64) -> String {
    let decimals = (1.0 - value.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A ratio in a sentence: `23.3`, `0.78`, `0.0042`.
pub(super) fn ratio_text(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 9.95 => format!("{ratio:.1}"),
        ratio if ratio < SMALL => digits(ratio),
        ratio => format!("{ratio:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5%, as a logarithm.
    const THRESHOLD: f64 = 0.05;

    fn difference(value: f64, error: f64) -> Difference {
        Difference::new(value, error, 1000.0)
    }

    #[test]
    fn a_verdict_follows_from_the_ends_of_the_interval() {
        let of = |low: f64, high: f64| Verdict::of_interval(low, high, THRESHOLD);
        assert_eq!(of(0.05, 0.09), Verdict::Slower);
        assert_eq!(of(-0.09, -0.05), Verdict::Faster);
        assert_eq!(of(0.01, 0.04), Verdict::Same, "an irrelevant change");
        assert_eq!(of(-0.01, 0.06), Verdict::SameOrSlower);
        assert_eq!(of(-0.06, 0.01), Verdict::SameOrFaster);
        assert_eq!(of(-0.06, 0.06), Verdict::Undecided);
        assert_eq!(of(0.01, 0.06), Verdict::Slower, "the size of the change is open");
        let estimate = |low: f64, high: f64| {
            Estimate::of_interval((low / 2.0 + high / 2.0).exp(), (low.exp(), high.exp()), (5, 5), THRESHOLD)
        };
        assert!(!estimate(0.01, 0.06).is_decided(), "an imprecise measurement is not a regression");
        assert!(
            estimate(0.06, 0.09).beyond && estimate(-0.09, -0.06).beyond && estimate(0.01, 0.04).is_decided()
        );
    }

    #[test]
    fn undecided_rows_show_what_they_could_detect_and_what_would_decide() {
        let of = |value, error| Estimate::from_difference(&difference(value, error), (5, 7), 0.05, THRESHOLD);
        let wide = of(0.0, 0.1);
        assert_eq!((wide.verdict, wide.would_decide), (Verdict::Undecided, Some(78)), "{wide:?}");
        assert!((wide.detectable - 1.279).abs() < 1e-3, "{wide:?}");
        let clear = of(1.0, 0.1);
        assert_eq!((clear.verdict, clear.would_decide), (Verdict::Slower, None));
        assert_eq!(of(3.1, 0.01).text(), "22.2x [21.8, 22.6]");
        assert_eq!(of(-4.0, 0.01).text(), "0.018x [0.018, 0.019]");
        assert_eq!(of(0.0, 1.1).text(), "1.00x [0.12, 8.66]");
        // Few launches that vary much: the ends are 1e-1699 and 1e1699.
        let far = of(0.2, 2000.0);
        assert_eq!(far.text(), "not known");
        assert!(far.low > 0.0 && far.high.is_finite(), "{far:?}");
        assert_eq!(far.detectable_text(), "launches vary too much to detect a change");
        assert_eq!(of(0.0, 0.6).detectable_text(), "only changes above 3.4x would be detected");
        assert_eq!(wide.detectable_text(), "only changes above 28% would be detected");
        // A part of the error that lasts takes more, or no number is enough: 5 (1 - 0.04) / ((0.05 / 0.19623)^2 - 0.04) = 192.6.
        let lasting = |part| {
            Estimate::from_difference(
                &Difference { lasting: part, ..difference(0.0, 0.1) },
                (5, 7),
                0.05,
                THRESHOLD,
            )
        };
        assert_eq!((lasting(0.02).would_decide, lasting(0.05).would_decide), (Some(193), None));
        // It is as close to the threshold as possible: the number of launches for a decision is unknown.
        assert_eq!(of(THRESHOLD, 0.1).would_decide, None);
    }

    #[test]
    fn a_verdict_stays_while_the_estimate_agrees_with_it() {
        let of = |value| Estimate::from_difference(&difference(value, 0.02), (8, 8), 0.05, THRESHOLD);
        assert!(!of(0.06).is_decided());
        let kept = of(0.06).with(Verdict::Slower, THRESHOLD);
        assert_eq!((kept.verdict, kept.text().as_str()), (Verdict::Slower, "1.06x [1.05, 1.10]"));
        assert!(kept.beyond && kept.would_decide.is_none());
        let withdrawn = of(0.04).with(Verdict::Slower, THRESHOLD);
        assert_eq!((withdrawn.beyond, withdrawn.text().as_str()), (false, "1.04x [1.00, 1.08]"));
        assert!(withdrawn.would_decide.is_some());
        assert_eq!(of(0.04).with(Verdict::Same, THRESHOLD).text(), "1.04x [1.00, 1.05]");
    }

    #[test]
    fn an_interval_without_end_has_its_ends_in_json() {
        for error in [1.0, 100.0, 1e4, f64::MAX] {
            let written = Estimate::from_difference(&difference(0.1, error), (3, 3), 0.05, THRESHOLD);
            let json = serde_json::to_value(&written).unwrap();
            let numbers = ["low", "high", "detectable"].map(|name| json[name].as_f64());
            assert!(numbers.iter().all(Option::is_some), "JSON has no infinite numbers: {json}");
        }
    }

    #[test]
    fn an_interval_never_contradicts_its_verdict() {
        // Random noise.
        for i in 0..10_000_usize {
            let value = ((i * 7919) % 1000) as f64 / 1000.0 - 0.5;
            let error = 0.002 + ((i * 31) % 97) as f64 / 500.0;
            let answer = Estimate::from_difference(&difference(value, error), (5, 5), 0.01, THRESHOLD);
            let (least, most) = answer.verdict.ratios(THRESHOLD);
            let is_within = least <= answer.low && answer.high <= most;
            assert!(is_within || !answer.is_decided(), "{answer:?}");
            assert!(answer.low <= answer.ratio && answer.ratio <= answer.high, "{answer:?}");
            let shown = Verdict::of_interval(answer.low.ln(), answer.high.ln(), THRESHOLD);
            assert!(!answer.verdict.is_change() || shown == answer.verdict, "{answer:?}");
        }
    }
}
