//! Comparisons: has a method become slower, and which side is faster? A verdict for each method of each case, or none.
//!
//! Pure functions of launches: what measures them looks at them by [`Comparer`], now and then, and goes on where nothing is
//! decided. There are two questions. *Over the control*: has the method's time over that of another method in the same
//! launches changed? What drifts between launches is in both. *Time*: which side is faster in seconds, by neighbouring
//! launches? All questions of one kind together find a difference where there is none in at most half of [`Settings::alpha`],
//! however often was looked.

mod comparison;
mod differences;
mod findings;
pub mod guidelines;
mod junit;
mod looks;
mod overview;
mod phases;
mod schedule;
mod side;
mod text;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use comparison::{Comparison, Comparisons, GateDecision, SideLabel};
use differences::{ADJUSTED_FROM, CountedDifference, over, times};
pub use findings::findings;
pub use looks::{looks, spent};
pub use overview::{Best, CaseRow, Overview};
pub use phases::PhaseChange;
pub use schedule::Schedule;
use side::packing;
pub use side::{ComparisonUnit, LaunchId, Side, StateValues, Subject, SubjectValues};
use verdict::{Asked, QuestionFamily};
pub use verdict::{Estimate, Verdict};

/// Methods that others are held against, where none is named: the first that both sides have and that has not itself changed.
const CONTROLS: [&str; 3] = ["manual", "manual_tuned", "reference"];

/// What a comparison goes by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The method that others are held against, instead of the usual ones.
    pub control: Option<String>,
    /// Changes below this, a share, are none.
    pub threshold: f64,
    /// In so many comparisons of a thing with itself may any verdict be wrong.
    pub alpha: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { control: None, threshold: 0.05, alpha: 0.05 }
    }
}

/// A method of a case on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// What was measured.
    #[serde(flatten)]
    pub subject: Subject,
    /// Bytes of a message.
    pub bytes: u64,
    /// The median over the base's launches, in seconds.
    pub base_s: Option<f64>,
    /// The same of the other side.
    pub new_s: Option<f64>,
    /// The method that it is held against; missing for that one itself and for references.
    pub control: Option<String>,
    /// Its time over the control's: the other side's over the base's.
    pub over_control: Option<Estimate>,
    /// Its time: the other side's over the base's.
    pub time: Option<Estimate>,
    /// The verdict: that over the control, or where there is none that on time.
    pub verdict: Verdict,
    /// Its other phases on both sides, which explain a change; nothing is tested of them.
    pub phases: Vec<PhaseChange>,
    /// What else must be known of it.
    pub note: String,
}

impl ComparisonRow {
    /// The answer that the verdict rests on.
    pub fn answer(&self) -> Option<&Estimate> {
        self.over_control.as_ref().or(self.time.as_ref())
    }

    /// How much has changed, whichever way: a logarithm.
    fn change(&self) -> f64 {
        self.answer().map_or(0.0, |answer| answer.ratio.ln().abs())
    }
}

/// Compares two sides, look by look: what one look has decided stays.
#[derive(Debug, Default)]
pub struct Comparer {
    settings: Settings,
    /// The share of its error that each case has spent.
    spent: BTreeMap<Subject, f64>,
    over_control: BTreeMap<Subject, Estimate>,
    time: BTreeMap<Subject, Estimate>,
}

impl Comparer {
    /// One that has not looked yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Looks at the cases of which both sides have made a share of all launches, as `share` says, and gives all rows, also those of
    /// cases that are not looked at now (`None`).
    pub fn look(
        &mut self,
        base: &Side,
        new: &Side,
        share: &dyn Fn(&Subject) -> Option<f64>,
    ) -> Vec<ComparisonRow> {
        let subjects: Vec<Subject> =
            base.subjects().filter(|subject| new.values(subject).is_some()).cloned().collect();
        let controls = self.controls(base, new, &subjects);
        let may_spend = self.spend(&subjects, share);
        let now = |subject: &Subject| may_spend.get(&case_of(subject)).copied();
        let is_held = |subject: &&Subject| {
            controls
                .get(&case_of(subject))
                .is_some_and(|control| control.name != subject.method && !is_reference(subject))
        };
        let held: Vec<&Subject> = subjects.iter().filter(is_held).collect();
        let over_control = |subject: &Subject| {
            let control = &controls[&case_of(subject)].name;
            over(base, new, subject, control)
        };
        // Each of the two questions has half.
        let (alpha, threshold) = (self.settings.alpha / 2.0, self.settings.threshold.ln_1p());
        answer(&mut self.over_control, &held, &now, &over_control, (alpha, threshold));
        let all: Vec<&Subject> = subjects.iter().collect();
        answer(&mut self.time, &all, &now, &|subject| times(base, new, subject), (alpha, threshold));
        let all = base.subjects().chain(new.subjects().filter(|subject| base.values(subject).is_none()));
        all.map(|subject| self.row(base, new, subject, controls.get(&case_of(subject)))).collect()
    }

    /// What each case that is looked at may spend of its error now.
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

    fn row(&self, base: &Side, new: &Side, subject: &Subject, control: Option<&Control>) -> ComparisonRow {
        let (of_base, of_new) = (base.values(subject), new.values(subject));
        let median = |values: Option<&SubjectValues>| {
            let times = crate::stats::sorted(values?.times.values().copied());
            crate::stats::median(&times).map(f64::exp)
        };
        let fails = |values: Option<&SubjectValues>| values.is_some_and(|values| values.failure.is_some());
        let over_control = self.over_control.get(subject).cloned();
        let time = self.time.get(subject).cloned();
        let answer = over_control.as_ref().or(time.as_ref());
        let verdict = match (fails(of_base), fails(of_new)) {
            (false, true) if of_base.is_some() => Verdict::Broken,
            (true, false) if of_new.is_some() => Verdict::Repaired,
            (false, false) if of_base.is_some() && of_new.is_some() => {
                answer.map_or(Verdict::Undecided, |answer| answer.verdict)
            }
            _ => Verdict::NotCompared,
        };
        let failure = of_new.and_then(|values| values.failure);
        let failure = failure.or_else(|| of_base.and_then(|values| values.failure));
        let control = control.filter(|_| over_control.is_some());
        ComparisonRow {
            subject: subject.clone(),
            bytes: of_base.or(of_new).map_or(0, |values| values.bytes),
            base_s: median(of_base),
            new_s: median(of_new),
            note: failure.map(str::to_owned).or_else(|| control?.changed.clone()).unwrap_or_default(),
            control: control.map(|control| control.name.clone()),
            over_control,
            time,
            verdict,
            phases: of_base.zip(of_new).map(|(base, new)| phases::of(base, new)).unwrap_or_default(),
        }
    }

    /// The control of each case: the first that has not itself changed, in time and over its packing alone. Where all have,
    /// the first, and how it has changed.
    fn controls(&self, base: &Side, new: &Side, subjects: &[Subject]) -> BTreeMap<Subject, Control> {
        let mut cases: Vec<Subject> = subjects.iter().map(case_of).collect();
        cases.dedup();
        // A control that is wrongly said to have changed costs nothing but sharpness.
        let alpha = self.settings.alpha / cases.len().max(1) as f64;
        let threshold = self.settings.threshold.ln_1p();
        let named: Vec<&str> = match &self.settings.control {
            Some(name) => vec![name],
            None => CONTROLS.to_vec(),
        };
        let control = |case: &Subject| {
            let candidates = named.iter().filter(|name| {
                [base, new]
                    .iter()
                    .all(|side| side.values(&case.with(name)).is_some_and(|values| !values.times.is_empty()))
            });
            let checked: Vec<Control> = candidates
                .map(|name| {
                    let subject = case.with(name);
                    let alone = packing(name);
                    let over_packing = over(base, new, &subject, &alone);
                    let changed = times(base, new, &subject).into_iter().chain(over_packing).find_map(
                        |(difference, units)| {
                            let answer = Estimate::of(&difference, units, alpha, threshold);
                            matches!(answer.verdict, Verdict::Slower | Verdict::Faster).then(|| {
                                format!("{name} itself is {} {}", answer.verdict.name(), answer.text())
                            })
                        },
                    );
                    Control { name: (*name).to_owned(), changed }
                })
                .collect();
            let unchanged = checked.iter().find(|control| control.changed.is_none());
            Some((case.clone(), unchanged.or(checked.first())?.clone()))
        };
        cases.iter().filter_map(control).collect()
    }
}

/// A method that others are held against.
#[derive(Clone, Debug)]
struct Control {
    name: String,
    /// How it has itself changed.
    changed: Option<String>,
}

/// The case of a subject: no method.
fn case_of(subject: &Subject) -> Subject {
    subject.with("")
}

fn is_reference(subject: &Subject) -> bool {
    subject.experiment.reference_of(&subject.method).is_none()
}

/// Answers what has not been decided by an earlier look, of the subjects that may spend something now.
fn answer(
    known: &mut BTreeMap<Subject, Estimate>,
    family: &[&Subject],
    now: &dyn Fn(&Subject) -> Option<f64>,
    difference: &dyn Fn(&Subject) -> Option<CountedDifference>,
    (alpha, threshold): (f64, f64),
) {
    let is_different = |answer: &&Estimate| matches!(answer.verdict, Verdict::Slower | Verdict::Faster);
    let different = family.iter().filter_map(|subject| known.get(*subject)).filter(is_different).count();
    let is_open = |subject: &Subject| known.get(subject).is_none_or(|answer| !answer.verdict.is_decided());
    let asked = family.iter().filter(|subject| is_open(subject)).filter_map(|subject| {
        Some(Asked { key: *subject, share: now(subject)?, difference: difference(subject)? })
    });
    let asked: Vec<Asked<&Subject>> = asked.collect();
    let family = QuestionFamily { all: family.len(), different, alpha, threshold };
    known.extend(family.judge(asked).into_iter().map(|(subject, answer)| (subject.clone(), answer)));
}

#[cfg(test)]
mod made;
#[cfg(test)]
mod tests;
