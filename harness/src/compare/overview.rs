//! All sides, side by side: the fastest method of each side in each case, its loss relative to the fastest side, and whether each
//! side is faster with loops or datatypes.

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::differences::{CountedDifference, LaunchSeries, difference};
use super::side::{Side, Subject};
use super::verdict::{Asked, Estimate, QuestionFamily};
use crate::report::columns::{Align, Column, Table};
use crate::report::compared::Section;
use crate::report::names::distinct;
use crate::report::units;
use crate::stats::difference::{Compared, Difference};
use crate::stats::{median, sorted};

/// The loops and the datatype that a side may prefer.
const LOOPS: &str = "manual";
const DATATYPE: &str = "ddt";

/// All sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The sides, the base first.
    pub sides: Vec<String>,
    /// A row for each case.
    pub cases: Vec<CaseRow>,
}

/// A case on all sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRow {
    /// The case; its method is empty.
    #[serde(flatten)]
    pub case: Subject,
    /// The best of each side; missing if no method that an application could use has times.
    pub sides: Vec<Option<Best>>,
}

/// The fastest method of a side that an application could use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The fastest method.
    pub method: String,
    /// The median over launches, in seconds.
    pub median_s: f64,
    /// Its time relative to the fastest side's best; missing for that side.
    pub over_first: Option<Estimate>,
    /// `ddt` relative to `manual` on this side; missing if one was not measured.
    pub datatype_over_loops: Option<Estimate>,
}

impl Overview {
    /// Compares several sides.
    pub fn of(sides: &[Side], alpha: f64, threshold: f64) -> Self {
        let cases = distinct(sides.iter().flat_map(Side::subjects).map(|subject| subject.with("")));
        let mut rows: Vec<CaseRow> = cases.iter().map(|case| row(sides, case)).collect();
        // The answers to each question are one family: they are corrected together.
        let threshold = threshold.ln_1p();
        let losses = |best: &mut Best, answer: Estimate| best.over_first = Some(answer);
        settle(&mut rows, alpha / 2.0, threshold, &|case, i, row| loss(sides, case, i, row), &losses);
        let preference = |best: &mut Best, answer: Estimate| best.datatype_over_loops = Some(answer);
        let of_side = |case: &Subject, i: usize, _: &[Option<Best>]| {
            let ratios = sides[i].by_unit(&sides[i].over(&case.with(DATATYPE), LOOPS));
            let difference = Difference::of_pairs(&ratios)?;
            let locations = [0.0, difference.value];
            Some((Compared { difference, locations }, (ratios.len(), ratios.len())))
        };
        settle(&mut rows, alpha / 2.0, threshold, &of_side, &preference);
        Self { sides: sides.iter().map(|side| side.name.clone()).collect(), cases: rows }
    }

    /// Sentences on the cases in which each side is the fastest, and on its faster method.
    fn sentences(&self) -> Vec<String> {
        let all = self.cases.len();
        let of_side = |(i, name): (usize, &String)| {
            let count = |is_so: &dyn Fn(&Best) -> bool| {
                self.cases.iter().filter_map(|row| row.sides[i].as_ref()).filter(|best| is_so(best)).count()
            };
            let first = self.cases.iter().filter(|row| is_first(row, i)).count();
            let prefers = |verdict: Verdict| {
                count(&|best| {
                    best.datatype_over_loops.as_ref().is_some_and(|answer| answer.verdict == verdict)
                })
            };
            format!(
                "{name}: fastest in {first} of {all} tests; {LOOPS} is faster in {}, {DATATYPE} in {}",
                prefers(Verdict::Slower),
                prefers(Verdict::Faster)
            )
        };
        self.sides.iter().enumerate().map(of_side).collect()
    }

    /// A section with a row per case and a column per side.
    pub fn section(&self) -> Section<'_> {
        let columns = [Column::new("test", Align::Left, 0), Column::new("set", Align::Left, 2).rank(1)];
        let sides = self.sides.iter().map(|name| Column::new(name, Align::Left, 2));
        Section {
            title: "Fastest method of each side".to_owned(),
            sentences: self.sentences(),
            table: Table {
                columns: columns.into_iter().chain(sides).collect(),
                rows: self.cases.iter().map(CaseRow::cells).collect(),
            }
            .with_distinct_sets(),
        }
    }
}

impl CaseRow {
    fn cells(&self) -> Vec<String> {
        let cell = |best: &Option<Best>| match best {
            None => "-".to_owned(),
            Some(Best { method, median_s, over_first, .. }) => {
                let loss =
                    over_first.as_ref().map_or_else(String::new, |answer| format!(", {}", answer.text()));
                format!("{method} {}{loss}", units::seconds(*median_s))
            }
        };
        [self.case.test.clone(), self.case.sizes().to_owned()]
            .into_iter()
            .chain(self.sides.iter().map(cell))
            .collect()
    }
}

/// Whether a side is certainly the fastest.
fn is_first(row: &CaseRow, i: usize) -> bool {
    let others = row.sides.iter().enumerate().filter(|(other, _)| *other != i);
    let loses = |best: &Option<Best>| {
        best.as_ref().is_none_or(|best| {
            best.over_first.as_ref().is_some_and(|answer| answer.verdict == Verdict::Slower)
        })
    };
    row.sides[i].as_ref().is_some_and(|best| best.over_first.is_none())
        && others.map(|(_, best)| best).all(loses)
}

/// The best of each side, without answers.
fn row(sides: &[Side], case: &Subject) -> CaseRow {
    let best = |side: &Side| {
        let times = side.subjects().filter(|subject| subject.with("") == *case && is_usable(subject));
        let medians = times.filter_map(|subject| {
            let median = median(&sorted(side.values(subject)?.times.values().copied()))?;
            Some((subject.method.clone(), median))
        });
        let (method, median) = medians.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Best { method, median_s: median.exp(), over_first: None, datatype_over_loops: None })
    };
    CaseRow { case: case.clone(), sides: sides.iter().map(best).collect() }
}

/// Whether an application could use the method.
fn is_usable(subject: &Subject) -> bool {
    subject.experiment.method(&subject.method).is_ok_and(|method| method.array_to_array)
}

/// The best of side `i` relative to the best of the fastest side; `None` for that one.
fn loss(sides: &[Side], case: &Subject, i: usize, row: &[Option<Best>]) -> Option<CountedDifference> {
    let bests = row.iter().enumerate().filter_map(|(i, best)| Some((i, best.as_ref()?)));
    let (first, _) = bests.min_by(|a, b| a.1.median_s.total_cmp(&b.1.median_s))?;
    if first == i {
        return None;
    }
    let best = |i: usize| Some(case.with(&row[i].as_ref()?.method));
    let (base, new) = (best(first)?, best(i)?);
    let series = |side, subject| LaunchSeries::of(side, subject, |values| &values.times);
    difference([series(&sides[first], &base)?, series(&sides[i], &new)?])
}

type SideQuestion<'a> = dyn Fn(&Subject, usize, &[Option<Best>]) -> Option<CountedDifference> + 'a;

/// Tests a question for each side of each case, corrected together.
fn settle(
    rows: &mut [CaseRow],
    alpha: f64,
    threshold: f64,
    question: &SideQuestion<'_>,
    put: &dyn Fn(&mut Best, Estimate),
) {
    let places = rows.iter().enumerate().flat_map(|(r, row)| (0..row.sides.len()).map(move |i| (r, i)));
    let asked = places.filter_map(|(r, i)| {
        let difference = question(&rows[r].case, i, &rows[r].sides)?;
        Some(Asked { key: (r, i), difference, share: 1.0 })
    });
    let asked: Vec<Asked<(usize, usize)>> = asked.collect();
    let family = QuestionFamily { all: asked.len(), different: 0, alpha, threshold };
    for ((r, i), answer) in family.judge(asked) {
        if let Some(best) = &mut rows[r].sides[i] {
            put(best, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::ComparisonUnit;
    use crate::compare::made::record;

    fn side(name: &str, manual: f64, ddt: f64) -> Side {
        // Launches differ by a percent, both methods in the same way.
        let launch = |launch: usize| {
            let noise = 1.0 + 0.01 * launch as f64;
            [
                record("r", launch, "manual", noise * manual),
                record("r", launch, "ddt", noise * ddt),
                record("r", launch, "reference", 1e-9),
            ]
        };
        let records: Vec<_> = (0..5).flat_map(launch).collect();
        Side::of(name, &records, ComparisonUnit::Launch)
    }

    #[test]
    fn the_fastest_of_each_side_stands_beside_the_others() {
        let (a, b) = (side("a", 1e-5, 2e-5), side("b", 3e-5, 0.5e-5));
        let overview = Overview::of(&[a, b], 0.05, 0.05);
        assert_eq!(
            overview.sentences(),
            [
                "a: fastest in 0 of 1 tests; manual is faster in 1, ddt in 0",
                "b: fastest in 1 of 1 tests; manual is faster in 0, ddt in 1"
            ]
        );
        let rows = overview.section().table.rows;
        assert_eq!(rows, [["wrf_x_vec", "4x4", "manual 10.2 µs, 2.00x [1.95, 2.05]", "ddt 5.10 µs"]]);
    }

    #[test]
    fn who_is_not_faster_for_certain_is_not_first() {
        let (a, b) = (side("a", 1e-5, 2e-5), side("b", 1.001e-5, 2e-5));
        let overview = Overview::of(&[a, b], 0.05, 0.05);
        assert!(
            overview.sentences().iter().all(|sentence| sentence.contains("fastest in 0 of 1")),
            "{overview:?}"
        );
    }
}
