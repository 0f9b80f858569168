//! Whole comparisons: two sides, the rows, and what a gate says of them.

use serde::{Deserialize, Serialize};

use super::{ComparisonRow, ComparisonUnit, Overview, Settings, Side, Verdict};

/// Two sides and what was found of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The side that is compared with.
    pub base: SideLabel,
    /// The side whose changes are asked for.
    pub new: SideLabel,
    /// A method of a case each.
    pub rows: Vec<ComparisonRow>,
}

/// A side by its name, and where it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideLabel {
    /// What reports name it.
    pub name: String,
    /// Ranks, hosts, transport and cache, of all of its cases.
    pub place: String,
}

/// All comparisons of several sides with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparisons {
    /// What they go by.
    pub settings: Settings,
    /// What counts as one value.
    pub unit: ComparisonUnit,
    /// One for each other side.
    pub comparisons: Vec<Comparison>,
    /// All sides beside each other.
    pub overview: Overview,
}

/// What a gate decides about a comparison: whether a change may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateDecision {
    /// Nothing is slower or broken.
    Open,
    /// Something is undecided, and nothing slower or broken.
    Undecided,
    /// Something is slower or broken.
    Shut,
}

impl Comparisons {
    /// Of the sides, the base first, and the rows of each other one.
    pub fn of(settings: Settings, sides: &[Side], rows: Vec<Vec<ComparisonRow>>) -> Self {
        let label = |side: &Side| SideLabel { name: side.name.clone(), place: side.place.clone() };
        let comparison = |(new, rows): (&Side, Vec<ComparisonRow>)| Comparison {
            base: label(&sides[0]),
            new: label(new),
            rows,
        };
        let unit = sides[0].unit;
        let overview = Overview::of(sides, settings.alpha, settings.threshold);
        Self { settings, unit, comparisons: sides[1..].iter().zip(rows).map(comparison).collect(), overview }
    }

    /// What a gate says of all of them.
    pub fn gate(&self) -> GateDecision {
        self.comparisons.iter().map(Comparison::gate).max().unwrap_or(GateDecision::Undecided)
    }
}

impl Comparison {
    /// What a gate decides about a comparison: whether a change may pass. Nothing that was compared leaves nothing decided.
    fn gate(&self) -> GateDecision {
        let of_row = |row: &ComparisonRow| match row.verdict {
            Verdict::Slower | Verdict::Broken => GateDecision::Shut,
            Verdict::Undecided => GateDecision::Undecided,
            Verdict::Same | Verdict::Faster | Verdict::Repaired | Verdict::NotCompared => GateDecision::Open,
        };
        let compared = self.rows.iter().any(|row| row.verdict != Verdict::NotCompared);
        let least = if compared { GateDecision::Open } else { GateDecision::Undecided };
        self.rows.iter().map(of_row).max().unwrap_or(least).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::{comparisons, row};

    #[test]
    fn what_is_slower_or_broken_wins_over_what_is_undecided() {
        let gate = |verdicts: &[Verdict]| {
            comparisons(verdicts.iter().map(|&verdict| row("a", "ddt", 1, 1.0, verdict)).collect()).gate()
        };
        assert_eq!(gate(&[Verdict::Same, Verdict::Faster, Verdict::Repaired]), GateDecision::Open);
        assert_eq!(gate(&[Verdict::Same, Verdict::Undecided]), GateDecision::Undecided);
        assert_eq!(gate(&[Verdict::Undecided, Verdict::Slower]), GateDecision::Shut);
        assert_eq!(gate(&[Verdict::Undecided, Verdict::Broken]), GateDecision::Shut);
        assert_eq!(gate(&[]), GateDecision::Undecided, "nothing was compared");
        assert_eq!(gate(&[Verdict::NotCompared]), GateDecision::Undecided);
    }
}
