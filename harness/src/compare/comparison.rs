//! A whole comparison: two sides, the rows, and what a gate says of them.

use serde::{Deserialize, Serialize};

use super::text::TSV;
use super::{Overview, Row, Settings, Unit, Verdict};

/// Two sides and what was found of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The name of the base.
    pub base: String,
    /// The name of the other side.
    pub new: String,
    /// Changes below this, a share, are none.
    pub threshold: f64,
    /// What counts as one value.
    pub unit: Unit,
    /// A method of a case each.
    pub rows: Vec<Row>,
}

/// All comparisons of several sides with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparisons {
    /// What they go by.
    pub settings: Settings,
    /// One for each other side.
    pub comparisons: Vec<Comparison>,
    /// All sides beside each other.
    pub overview: Overview,
}

impl Comparisons {
    /// What a gate says of all of them.
    pub fn gate(&self) -> Gate {
        self.comparisons.iter().map(Comparison::gate).max().unwrap_or(Gate::Undecided)
    }

    /// As text, sentences broken at `width`.
    pub fn text(&self, width: usize) -> String {
        let all: String = self.comparisons.iter().map(|comparison| comparison.text(width) + "\n").collect();
        all + &self.overview.text(width)
    }

    /// As Markdown, for a pull request.
    pub fn markdown(&self) -> String {
        let all: String = self.comparisons.iter().map(|comparison| comparison.markdown() + "\n").collect();
        all + &self.overview.markdown()
    }

    /// As tab-separated values, a row of a comparison each.
    pub fn tsv(&self) -> String {
        let rows: String = self.comparisons.iter().map(Comparison::tsv).collect();
        TSV.join("\t") + "\n" + &rows
    }

    /// As JUnit XML, a suite for each comparison.
    ///
    /// # Errors
    /// If a name cannot be written as XML.
    pub fn junit(&self) -> Result<String, quick_junit::SerializeError> {
        let mut report = quick_junit::Report::new("ddtbench compare");
        report.add_test_suites(self.comparisons.iter().map(Comparison::suite));
        report.to_string()
    }
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Nothing is slower or broken.
    Open,
    /// Something is undecided, and nothing slower or broken.
    Undecided,
    /// Something is slower or broken.
    Shut,
}

impl Comparison {
    /// What a gate says. Nothing that was compared leaves nothing decided.
    pub fn gate(&self) -> Gate {
        let of_row = |row: &Row| match row.verdict {
            Verdict::Slower | Verdict::Broken => Gate::Shut,
            Verdict::Undecided => Gate::Undecided,
            Verdict::Same | Verdict::Faster | Verdict::Repaired | Verdict::NotCompared => Gate::Open,
        };
        let compared = self.rows.iter().any(|row| row.verdict != Verdict::NotCompared);
        let least = if compared { Gate::Open } else { Gate::Undecided };
        self.rows.iter().map(of_row).max().unwrap_or(least).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::row;

    #[test]
    fn what_is_slower_or_broken_wins_over_what_is_undecided() {
        let gate = |verdicts: &[Verdict]| {
            let rows = verdicts.iter().map(|&verdict| row("a", "ddt", 1, 1.0, verdict)).collect();
            Comparison { base: String::new(), new: String::new(), threshold: 0.05, unit: Unit::Launch, rows }
                .gate()
        };
        assert_eq!(gate(&[Verdict::Same, Verdict::Faster, Verdict::Repaired]), Gate::Open);
        assert_eq!(gate(&[Verdict::Same, Verdict::Undecided]), Gate::Undecided);
        assert_eq!(gate(&[Verdict::Undecided, Verdict::Slower]), Gate::Shut);
        assert_eq!(gate(&[Verdict::Undecided, Verdict::Broken]), Gate::Shut);
        assert_eq!(gate(&[]), Gate::Undecided, "nothing was compared");
        assert_eq!(gate(&[Verdict::NotCompared]), Gate::Undecided);
    }
}
