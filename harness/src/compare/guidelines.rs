//! Performance guidelines for datatypes, as comparisons within one MPI (Gropp, Hoefler, Thakur, Träff, EuroMPI 2011; numbers as
//! in docs/guidelines.md): what an application can expect, and alternatives if the MPI does not meet it.

mod described;
mod list;
mod question;
mod text;

use std::collections::{BTreeMap, HashSet};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::states::{self, States};
use super::{Estimate, Settings, Side, StateMet, Subject, Verdict};
use crate::stats::holm_levels;
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
    /// Tests all guidelines with the launches of an MPI, in each state of the machine. The probability of any false violation is at most
    /// [`Settings::alpha`].
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
        let hypothesis = |state: usize, question: &GuidelineQuestion| (state, question.hypothesis());
        let asked = questions.iter().map(|(state, _, question)| hypothesis(*state, question));
        let asked = asked.collect::<HashSet<_>>().len();
        let answerable: Vec<_> = questions
            .into_iter()
            .filter_map(|(state, part, question)| {
                let evidence = question.evidence(part);
                let beyond = evidence.difference(threshold)?;
                // Only one of two times can be longer, so both directions together are one hypothesis.
                let p = if beyond.value > 0.0 { beyond.p() } else { 1.0 };
                Some((state, part, question, evidence, p))
            })
            .collect();
        let mut tested: BTreeMap<_, f64> = BTreeMap::new();
        for (state, _, question, _, p) in &answerable {
            let known = tested.entry(hypothesis(*state, question)).or_insert(1.0);
            *known = known.min(*p);
        }
        let chances: Vec<f64> = tested.values().copied().collect();
        // Half of alpha is for violations, by Holm's steps, and half for the intervals, which hold simultaneously.
        let alpha = settings.alpha / 2.0;
        let levels: BTreeMap<_, f64> = tested.into_keys().zip(holm_levels(&chances, asked, alpha)).collect();
        let of_interval = alpha / asked.max(1) as f64;
        let rows = answerable.into_iter().filter_map(|(state, part, question, evidence, p)| {
            let (time_s, than, than_s) = question.times(part);
            let answer = evidence.answer(of_interval, threshold)?;
            let answer = if p <= levels[&hypothesis(state, &question)] {
                answer.with(Verdict::Slower, threshold)
            } else {
                answer
            };
            Some(GuidelineRow {
                guideline: &question.guideline.name,
                state,
                time_s,
                than,
                than_s,
                standing: standing(&answer, settings.threshold),
                break_even: evidence.break_even(of_interval),
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
    use crate::model::{Outcome, Phase, Record};

    /// Six launches, whose times differ by little.
    fn launches(record: impl Fn(usize, f64) -> Vec<Record>) -> Vec<Record> {
        (0..6).flat_map(|launch| record(launch, 1.0 + 0.002 * (launch % 3) as f64)).collect()
    }

    fn side(records: &[Record]) -> Side {
        Side::from_records("mine", records, ComparisonUnit::Launch)
    }

    fn findings(records: &[Record]) -> Findings {
        Findings::from_side(&side(records), &Settings::default())
    }

    /// Launches of each method with these times.
    fn of_methods(times: &[(&'static str, f64)]) -> Vec<Record> {
        let record =
            |launch, noise| times.iter().map(move |(method, time)| record("a", launch, method, time * noise));
        launches(|launch, noise| record(launch, noise).collect())
    }

    fn standings(times: &[(&'static str, f64)]) -> Vec<(&'static str, Standing)> {
        findings(&of_methods(times)).rows.iter().map(|row| (row.guideline, row.standing)).collect()
    }

    #[test]
    fn a_guideline_is_violated_where_a_user_would_do_better_otherwise() {
        let slow = [("ddt", 20.0), ("mpi_pack", 2.0), ("manual", 1.0), ("ddt:hindexed", 20.1)];
        let expected =
            [("D1 by hand", Standing::Violated), ("D1", Standing::Violated), ("D7", Standing::Holds)];
        assert_eq!(standings(&slow), expected);
        assert_eq!(standings(&[("ddt", 1.0), ("mpi_pack", 2.0)]), [("D1", Standing::Holds)]);
        let worst = &findings(&of_methods(&slow)).rows[0];
        assert_eq!((worst.instead, worst.than.as_str()), ("pack by hand", "manual"));
        assert!((worst.answer.ratio - 20.0).abs() < 0.1 && worst.answer.low > 19.0, "{worst:?}");
    }

    #[test]
    fn a_guideline_holds_or_not_in_each_state_of_the_machine() {
        let in_state = |is_far: bool| {
            let times = [("ddt", if is_far { 20.0 } else { 1.0 }), ("manual", 1.0)];
            let launch = move |record: Record| Record {
                launch: record.launch.map(|launch| 2 * launch + usize::from(is_far)),
                state_latency_s: Some(if is_far { 160e-9 } else { 33e-9 }),
                ..record
            };
            of_methods(&times).into_iter().map(launch)
        };
        let findings = findings(&in_state(false).chain(in_state(true)).collect::<Vec<_>>());
        let found: Vec<_> =
            findings.rows.iter().map(|row| (row.guideline, row.state, row.standing)).collect();
        assert_eq!(found, [("D1 by hand", 1, Standing::Violated), ("D1 by hand", 0, Standing::Holds)]);
        let text = compared(&[findings]).text(Some(80));
        assert!(text.contains("cores 33 ns apart in 6 launches, 160 ns in 6"), "{text}");
        assert!(text.contains("At 160 ns, D1 by hand") && text.contains("  160 ns  "), "{text}");
    }

    #[test]
    fn the_best_description_is_the_simplest_of_those_that_gain_most() {
        let times = [
            ("ddt", 54.0),
            ("ddt:vector", 53.0),
            ("ddt:indexed", 5.0),
            ("ddt:subarray", 1.01),
            ("ddt:subarray_resized", 1.0),
            ("ddt:resized", 54.5),
        ];
        let findings = findings(&of_methods(&times));
        let of = |name: &str| findings.rows.iter().filter(|row| row.guideline == name).collect::<Vec<_>>();
        let [best] = of("D7")[..] else { panic!("{findings:?}") };
        assert_eq!((best.than.as_str(), best.standing), ("ddt:subarray", Standing::Violated));
        assert!(best.answer.low > 53.0 && best.answer.high < 54.0, "{best:?}");
        assert_eq!(of("D8 resized")[0].standing, Standing::Holds);
        // Without a faster one, all of them hold.
        assert_eq!(standings(&[("ddt", 1.0), ("ddt:vector", 1.001)]), [("D7", Standing::Holds)]);
    }

    #[test]
    fn a_pair_of_times_is_one_hypothesis_whichever_should_not_be_the_longer() {
        // Both wrappers are tested in both directions.
        let methods = ["ddt", "ddt:wrapped", "ddt:count", "mpi_pack"].map(|method| (method, 1.0));
        let side = side(&of_methods(&methods));
        let asked = questions(&side);
        let names: Vec<&str> = asked.iter().map(|question| &*question.guideline.name).collect();
        assert_eq!(names, ["D1", "D4 type", "D4 count", "D8 wrapped", "D7"]);
        assert_eq!(asked.iter().map(GuidelineQuestion::hypothesis).collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn a_layout_has_the_plain_loop_in_the_place_of_its_own() {
        let of_layout = [("ddt", 20.0), ("loop", 1.0), ("mpi_pack", 20.0)];
        assert!(standings(&of_layout).contains(&("D1 by hand", Standing::Violated)));
        let both = [("ddt", 20.0), ("loop", 30.0), ("manual", 1.0)];
        assert_eq!(standings(&both), [("D1 by hand", Standing::Violated)]);
        let round_trip = record("a", 0, "ddt", 1.0).phase;
        let times = [
            ("ddt", round_trip, 10.0),
            ("loop", round_trip, 12.0),
            ("mpi_pack", round_trip, 12.0),
            ("ddt", Phase::Create, 60.0),
            ("mpi_pack", Phase::Pack, 9.0),
            ("loop", Phase::Pack, 3.0),
        ];
        let records = launches(|launch, _| {
            let of = |(method, phase, time)| Record { phase, ..record("a", launch, method, time) };
            times.map(of).to_vec()
        });
        let findings = findings(&records);
        let row = |name: &str| findings.rows.iter().find(|row| row.guideline == name).unwrap();
        assert_eq!((row("D2").standing, row("D2").answer.ratio.round()), (Standing::Violated, 2.0));
        assert_eq!(
            (row("D10").standing, row("D10").break_even.unwrap().uses.map(f64::round)),
            (Standing::Holds, Some(30.0))
        );
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
            let findings = findings(&records);
            wrong += usize::from(findings.rows.iter().any(|row| row.standing == Standing::Violated));
        }
        assert!(wrong * 100 <= 5 * lists, "{wrong} of {lists}");
    }

    #[test]
    fn noise_decides_nothing() {
        let noisy = |method, scale: [f64; 6]| {
            scale.into_iter().enumerate().map(move |(launch, time)| record("a", launch, method, time))
        };
        let records: Vec<Record> = noisy("ddt", [1.0, 2.0, 0.5, 1.5, 0.7, 1.2])
            .chain(noisy("mpi_pack", [1.0, 0.9, 1.1, 1.0, 1.05, 0.95]))
            .collect();
        let findings = findings(&records);
        assert_eq!(findings.rows[0].standing, Standing::Undecided);
        assert!(self::findings(&records[..2]).rows.is_empty());
    }

    #[test]
    fn failures_are_reported() {
        let failed = Record {
            median_s: None,
            outcome: Outcome::WrongData { detail: String::new() },
            ..record("a", 0, "ddt", 1.0)
        };
        let findings = findings(&[failed]);
        assert!(findings.rows.is_empty() && findings.failed[0].ends_with("ddt: wrong data"), "{findings:?}");
    }

    #[test]
    fn sizes_are_held_against_their_neighbours() {
        let findings = findings(&launches(|launch, noise| {
            let of_size = |(count, time): (u64, f64)| {
                let mut record = record("a", launch, "ddt", time * noise);
                record.case_mut().params = format!("count={count} stride=2");
                Record { bytes: 8 * count, ..record }
            };
            [(10, 5.0), (20, 4.0), (40, 10.0)].map(of_size).to_vec()
        }));
        let found: Vec<_> = findings
            .rows
            .iter()
            .map(|row| (row.guideline, row.subject.params.as_str(), row.standing))
            .collect();
        let expected = [
            ("split sizes", "count=40 stride=2", Standing::Violated),
            ("monotony", "count=10 stride=2", Standing::Violated),
            ("split sizes", "count=20 stride=2", Standing::Holds),
            ("monotony", "count=20 stride=2", Standing::Holds),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(expected.iter().all(|row| found.contains(row)), "{found:?}");
        let split = findings.rows.iter().find(|row| row.guideline == "split sizes").unwrap();
        assert_eq!(
            (split.than.as_str(), split.answer.text().as_str()),
            ("2 times ddt", "1.25x [1.25, 1.25]")
        );
    }

    #[test]
    fn creation_pays_after_a_number_of_round_trips() {
        let made =
            |launch: usize, phase: Phase, time: f64| Record { phase, ..record("a", launch, "ddt", time) };
        let found = |saved: f64| {
            let records = launches(|launch, noise| {
                vec![
                    record("a", launch, "ddt", 10.0 * noise),
                    record("a", launch, "manual", (10.0 + saved) * noise),
                    made(launch, Phase::Create, 50.0),
                    made(launch, Phase::Free, 10.0),
                ]
            });
            let findings = findings(&records);
            let row = findings.rows.iter().find(|row| row.guideline == "D10").unwrap().clone();
            (row.standing, row.break_even.unwrap(), findings.rows[0].guideline)
        };
        let (standing, pays, _) = found(2.0);
        assert_eq!((standing, pays.uses.unwrap().round()), (Standing::Holds, 30.0), "{pays:?}");
        assert!(pays.low.unwrap() > 29.0 && pays.high.unwrap() < 31.0, "{pays:?}");
        assert_eq!(found(0.02).0, Standing::Violated, "3000 round trips");
        let (standing, never, worst) = found(-2.0);
        assert_eq!(
            (standing, never.text().as_str(), worst),
            (Standing::Violated, "never pays", "D1 by hand")
        );
    }
}
