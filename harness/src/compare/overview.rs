//! All sides, side by side: the fastest method of each side in each case, its loss relative to the fastest side, and whether each
//! side is faster with loops or datatypes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::differences::{CountedDifference, LaunchSeries, difference, level_of_ratio, levels_of};
use super::means::means;
use super::side::{ComparisonUnit, Side, Subject};
use super::verdict::{Asked, Estimate, QuestionFamily};
use super::weights::Weights;
use crate::model::{Case, FigureUnit};
use crate::report::compared::Section;
use crate::report::matrix::{Matrix, MatrixCell, MatrixRow, Means, Place, SideMean};
use crate::report::names::distinct;
use crate::report::pictures::{Datum, GEOMETRIC_MEAN};
use crate::report::units;
use crate::stats::difference::{Compared, Difference};
use crate::stats::moderated::{Level, moderate};
use crate::stats::{median, sorted};

/// The loops and the datatype that a side may prefer.
const LOOPS: &str = "manual";
const DATATYPE: &str = "ddt";

/// All sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The sides, the base first.
    pub sides: Vec<String>,
    /// The unit of a side's values.
    #[serde(default)]
    pub unit: ComparisonUnit,
    pub cases: Vec<CaseRow>,
    /// A geometric mean for each side.
    #[serde(default)]
    pub means: Means,
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
        let cases = distinct(sides.iter().flat_map(Side::cases).cloned());
        let mut rows: Vec<CaseRow> = cases.iter().map(|case| row(sides, case)).collect();
        // The answers to each question are one family: they are corrected together.
        let threshold = threshold.ln_1p();
        let losses = |best: &mut Best, answer: Estimate| best.over_first = Some(answer);
        let levels = moderated(rows.iter().map(|row| best_levels(sides, row)).collect());
        let over_first = |r: usize, i: usize, row: &CaseRow| loss(sides, row, i, &levels[r]);
        settle(&mut rows, alpha / 2.0, threshold, &over_first, &losses);
        let preference = |best: &mut Best, answer: Estimate| best.datatype_over_loops = Some(answer);
        let levels = moderated(rows.iter().map(|row| preferences(sides, &row.case)).collect());
        let of_side = |r: usize, i: usize, row: &CaseRow| {
            let ratios = sides[i].by_unit(&sides[i].over(&row.case.with(DATATYPE), LOOPS));
            let difference = match &levels[r][i] {
                Some(level) => level.minus_zero(),
                None => Difference::of_pairs(&ratios)?,
            };
            let locations = [0.0, difference.value];
            Some((Compared { difference, locations }, (ratios.len(), ratios.len())))
        };
        settle(&mut rows, alpha / 2.0, threshold, &of_side, &preference);
        let means = means(sides, &rows, None).unwrap_or_default();
        let unit = sides.first().map(|side| side.unit).unwrap_or_default();
        Self { sides: sides.iter().map(|side| side.name.clone()).collect(), unit, cases: rows, means }
    }

    /// The same with weights in its means.
    ///
    /// # Errors
    /// A weight without a test.
    pub fn weighted(self, sides: &[Side], weights: &Weights) -> Result<Self, String> {
        Ok(Self { means: means(sides, &self.cases, Some(weights))?, ..self })
    }

    /// As it is shown.
    pub fn matrix(&self) -> Matrix {
        Matrix {
            noun: self.noun(),
            sides: self.sides.clone(),
            rows: self.cases.iter().map(CaseRow::shown).collect(),
            means: self.means.clone(),
            sentences: self.sentences(),
        }
        .with_distinct_sets()
    }

    /// The name of a side in texts.
    fn noun(&self) -> &'static str {
        match self.unit {
            ComparisonUnit::Launch => "MPI",
            ComparisonUnit::Run => "side",
        }
    }

    /// As a section of the results.
    pub fn section(&self) -> Section<'_> {
        self.matrix().section(&self.sides)
    }

    /// The means as marks of a picture; none of a single side.
    pub fn marks(&self) -> Vec<Datum> {
        let Some(case) = self.cases.first().filter(|_| self.sides.len() > 1) else { return Vec::new() };
        let first = self.means.all.first().map_or("", |first| &*self.sides[first]);
        let case =
            Arc::new(Case { experiment: case.case.experiment, test: self.means.title(), ..Case::default() });
        let of_side = |(name, mean): (&String, &SideMean)| Datum {
            case: case.clone(),
            method: name.clone(),
            quantity: GEOMETRIC_MEAN.to_owned(),
            against: first.to_owned(),
            value: mean.ratio,
            interval: mean.interval(),
            unit: FigureUnit::Ratio,
            ..Datum::default()
        };
        self.sides.iter().zip(&self.means.all.sides).map(of_side).collect()
    }

    /// The means, where each side is fastest, and what it prefers: a sentence each.
    fn sentences(&self) -> Vec<String> {
        let (all, Means { all: mean, left_out, .. }) = (self.cases.len(), &self.means);
        let counted = |count: &dyn Fn(usize) -> usize| {
            let counts = self.sides.iter().enumerate().map(|(i, name)| (name, count(i)));
            let counts = counts.filter(|(_, count)| *count > 0);
            counts.map(|(name, count)| format!("{name} in {count}")).collect::<Vec<_>>().join(", ")
        };
        let mut sentences = Vec::new();
        if let Some(first) = mean.first() {
            let others = mean.sides.iter().enumerate().filter(|(i, _)| *i != first);
            let others = others.map(|(i, mean)| format!("{} {}", self.sides[i], mean.text()));
            let others = others.collect::<Vec<_>>().join(", ");
            sentences.push(format!("{}, relative to {}: {others}.", self.means.title(), self.sides[first]));
        }
        if !self.means.weights.is_empty() {
            let shares =
                self.means.tests.iter().map(|of| format!("{} {}", of.test, units::percent(of.weight)));
            sentences.push(format!("Weights: {}.", shares.collect::<Vec<_>>().join(", ")));
        }
        if !left_out.is_empty() {
            let tests = left_out.iter().map(|(test, why)| format!("{test} ({why})"));
            sentences.push(format!("Not in the mean: {}.", tests.collect::<Vec<_>>().join(", ")));
        }
        let is_first = |i: usize| self.cases.iter().filter(|row| is_first(row, i)).count();
        let open = all - (0..self.sides.len()).map(is_first).sum::<usize>();
        let firsts =
            [counted(&is_first), if open > 0 { format!("not known in {open}") } else { String::new() }];
        let firsts = firsts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        sentences.push(format!(
            "Fastest {}, of {all} {}: {firsts}.",
            self.noun(),
            if all == 1 { "case" } else { "cases" }
        ));
        let prefers = |verdict: Verdict| {
            counted(&|i| {
                let bests = self.cases.iter().filter_map(|row| row.sides[i].as_ref());
                bests
                    .filter_map(|best| best.datatype_over_loops.as_ref())
                    .filter(|of| of.verdict == verdict)
                    .count()
            })
        };
        for (faster, slower, verdict) in
            [(LOOPS, DATATYPE, Verdict::Slower), (DATATYPE, LOOPS, Verdict::Faster)]
        {
            let found = prefers(verdict);
            if !found.is_empty() {
                sentences.push(format!("{faster} is faster than {slower}: {found}."));
            }
        }
        sentences
    }
}

impl CaseRow {
    fn shown(&self) -> MatrixRow {
        let times = self.sides.iter().flatten().map(|best| best.median_s);
        let least = times.fold(f64::INFINITY, f64::min);
        let cell = |best: &Best| MatrixCell {
            method: best.method.clone(),
            time_s: best.median_s,
            loss: best.over_first.as_ref().map_or_else(String::new, Estimate::text),
            place: match &best.over_first {
                _ if best.median_s <= least => Place::Fastest,
                Some(loss) if loss.verdict != Verdict::Slower => Place::NotSlower,
                _ => Place::Slower,
            },
        };
        MatrixRow {
            test: self.case.test.clone(),
            set: self.case.sizes().to_owned(),
            cells: self.sides.iter().map(|best| best.as_ref().map(cell)).collect(),
        }
    }
}

/// Whether a side is shown to be the fastest.
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
        let times = side.methods_of(case).filter(|subject| is_usable(subject));
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
pub(super) fn is_usable(subject: &Subject) -> bool {
    subject.experiment.method(&subject.method).is_ok_and(|method| method.array_to_array)
}

/// The levels of each side in each row.
type Levels = Vec<Vec<Option<Level>>>;

/// All levels, with variances that are estimated together.
fn moderated(mut levels: Levels) -> Levels {
    moderate(&mut levels.iter_mut().flatten().flatten().collect::<Vec<_>>());
    levels
}

/// The levels of the launches of each side's best method; none for runs, which are nested.
fn best_levels(sides: &[Side], row: &CaseRow) -> Vec<Option<Level>> {
    let best = |best: &Option<Best>| Some(row.case.with(&best.as_ref()?.method));
    let subjects: Vec<Option<Subject>> = row.sides.iter().map(best).collect();
    let series = sides.iter().zip(&subjects).map(|(side, subject)| times(side, subject.as_ref()?));
    let of_launches = sides.iter().all(|side| side.unit == ComparisonUnit::Launch);
    match of_launches {
        true => levels_of(&series.collect::<Vec<_>>()),
        false => vec![None; sides.len()],
    }
}

fn times<'a>(side: &'a Side, subject: &'a Subject) -> Option<LaunchSeries<'a>> {
    LaunchSeries::of(side, subject, |values| &values.times)
}

/// The levels of the ratio of `ddt` to `manual` in the launches of each side; none for runs.
fn preferences(sides: &[Side], case: &Subject) -> Vec<Option<Level>> {
    let subject = case.with(DATATYPE);
    let of_side = |side: &Side| {
        let values = side.over(&subject, LOOPS);
        let series = LaunchSeries { side, subject: &subject, values: &values };
        if side.unit == ComparisonUnit::Launch { level_of_ratio(series) } else { None }
    };
    sides.iter().map(of_side).collect()
}

/// The best of side `i` relative to the best of the fastest side; `None` for that one.
fn loss(sides: &[Side], row: &CaseRow, i: usize, levels: &[Option<Level>]) -> Option<CountedDifference> {
    let bests = row.sides.iter().enumerate().filter_map(|(i, best)| Some((i, best.as_ref()?)));
    let (first, _) = bests.min_by(|a, b| a.1.median_s.total_cmp(&b.1.median_s))?;
    if first == i {
        return None;
    }
    let best = |i: usize| Some(row.case.with(&row.sides[i].as_ref()?.method));
    let (base, new) = (best(first)?, best(i)?);
    let series = [times(&sides[first], &base)?, times(&sides[i], &new)?];
    let [Some(of_first), Some(level)] = [levels[first], levels[i]] else { return difference(series) };
    let locations = [of_first.value, level.value];
    let compared = Compared { difference: level.minus(&of_first), locations };
    Some((compared, (series[0].values.len(), series[1].values.len())))
}

type SideQuestion<'a> = dyn Fn(usize, usize, &CaseRow) -> Option<CountedDifference> + 'a;

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
        let difference = question(r, i, &rows[r])?;
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
                "Geometric mean of 1 test, relative to b: a 2.00 [1.98, 2.02].",
                "Fastest MPI, of 1 case: b in 1.",
                "manual is faster than ddt: a in 1.",
                "ddt is faster than manual: b in 1."
            ]
        );
        let section = overview.section();
        let row = ["wrf_x_vec", "4x4", "  10.2 µs manual  2.00x [1.95, 2.05]", "* 5.10 µs ddt"];
        assert_eq!(section.table.rows[0], row);
        assert_eq!(section.table.rows[1], ["geometric mean", "", "  2.00 [1.98, 2.02]", "  1.00"]);
    }

    #[test]
    fn who_is_not_faster_for_certain_is_not_first() {
        let (a, b) = (side("a", 1e-5, 2e-5), side("b", 1.001e-5, 2e-5));
        let overview = Overview::of(&[a, b], 0.05, 0.05);
        assert!(
            overview.sentences().contains(&"Fastest MPI, of 1 case: not known in 1.".to_owned()),
            "{overview:?}"
        );
        assert!(
            overview.matrix().rows[0].cells.iter().flatten().all(|cell| cell.place != Place::Slower),
            "{overview:?}"
        );
    }
}
