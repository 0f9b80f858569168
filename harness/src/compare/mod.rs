//! Comparisons: has a method become slower, and which side is faster? A verdict for each method of each case, or none.
//!
//! Pure functions of launches: the measuring code runs interim tests with [`Comparer`], and continues while rows are undecided.
//! Each [`Question`] is tested for every method of every case. The probability that any test falsely reports a change above the
//! threshold is at most [`Settings::alpha`] per comparison, for any number of interim tests.

mod comparison;
mod differences;
mod findings;
pub mod guidelines;
mod interim;
mod junit;
mod means;
mod overview;
mod phases;
mod same_bytes;
mod schedule;
mod side;
mod states;
mod text;
mod trend;
mod verdict;
mod weights;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use comparison::{Comparison, Comparisons, GateDecision, SideLabel};
pub use differences::FEWEST_RUNS;
use differences::{LaunchSeries, difference, mean, mean_levels, over};
pub use findings::findings;
pub use interim::{interim_tests, spent};
pub use overview::{Best, CaseRow, Overview};
pub use phases::PhaseChange;
pub use same_bytes::same_bytes;
pub use schedule::Schedule;
pub use side::{ComparisonUnit, LaunchId, Side, StateValues, Subject, SubjectValues};
pub use states::StateMet;
pub use trend::{Check, Trend};
use verdict::{Asked, QuestionFamily};
pub use verdict::{Estimate, Verdict};
pub use weights::Weights;

/// Control methods, which show whether other methods have changed as much: the first one that both sides have.
const CONTROLS: [&str; 3] = ["manual", "manual_tuned", "reference"];

/// A question about each method of each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Has the time, the median of a launch, changed?
    Time,
    /// Has the mean of a launch changed? Applications pay for late repetitions, which no median shows.
    Mean,
}

impl Question {
    /// Its part of [`Settings::alpha`]. The mean needs little: rank tests reach any level with a few more launches, but the
    /// intervals of times become wider for all rows.
    const fn share(self) -> f64 {
        match self {
            Self::Time => 0.8,
            Self::Mean => 0.2,
        }
    }

    /// The values for it, logarithms by launch.
    const fn values(self) -> fn(&SubjectValues) -> &BTreeMap<LaunchId, f64> {
        match self {
            Self::Time => |values| &values.times,
            Self::Mean => |values| &values.means,
        }
    }
}

/// The settings of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// A change must be larger than this fraction to fail a gate; a smaller change is called the same.
    pub threshold: f64,
    /// The probability of any wrong verdict per comparison.
    pub alpha: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threshold: 0.05, alpha: 0.05 }
    }
}

/// A method of a case on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The method of a case.
    #[serde(flatten)]
    pub subject: Subject,
    /// Bytes of a message.
    pub bytes: u64,
    /// The time on the base, in seconds: the geometric mean over launches, adjusted to the machine's most common state if that is
    /// known, so that the change is the ratio of the times.
    pub base_s: Option<f64>,
    /// The same of the other side.
    pub new_s: Option<f64>,
    /// The change of its time, new over base.
    pub time: Option<Estimate>,
    /// The mean on the base, in seconds, so that the change of the mean is the ratio of the means.
    pub base_mean_s: Option<f64>,
    /// The same of the other side.
    pub new_mean_s: Option<f64>,
    /// The change of its mean; missing with too few launches for an interval.
    pub mean: Option<Estimate>,
    /// The verdict on its time, unless its mean is shown to be slower by more than the threshold, or to have changed by more while its
    /// time is not shown to have changed.
    pub verdict: Verdict,
    /// The method that its change is compared with; missing for references.
    pub control: Option<String>,
    /// Its change relative to that of the control: shows whether others have changed as much. It does not affect verdicts.
    pub over_control: Option<Estimate>,
    /// Its other phases on both sides, which explain a change; they are not tested.
    pub phases: Vec<PhaseChange>,
    /// Its failure; empty without one.
    pub note: String,
}

impl ComparisonRow {
    /// The size of the change in any direction: a logarithm.
    fn change(&self) -> f64 {
        self.decisive().map_or(0.0, |answer| answer.ratio.ln().abs())
    }

    /// Whether the mean shows a change that the time does not show.
    pub fn is_by_mean(&self) -> bool {
        self.verdict.is_change() && self.time.as_ref().is_none_or(|time| time.verdict != self.verdict)
    }

    /// The verdict as text, with its basis if that is not the time.
    pub fn verdict_text(&self) -> &'static str {
        match self.verdict {
            Verdict::Slower if self.is_by_mean() => "slower by mean",
            Verdict::Faster if self.is_by_mean() => "faster by mean",
            verdict => verdict.name(),
        }
    }

    /// The answer that determines the verdict.
    fn decisive(&self) -> Option<&Estimate> {
        self.differing_mean().filter(|mean| mean.verdict == self.verdict).or(self.time.as_ref())
    }

    /// The change of the mean, if it is shown to be beyond the threshold and differs from that of the time: another verdict, or at
    /// most half as large.
    fn differing_mean(&self) -> Option<&Estimate> {
        let mean = self.mean.as_ref().filter(|mean| mean.beyond)?;
        let is_alike = |time: &Estimate| {
            let times = (mean.ratio / time.ratio).max(time.ratio / mean.ratio);
            time.verdict == mean.verdict && (times < 2.0 || mean.low < time.high && time.low < mean.high)
        };
        (!self.time.as_ref().is_some_and(is_alike)).then_some(mean)
    }

    /// Whether a change is shown to be larger than the threshold.
    pub fn is_beyond(&self) -> bool {
        let beyond = |answer: &Estimate| answer.beyond && answer.verdict == self.verdict;
        [&self.time, &self.mean].into_iter().flatten().any(beyond)
    }

    /// Whether the verdict is final.
    pub fn is_decided(&self) -> bool {
        match self.verdict {
            Verdict::Slower | Verdict::Faster => self.is_beyond(),
            Verdict::SameOrSlower | Verdict::Undecided | Verdict::SameOrFaster => false,
            Verdict::Same | Verdict::Broken | Verdict::Repaired | Verdict::NotCompared => true,
        }
    }

    /// Whether more launches may show more: it is undecided, or the means differ more than the times and that may be chance.
    pub fn is_open(&self) -> bool {
        !self.is_decided() || self.has_open_mean()
    }

    fn has_open_mean(&self) -> bool {
        /// A logarithm. Smaller differences are usual without a fault: in one of ten launches, means differ from medians by as
        /// much.
        const MUCH: f64 = 0.1;
        let farther = || {
            let means = self.new_mean_s?.ln() - self.base_mean_s?.ln();
            Some((means - self.time.as_ref()?.ratio.ln()).abs() > MUCH)
        };
        let fails = matches!(self.verdict, Verdict::Broken | Verdict::Repaired | Verdict::NotCompared);
        !fails && !self.mean.as_ref().is_some_and(Estimate::is_decided) && farther().unwrap_or(false)
    }
}

/// Compares two sides with interim tests.
#[derive(Debug, Default)]
pub struct Comparer {
    settings: Settings,
    /// The part of its error that each case has spent.
    spent: BTreeMap<Subject, f64>,
    answers: BTreeMap<(Question, Subject), Estimate>,
}

impl Comparer {
    /// Before the first test.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Tests the cases of which both sides have made a fraction of all launches, given by `share`. Returns all rows, also of
    /// cases that are not tested now (`None`).
    pub fn interim_test(
        &mut self,
        base: &Side,
        new: &Side,
        share: &dyn Fn(&Subject) -> Option<f64>,
    ) -> Vec<ComparisonRow> {
        let subjects: Vec<Subject> =
            base.subjects().filter(|subject| new.values(subject).is_some()).cloned().collect();
        let may_spend = self.spend(&subjects, share);
        self.ask_times([base, new], &subjects, &may_spend);
        self.ask_means([base, new], &subjects, &may_spend);
        let all = base.subjects().chain(new.subjects().filter(|subject| base.values(subject).is_none()));
        all.map(|subject| self.row(base, new, subject, subjects.len())).collect()
    }

    /// Tests whether the times of the subjects have changed, if their cases may spend some error now. A decision stays, and its
    /// interval becomes that of all launches; if their estimate contradicts the decision, it is withdrawn ([`Estimate::with`]).
    fn ask_times(
        &mut self,
        [base, new]: [&Side; 2],
        subjects: &[Subject],
        may_spend: &BTreeMap<Subject, f64>,
    ) {
        let question = Question::Time;
        let known = |subject: &Subject| self.answers.get(&(question, subject.clone()));
        let decided = |subject: &Subject| known(subject).filter(|answer| answer.is_decided());
        let family = QuestionFamily {
            all: subjects.len(),
            different: subjects.iter().filter_map(decided).filter(|answer| answer.beyond).count(),
            alpha: self.settings.alpha * question.share(),
            threshold: self.threshold(),
        };
        let asked = subjects.iter().filter_map(|subject| {
            let share = *may_spend.get(&case_of(subject))?;
            let series = |side| LaunchSeries::of(side, subject, question.values());
            Some(Asked { key: subject, share, difference: difference([series(base)?, series(new)?])? })
        });
        let (mut answers, mut open) = (Vec::new(), Vec::new());
        for asked in asked {
            match decided(asked.key) {
                Some(before) => {
                    let now = family.estimate(&asked).with(before.verdict, family.threshold);
                    answers.push((asked.key, now));
                }
                None => open.push(asked),
            }
        }
        answers.extend(family.judge(open));
        self.answers
            .extend(answers.into_iter().map(|(subject, answer)| ((question, subject.clone()), answer)));
    }

    /// Tests whether the means of the same subjects have changed.
    fn ask_means(
        &mut self,
        [base, new]: [&Side; 2],
        subjects: &[Subject],
        may_spend: &BTreeMap<Subject, f64>,
    ) {
        let (question, threshold) = (Question::Mean, self.threshold());
        for subject in subjects {
            let Some(share) = may_spend.get(&case_of(subject)) else { continue };
            let series = |side| LaunchSeries::of(side, subject, question.values());
            let alpha = self.settings.alpha * question.share() * share / subjects.len() as f64;
            let sides = series(base).zip(series(new));
            let Some(answer) = sides.and_then(|(base, new)| mean([base, new], alpha, threshold)) else {
                continue;
            };
            let key = (question, subject.clone());
            let before = self.answers.get(&key).filter(|before| before.is_decided());
            let now = match before {
                Some(before) => answer.with(before.verdict, threshold),
                None => answer,
            };
            self.answers.insert(key, now);
        }
    }

    /// As a logarithm.
    fn threshold(&self) -> f64 {
        self.settings.threshold.ln_1p()
    }

    /// The error that each tested case may spend now.
    fn spend(
        &mut self,
        subjects: &[Subject],
        share: &dyn Fn(&Subject) -> Option<f64>,
    ) -> BTreeMap<Subject, f64> {
        let mut may_spend = BTreeMap::new();
        for case in subjects.iter().map(case_of) {
            if may_spend.contains_key(&case) {
                continue;
            }
            let Some(share) = share(&case) else { continue };
            let before = self.spent.entry(case.clone()).or_default();
            let now = spent(share) - *before;
            if now > 0.0 {
                *before += now;
                may_spend.insert(case, now);
            }
        }
        may_spend
    }

    /// The row of a subject; `all` is the number of compared ones.
    fn row(&self, base: &Side, new: &Side, subject: &Subject, all: usize) -> ComparisonRow {
        let (of_base, of_new) = (base.values(subject), new.values(subject));
        let series = |question: Question| {
            let of = |side| LaunchSeries::of(side, subject, question.values());
            Some([of(base)?, of(new)?])
        };
        let levels = series(Question::Time).and_then(difference);
        let of_times = |values: Option<&SubjectValues>| {
            crate::stats::mean(&values?.times.values().copied().collect::<Vec<_>>()).map(f64::exp)
        };
        let [base_s, new_s] = match levels {
            Some((levels, _)) => levels.locations.map(|level| Some(level.exp())),
            None => [of_base, of_new].map(of_times),
        };
        let of_means = |values: Option<&SubjectValues>| {
            crate::stats::median(&crate::stats::sorted(values?.means.values().copied())).map(f64::exp)
        };
        let [base_mean_s, new_mean_s] = match series(Question::Mean).and_then(mean_levels) {
            Some(levels) => levels.map(|level| Some(level.exp())),
            None => [of_base, of_new].map(of_means),
        };
        let fails = |values: Option<&SubjectValues>| values.is_some_and(|values| values.failure.is_some());
        let answer = |question| self.answers.get(&(question, subject.clone())).cloned();
        let [time, mean] = [Question::Time, Question::Mean].map(answer);
        let of_mean = mean.as_ref().filter(|mean| mean.beyond).map(|mean| mean.verdict);
        let worst = time.as_ref().map(|time| time.verdict).into_iter().chain(of_mean).min();
        let verdict = match (fails(of_base), fails(of_new)) {
            (false, true) if of_base.is_some() => Verdict::Broken,
            (true, false) if of_new.is_some() => Verdict::Repaired,
            (false, false) if of_base.is_some() && of_new.is_some() => worst.unwrap_or(Verdict::Undecided),
            _ => Verdict::NotCompared,
        };
        let failure = of_new.and_then(|values| values.failure);
        let failure = failure.or_else(|| of_base.and_then(|values| values.failure));
        let control = control(base, new, subject);
        let over_control = control.as_ref().and_then(|control| {
            let (difference, units) = over(base, new, subject, control)?;
            let alpha = self.settings.alpha / all.max(1) as f64;
            Some(Estimate::of(&difference.difference, units, alpha, self.threshold()))
        });
        ComparisonRow {
            subject: subject.clone(),
            bytes: of_base.or(of_new).map_or(0, |values| values.bytes),
            base_s,
            new_s,
            time,
            base_mean_s,
            new_mean_s,
            mean,
            verdict,
            control,
            over_control,
            phases: of_base.zip(of_new).map(|(base, new)| phases::of(base, new)).unwrap_or_default(),
            note: failure.unwrap_or_default().to_owned(),
        }
    }
}

/// The control for a subject: the first control method that both sides have, except itself.
fn control(base: &Side, new: &Side, subject: &Subject) -> Option<String> {
    if is_reference(subject) {
        return None;
    }
    let is_there = |name: &&str| {
        let has =
            |side: &Side| side.values(&subject.with(name)).is_some_and(|values| !values.times.is_empty());
        subject.method != *name && has(base) && has(new)
    };
    CONTROLS.into_iter().find(is_there).map(str::to_owned)
}

/// The case of a subject: no method.
fn case_of(subject: &Subject) -> Subject {
    subject.with("")
}

fn is_reference(subject: &Subject) -> bool {
    subject.experiment.reference_of(&subject.method).is_none()
}

#[cfg(test)]
mod made;
#[cfg(test)]
mod tests;
