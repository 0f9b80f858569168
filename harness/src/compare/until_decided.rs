//! The loop of a comparison: launches of all sides in turn, and a test after each batch, until all rows are decided. Live measurements,
//! their replay from a folder and simulations share it, so that they cannot differ.

use std::collections::HashSet;

use super::{Comparer, ComparisonRow, Schedule, Settings, Side, Subject};
use crate::model::Record;

/// The source of launches: measurements, or records of them.
pub trait Launches {
    type Error;

    /// Makes a launch of each side of these cases, by its number.
    ///
    /// # Errors
    /// If it cannot be made. This ends the comparison without a result.
    fn make(&mut self, due: &[(&Subject, usize)]) -> Result<Turn, Self::Error>;

    /// All sides with the launches that count, the base first.
    fn sides(&self, counts: &dyn Fn(&Record) -> bool) -> Vec<Side>;

    /// Called after a test with the number of rows that are open, the number of all rows, and the launches per side of the case with
    /// most.
    fn tested(&mut self, _open: usize, _all: usize, _most_made: usize) {}
}

/// Whether launches were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Made,
    /// They were made, and the time is over.
    Last,
    /// The time was over before.
    NotMade,
}

/// The sides, and the rows of each other side compared with the first one.
pub type Decided = (Vec<Side>, Vec<Vec<ComparisonRow>>);

/// Makes and tests launches until all rows are decided, all launches are made, or the time is over.
///
/// # Errors
/// If launches cannot be made.
pub fn until_decided<L: Launches>(
    settings: &Settings,
    schedule: &mut Schedule,
    launches: &mut L,
) -> Result<Decided, L::Error> {
    let mut comparers: Vec<Comparer> = Vec::new();
    let mut rows: Vec<Vec<ComparisonRow>> = Vec::new();
    loop {
        let batch = schedule.next(&rows.iter().flatten().collect::<Vec<_>>());
        let mut made: HashSet<&Subject> = HashSet::new();
        let mut is_over = batch.is_empty();
        for turn in 0.. {
            let due = batch.iter().map(|(case, launches)| (case, launches.start + turn, launches.end));
            let due: Vec<(&Subject, usize)> =
                due.filter(|(_, launch, end)| launch < end).map(|(case, launch, _)| (case, launch)).collect();
            if is_over || due.is_empty() {
                break;
            }
            let end = launches.make(&due)?;
            is_over = end != Turn::Made;
            if end != Turn::NotMade {
                due.iter().for_each(|(case, _)| schedule.count(case));
                made.extend(due.iter().map(|(case, _)| case));
            }
        }
        let counts = |record: &Record| {
            record.launch.is_some_and(|launch| launch < schedule.made(&Subject::of_case(&record.case)))
        };
        let sides = launches.sides(&counts);
        comparers.resize_with(sides.len() - 1, || Comparer::new(settings.clone()));
        let parts = |case: &Subject| made.contains(case).then(|| schedule.part());
        let others = comparers.iter_mut().zip(&sides[1..]);
        rows = others.map(|(comparer, other)| comparer.interim_test(&sides[0], other, &parts)).collect();
        let open = rows.iter().flatten().filter(|row| row.is_open()).count();
        if !batch.is_empty() {
            launches.tested(open, rows.iter().map(Vec::len).sum(), schedule.most_made());
        }
        if is_over || open == 0 {
            return Ok((sides, rows));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::compare::ComparisonUnit;
    use crate::compare::made::record;

    /// Sides whose times are alike, or so many times as long on the second one; the time is over after some turns.
    struct Made {
        times: f64,
        turns: usize,
        end: Turn,
    }

    impl Launches for Made {
        type Error = Infallible;

        fn make(&mut self, _: &[(&Subject, usize)]) -> Result<Turn, Infallible> {
            self.turns -= 1;
            Ok(if self.turns == 0 { self.end } else { Turn::Made })
        }

        fn sides(&self, counts: &dyn Fn(&Record) -> bool) -> Vec<Side> {
            let side = |(name, times): (&str, f64)| {
                let of = |launch: usize| {
                    record(name, launch, "ddt", times * (1.0 + 0.06 * ((7 * launch) % 5) as f64))
                };
                let records: Vec<Record> = (0..20).map(of).filter(|record| counts(record)).collect();
                Side::of(name, &records, ComparisonUnit::Launch)
            };
            [("base", 1.0), ("new", self.times)].map(side).into()
        }
    }

    /// Launches made of the only case, and those that were tested.
    fn launches(times: f64, turns: usize, end: Turn) -> (usize, (usize, usize)) {
        let mut schedule = Schedule::new([Subject::of_case(&record("", 0, "ddt", 1.0).case)], 20);
        let mut made = Made { times, turns, end };
        let Ok((_, rows)) = until_decided(&Settings::default(), &mut schedule, &mut made);
        (schedule.most_made(), rows[0][0].changes[0].launches)
    }

    #[test]
    fn launches_are_made_until_rows_are_decided_or_the_time_is_over() {
        assert_eq!(launches(2.0, 100, Turn::Made), (5, (5, 5)), "the first test decides");
        assert_eq!(launches(1.0, 100, Turn::Made), (20, (20, 20)), "no test decides");
        // Within the second batch, of launches 5 to 7.
        assert_eq!(launches(1.0, 7, Turn::Last), (7, (7, 7)));
        assert_eq!(launches(1.0, 7, Turn::NotMade), (6, (6, 6)));
    }
}
