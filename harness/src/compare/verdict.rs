//! What is said of a difference: its ratio with the corrected interval, and the verdict.

use serde::{Deserialize, Serialize};

use super::differences::CountedDifference;
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
pub struct Estimate {
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
    /// Whether it is what the ratio would be with the machine in one state on both sides.
    pub adjusted: bool,
}

impl Estimate {
    /// Of a difference of logarithms, by the interval that misses it in a share of `alpha`; `threshold` is a logarithm.
    pub fn of(difference: &Difference, units: (usize, usize), alpha: f64, threshold: f64) -> Self {
        let (low, high) = difference.interval(alpha);
        let half = difference.half_width(alpha);
        // Error bars shrink with the root of the number; what lies within the threshold must get clear of its end.
        let distance = match difference.value.abs() {
            value if value > threshold => value,
            value => threshold - value,
        };
        let needed = units.0.min(units.1) as f64 * (half / distance).powi(2);
        let ends = (low.exp(), high.exp());
        let answer = Self::of_interval(difference.value.exp(), ends, units, threshold);
        let would_decide =
            (!answer.verdict.is_decided() && needed.is_finite()).then(|| needed.ceil() as usize);
        Self { would_decide, could_see: half.exp(), adjusted: difference.is_adjusted, ..answer }
    }

    /// Of a ratio and its interval, however it was found; `threshold` is a logarithm. What would decide is not known.
    pub(super) fn of_interval(
        ratio: f64,
        (low, high): (f64, f64),
        units: (usize, usize),
        threshold: f64,
    ) -> Self {
        let verdict = verdict(low.ln(), high.ln(), low > 1.0 || high < 1.0, threshold);
        Self {
            ratio,
            low,
            high,
            units,
            verdict,
            could_see: high / ratio,
            would_decide: None,
            adjusted: false,
        }
    }

    /// The same, where it was shown otherwise that the ratio is not 1: the interval then ends there, and 1 is no part of it.
    pub(super) fn differing(self, threshold: f64) -> Self {
        let (low, high) =
            if self.ratio > 1.0 { (self.low.max(1.0), self.high) } else { (self.low, self.high.min(1.0)) };
        let verdict = verdict(low.ln(), high.ln(), true, threshold);
        Self { low, high, verdict, would_decide: self.would_decide.filter(|_| !verdict.is_decided()), ..self }
    }

    /// As `22.4x [21.9, 23.0]`. Where it is said that the ratio is not 1, an end that is 1 is no part of the interval, which a
    /// round bracket says; one that is merely near has as many decimals as tell it apart.
    pub fn text(&self) -> String {
        let places = match self.ratio {
            ratio if ratio >= 9.95 => 1,
            ratio if ratio < 0.095 => 3,
            _ => 2,
        };
        let differs = matches!(self.verdict, Verdict::Slower | Verdict::Faster);
        let end = |value: f64| {
            let text = |places: usize| format!("{value:.places$}");
            let is_one = |text: &String| text.parse() == Ok(1.0);
            let apart = (places..=MOST_PLACES).map(text).find(|text| !differs || !is_one(text));
            apart.map_or_else(|| (text(places), true), |text| (text, false))
        };
        let ((low, without_low), (high, without_high)) = (end(self.low), end(self.high));
        let (open, close) = (if without_low { '(' } else { '[' }, if without_high { ')' } else { ']' });
        format!("{:.places$}x {open}{low}, {high}{close}", self.ratio)
    }
}

/// Decimals that an end may have to be told from 1; what is nearer is written as 1 that is excluded.
const MOST_PLACES: usize = 4;

/// The ends are logarithms; `differs`: whether it is shown that there is a difference.
fn verdict(low: f64, high: f64, differs: bool, threshold: f64) -> Verdict {
    match () {
        () if differs && low >= 0.0 && high > threshold => Verdict::Slower,
        () if differs && high <= 0.0 && low < -threshold => Verdict::Faster,
        () if -threshold < low && high < threshold => Verdict::Same,
        () => Verdict::Undecided,
    }
}

/// A question of a family that is asked now.
#[derive(Clone, Copy, Debug)]
pub struct Asked<K> {
    /// What tells it from others.
    pub key: K,
    /// The difference, as far as it is known, and of how many launches, or runs, of both sides.
    pub difference: CountedDifference,
    /// The share of its error that this look may spend; all shares of a question add up to 1 at most.
    pub share: f64,
}

/// A family of questions, which err together.
#[derive(Clone, Copy, Debug)]
pub struct QuestionFamily {
    /// All questions, whether they are asked now or not.
    pub all: usize,
    /// Those of which earlier looks have said that there is a difference.
    pub different: usize,
    /// In so many families may a difference be said where there is none, and in as many an interval miss.
    pub alpha: f64,
    /// Changes below this, a logarithm, are none.
    pub threshold: f64,
}

impl QuestionFamily {
    /// The answers. Intervals are those of Bonferroni: all that are ever shown hold together. Whether there is a difference is said
    /// by Holm's steps ([`stats::holm_levels`]), which find more; where only they do, the interval ends at 1.
    pub fn judge<K>(self, asked: Vec<Asked<K>>) -> Vec<(K, Estimate)> {
        let all = self.all.max(asked.len());
        let chances: Vec<f64> = asked.iter().map(|asked| asked.difference.0.p() / asked.share).collect();
        let levels = stats::holm_levels(&chances, all - self.different.min(all), self.alpha);
        let answer = |((asked, chance), level): ((Asked<K>, f64), f64)| {
            let alpha = self.alpha * asked.share / all as f64;
            let (difference, units) = asked.difference;
            let answer = Estimate::of(&difference, units, alpha, self.threshold);
            (asked.key, if chance <= level { answer.differing(self.threshold) } else { answer })
        };
        asked.into_iter().zip(chances).zip(levels).map(answer).collect()
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
    fn a_verdict_is_where_the_interval_lies() {
        let of = |low: f64, high: f64| verdict(low, high, low > 0.0 || high < 0.0, THRESHOLD);
        assert_eq!(of(0.01, 0.06), Verdict::Slower);
        assert_eq!(of(-0.06, -0.01), Verdict::Faster);
        assert_eq!(of(0.01, 0.04), Verdict::Same, "a change that nobody cares for");
        assert_eq!(of(-0.01, 0.06), Verdict::Undecided);
        assert_eq!(of(-0.06, 0.06), Verdict::Undecided);
    }

    #[test]
    fn undecided_rows_show_what_they_could_detect_and_what_would_decide() {
        let of = |value, error| Estimate::of(&difference(value, error), (5, 7), 0.05, THRESHOLD);
        let wide = of(0.0, 0.1);
        assert_eq!((wide.verdict, wide.would_decide), (Verdict::Undecided, Some(78)), "{wide:?}");
        assert!((wide.could_see - 1.217).abs() < 1e-3, "{wide:?}");
        let clear = of(1.0, 0.1);
        assert_eq!((clear.verdict, clear.would_decide), (Verdict::Slower, None));
        assert_eq!(
            Estimate::of(&difference(3.1, 0.01), (5, 5), 0.05, THRESHOLD).text(),
            "22.2x [21.8, 22.6]"
        );
        assert_eq!(
            Estimate::of(&difference(-4.0, 0.01), (5, 5), 0.05, THRESHOLD).text(),
            "0.018x [0.018, 0.019]"
        );
        // It is as near to the threshold as can be: nobody can tell when that is decided.
        assert_eq!(of(THRESHOLD, 0.1).would_decide, None);
    }

    fn judge(all: usize, asked: &[Difference]) -> Vec<Estimate> {
        let family = QuestionFamily { all, different: 0, alpha: 0.05, threshold: THRESHOLD };
        let asked = asked.iter().map(|&of| Asked { key: (), difference: (of, (5, 5)), share: 1.0 });
        family.judge(asked.collect()).into_iter().map(|(_, answer)| answer).collect()
    }

    #[test]
    fn the_more_is_asked_the_more_must_be_shown() {
        // 2.2 errors: beyond 5% of one question, not of two.
        let one = difference(0.22, 0.1);
        assert_eq!(judge(1, &[one])[0].verdict, Verdict::Slower);
        assert_eq!(judge(2, &[one])[0].verdict, Verdict::Undecided);
        // Another that is clear no longer counts: one is left.
        let both = judge(2, &[one, difference(1.0, 0.1)]);
        assert!(both.iter().all(|answer| answer.verdict == Verdict::Slower), "{both:?}");
    }

    #[test]
    fn an_interval_never_contradicts_its_verdict() {
        // Found by Holm's second step alone: Bonferroni's interval of two at 5% would hold 1.
        let both = judge(2, &[difference(0.22, 0.1), difference(1.0, 0.1)]);
        assert_eq!((both[0].low, both[0].text().as_str()), (1.0, "1.25x (1.00, 1.56]"));
        // An end that is near 1 is told from it.
        let near = Estimate::of(&difference(0.1, 0.05), (5, 5), 0.05, THRESHOLD);
        assert_eq!((near.verdict, near.text().as_str()), (Verdict::Slower, "1.11x [1.002, 1.22]"));
        let faster = Estimate::of(&difference(-0.22, 0.1), (5, 5), 0.02, THRESHOLD).differing(THRESHOLD);
        assert_eq!((faster.verdict, faster.text().as_str()), (Verdict::Faster, "0.80x [0.64, 1.00)"));
        // Of many families with noise of any size: what is said lies in what is shown, and what is shown in what is said.
        let rounding = 1e-9;
        let (least, most) = ((-THRESHOLD).exp() - rounding, THRESHOLD.exp() + rounding);
        for i in 0..2000 {
            let value = |k: usize| ((i * 7919 + k * 104_729) % 1000) as f64 / 1000.0 - 0.5;
            let error = |k: usize| 0.002 + ((i * 31 + k * 17) % 97) as f64 / 500.0;
            let asked: Vec<Difference> = (0..5).map(|k| difference(value(k), error(k))).collect();
            for answer in judge(5, &asked) {
                let (low, high) = (answer.low, answer.high);
                match answer.verdict {
                    Verdict::Slower => {
                        assert!(
                            low >= 1.0 && high > most - 2.0 * rounding && !answer.text().contains("[1.00,")
                        )
                    }
                    Verdict::Faster => {
                        assert!(
                            high <= 1.0 && low < least + 2.0 * rounding && !answer.text().contains("1.00]")
                        )
                    }
                    Verdict::Same => assert!(low > least && high < most),
                    _ => assert!((low < 1.0 && high > 1.0) || high <= most || low >= least, "{answer:?}"),
                }
                assert!(low <= answer.ratio && answer.ratio <= high, "{answer:?}");
            }
        }
    }
}
