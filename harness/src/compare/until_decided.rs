//! The loop of a comparison: launches of all sides in turn, and a test after each batch, until all rows are decided. Measurements and
//! simulations share it. The result of a measurement is that of its recorded launches.

use std::collections::HashSet;

use super::schedule::interim_tests;
use super::{Comparer, ComparisonRow, Comparisons, Schedule, Settings, Side, Subject};
use crate::model::Record;

/// The source of launches: measurements, or simulations.
pub trait Launches {
    type Error;

    /// Makes a launch of each side of these cases, by its number.
    ///
    /// # Errors
    /// If it cannot be made. This ends the comparison without a result.
    fn make(&mut self, due: &[(&Subject, usize)]) -> Result<Turn, Self::Error>;

    /// All sides with the launches that count, the base first.
    fn sides(&self, counts: &dyn Fn(&Record) -> bool) -> Vec<Side>;

    /// Called after a test with the number of rows that are open, the number of all rows, and the launches
    /// per side of the case with most.
    fn tested(&mut self, _open: usize, _all: usize, _most_made: usize) {}
}

/// Whether launches were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Made,
    /// They were made, and the time is over.
    Last,
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
            is_over = end == Turn::Last;
            due.iter().for_each(|(case, _)| schedule.count(case));
            made.extend(due.iter().map(|(case, _)| case));
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

impl Comparisons {
    /// The result of launches of several MPIs, of which at most `most` per side were planned: it is tested at the same numbers of
    /// launches as while they were made, and at last with all. Cases end after different numbers.
    pub fn after_tests(settings: Settings, most: usize, records: &[Record]) -> Self {
        let labels = Record::mpis(records);
        let last = records.iter().filter_map(|record| record.launch).max();
        let tests = interim_tests(most.max(last.map_or(1, |last| last + 1)));
        let mut comparers: Vec<Comparer> = Vec::new();
        let (mut sides, mut rows, mut tested) = (Vec::new(), Vec::new(), 0);
        for &test in &tests {
            let made: Vec<Record> = records
                .iter()
                .filter(|record| record.launch.is_some_and(|launch| launch < test))
                .cloned()
                .collect();
            let new = made.iter().filter(|record| record.launch >= Some(tested));
            let new: HashSet<Subject> = new.map(|record| Subject::of_case(&record.case)).collect();
            sides = labels.iter().map(|label| Side::of_mpi(&made, label)).collect();
            comparers.resize_with(sides.len() - 1, || Comparer::new(settings.clone()));
            let parts = |case: &Subject| new.contains(case).then_some(1.0 / tests.len() as f64);
            let others = comparers.iter_mut().zip(&sides[1..]);
            rows = others.map(|(comparer, other)| comparer.interim_test(&sides[0], other, &parts)).collect();
            tested = test;
        }
        let run = records.first().map(|record| record.case.run.clone()).unwrap_or_default();
        Self { run, ..Self::from_sides(settings, &sides, rows) }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::compare::ComparisonUnit;
    use crate::compare::made::record;

    /// Sides whose times are alike, or so many times as long on the second one; the time is over after some turns.
    struct FakeLaunches {
        times: f64,
        turns: usize,
        end: Turn,
    }

    impl Launches for FakeLaunches {
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
                Side::from_records(name, &records, ComparisonUnit::Launch)
            };
            [("base", 1.0), ("new", self.times)].map(side).into()
        }
    }

    /// Launches made of the only case, and those that were tested.
    fn launches(times: f64, turns: usize, end: Turn) -> (usize, (usize, usize)) {
        let mut schedule = Schedule::new([Subject::of_case(&record("", 0, "ddt", 1.0).case)], 20);
        let mut made = FakeLaunches { times, turns, end };
        let Ok((_, rows)) = until_decided(&Settings::default(), &mut schedule, &mut made);
        (schedule.most_made(), rows[0][0].changes[0].launches)
    }

    #[test]
    fn launches_are_made_until_rows_are_decided_or_the_time_is_over() {
        assert_eq!(launches(2.0, 100, Turn::Made), (5, (5, 5)), "the first test decides");
        assert_eq!(launches(1.0, 100, Turn::Made), (20, (20, 20)), "no test decides");
        // Within the second batch, of launches 5 to 7.
        assert_eq!(launches(1.0, 7, Turn::Last), (7, (7, 7)));
    }

    #[test]
    fn all_recorded_launches_count_whatever_ended_their_measurement() {
        // No test is planned at 7 launches, and a case without the launches of its next test does not end the others.
        let of = |test: &'static str, launches: usize| {
            (0..launches).flat_map(move |launch| {
                ["mpich", "openmpi"].map(|mpi| {
                    let mut record = record("r", launch, "ddt", 1.0 + 0.06 * ((7 * launch) % 5) as f64);
                    (record.case_mut().test, record.case_mut().mpi) = (test.to_owned(), mpi.to_owned());
                    record
                })
            })
        };
        let records: Vec<Record> = of("a", 7).chain(of("b", 13)).chain(of("c", 30)).collect();
        let found = Comparisons::after_tests(Settings::default(), 30, &records);
        let units = found.comparisons[0].rows.iter().map(|row| row.changes[0].time.as_ref().unwrap().units);
        assert_eq!(units.collect::<Vec<_>>(), [(7, 7), (13, 13), (30, 30)]);
    }
}
