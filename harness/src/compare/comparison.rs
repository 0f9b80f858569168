//! Whole comparisons: two sides, the rows, and the decision of a gate.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::states::{self, States};
use super::{ComparisonRow, ComparisonUnit, Overview, Settings, Side, StateChange, StateMet, Verdict};
use crate::report::case::Disturbance;
use crate::report::units;
use crate::stats::{levels, sorted};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub base: SideLabel,
    /// The other side, whose changes are tested.
    pub new: SideLabel,
    /// Differences in conditions, if the sides are compared nevertheless; otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub conditions: String,
    /// The states of the machine during its launches, the nearest cores first; empty if latencies are not known.
    pub states: Vec<StateMet>,
    /// Launches that are in none of them, because their latency is not known or changed meanwhile.
    pub without_state: usize,
    /// Whether its sides are tables of other programs, in which each launch is a run.
    #[serde(skip)]
    pub is_of_tables: bool,
    /// How many blocks of both sides were disturbed.
    pub disturbance: Disturbance,
    /// Whether ranks of either side shared cores.
    pub oversubscribed: bool,
    /// A method of a case each.
    pub rows: Vec<ComparisonRow>,
}

/// A side by its name, and where it was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideLabel {
    /// Its name in reports: the MPI, or the folder of its runs.
    pub name: String,
    /// Its MPIs with their versions.
    pub mpi: String,
    /// Ranks, hosts, transport and cache, of all of its cases.
    pub place: String,
}

/// All comparisons of several sides with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparisons {
    /// The run whose MPIs are compared; empty for folders of runs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run: String,
    pub settings: Settings,
    /// The statistical unit.
    pub unit: ComparisonUnit,
    /// One for each other side.
    pub comparisons: Vec<Comparison>,
    /// All sides, side by side, in each state of the machine.
    pub overviews: Vec<Overview>,
    /// The result of a gate, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateResult>,
}

/// The result of a gate, as its exit code says it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateResult {
    pub passed: bool,
    /// `gate passed: ...` or what else it is.
    pub text: String,
}

/// The used part of a comparison in the folder of a run: its rows are computed again from the launches.
#[derive(Clone, Debug, Deserialize)]
pub struct KeptComparison {
    /// The run whose MPIs are compared.
    #[serde(default)]
    pub run: String,
    pub settings: Settings,
}

/// The decision of a gate: whether a change may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateDecision {
    /// Nothing is broken, or slower by more than the threshold.
    Open,
    /// Something may be slower; nothing is known to be slower or broken.
    Undecided,
    /// Something is slower or broken.
    Shut,
}

impl Comparisons {
    /// `sides`: the base first; `rows`: those of each other side.
    pub fn from_sides(settings: Settings, sides: &[Side], rows: Vec<Vec<ComparisonRow>>) -> Self {
        let label = |side: &Side| SideLabel {
            name: side.name.clone(),
            mpi: side.mpi.clone(),
            place: side.place.clone(),
        };
        let comparison = |(new, rows): (&Side, Vec<ComparisonRow>)| {
            let both = [&sides[0], new];
            let states = States::from_sides(both);
            Comparison {
                base: label(&sides[0]),
                new: label(new),
                conditions: String::new(),
                is_of_tables: false,
                without_state: states.without_state(&both),
                states: states::met(&both, &states),
                disturbance: Disturbance {
                    disturbed: sides[0].disturbance.disturbed + new.disturbance.disturbed,
                    blocks: sides[0].disturbance.blocks + new.disturbance.blocks,
                },
                oversubscribed: sides[0].oversubscribed || new.oversubscribed,
                rows,
            }
        };
        let unit = sides[0].unit;
        let overviews =
            Overview::of_states(sides, &settings, None).expect("tests have no weights that could be wrong");
        let comparisons = sides[1..].iter().zip(rows).map(comparison).collect();
        Self { run: String::new(), settings, unit, comparisons, overviews, gate: None }
    }

    /// Whether copies were compared, and whether times were.
    pub(super) fn has_copies_and_times(&self) -> (bool, bool) {
        let rows = || self.comparisons.iter().flat_map(|comparison| &comparison.rows);
        (rows().any(|row| row.copies.is_some()), rows().any(|row| row.compared().next().is_some()))
    }

    /// The decision of a gate for all of them.
    pub fn gate(&self) -> GateDecision {
        self.comparisons.iter().map(Comparison::gate).max().unwrap_or(GateDecision::Undecided)
    }

    /// That decision as a sentence, with the state of the machine that decides.
    pub fn decision(&self) -> String {
        let rows: Vec<&ComparisonRow> =
            self.comparisons.iter().flat_map(|comparison| &comparison.rows).collect();
        let compared = rows.iter().filter(|row| row.verdict != Verdict::NotCompared).count();
        let of = |decision| rows.iter().filter(move |row| row.gate() == decision);
        let slower = format!("more than {} slower", units::short_percent(self.settings.threshold));
        let worse = |is: &str, has: &str| match self.has_copies_and_times() {
            (true, false) => format!("{has} more copies"),
            (true, true) => format!("{is} {slower} or {has} more copies"),
            (false, _) => format!("{is} {slower}"),
        };
        let at = |decision| {
            let decisive = |row: &ComparisonRow| row.gate() == decision;
            self.states_text(&|row| row.decisive().filter(|_| decisive(row)).into_iter().collect(), true)
        };
        match self.gate() {
            GateDecision::Open => {
                let all = self.states_text(&|row| row.compared().collect(), false);
                let none =
                    if compared == 1 { "no row".to_owned() } else { format!("none of {compared} rows") };
                format!("{none} {}{all}", worse("is", "has"))
            }
            GateDecision::Undecided if compared == 0 => "nothing was compared".to_owned(),
            GateDecision::Undecided => format!(
                "no row is shown to be {slower}, but {} of {compared} may be{}",
                of(GateDecision::Undecided).count(),
                at(GateDecision::Undecided)
            ),
            GateDecision::Shut => {
                let by_mean = match of(GateDecision::Shut).filter(|row| row.is_by_mean()).count() {
                    0 => String::new(),
                    count => format!(" ({count} by mean)"),
                };
                let broken = rows.iter().filter(|row| row.verdict == Verdict::Broken).count();
                let others = of(GateDecision::Shut).count() - broken;
                let verbs = |count| if count == 1 { ("is", "has") } else { ("are", "have") };
                let (is, has) = verbs(others);
                let broken_text = format!("{} broken", verbs(broken).0);
                let parts = [(others, worse(is, has) + &by_mean), (broken, broken_text)];
                let shown = parts.into_iter().filter(|(count, _)| *count > 0);
                let texts = shown.map(|(count, what)| format!("{count} of {compared} rows {what}"));
                texts.collect::<Vec<_>>().join("; ") + &at(GateDecision::Shut)
            }
        }
    }

    /// The states of these changes of each comparison: `, with cores 33 ns apart`, or ` (5 at 33 ns, 1 at 160 ns)` with their numbers.
    fn states_text<'a>(
        &'a self,
        changes: &dyn Fn(&'a ComparisonRow) -> Vec<&'a StateChange>,
        is_counted: bool,
    ) -> String {
        let of_comparison = |comparison: &'a Comparison| {
            let latency_s = |change: &StateChange| {
                Some(comparison.states.iter().find(|met| met.state == change.state)?.latency_s)
            };
            comparison.rows.iter().flat_map(changes).filter_map(latency_s).collect::<Vec<f64>>()
        };
        // States are numbered in each comparison. Those of several with about the same latency are one.
        let all = sorted(self.comparisons.iter().flat_map(of_comparison));
        let starts = levels(&all);
        let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for latency_s in all {
            groups.entry(starts.partition_point(|start| *start <= latency_s)).or_default().push(latency_s);
        }
        let of = |group: &Vec<f64>| {
            let at = states::at(group[group.len() / 2], false);
            if is_counted { format!("{} at {at}", group.len()) } else { at }
        };
        let texts = || groups.values().map(of).collect::<Vec<_>>();
        match groups.len() {
            0 => String::new(),
            1 => format!(", with {}", states::at(groups[&0][groups[&0].len() / 2], true)),
            _ if is_counted => format!(" ({})", texts().join(", ")),
            _ => format!(", with cores {} apart", texts().join(" and ")),
        }
    }
}

impl SideLabel {
    /// In a title: the name, its part in the comparison, and the version.
    pub(super) fn text(&self, part: &str) -> String {
        let Self { name, mpi, .. } = self;
        let version = mpi.strip_prefix(name.as_str()).map_or(mpi.as_str(), str::trim_start);
        match name == &mpi.replace(' ', "-") || version.is_empty() {
            true => format!("{name} ({part})"),
            false => format!("{name} ({part}, {version})"),
        }
    }
}

impl Comparison {
    /// From which MPI to which: `mpich 4.3.2 -> 5.0.2`.
    pub(super) fn mpis(&self) -> String {
        let (base, new) = (&self.base.mpi, &self.new.mpi);
        let new_of_same = base.rsplit_once(' ').and_then(|(name, _)| new.strip_prefix(&format!("{name} ")));
        match base == new {
            true => new.clone(),
            false => format!("{base} -> {}", new_of_same.unwrap_or(new)),
        }
    }

    /// Its name for services that collect results: the MPIs, and the baseline. It has no folder with a date,
    /// because the name must not change.
    pub(super) fn suite(&self, unit: ComparisonUnit) -> String {
        let folder = Path::new(&self.base.name).file_name().unwrap_or_default().to_string_lossy();
        match unit {
            ComparisonUnit::Run => format!("{folder}: {}", self.mpis()),
            ComparisonUnit::Launch => self.mpis(),
        }
    }

    /// Whether a change may pass. If nothing was compared, everything is undecided.
    fn gate(&self) -> GateDecision {
        let compared = self.rows.iter().any(|row| row.verdict != Verdict::NotCompared);
        let least = if compared { GateDecision::Open } else { GateDecision::Undecided };
        self.rows.iter().map(ComparisonRow::gate).max().unwrap_or(least).max(least)
    }
}
