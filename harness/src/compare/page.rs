//! A comparison as a page and its picture have it.

use std::sync::Arc;

use super::text::COLUMNS;
use super::{Comparison, ComparisonRow, Comparisons, findings};
use crate::model::{Case, FigureUnit};
use crate::report::compared::{Compared, ComparedSide};
use crate::report::pictures::Datum;

impl Comparisons {
    /// What a page shows of it.
    pub fn compared(&self) -> Compared {
        Compared {
            sides: self.comparisons.iter().map(|comparison| self.side(comparison)).collect(),
            legend: self.legend(),
            changes: self
                .comparisons
                .iter()
                .flat_map(|comparison| comparison.rows.iter().filter_map(|row| change(comparison, row)))
                .collect(),
        }
    }

    fn side(&self, comparison: &Comparison) -> ComparedSide {
        let mut rows = self.table(comparison);
        rows.remove(0);
        ComparedSide {
            title: comparison.title(),
            found: findings(&comparison.rows),
            columns: COLUMNS.iter().map(|column| column.name.to_owned()).collect(),
            rows,
        }
    }
}

/// The answer of a row as a mark; `None` where there is none.
fn change(comparison: &Comparison, row: &ComparisonRow) -> Option<Datum> {
    let answer = row.answer()?;
    let subject = &row.subject;
    let case = Case {
        experiment: subject.experiment,
        test: subject.test.clone(),
        set: subject.set.clone(),
        params: subject.params.clone(),
        mpi: comparison.new.name.clone(),
        ranks: subject.ranks,
        cache: subject.cache,
        ..Case::default()
    };
    Some(Datum {
        case: Arc::new(case),
        method: subject.method.clone(),
        series: row.verdict.name().to_owned(),
        quantity: if row.over_control.is_some() { "change_over_control" } else { "change" }.to_owned(),
        against: comparison.base.name.clone(),
        bytes: row.bytes,
        value: answer.ratio,
        interval: Some((answer.low, answer.high)),
        unit: FigureUnit::Ratio,
        ..Datum::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::compare::Verdict;
    use crate::compare::made::{comparisons, row};

    #[test]
    fn a_page_has_the_sentences_the_rows_and_a_mark_for_each_answer() {
        let mut silent = row("c", "ddt", 8, 1.0, Verdict::NotCompared);
        (silent.over_control, silent.time) = (None, None);
        let rows =
            vec![row("a", "ddt", 8, 2.0, Verdict::Slower), row("b", "ddt", 8, 1.0, Verdict::Same), silent];
        let compared = comparisons(rows).compared();
        let side = &compared.sides[0];
        assert!(
            side.title.starts_with("one (base) and other (new)") && side.found[0].starts_with("ddt: slower")
        );
        assert_eq!((side.rows.len(), side.rows[0].len()), (3, side.columns.len()));
        assert_eq!(side.rows[0][0], "a", "the worst stands first");
        let marks: Vec<_> = compared
            .changes
            .iter()
            .map(|mark| {
                (
                    mark.case.test.as_str(),
                    mark.case.mpi.as_str(),
                    mark.against.as_str(),
                    mark.series.as_str(),
                    mark.value,
                )
            })
            .collect();
        assert_eq!(marks, [("a", "other", "one", "slower", 2.0), ("b", "other", "one", "same", 1.0)]);
        assert_eq!(compared.changes[0].interval, Some((1.98, 2.02)));
    }
}
