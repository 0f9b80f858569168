//! The question of a guideline about a case, and its answer from launches.

use serde::Serialize;

use super::list::{GUIDELINES, Guideline, MANUAL, Term, Than, descriptions};
use crate::compare::side::{LaunchId, packing};
use crate::compare::{Estimate, Side, Subject, SubjectValues};
use crate::model::{LOOP, Phase};
use crate::stats::difference::Difference;
use crate::stats::{median, sorted};

/// Whether one time exceeds another, by a guideline.
#[derive(Clone, Debug)]
pub struct GuidelineQuestion {
    pub guideline: &'static Guideline,
    /// The subject of the first time.
    pub subject: Subject,
    /// The subject of the second time.
    pub other: Subject,
    /// The factor of the second time.
    pub times: f64,
}

/// The values of launches for a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Logarithms of the ratio of the time to its limit.
    Ratios(Vec<f64>),
    /// Seconds that are spent once, and seconds that each use saves. Their means are compared, because the
    /// saving may be negative.
    Uses { spent: Vec<f64>, saved: Vec<f64>, uses: f64 },
}

/// The number of uses until something pays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BreakEven {
    /// The number; missing if it saves nothing.
    pub uses: Option<f64>,
    /// Lower end of the corrected interval; missing if it never pays.
    pub low: Option<f64>,
    /// Upper end; missing if it may never pay.
    pub high: Option<f64>,
}

/// All questions for which both times were measured.
pub fn questions(side: &Side) -> Vec<GuidelineQuestion> {
    GUIDELINES.iter().flat_map(|guideline| of_guideline(guideline, side)).collect()
}

fn of_guideline(guideline: &'static Guideline, side: &Side) -> Vec<GuidelineQuestion> {
    let subjects: Vec<&Subject> =
        side.subjects().filter(|subject| subject.method == guideline.takes.method()).collect();
    let asked = |subject: Subject, other: Subject, times: f64| {
        let is_measured = side.values(&subject).is_some() && side.values(&other).is_some();
        is_measured.then_some(GuidelineQuestion { guideline, subject, other, times })
    };
    // The loop of a case, with this name.
    let with = |subject: &Subject, name: &dyn Fn(&str) -> String, method: &str| {
        let other = subject.with(&name(method));
        match method == MANUAL && side.values(&other).is_none() {
            true => subject.with(&name(LOOP)),
            false => other,
        }
    };
    let whole = |method: &str| method.to_owned();
    let of_term = |subject: &Subject, term: &Term| match term {
        Term::Packing(method) => with(subject, &packing, method),
        term => with(subject, &whole, term.method()),
    };
    let of = |subject: &&Subject| match &guideline.than {
        Than::Times(times, than) => {
            let question = asked(of_term(subject, &guideline.takes), of_term(subject, than), *times);
            question.into_iter().collect()
        }
        Than::Saved(_, over) => {
            asked((*subject).clone(), with(subject, &whole, over), 1.0).into_iter().collect()
        }
        Than::Described => {
            let others = descriptions().filter_map(|name| asked((*subject).clone(), subject.with(name), 1.0));
            others.collect::<Vec<_>>()
        }
        Than::Larger | Than::Smaller => Vec::new(),
    };
    match &guideline.than {
        Than::Larger | Than::Smaller => of_sizes(guideline, side, subjects),
        _ => subjects.iter().flat_map(of).collect(),
    }
}

/// The questions for neighbouring sizes of a test.
fn of_sizes(guideline: &'static Guideline, side: &Side, subjects: Vec<&Subject>) -> Vec<GuidelineQuestion> {
    let with_bytes = |subject: &Subject| Some((subject.clone(), side.values(subject)?.bytes));
    let mut sizes: Vec<(Subject, u64)> = subjects.into_iter().filter_map(with_bytes).collect();
    let family =
        |subject: &Subject| (subject.experiment, subject.test.clone(), subject.ranks, subject.conditions());
    sizes.sort_by_key(|(subject, bytes)| (family(subject), *bytes));
    let question = |pair: &[(Subject, u64)]| {
        let [(smaller, bytes), (larger, more)] = [pair[0].clone(), pair[1].clone()];
        let are_neighbours = family(&smaller) == family(&larger)
            && 0 < bytes
            && bytes < more
            && grows_in_one(&smaller.params, &larger.params);
        match guideline.than {
            _ if !are_neighbours => None,
            Than::Smaller if more % bytes == 0 => {
                let times = (more / bytes) as f64;
                Some(GuidelineQuestion { guideline, subject: larger, other: smaller, times })
            }
            Than::Smaller => None,
            _ => Some(GuidelineQuestion { guideline, subject: smaller, other: larger, times: 1.0 }),
        }
    };
    sizes.windows(2).filter_map(question).collect()
}

/// Whether the second values are the first ones with one larger number.
fn grows_in_one(first: &str, second: &str) -> bool {
    let differ: Vec<(&str, &str)> =
        first.split(' ').zip(second.split(' ')).filter(|(one, other)| one != other).collect();
    let number = |pair: &str| pair.split_once('=').and_then(|(_, value)| value.parse::<f64>().ok());
    match differ.as_slice() {
        [(one, other)] => number(one) < number(other),
        _ => false,
    }
}

impl GuidelineQuestion {
    /// The tested hypothesis. Whether two times differ is a single one for both directions.
    pub fn hypothesis(&self) -> (Subject, Subject, &'static str) {
        let (subject, other) = (self.subject.clone(), self.other.clone());
        match &self.guideline.than {
            Than::Saved(..) => (subject, other, &self.guideline.name),
            _ if self.times != 1.0 => (subject, other, &self.guideline.name),
            _ if subject < other => (subject, other, ""),
            _ => (other, subject, ""),
        }
    }

    /// The values of launches, each separately.
    pub fn evidence(&self, side: &Side) -> Evidence {
        let values = |subject| side.values(subject).expect("only measured subjects have questions");
        let (mine, other) = (values(&self.subject), values(&self.other));
        let Than::Saved(uses, _) = &self.guideline.than else {
            let ratio =
                |(number, time): (&LaunchId, &f64)| Some(time - other.times.get(number)? - self.times.ln());
            return Evidence::Ratios(mine.times.iter().filter_map(ratio).collect());
        };
        let launch = |(number, time): (&LaunchId, &f64)| {
            Some((made_s(mine, number)?, other.times.get(number)?.exp() - time.exp()))
        };
        let (spent, saved) = mine.times.iter().filter_map(launch).unzip();
        Evidence::Uses { spent, saved, uses: *uses }
    }

    /// The median time over launches, and name and median of the compared time: seconds.
    pub fn times(&self, side: &Side) -> (f64, String, f64) {
        let times =
            |subject: &Subject| side.values(subject).into_iter().flat_map(|values| values.times.values());
        let middle = |values: Vec<f64>| median(&sorted(values)).unwrap_or(0.0);
        let time_s = |subject: &Subject| middle(times(subject).copied().collect()).exp();
        let other = &self.other.method;
        match self.evidence(side) {
            Evidence::Uses { spent, saved, uses } => {
                let saved_s = uses * middle(saved);
                let than = match saved_s > 0.0 {
                    true => format!("{uses} times its saving relative to {other}"),
                    false => format!("no saving relative to {other}"),
                };
                (middle(spent), than, saved_s)
            }
            Evidence::Ratios(_) => {
                let than =
                    if self.times == 1.0 { other.clone() } else { format!("{} times {other}", self.times) };
                (time_s(&self.subject), than, self.times * time_s(&self.other))
            }
        }
    }
}

/// Time for creating and freeing the datatypes in a launch.
fn made_s(values: &SubjectValues, number: &LaunchId) -> Option<f64> {
    let of = |phase| values.phases.get(&phase).and_then(|launches| launches.get(number));
    Some(of(Phase::Create)? + of(Phase::Free).unwrap_or(&0.0))
}

impl Evidence {
    /// The answer with the interval that misses with probability `alpha`; `threshold` is a logarithm. `None`
    /// with fewer than three launches.
    pub fn answer(&self, alpha: f64, threshold: f64) -> Option<Estimate> {
        match self {
            Self::Ratios(ratios) => {
                let (difference, units) = (Difference::of_pairs(ratios)?, (ratios.len(), ratios.len()));
                Some(Estimate::from_difference(&difference, units, alpha, threshold))
            }
            Self::Uses { spent, uses, .. } => {
                let even = self.break_even(alpha)?;
                let ratio = |count: Option<f64>| count.map_or(f64::INFINITY, |count| count / uses);
                let [ratio, low, high] = [even.uses, even.low, even.high].map(ratio);
                Some(Estimate::of_interval(ratio, (low, high), (spent.len(), spent.len()), threshold))
            }
        }
    }

    /// The number of uses that save the initial cost, with the interval that misses with probability `alpha`.
    /// It is the ratio of two means: the interval has the numbers that Student's test of `spent - number *
    /// saved` does not reject (Fieller, Supplement to the Journal of the Royal Statistical Society 7, 1940).
    /// `None` for ratios, and with fewer than three launches.
    pub fn break_even(&self, alpha: f64) -> Option<BreakEven> {
        let Self::Uses { spent, saved, .. } = self else { return None };
        let [of_spent, of_saved] = [spent, saved].map(|values| Difference::of_pairs(values));
        let (of_spent, of_saved) = (of_spent?, of_saved?);
        let n = spent.len() as f64;
        let products = spent.iter().zip(saved).map(|(a, b)| (a - of_spent.value) * (b - of_saved.value));
        let covariance = products.sum::<f64>() / (n - 1.0) / n;
        // (spent - k saved)^2 <= t^2 (its variance), a quadratic of k: square k^2 - 2 linear k + constant <=
        // 0. Half widths are t times standard errors.
        let [half_spent, half_saved] = [of_spent, of_saved].map(|of| of.half_width(alpha));
        let t = Difference { error: 1.0, ..of_spent }.half_width(alpha);
        let square = of_saved.value.powi(2) - half_saved.powi(2);
        let linear = of_spent.value * of_saved.value - t * t * covariance;
        let constant = of_spent.value.powi(2) - half_spent.powi(2);
        let root = (linear.powi(2) - square * constant).max(0.0).sqrt();
        let uses = (of_saved.value > 0.0).then(|| of_spent.value / of_saved.value);
        Some(match () {
            () if square > 0.0 && of_saved.value > 0.0 => BreakEven {
                uses,
                low: Some(((linear - root) / square).max(0.0)),
                high: Some((linear + root) / square),
            },
            // It is shown to save nothing.
            () if square > 0.0 => BreakEven { uses: None, low: None, high: None },
            // It may save nothing: all numbers from the positive root.
            () if square < 0.0 && constant > 0.0 => {
                BreakEven { uses, low: Some((linear - root) / square), high: None }
            }
            () => BreakEven { uses, low: Some(0.0), high: None },
        })
    }
}

impl BreakEven {
    /// Example: `after 37 [30, 48]`.
    pub fn text(&self) -> String {
        let number = |value: f64| format!("{:.0}", value.ceil());
        match (self.uses, self.low, self.high) {
            (_, None, _) => "never pays".to_owned(),
            (Some(uses), Some(low), Some(high)) => {
                format!("after {} [{}, {}]", number(uses), number(low), number(high))
            }
            // From no use on: nothing is known.
            (_, Some(low), _) if low <= 0.0 => "not known".to_owned(),
            (_, Some(low), _) => format!("after at least {}", number(low)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_where_one_parameter_grows() {
        assert!(grows_in_one("nx=8 ny=64", "nx=8 ny=128"));
        assert!(!grows_in_one("count=128 blocklength=1", "count=64 blocklength=8"), "another layout");
        assert!(!grows_in_one("nx=8 ny=64", "nx=4 ny=64") && !grows_in_one("n=8", "n=8"));
    }

    fn uses(spent: &[f64], saved: &[f64]) -> Evidence {
        Evidence::Uses { spent: spent.to_vec(), saved: saved.to_vec(), uses: 100.0 }
    }

    #[test]
    fn what_is_spent_once_pays_after_some_uses_or_never() {
        let spent = [10.0, 11.0, 9.0, 10.0];
        let loosely = uses(&spent, &[1.0, 0.9, 1.1, 1.0]).break_even(0.05).unwrap();
        assert_eq!(loosely.uses, Some(10.0));
        assert!(loosely.low.unwrap() < 9.0 && loosely.high.unwrap() > 11.0, "{loosely:?}");
        let together = uses(&spent, &[1.0, 1.1, 0.9, 1.0]).break_even(0.05).unwrap();
        assert!(together.high.unwrap() - together.low.unwrap() < 0.1, "they vary together: {together:?}");
        let perhaps = uses(&spent, &[1.0, -1.0, 2.0, -0.5]).break_even(0.05).unwrap();
        assert!(perhaps.high.is_none() && perhaps.low.unwrap() > 0.0, "{perhaps:?}");
        assert_eq!(uses(&spent, &[-1.0, -1.1, -0.9, -1.0]).break_even(0.05).unwrap().text(), "never pays");
        assert_eq!(uses(&[1.0, 2.0], &[1.0, 2.0]).break_even(0.05), None);
    }

    #[test]
    fn the_interval_of_uses_holds_what_a_test_of_the_difference_does_not_reject() {
        let (spent, saved) = ([10.0, 12.0, 9.0, 13.0, 10.5], [1.0, 0.8, 1.3, 0.9, 1.2]);
        let even = uses(&spent, &saved).break_even(0.05).unwrap();
        for end in [even.low.unwrap(), even.high.unwrap()] {
            let values: Vec<f64> = spent.iter().zip(saved).map(|(a, b)| a - end * b).collect();
            let p = Difference::of_pairs(&values).unwrap().p();
            assert!((p - 0.05).abs() < 1e-9, "{p} at {end}");
        }
    }
}
