//! Performance guidelines for datatypes, as comparisons within one MPI (Gropp, Hoefler, Thakur, Träff, EuroMPI 2011; numbers as
//! in docs/guidelines.md): what an application can expect, and alternatives if the MPI does not meet it.

mod described;
mod list;
mod question;
mod text;

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::states::{self, States};
use super::{Estimate, Settings, Side, StateMet, Subject, Verdict};
pub use described::{FasterDescription, code};
pub use list::methods;
use list::{GUIDELINES, Guideline};
pub use question::BreakEven;
use question::{GuidelineQuestion, questions};
pub use text::compared;

/// Whether a guideline holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The ratio is shown to be above 1 by more than the threshold.
    Violated,
    /// Neither.
    Undecided,
    /// It is below the threshold.
    Holds,
}

impl Standing {
    /// As tables show it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Undecided => "undecided",
            Self::Holds => "holds",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GuidelineRow {
    pub guideline: &'static str,
    /// The case, with the method that should not take longer.
    #[serde(flatten)]
    pub subject: Subject,
    /// The state of the machine, by its number: the nearest cores first.
    pub state: usize,
    /// The median over launches of its time, in seconds.
    pub time_s: f64,
    /// The compared time: a method, or a multiple of one.
    pub than: String,
    pub than_s: f64,
    /// The ratio of the two times.
    pub answer: Estimate,
    /// For something that is created once: the number of round trips until it pays.
    pub break_even: Option<BreakEven>,
    pub standing: Standing,
    /// The alternative for users, if it is violated.
    pub instead: &'static str,
    /// The faster description of the same bytes, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<FasterDescription>,
}

/// The findings about an MPI.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// The MPI, as tables name it.
    pub mpi: String,
    /// Ranks, hosts, transport and cache.
    pub place: String,
    /// The states of the machine during its launches; empty if they are not known.
    pub states: Vec<StateMet>,
    pub settings: Settings,
    /// The rows, the largest violation first; of the violated ones, those that never pay come last.
    pub rows: Vec<GuidelineRow>,
    /// Failures that prevented a comparison: test, method and outcome.
    pub failed: Vec<String>,
}

impl Findings {
    /// Tests all guidelines with the launches of an MPI, in each state of the machine. The probability of any
    /// false violation is at most [`Settings::alpha`].
    pub fn from_side(side: &Side, settings: &Settings) -> Self {
        let threshold = settings.threshold.ln_1p();
        let states = States::from_sides([side]);
        let met = states::met(&[side], &states);
        let parts: Vec<(usize, Side)> =
            (0..states.count()).map(|state| (state, states.part(side, state))).collect();
        let questions: Vec<(usize, &Side, GuidelineQuestion)> = parts
            .iter()
            .flat_map(|(state, part)| {
                questions(part).into_iter().map(move |question| (*state, part, question))
            })
            .collect();
        let hypotheses: HashSet<_> =
            questions.iter().map(|(state, _, question)| (*state, question.hypothesis())).collect();
        // Bonferroni's: all intervals hold simultaneously.
        let alpha = settings.alpha / hypotheses.len().max(1) as f64;
        let rows = questions.into_iter().filter_map(|(state, part, question)| {
            let evidence = question.evidence(part);
            let answer = evidence.answer(alpha, threshold)?;
            let (time_s, than, than_s) = question.times(part);
            Some(GuidelineRow {
                guideline: &question.guideline.name,
                state,
                time_s,
                than,
                than_s,
                standing: standing(&answer, settings.threshold),
                break_even: evidence.break_even(alpha),
                instead: &question.guideline.instead,
                subject: question.subject,
                answer,
                description: None,
            })
        });
        let mut rows = best_of_each(rows.collect(), settings.threshold);
        // A row that never pays has no size; the guidelines on round trips show its loss.
        let size = |row: &GuidelineRow| if row.answer.ratio.is_finite() { row.answer.low } else { 0.0 };
        rows.sort_by(|a, b| a.standing.cmp(&b.standing).then(size(b).total_cmp(&size(a))));
        Self {
            mpi: side.name.clone(),
            place: side.place.clone(),
            states: met,
            settings: settings.clone(),
            rows,
            failed: failed(side),
        }
    }
}

/// One row for each guideline, subject and state. Of several alternatives, simpler ones first, the one with the worst standing and the
/// largest gain; a simpler one is preferred if its gain is the same within the threshold.
fn best_of_each(rows: Vec<GuidelineRow>, threshold: f64) -> Vec<GuidelineRow> {
    let mut groups: IndexMap<(&str, Subject, usize), Vec<GuidelineRow>> = IndexMap::new();
    for row in rows {
        groups.entry((row.guideline, row.subject.clone(), row.state)).or_default().push(row);
    }
    let best = |rows: Vec<GuidelineRow>| {
        let worst = rows.iter().map(|row| row.standing).min()?;
        let rows = || rows.iter().filter(|row| row.standing == worst);
        let most = rows().map(|row| row.answer.ratio).reduce(f64::max)?;
        rows().find(|row| row.answer.ratio * (1.0 + threshold) >= most).cloned()
    };
    groups.into_values().filter_map(best).collect()
}

fn failed(side: &Side) -> Vec<String> {
    let of = |subject: &Subject| {
        let failure = side.values(subject)?.failure?;
        Some(format!("{} {}: {failure}", subject.test, subject.method))
    };
    side.subjects().filter_map(of).collect()
}

fn standing(answer: &Estimate, threshold: f64) -> Standing {
    match () {
        () if answer.verdict == Verdict::Slower && answer.beyond => Standing::Violated,
        () if answer.high < 1.0 + threshold => Standing::Holds,
        () => Standing::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::list::descriptions;
    use super::*;
    use crate::compare::ComparisonUnit;
    use crate::compare::made::record;

    #[test]
    fn a_pair_of_times_is_one_hypothesis_whichever_should_not_be_the_longer() {
        // Both wrappers are tested in both directions.
        let methods = ["ddt", "ddt:wrapped", "ddt:count", "mpi_pack"];
        let records = methods.map(|method| record("a", 0, method, 1.0));
        let side = Side::from_records("mine", &records, ComparisonUnit::Launch);
        let asked = questions(&side);
        let names: Vec<&str> = asked.iter().map(|question| &*question.guideline.name).collect();
        assert_eq!(names, ["D1", "D4 type", "D4 count", "D8 wrapped", "D7"]);
        assert_eq!(asked.iter().map(GuidelineQuestion::hypothesis).collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn a_list_without_differences_has_a_violation_in_at_most_five_of_a_hundred() {
        // All descriptions of six cases, whose times differ only randomly, and share the time of their datatype.
        let methods: Vec<&str> = ["ddt", "mpi_pack", "manual"].into_iter().chain(descriptions()).collect();
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let lists = 300;
        let mut wrong = 0;
        for _ in 0..lists {
            let mut records = Vec::new();
            for test in ["a", "b", "c", "d", "e", "f"] {
                for launch in 0..6 {
                    let of_launch: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                    for &method in &methods {
                        // Close to a normal distribution.
                        let noise: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                        let time = (0.05 * of_launch + 0.05 * noise).exp();
                        let mut record = record("a", launch, method, time);
                        record.case_mut().test = test.to_owned();
                        records.push(record);
                    }
                }
            }
            let side = Side::from_records("mine", &records, ComparisonUnit::Launch);
            let findings = Findings::from_side(&side, &Settings::default());
            wrong += usize::from(findings.rows.iter().any(|row| row.standing == Standing::Violated));
        }
        assert!(wrong * 100 <= 5 * lists, "{wrong} of {lists}");
    }
}
