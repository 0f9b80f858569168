//! Comparisons for people: sentences, then the rows, the worst first.

use std::sync::Arc;

use super::phases::{self, from_to};
use super::verdict::ratio_text;
use super::{
    Comparison, ComparisonRow, ComparisonUnit, Comparisons, Estimate, FEWEST_RUNS, Overview, StateChange,
    StateMet, Subject, Verdict, findings, states,
};
use crate::model::{Case, FigureUnit};
use crate::report::case::OVERSUBSCRIBED;
use crate::report::columns::{Align, Column, Table};
use crate::report::compared::{Compared, Section};
use crate::report::pictures::Datum;
use crate::report::{ratio, units};
use crate::stats::launches::{FEWEST, SlowGroup};

const COLUMNS: [Column; 9] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2).rank(1),
    Column::new("method", Align::Left, 2),
    Column::new(AT, Align::Right, 2),
    Column::new("time", Align::Right, 2),
    Column::new("change", Align::Right, 2),
    Column::new("copies", Align::Right, 2),
    Column::new("verdict", Align::Left, 2),
    Column::new("note", Align::Left, 2).rank(2),
];

/// The column of the state of the machine, by its core-to-core latency.
const AT: &str = "at";

/// A line of the table: a row in a state of the machine, or without one if it is not compared in any.
pub(super) type RowInState<'a> = (&'a ComparisonRow, Option<&'a StateChange>);

impl Comparisons {
    /// The comparison for text, Markdown and pages.
    pub fn compared(&self) -> Compared<'_> {
        let section = |comparison: &Comparison| Section {
            title: comparison.title(),
            sentences: comparison
                .disturbance
                .text()
                .into_iter()
                .chain(comparison.oversubscribed.then(|| OVERSUBSCRIBED.to_owned()))
                .chain(Some(format!("{}.", comparison.conditions)).filter(|conditions| conditions != "."))
                .chain(comparison.not_compared())
                .chain(self.too_few(comparison))
                .chain(findings(comparison))
                .collect(),
            table: self.table(comparison),
            ..Section::default()
        };
        let mut sections: Vec<Section<'_>> = self.comparisons.iter().map(section).collect();
        // With three or more sides, all of them next to each other are the answer.
        let place = if self.comparisons.len() > 1 { 0 } else { sections.len() };
        sections.splice(place..place, Overview::sections(&self.overviews));
        let changes = self.comparisons.iter().flat_map(Comparison::marks);
        let changes = changes.chain(self.overviews.iter().flat_map(Overview::marks)).collect();
        Compared { decisions: self.decisions(), sections, legend: self.legend(), changes }
    }

    /// The result of the gate, then the broken methods of each side. If there are two sides, also their changes.
    fn decisions(&self) -> Vec<String> {
        let is_one = self.comparisons.len() == 1;
        let gate = self.gate.iter().map(|gate| gate.text.clone());
        gate.chain(self.comparisons.iter().flat_map(|of| of.decisions(is_one))).collect()
    }

    /// Explains columns and verdicts.
    fn legend(&self) -> String {
        let unit = match self.unit {
            ComparisonUnit::Launch => "launches of both sides in turn",
            ComparisonUnit::Run => {
                "runs at different times: intervals include the variation between runs, at least 1%"
            }
        };
        let rows = || self.comparisons.iter().flat_map(|comparison| &comparison.rows);
        let changes = || rows().flat_map(|row| &row.changes);
        let is_adjusted = changes().filter_map(|change| change.time.as_ref()).any(|time| time.adjusted);
        let adjusted = if is_adjusted { ADJUSTED } else { "" };
        let is_in_several = self.comparisons.iter().any(|comparison| comparison.states.len() > 1);
        let in_states = if is_in_several { IN_STATES } else { "" };
        let by_mean = if changes().any(StateChange::is_by_mean) { BY_MEAN } else { "" };
        let threshold = units::short_percent(self.settings.threshold);
        if self.has_copies_and_times() == (true, false) {
            return COPIES.to_owned();
        }
        format!(
            "time: base -> new. change: the time of new divided by that of base, with its interval, from {unit}{in_states}.{adjusted} slower, faster: \
             shown to take longer, or less time; a gate fails if slower by more than {threshold}.{by_mean} same: any change is shown to be within \
             {threshold}. In 95 of 100 comparisons all intervals and all verdicts are right for the states of the machine that are named. \
             Terms: docs/glossary.md."
        )
    }

    /// The rows: the worst verdict first, then the largest change. A row has a line for each state in which it is compared.
    fn table(&self, comparison: &Comparison) -> Table<'static> {
        let mut rows: Vec<&ComparisonRow> = comparison.rows.iter().collect();
        let order = |row: &ComparisonRow| (row.verdict, !row.is_beyond());
        rows.sort_by(|a, b| order(a).cmp(&order(b)).then(b.size().total_cmp(&a.size())));
        let sets = Subject::sizes_alike(&rows.iter().map(|row| &row.subject).collect::<Vec<_>>());
        let cells = |(row, change): RowInState<'_>, set: &str| {
            let subject = &row.subject;
            let latency_s = change.and_then(|change| change.latency_s);
            let is_verdict = |change: &&StateChange| !row.untimed() && change.verdict != Verdict::NotCompared;
            vec![
                subject.test.clone(),
                set.to_owned(),
                subject.method.clone(),
                latency_s.map_or_else(String::new, |latency_s| states::at(latency_s, false)),
                change.and_then(StateChange::times).unwrap_or_default(),
                change.map_or_else(String::new, StateChange::ratio_text),
                row.copies_text().unwrap_or_default(),
                match row.verdict {
                    Verdict::Broken if !row.note.is_empty() => format!("broken: {}", row.note),
                    _ => change
                        .filter(is_verdict)
                        .map_or(row.verdict_text(), StateChange::verdict_text)
                        .to_owned(),
                },
                self.notes(comparison, row, change).join("; "),
            ]
        };
        let of_row = |(row, set)| row_lines(row).into_iter().map(move |line| cells(line, set));
        let rows = rows.into_iter().zip(sets).flat_map(of_row).collect();
        let left_out: &[&str] = if comparison.states.len() > 1 { &[] } else { &[AT] };
        Table { columns: COLUMNS.to_vec(), rows }.with_distinct_sets().without(left_out)
    }

    /// The number of launches that a verdict needs, if rows have fewer.
    fn too_few(&self, comparison: &Comparison) -> Option<String> {
        let has_few = |change: &&StateChange| change.time.is_none() && !change.is_decided();
        let few = comparison.rows.iter().filter(|row| !row.untimed()).flat_map(ComparisonRow::compared);
        let (base, new) = few.filter(has_few).map(|change| change.launches).min()?;
        let in_runs = match (self.unit, comparison.is_of_tables) {
            (ComparisonUnit::Run, false) => format!(" in at least {FEWEST_RUNS} runs"),
            _ => String::new(),
        };
        Some(format!(
            "A verdict needs at least {FEWEST} launches of each side{in_runs}; the base has {base}, new has {new}."
        ))
    }

    pub(super) fn sentence(&self, comparison: &Comparison, row: &ComparisonRow) -> String {
        let subject = &row.subject;
        let name = [subject.test.as_str(), subject.sizes(), subject.method.as_str()];
        let name = name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let lines = row_lines(row);
        let is_one = lines.len() == 1;
        let line = |(row, change): &RowInState<'_>| {
            let time = change.and_then(|change| change.time.as_ref());
            let ratio = time.map(|time| format!(" ({})", time.text())).unwrap_or_default();
            let times = change.and_then(StateChange::times).map(|times| format!("{times}{ratio}"));
            let latency_s = change.and_then(|change| change.latency_s);
            let at = latency_s.map(|latency_s| format!("at {}", states::at(latency_s, false)));
            let verdict = change.filter(|_| !is_one).map(|change| change.verdict_text().to_owned());
            let copies = row.copies_text().map(|copies| format!("{copies} copies"));
            let head = [times, copies, at, verdict].into_iter().flatten().collect::<Vec<_>>().join(" ");
            let notes = self.notes(comparison, row, *change);
            let parts = [head].into_iter().chain(notes).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join(", ")
        };
        let lines: Vec<String> = lines.iter().map(line).filter(|line| !line.is_empty()).collect();
        let lines = if lines.is_empty() { name } else { format!("{name}: {}", lines.join("; ")) };
        format!("{lines}; {}", comparison.mpis())
    }

    /// The failure, the mean, the phases that explain a change, the change of the control, the launches needed to decide.
    fn notes(
        &self,
        comparison: &Comparison,
        row: &ComparisonRow,
        change: Option<&StateChange>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        if !row.note.is_empty() && row.verdict != Verdict::Broken {
            notes.push(row.note.clone());
        }
        let unit = match (self.unit, comparison.is_of_tables) {
            (ComparisonUnit::Run, false) => "runs",
            _ => "launches",
        };
        if !row.untimed() && row.compared().next().is_none() {
            notes.push("the sides met no common state of the machine".to_owned());
        }
        let Some(change) = change.filter(|change| change.verdict != Verdict::NotCompared) else {
            return notes;
        };
        if let (Some(mean), Some(base), Some(new)) =
            (change.differing_mean(), change.base_mean_s, change.new_mean_s)
        {
            notes.push(format!("mean {} ({})", from_to(base, new), mean.text()));
        }
        if change.time.as_ref().is_some_and(|time| time.verdict.is_change() && time.verdict == change.verdict)
        {
            let is_slower = change.verdict == Verdict::Slower;
            notes.extend(phases::explanation(&change.phases, is_slower, self.settings.threshold));
            notes.extend(comparison.attribution(row, change));
        }
        notes.extend(change.slow_launches());
        if row.compared().next() == Some(change) {
            let left_out = row.changes.iter().filter(|of| of.verdict == Verdict::NotCompared);
            notes.extend(left_out.filter_map(StateChange::left_out));
            let (base, new) = row.without_state;
            let unknown =
                [(base, "the base"), (new, "new")].into_iter().filter(|(launches, _)| *launches > 0);
            notes.extend(unknown.map(|(launches, side)| {
                format!("not compared: {} of {side}, in no known state", launches_text(launches))
            }));
        }
        // So many launches are not practical, and a change that close to the threshold may never be decided.
        const MANY: usize = 1000;
        match &change.time {
            Some(time) if !change.is_decided() && !time.is_decided() => {
                notes.push(match change.verdict.is_change() {
                    true => format!("may be less than {}", units::short_percent(self.settings.threshold)),
                    false => time.detectable_text(),
                });
                let made = time.units.0.min(time.units.1);
                notes.extend(match time.would_decide {
                    Some(needed) if needed <= made => {
                        Some(format!("not decided by {made} {unit} of each side"))
                    }
                    Some(needed) if needed <= MANY => {
                        Some(format!("about {needed} {unit} of each side are needed to decide (has {made})"))
                    }
                    Some(_) => Some(format!("more than {MANY} {unit} are needed to decide")),
                    None if change.verdict.is_change() => None,
                    None => Some(format!("more {unit} may not decide")),
                });
            }
            _ => {}
        }
        notes
    }
}

/// The lines of a row: its changes in all states in which it is compared; of a row that is not compared all that is known.
fn row_lines(row: &ComparisonRow) -> Vec<RowInState<'_>> {
    let of =
        |is_shown: &dyn Fn(&&StateChange) -> bool| row.changes.iter().filter(is_shown).collect::<Vec<_>>();
    let is_compared = |change: &&StateChange| !row.untimed() && change.verdict != Verdict::NotCompared;
    let all = [of(&is_compared), of(&|_| true)];
    match all.into_iter().find(|shown| !shown.is_empty()) {
        None => vec![(row, None)],
        Some(shown) => shown.into_iter().map(|change| (row, Some(change))).collect(),
    }
}

/// Without times.
const COPIES: &str = "copies: by a device's driver, for one message, base -> new; a gate fails if there are more. Terms: docs/glossary.md.";

/// Verdicts on means.
const BY_MEAN: &str = " by mean: shown by the mean, not by the median that the change is of.";

/// The adjustment within a state of the machine.
const ADJUSTED: &str =
    " Both are adjusted to the median core-to-core latency and speed of copies of these launches.";

/// Several states of the machine.
const IN_STATES: &str = " in the same state of the machine; at: its core-to-core latency";

fn launches_text(launches: usize) -> String {
    format!("{launches} launch{}", if launches == 1 { "" } else { "es" })
}

impl StateChange {
    /// Launches that take clearly longer than the others of their side: `7 of 30 launches of new take 3.0
    /// times as long`. Those that were disturbed.
    fn slow_launches(&self) -> Vec<String> {
        let disturbed = |(side, disturbed): (&str, usize)| {
            (disturbed > 0).then(|| format!("disturbed, left out: {} of {side}", launches_text(disturbed)))
        };
        let disturbed =
            [("base", self.disturbed.0), ("new", self.disturbed.1)].into_iter().filter_map(disturbed);
        let of = |(side, slow): (&str, &Option<SlowGroup>)| {
            let SlowGroup { launches, of, times } = (*slow)?;
            Some(format!("{launches} of {of} launches of {side} take {times:.1} times as long as the others"))
        };
        [("base", &self.slow.0), ("new", &self.slow.1)].into_iter().filter_map(of).chain(disturbed).collect()
    }

    /// Why its launches are not compared: `not compared: 4 launches of new at 160 ns (none of the base)`.
    fn left_out(&self) -> Option<String> {
        let at = states::at(self.latency_s?, false);
        Some(match self.launches {
            (0, new) => format!("not compared: {} of new at {at} (none of the base)", launches_text(new)),
            (base, 0) => format!("not compared: {} of the base at {at} (none of new)", launches_text(base)),
            (base, new) => {
                format!("too few to compare: {} of the base and {new} of new at {at}", launches_text(base))
            }
        })
    }

    /// The change that determines the verdict; also that of the mean, if it differs.
    pub(super) fn changes(&self) -> Option<String> {
        let time = self.time.as_ref().map(Estimate::text);
        Some(match self.differing_mean() {
            None => time?,
            Some(mean) if mean.verdict == self.verdict => format!("mean {}, median {}", mean.text(), time?),
            Some(mean) => format!("{}, but mean {}", time?, mean.text()),
        })
    }

    fn times(&self) -> Option<String> {
        match (self.base_s, self.new_s) {
            (Some(base), Some(new)) => Some(from_to(base, new)),
            (Some(base), None) => Some(format!("{} -> none", units::seconds(base))),
            (None, Some(new)) => Some(format!("none -> {}", units::seconds(new))),
            (None, None) => None,
        }
    }
}

impl StateChange {
    /// The change of its time; from a single launch of each side without an interval.
    fn ratio_text(&self) -> String {
        let plain = || Some(format!("{}x", ratio_text(self.new_s? / self.base_s?)));
        let plain = || plain().filter(|_| self.verdict != Verdict::NotCompared);
        self.time.as_ref().map(Estimate::text).or_else(plain).unwrap_or_default()
    }
}

impl Comparison {
    /// Whether the control has changed in the same direction in this state, and the change relative to it.
    fn attribution(&self, row: &ComparisonRow, change: &StateChange) -> Option<String> {
        let name = change.control.as_ref()?;
        let control = row.subject.with(name);
        let control = self.rows.iter().find(|row| row.subject == control)?;
        let control = control.changes.iter().find(|of| of.state == change.state)?;
        let time = control.time.as_ref().filter(|_| control.verdict == change.verdict)?;
        let text = format!("{name} ({:.2}x)", time.ratio);
        Some(match change.over_control.as_ref().map(|over| over.verdict) {
            Some(Verdict::Same) => format!("as {text}"),
            Some(over) if over == change.verdict => format!("more than {text}"),
            Some(over) if over.is_change() => format!("less than {text}"),
            _ => format!("{text} as well"),
        })
    }

    /// The title: the sides, where they were measured, once if it is the same, and the states of the machine.
    pub(super) fn title(&self) -> String {
        let (base, new) = (self.base.text("base"), self.new.text("new"));
        let title = match self.base.place == self.new.place {
            true if self.base.place.is_empty() => format!("{base} and {new}"),
            true => format!("{base} and {new}: {}", self.base.place),
            false => format!("{base}: {}\n{new}: {}", self.base.place, self.new.place),
        };
        [Some(title), states::text(&self.states)].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Launches in states of the machine that are not compared, because a side did not meet them, or in no known state.
    fn not_compared(&self) -> Option<String> {
        let is_compared = |state: &&StateMet| {
            self.rows.iter().any(|row| row.compared().any(|change| change.state == state.state))
        };
        let text = |state: &StateMet| {
            let at = states::at(state.latency_s, false);
            format!("at {at}, {} of the base and {} of new", state.launches[0], state.launches[1])
        };
        let without = (self.without_state > 0)
            .then(|| format!("{} of which the state is not known or changed meanwhile", self.without_state));
        let few = self.states.iter().filter(|state| !is_compared(state)).map(text);
        let few: Vec<String> = few.chain(without).collect();
        (!few.is_empty()).then(|| {
            format!(
                "Launches in states that only one side met, or in no known state, are not compared: {}.",
                few.join("; ")
            )
        })
    }

    /// The answers of all rows as marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = Datum> {
        self.rows.iter().flat_map(|row| row.compared().filter_map(|change| self.mark(row, change)))
    }

    /// The answer of a row in a state as a mark; `None` without one, or if its ratio is not known.
    fn mark(&self, row: &ComparisonRow, change: &StateChange) -> Option<Datum> {
        let time = change.answer().filter(|time| !ratio::is_unknown((time.low, time.high)))?;
        let subject = &row.subject;
        let state = change.latency_s.filter(|_| self.states.len() > 1);
        let state =
            state.map_or_else(String::new, |latency_s| format!(" at {}", states::at(latency_s, false)));
        let case = Case {
            experiment: subject.experiment,
            test: subject.test.clone(),
            set: subject.set.clone(),
            params: subject.params.clone(),
            mpi: format!("{}{state}", self.new.name),
            ranks: subject.ranks,
            cache: subject.cache,
            memory: subject.memory,
            ..Case::default()
        };
        Some(Datum {
            case: Arc::new(case),
            method: subject.method.clone(),
            series: change.verdict.name().to_owned(),
            quantity: "change".to_owned(),
            against: self.base.name.clone(),
            bytes: row.bytes,
            state_latency_s: change.latency_s,
            value: time.ratio,
            interval: Some((time.low, time.high)),
            unit: FigureUnit::Ratio,
            ..Datum::default()
        })
    }
}
