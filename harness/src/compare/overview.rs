//! All sides, side by side: the fastest method of each side in each case, its loss relative to the fastest
//! side, and whether each side is faster with loops or datatypes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::differences::{CountedDifference, LaunchSeries, RATIOS, TIMES, difference, levels};
use super::means::{Means, SideMean, means};
use super::side::{ComparisonUnit, Side, Subject};
use super::states::{self, StateMet, States};
use super::verdict::Estimate;
use super::weights::Weights;
use super::{Settings, Verdict};
use crate::model::{Case, FigureUnit};
use crate::report::columns::{Align, Column, Table, distinct_sets};
use crate::report::compared::Section;
use crate::report::names::distinct;
use crate::report::pictures::{Datum, GEOMETRIC_MEAN};
use crate::report::sentences::listed;
use crate::report::{ratio, units};
use crate::stats::difference::{Compared, Difference};
use crate::stats::mean;
use crate::stats::moderated::{Level, moderate};

/// The name of the row of means.
const MEAN: &str = "geometric mean";

/// The loops and the datatype that a side may prefer.
const LOOPS: &str = "manual";
const DATATYPE: &str = "ddt";

/// All sides in one state of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// The sides, the base first.
    pub sides: Vec<String>,
    /// The median core-to-core latency of its launches, in seconds; missing if it is not known for all of them.
    pub latency_s: Option<f64>,
    /// Launches of all sides and cases in this state.
    pub launches: usize,
    /// The unit of a side's values.
    pub unit: ComparisonUnit,
    pub cases: Vec<CaseRow>,
    /// A geometric mean for each side.
    pub means: Means,
}

/// A case on all sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseRow {
    /// The case; its method is empty.
    #[serde(flatten)]
    pub case: Subject,
    /// The best of each side; missing if no method that an application could use has times.
    pub sides: Vec<Option<Best>>,
    /// Whether a side was not measured in it, or not in this state of the machine. Then no side is known to be the fastest.
    pub is_incomplete: bool,
}

/// The fastest method of a side that an application could use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Best {
    pub method: String,
    /// Its time in seconds, adjusted to the median latency and copy speed of the state if these are known, so
    /// that the quotient of two sides' times is their ratio.
    pub time_s: f64,
    /// Its time relative to the fastest side's best; missing for that side.
    pub over_first: Option<Estimate>,
    /// `ddt` relative to `manual` on this side; missing if one was not measured.
    pub datatype_over_loops: Option<Estimate>,
}

impl Overview {
    /// Compares several sides in each state of the machine in which two of them can be compared, the nearest
    /// cores first; without such a state in the one with most launches. With weights of tests in its means.
    ///
    /// # Errors
    /// A weight without a test.
    pub fn of_states(
        sides: &[Side],
        settings: &Settings,
        weights: Option<&Weights>,
    ) -> Result<Vec<Self>, String> {
        let states = States::from_sides(sides);
        let met = states::met(&sides.iter().collect::<Vec<_>>(), &states);
        type Part = (usize, Vec<Side>);
        let part = |state| (state, sides.iter().map(|side| states.part(side, state)).collect::<Vec<_>>());
        let mut parts: Vec<Part> = (0..states.count()).map(part).collect();
        let launches = |sides: &[Side]| sides.iter().map(Side::launches).sum::<usize>();
        let comparable =
            |(_, part): &Part| part.iter().filter(|side| side.has_intervals()).count() >= sides.len().min(2);
        match parts.iter().any(comparable) {
            true => parts.retain(comparable),
            false => {
                let most = parts.into_iter().rev().max_by_key(|(_, part)| launches(part));
                parts = most.into_iter().collect();
            }
        }
        // The answers of all states are corrected together.
        let alpha = settings.alpha / parts.len().max(1) as f64;
        let of_state = |(state, sides): &Part| {
            let met = met.iter().find(|met| met.state == *state);
            Ok(Self {
                latency_s: met.map(|met| met.latency_s),
                launches: met.map_or_else(|| launches(sides), StateMet::all),
                ..Self::from_sides(sides, alpha, settings.threshold, weights)?
            })
        };
        // Simulated devices have no times.
        let has_cases = |of: &Result<Self, String>| !of.as_ref().is_ok_and(|of| of.cases.is_empty());
        parts.iter().map(of_state).filter(has_cases).collect()
    }

    /// Compares sides whose launches are in one state.
    fn from_sides(
        sides: &[Side],
        alpha: f64,
        threshold: f64,
        weights: Option<&Weights>,
    ) -> Result<Self, String> {
        let cases = distinct(sides.iter().flat_map(Side::cases_with_results).cloned());
        let mut rows: Vec<CaseRow> = cases.iter().map(|case| row(sides, case)).collect();
        // The answers to each question are one family: they are corrected together.
        let threshold = threshold.ln_1p();
        let losses = |best: &mut Best, answer: Estimate| best.over_first = Some(answer);
        let levels = moderated(rows.iter().map(|row| best_levels(sides, row)).collect());
        // The order of sides is kept: the fastest is that of the levels of all methods.
        let firsts: Vec<Option<usize>> = rows.iter().map(CaseRow::first).collect();
        let over_first = |r: usize, i: usize, row: &CaseRow| loss(sides, row, i, &levels[r]);
        settle(&mut rows, alpha / 2.0, threshold, &over_first, &losses);
        for ((row, levels), first) in rows.iter_mut().zip(&levels).zip(firsts) {
            let level = first.and_then(|first| Some(levels[first].as_ref()?.value.exp()));
            row.with_times_of_ratios(first, level);
        }
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
        Ok(Self {
            sides: sides.iter().map(|side| side.name.clone()).collect(),
            unit: sides.first().map(|side| side.unit).unwrap_or_default(),
            means: means(sides, &rows, weights)?,
            cases: rows,
            ..Self::default()
        })
    }

    /// The state in which it holds: `cores 30 ns apart`; empty if that is not known.
    pub fn place(&self) -> String {
        self.latency_s.map_or_else(String::new, |latency_s| states::at(latency_s, true))
    }

    /// The name of a side in texts.
    fn noun(&self) -> &'static str {
        match self.unit {
            ComparisonUnit::Launch => "MPI",
            ComparisonUnit::Run => "side",
        }
    }

    fn title(&self) -> String {
        let title = format!("Time of the fastest method of each {}", self.noun());
        match (self.place(), self.launches) {
            (place, _) if place.is_empty() => title,
            (place, 1) => format!("{title}, {place} in 1 launch"),
            (place, launches) => format!("{title}, {place} in {launches} launches"),
        }
    }

    /// As sections of the results. Only the last one explains their tables.
    pub fn sections<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Section<'a>> {
        let mut sections: Vec<Section<'_>> = all.into_iter().map(Self::section).collect();
        let last = sections.len().saturating_sub(1);
        sections[..last].iter_mut().for_each(|section| section.legend.clear());
        sections
    }

    /// As a section of the results. On narrow terminals its table has no ratios, then methods are below their
    /// times, then there are several tables with fewer sides.
    pub(super) fn section(&self) -> Section<'_> {
        let sets = self.sets();
        let narrow = (1..=self.sides.len()).rev().map(|most| self.narrow_tables(&sets, most));
        let legend = format!(
            "*: shown to be the fastest {} in the test; ~: not shown to be slower than others; ?: not known, for example after a stall. \
             Times: geometric means over launches, adjusted to the median latency and copy speed; tables of methods have medians.",
            self.noun()
        );
        Section {
            title: self.title(),
            sentences: self.sentences(),
            table: self.wide_table(&sets, true),
            legend,
            narrower: std::iter::once(vec![self.wide_table(&sets, false)]).chain(narrow).collect(),
            is_answer: true,
        }
    }

    /// The set of each case without values that all sets of its test have.
    fn sets(&self) -> Vec<String> {
        let tests = self.cases.iter().map(|row| row.case.test.clone());
        let sizes = Subject::sizes_alike(&self.cases.iter().map(|row| &row.case).collect::<Vec<_>>());
        distinct_sets(&tests.zip(sizes.into_iter().map(str::to_owned)).collect::<Vec<_>>()).0
    }

    /// A line per case.
    fn wide_table(&self, sets: &[String], has_ratios: bool) -> Table<'_> {
        let row = |(row, set): (&CaseRow, &String)| {
            let cells = row.sides.iter().enumerate().map(|(i, best)| {
                let method = best.as_ref().map_or("", |best| &*best.method);
                let loss = best.as_ref().and_then(|best| best.over_first.as_ref()).filter(|_| has_ratios);
                let loss = loss.map_or_else(String::new, Estimate::text);
                format!("{} {method}  {loss}", row.time(i)).trim_end().to_owned()
            });
            [row.case.test.clone(), set.clone()].into_iter().chain(cells).collect()
        };
        let means = self.means.all.sides.iter().map(|mean| format!("  {}", mean.text()));
        let means: Vec<String> = [MEAN.to_owned(), String::new()].into_iter().chain(means).collect();
        let columns = [Column::new("test", Align::Left, 0), Column::new("set", Align::Left, 2)];
        Table {
            columns: columns.into_iter().chain(self.side_columns()).collect(),
            rows: self.cases.iter().zip(sets).map(row).chain(self.has_means().then_some(means)).collect(),
        }
    }

    /// Two lines per case: times, and methods below them; in tables of at most so many sides.
    fn narrow_tables(&self, sets: &[String], most: usize) -> Vec<Table<'_>> {
        let table = |start: usize| {
            let line = |name: String, of: &dyn Fn(usize) -> String| {
                let sides = start..(start + most).min(self.sides.len());
                std::iter::once(name).chain(sides.map(of)).collect::<Vec<_>>()
            };
            let of_row = |(row, set): (&CaseRow, &String)| {
                let method = |best: &Best| format!("  {}", best.method);
                let method = |i: usize| row.sides[i].as_ref().map_or_else(String::new, method);
                [line(row.case.test.clone(), &|i| row.time(i)), line(format!("  {set}"), &method)]
            };
            let mean = |place: usize| move |i: usize| format!("  {}", self.means.all.sides[i].texts()[place]);
            let means = || [line(MEAN.to_owned(), &mean(0)), line(String::new(), &mean(1))];
            let means = self.has_means().then(means).into_iter().flatten();
            let columns = std::iter::once(Column::new("test", Align::Left, 0));
            Table {
                columns: columns.chain(self.side_columns().skip(start).take(most)).collect(),
                rows: self.cases.iter().zip(sets).flat_map(of_row).chain(means).collect(),
            }
        };
        (0..self.sides.len()).step_by(most).map(table).collect()
    }

    fn side_columns(&self) -> impl Iterator<Item = Column<'_>> {
        self.sides.iter().map(|name| Column::new(name, Align::Left, 2))
    }

    /// Whether there is a mean of several tests: that of one would say again, and with other launches, what its row says.
    fn has_means(&self) -> bool {
        self.means.tests.len() > 1 && !self.means.all.sides.is_empty()
    }

    /// The means as marks of a picture; none of a single side.
    pub fn marks(&self) -> Vec<Datum> {
        let Some(case) = self.cases.first().filter(|_| self.sides.len() > 1 && self.has_means()) else {
            return Vec::new();
        };
        let first = self.means.all.first().map_or("", |first| &*self.sides[first]);
        let title = [self.means.title(), self.place()].join(", ");
        let test = title.trim_end_matches(", ").to_owned();
        let case = Arc::new(Case { experiment: case.case.experiment, test, ..Case::default() });
        let of_side = |(name, mean): (&String, &SideMean)| Datum {
            case: case.clone(),
            method: name.clone(),
            quantity: GEOMETRIC_MEAN.to_owned(),
            against: first.to_owned(),
            state_latency_s: self.latency_s,
            value: mean.ratio,
            interval: mean.interval(),
            unit: FigureUnit::Ratio,
            ..Datum::default()
        };
        let is_known = |(_, mean): &(&String, &SideMean)| !mean.interval().is_some_and(ratio::is_unknown);
        self.sides.iter().zip(&self.means.all.sides).filter(is_known).map(of_side).collect()
    }

    /// The geometric means relative to that of the fastest side; `None` if no case has times on all sides.
    pub fn mean_text(&self) -> Option<String> {
        let mean = &self.means.all;
        let first = mean.first().filter(|_| self.has_means())?;
        let others = mean.sides.iter().enumerate().filter(|(i, _)| *i != first);
        let others = others.map(|(i, mean)| format!("{} {}", self.sides[i], mean.text()));
        let others = others.collect::<Vec<_>>().join(", ");
        Some(format!("{}, relative to {}: {others}.", self.means.title(), self.sides[first]))
    }

    /// The fastest side on average and in single cases, and the cases without one.
    fn conclusion(&self) -> String {
        let (noun, mean) = (self.noun(), &self.means.all);
        let is_slower =
            |(i, side): (usize, &SideMean)| Some(i) == mean.first() || side.low.is_some_and(|low| low > 1.0);
        let all = self.cases.len();
        let firsts = |i: usize| self.cases.iter().filter(|row| is_first(row, i)).count();
        if let Some(one) = (0..self.sides.len()).find(|i| firsts(*i) == all) {
            let cases = if all == 1 { &self.cases[0].case.test } else { &format!("all {all} cases") };
            return format!("Conclusion: {} is the fastest {noun} in {cases}.", self.sides[one]);
        }
        let average = match mean
            .first()
            .filter(|_| self.has_means())
            .filter(|_| mean.sides.iter().enumerate().all(is_slower))
        {
            Some(first) => format!("{} is the fastest {noun} on average; ", self.sides[first]),
            None if !self.has_means() => String::new(),
            None => format!("no {noun} is shown to be the fastest on average; "),
        };
        let name = |(row, set): (&CaseRow, String)| {
            let test = &row.case.test;
            let is_one = self.cases.iter().filter(|other| other.case.test == *test).count() == 1;
            let is_open = !(0..self.sides.len()).any(|i| is_first(row, i));
            is_open.then(|| if is_one { test.clone() } else { format!("{test} {set}") })
        };
        let open: Vec<String> = self.cases.iter().zip(self.sets()).filter_map(name).collect();
        let firsts = match self.counted(&firsts) {
            found if found.is_empty() => format!("no {noun} is shown to be the fastest in any case"),
            found => format!("fastest: {found} of {all} cases"),
        };
        let rest = listed(&format!(" Not decided in {}", open.len()), &open).unwrap_or_default();
        format!("Conclusion: {average}{firsts}.{rest}")
    }

    /// The sides with a number above 0.
    fn counted(&self, count: &dyn Fn(usize) -> usize) -> String {
        let counts = self.sides.iter().enumerate().map(|(i, name)| (name, count(i)));
        let counts = counts.filter(|(_, count)| *count > 0);
        counts.map(|(name, count)| format!("{name} in {count}")).collect::<Vec<_>>().join(", ")
    }

    /// The conclusion, the means, and what each side prefers.
    fn sentences(&self) -> Vec<String> {
        let left_out = &self.means.left_out;
        let mut sentences = vec![self.conclusion()];
        sentences.extend(self.mean_text());
        if !self.means.weights.is_empty() {
            let shares =
                self.means.tests.iter().map(|of| format!("{} {}", of.test, units::percent(of.weight)));
            sentences.push(format!("Weights: {}.", shares.collect::<Vec<_>>().join(", ")));
        }
        if !left_out.is_empty() {
            let reasons: BTreeSet<&String> = left_out.values().collect();
            let tests = |reason: &&String| {
                let tests = left_out.iter().filter(|(_, why)| why == reason).map(|(test, _)| test.as_str());
                format!("{reason}: {}", tests.collect::<Vec<_>>().join(", "))
            };
            let texts = reasons.iter().map(tests).collect::<Vec<_>>().join("; ");
            sentences.push(format!("Not in the mean: {texts}."));
        }
        let prefers = |verdict: Verdict| {
            self.counted(&|i| {
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
    /// The time of a side's best, behind its mark.
    fn time(&self, i: usize) -> String {
        let Some(best) = &self.sides[i] else { return "  -".to_owned() };
        let mark = match &best.over_first {
            _ if is_first(self, i) => '*',
            Some(loss) if loss.verdict == Verdict::Slower => ' ',
            Some(loss) if !ratio::is_unknown((loss.low, loss.high)) => '~',
            None if self.first() == Some(i) && self.sides.iter().flatten().count() > 1 => '~',
            // Not compared, or its interval includes almost any ratio.
            _ => '?',
        };
        format!("{mark} {}", units::seconds(best.time_s))
    }

    /// The side with the shortest time.
    fn first(&self) -> Option<usize> {
        let bests = self.sides.iter().enumerate().filter_map(|(i, best)| Some((i, best.as_ref()?)));
        bests.min_by(|a, b| a.1.time_s.total_cmp(&b.1.time_s)).map(|(i, _)| i)
    }

    /// The time of the fastest side, if it is known, and the others' times as so many times that.
    fn with_times_of_ratios(&mut self, first: Option<usize>, level: Option<f64>) {
        let Some(of_first) = first.and_then(|first| self.sides[first].as_mut()) else { return };
        of_first.time_s = level.unwrap_or(of_first.time_s);
        let time_s = of_first.time_s;
        for best in self.sides.iter_mut().flatten() {
            if let Some(loss) = &best.over_first {
                best.time_s = time_s * loss.ratio;
            }
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
    let has_others = row.sides.iter().flatten().count() > 1 || row.sides.len() == 1;
    row.sides[i].as_ref().is_some_and(|best| best.over_first.is_none())
        && has_others
        && !row.is_incomplete
        && others.map(|(_, best)| best).all(loses)
}

/// The best of each side, without answers.
fn row(sides: &[Side], case: &Subject) -> CaseRow {
    let usable = |side: &'_ Side| {
        side.methods_of(case).filter(|subject| is_usable(subject)).cloned().collect::<Vec<_>>()
    };
    let methods: Vec<Vec<Subject>> = sides.iter().map(usable).collect();
    let all = || sides.iter().zip(&methods).flat_map(|(side, of)| of.iter().map(move |of| (side, of)));
    let of = |series: LaunchSeries<'_>| series.with_machine();
    let series = all().map(|(side, subject)| times(side, subject).map(of).unwrap_or_default());
    let levels = levels(&series.collect::<Vec<_>>(), TIMES);
    let has_levels = all().zip(&levels).all(|((side, subject), level)| {
        level.is_some() || side.values(subject).is_none_or(|values| values.times.is_empty())
    });
    let mut levels = levels.into_iter();
    let mut best = |(side, methods): (&Side, &Vec<Subject>)| {
        let of_methods = methods.iter().zip(levels.by_ref());
        let of_methods: Vec<(&String, f64)> = of_methods
            .filter_map(|(subject, level)| {
                let plain = || mean(&side.values(subject)?.times.values().copied().collect::<Vec<_>>());
                // With too few launches of some, all are compared without adjustment.
                let value = if has_levels { level.map(|level| level.value) } else { plain() };
                Some((&subject.method, value?))
            })
            .collect();
        let (method, value) = of_methods.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let method = method.clone();
        Some(Best { method, time_s: value.exp(), over_first: None, datatype_over_loops: None })
    };
    let has_result = |side: &Side| {
        side.methods_of(case)
            .filter_map(|subject| side.values(subject))
            .any(|values| !values.times.is_empty() || values.failure.is_some())
    };
    CaseRow {
        case: case.clone(),
        sides: sides.iter().zip(&methods).map(&mut best).collect(),
        is_incomplete: !sides.iter().all(has_result),
    }
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
    let series = |(side, subject): (&Side, &Option<Subject>)| {
        let series = subject.as_ref().and_then(|subject| times(side, subject));
        series.map(|series| series.with_machine()).unwrap_or_default()
    };
    let of_launches = sides.iter().all(|side| side.unit == ComparisonUnit::Launch);
    match of_launches {
        true => levels(&sides.iter().zip(&subjects).map(series).collect::<Vec<_>>(), TIMES),
        false => vec![None; sides.len()],
    }
}

fn times<'a>(side: &'a Side, subject: &'a Subject) -> Option<LaunchSeries<'a>> {
    LaunchSeries::pick(side, subject, |values| &values.times)
}

/// The levels of the ratio of `ddt` to `manual` in the launches of each side; none for runs.
fn preferences(sides: &[Side], case: &Subject) -> Vec<Option<Level>> {
    let subject = case.with(DATATYPE);
    let of_side = |side: &Side| {
        let values = side.over(&subject, LOOPS);
        let series = LaunchSeries { side, subject: &subject, values: &values };
        if side.unit == ComparisonUnit::Launch { levels(&[series.with_machine()], RATIOS)[0] } else { None }
    };
    sides.iter().map(of_side).collect()
}

/// The best of side `i` relative to the best of the fastest side; `None` for that one.
fn loss(sides: &[Side], row: &CaseRow, i: usize, levels: &[Option<Level>]) -> Option<CountedDifference> {
    let first = row.first()?;
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
    let asked: Vec<_> = places.filter_map(|(r, i)| Some(((r, i), question(r, i, &rows[r])?))).collect();
    let alpha = alpha / asked.len() as f64;
    for ((r, i), (compared, units)) in asked {
        if let Some(best) = &mut rows[r].sides[i] {
            put(best, Estimate::from_difference(&compared.difference, units, alpha, threshold));
        }
    }
}
