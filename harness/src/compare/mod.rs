//! Comparisons: has a method become slower, and which side is faster? A verdict for each method of each case, or none.
//!
//! Pure functions of launches: the measuring code runs interim tests with [`Comparer`], and continues while rows are undecided.
//! Each [`Question`] is tested for every method of every case. The probability that any test falsely reports a change above the
//! threshold is at most [`Settings::alpha`] per comparison, for any number of interim tests.

mod comparison;
mod differences;
mod findings;
pub mod foreign;
pub mod guidelines;
mod junit;
mod means;
mod overview;
mod phases;
mod row;
mod same_bytes;
mod schedule;
mod side;
mod states;
mod text;
mod until_decided;
mod verdict;
mod weights;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use comparison::{Comparison, Comparisons, GateDecision, GateResult, KeptComparison, SideLabel};
use differences::{FEWEST_RUNS, LaunchSeries, difference, mean, mean_levels, over};
pub use findings::findings;
pub use overview::{Best, CaseRow, Overview};
pub use phases::PhaseChange;
pub use row::{ComparisonRow, StateChange};
pub use same_bytes::same_bytes;
pub use schedule::Schedule;
pub use side::{ComparisonUnit, LaunchId, MachineThen, Side, Subject, SubjectValues};
pub use states::StateMet;
use states::States;
pub use until_decided::{Launches, Turn, until_decided};
pub use verdict::Estimate;

pub use crate::report::verdict::Verdict;
pub use weights::Weights;

/// Control methods, which show whether other methods have changed as much: the first one that both sides have.
const CONTROLS: [&str; 3] = ["manual", "manual_tuned", "reference"];

/// With more than this share of a side's launches in no known state of the machine, a method is not shown to
/// be as fast: a slower group of a fifth is a result.
const MOST_WITHOUT_STATE: f64 = 0.2;

/// A question about each method of each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Has the time, the median of a launch, changed?
    Time,
    /// Has the mean of a launch changed? Applications pay for late repetitions, which no median shows.
    Mean,
}

impl Question {
    /// Its part of [`Settings::alpha`]. The mean needs little: rank tests reach any level with a few more
    /// launches, but the intervals of times become wider for all rows.
    const fn share(self) -> f64 {
        match self {
            Self::Time => 0.8,
            Self::Mean => 0.2,
        }
    }

    /// The answer, with an interval that misses with probability `alpha`.
    fn answer(self, series: [LaunchSeries<'_>; 2], alpha: f64, threshold: f64) -> Option<Estimate> {
        match self {
            Self::Time => {
                let (compared, units) = difference(series)?;
                Some(Estimate::from_difference(&compared.difference, units, alpha, threshold))
            }
            Self::Mean => mean(series, alpha, threshold),
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

/// Compares two sides with interim tests.
#[derive(Debug, Default)]
pub struct Comparer {
    settings: Settings,
    answers: BTreeMap<(Question, Subject), Vec<StateAnswer>>,
}

/// An answer, and the latency of its state, a logarithm: more launches may show more states.
type StateAnswer = (Option<f64>, Estimate);

/// The part of its error that a case spends on this test; all parts of a case add up to 1 at most.
type Parts<'a> = dyn Fn(&Subject) -> Option<f64> + 'a;

/// Two sides, whole and in each state of the machine.
struct Sides<'a> {
    whole: [&'a Side; 2],
    states: States,
    parts: Vec<[Side; 2]>,
    met: Vec<StateMet>,
}

/// A method of a case in a state of the machine, by its number.
type InState<'a> = (usize, &'a Subject);

impl Comparer {
    /// Before the first test.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Tests the cases to which `parts` gives a part of their error. Returns all rows, also of cases that are not tested now (`None`).
    pub fn interim_test(&mut self, base: &Side, new: &Side, parts: &Parts<'_>) -> Vec<ComparisonRow> {
        let sides = Sides::from_sides([base, new]);
        let subjects: Vec<&Subject> =
            base.subjects().filter(|subject| new.values(subject).is_some()).collect();
        let all =
            (0..sides.parts.len()).flat_map(|state| subjects.iter().map(move |subject| (state, *subject)));
        let compared: Vec<InState<'_>> = all.filter(|of| sides.is_compared(*of)).collect();
        self.ask(Question::Time, &sides, &compared, parts);
        self.ask(Question::Mean, &sides, &compared, parts);
        let all = base.subjects().chain(new.subjects().filter(|subject| base.values(subject).is_none()));
        all.map(|subject| self.row(&sides, subject, compared.len())).collect()
    }

    /// Answers a question for the subjects whose cases are tested now, with their parts of the error. Intervals are Bonferroni's: all
    /// shown intervals hold simultaneously. A decision stays, and its interval becomes that of all launches; if their estimate
    /// contradicts the decision, it is withdrawn ([`Estimate::with`]).
    fn ask(&mut self, question: Question, sides: &Sides<'_>, compared: &[InState<'_>], parts: &Parts<'_>) {
        let threshold = self.threshold();
        for of in compared {
            let Some(part) = parts(&case_of(of.1)) else { continue };
            let alpha = self.settings.alpha * question.share() * part / compared.len() as f64;
            let Some(series) = sides.series(question, *of) else { continue };
            let Some(answer) = question.answer(series, alpha, threshold) else { continue };
            let before = self.answer(question, sides, *of).filter(|before| before.is_decided());
            let now = match before {
                Some(before) => answer.with(before.verdict, threshold),
                None => answer,
            };
            self.put(question, sides, *of, now);
        }
    }

    /// The last answer to a question in a state.
    fn answer(
        &self,
        question: Question,
        sides: &Sides<'_>,
        (state, subject): InState<'_>,
    ) -> Option<&Estimate> {
        let known = self.answers.get(&(question, subject.clone()))?;
        let is_of_state =
            |(latency, _): &&StateAnswer| sides.states.number(subject.ranks, *latency) == Some(state);
        known.iter().rfind(is_of_state).map(|(_, answer)| answer)
    }

    fn put(
        &mut self,
        question: Question,
        sides: &Sides<'_>,
        (state, subject): InState<'_>,
        answer: Estimate,
    ) {
        let latency = sides.latency_s(state).map(f64::ln);
        let known = self.answers.entry((question, subject.clone())).or_default();
        known.retain(|(latency, _)| sides.states.number(subject.ranks, *latency) != Some(state));
        known.push((latency, answer));
    }

    /// As a logarithm.
    fn threshold(&self) -> f64 {
        self.settings.threshold.ln_1p()
    }

    /// The row of a subject; `all` is the number of all compared changes.
    fn row(&self, sides: &Sides<'_>, subject: &Subject, all: usize) -> ComparisonRow {
        let [of_base, of_new] = sides.whole.map(|side| side.values(subject));
        let fails = |values: Option<&SubjectValues>| values.is_some_and(|values| values.failure.is_some());
        let states = (0..sides.parts.len()).filter(|state| sides.launches(*state, subject) != (0, 0));
        let changes: Vec<StateChange> =
            states.map(|state| self.change(sides, (state, subject), all)).collect();
        let copies = of_base.zip(of_new).and_then(|(base, new)| Some([base.copies()?, new.copies()?]));
        let verdict = match (fails(of_base), fails(of_new)) {
            (false, true) if of_base.is_some() => Verdict::Broken,
            (true, false) if of_new.is_some() => Verdict::Repaired,
            (false, false) if of_base.is_some() && of_new.is_some() => match copies {
                Some([base, new]) if new > base => Verdict::MoreCopies,
                Some([base, new]) if changes.is_empty() && new < base => Verdict::FewerCopies,
                Some(_) if changes.is_empty() => Verdict::Same,
                _ => ComparisonRow::worst(&changes),
            },
            _ => Verdict::NotCompared,
        };
        let failure = of_new.and_then(|values| values.failure);
        let failure = failure.or_else(|| of_base.and_then(|values| values.failure));
        ComparisonRow {
            subject: subject.clone(),
            bytes: of_base.or(of_new).map_or(0, |values| values.bytes),
            changes,
            without_state: sides.without_state(subject).into(),
            copies,
            verdict,
            note: failure.unwrap_or_default().to_owned(),
        }
    }

    /// The change of a subject in a state.
    fn change(&self, sides: &Sides<'_>, of: InState<'_>, all: usize) -> StateChange {
        let (state, subject) = of;
        let [base, new] = &sides.parts[state];
        let values = [base, new].map(|side| side.values(subject));
        let is_compared = sides.is_compared(of);
        let levels = sides.series(Question::Time, of).and_then(difference);
        let plain = |values: Option<&SubjectValues>| {
            crate::stats::mean(&values?.times.values().copied().collect::<Vec<_>>()).map(f64::exp)
        };
        let [base_s, new_s] = match levels {
            Some((levels, _)) => levels.locations.map(|level| Some(level.exp())),
            None => values.map(plain),
        };
        let plain_mean = |values: Option<&SubjectValues>| {
            crate::stats::median(&crate::stats::sorted(values?.means.values().copied())).map(f64::exp)
        };
        let [base_mean_s, new_mean_s] = match sides.series(Question::Mean, of).and_then(mean_levels) {
            Some(levels) => levels.map(|level| Some(level.exp())),
            None => values.map(plain_mean),
        };
        let answer = |question| self.answer(question, sides, of).filter(|_| is_compared).cloned();
        let [time, mean] = [Question::Time, Question::Mean].map(answer);
        // A mean that is shorter does not show that the time is not longer.
        let may_be_slower = time
            .as_ref()
            .is_none_or(|time| matches!(time.verdict, Verdict::Undecided | Verdict::SameOrSlower));
        let of_mean = mean.as_ref().filter(|mean| mean.beyond).map(|mean| mean.verdict);
        let of_mean = of_mean.filter(|verdict| *verdict == Verdict::Slower || !may_be_slower);
        let worst = time.as_ref().map(|time| time.verdict).into_iter().chain(of_mean).min();
        let verdict = match worst {
            _ if !is_compared => Verdict::NotCompared,
            Some(worst) if worst == Verdict::Slower || !sides.hides_launches(subject) => worst,
            _ => Verdict::Undecided,
        };
        let control = control(base, new, subject);
        let over_control = control.as_ref().and_then(|control| {
            let (difference, units) = over(base, new, subject, control)?;
            let alpha = self.settings.alpha / all.max(1) as f64;
            Some(Estimate::from_difference(&difference.difference, units, alpha, self.threshold()))
        });
        let launches = sides.launches(state, subject);
        let [slow_base, slow_new] = values.map(|values| values.and_then(SubjectValues::slow_group));
        let [disturbed_base, disturbed_new] =
            values.map(|values| values.map_or(0, |values| values.disturbed));
        let phases = values[0].zip(values[1]).map(|(base, new)| phases::phase_changes(base, new));
        StateChange {
            state,
            latency_s: sides.latency_s(state),
            launches,
            disturbed: (disturbed_base, disturbed_new),
            base_s,
            new_s,
            time,
            base_mean_s,
            new_mean_s,
            mean,
            verdict,
            slow: (slow_base, slow_new),
            control,
            over_control,
            phases: phases.unwrap_or_default(),
        }
    }
}

impl<'a> Sides<'a> {
    fn from_sides(whole: [&'a Side; 2]) -> Self {
        let states = States::from_sides(whole);
        let part = |number| whole.map(|side| states.part(side, number));
        let parts = (0..states.count()).map(part).collect();
        let met = states::met(&whole, &states);
        Self { whole, states, parts, met }
    }

    /// Launches of each side with a time in a state.
    fn launches(&self, state: usize, subject: &Subject) -> (usize, usize) {
        let [base, new] = self.parts[state]
            .each_ref()
            .map(|side| side.values(subject).map_or(0, |values| values.times.len()));
        (base, new)
    }

    /// Whether a subject is compared in a state: both sides met it, and more than once if there is a state
    /// that they did. A single launch has no spread, and waiting for another one may take forever.
    fn is_compared(&self, (state, subject): InState<'_>) -> bool {
        let fewer = |state| {
            let (base, new) = self.launches(state, subject);
            base.min(new)
        };
        let most = (0..self.parts.len()).map(fewer).max().unwrap_or(0);
        fewer(state) >= most.clamp(1, 2)
    }

    /// Launches of each side that are in no known state.
    fn without_state(&self, subject: &Subject) -> [usize; 2] {
        self.whole.map(|side| {
            let machine = side.values(subject).into_iter().flat_map(|values| values.machine.values());
            machine.filter(|then| self.states.number(subject.ranks, then.measures[0]).is_none()).count()
        })
    }

    /// Whether so many launches of a side are in no known state that they may hide a slowdown.
    fn hides_launches(&self, subject: &Subject) -> bool {
        let all = self.whole.map(|side| side.values(subject).map_or(0, |values| values.times.len()));
        let shares = self.without_state(subject).into_iter().zip(all);
        shares.into_iter().any(|(unknown, all)| unknown as f64 > MOST_WITHOUT_STATE * all as f64)
    }

    /// The values for a question on both sides; `None` if the subject is not compared.
    fn series<'b>(&'b self, question: Question, of: InState<'b>) -> Option<[LaunchSeries<'b>; 2]> {
        let series = |side: &'b Side| LaunchSeries::pick(side, of.1, question.values());
        let [base, new] = self.parts[of.0].each_ref().map(series);
        Some([base?, new?]).filter(|_| self.is_compared(of))
    }

    fn latency_s(&self, state: usize) -> Option<f64> {
        self.met.iter().find(|met| met.state == state).map(|met| met.latency_s)
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
