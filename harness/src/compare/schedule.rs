//! Chooses the cases for the next launches: those that are likely to be decided soonest.
//!
//! All cases get the launches for the first test. Then cases continue if their next test would probably decide a row, according
//! to the error bars; if there are none, the half that is closest to a decision. A case is tested after fixed numbers of its own
//! launches, and each test spends an equal part of its error. So the error of a row is at most the sum of its parts, whatever the
//! distribution of launches, and no matter how cases are chosen.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{ComparisonRow, Subject, case_of};

/// Numbers of launches of each side at which significance is tested. Between two of them intervals shrink by a fifth to a quarter.
/// Testing after every launch and stopping at the first difference would find one in a third of comparisons of a program with itself.
const INTERIM_TESTS: [usize; 5] = [5, 8, 13, 20, 30];

/// The tests of a comparison of at most `most` launches per side; the last one is at all of them.
pub(super) fn interim_tests(most: usize) -> Vec<usize> {
    let before = INTERIM_TESTS.into_iter().filter(|&test| test < most);
    before.chain([most]).collect()
}

/// Launches per side of each case, and the choice of the next ones.
#[derive(Clone, Debug)]
pub struct Schedule {
    tests: Vec<usize>,
    made: BTreeMap<Subject, usize>,
}

impl Schedule {
    /// For these cases (without methods), with at most this many launches per side.
    pub fn new(cases: impl IntoIterator<Item = Subject>, most: usize) -> Self {
        let made = cases.into_iter().map(|case| (case, 0)).collect();
        Self { tests: interim_tests(most), made }
    }

    /// The launches to make before the next test. Empty if nothing is open or all launches are made. `rows`:
    /// the known rows of all comparisons.
    pub fn next(&self, rows: &[&ComparisonRow]) -> Vec<(Subject, Range<usize>)> {
        let next_test = |made: usize| self.tests.iter().copied().find(|test| *test > made);
        let needs = needs(rows);
        let mut open: Vec<(f64, &Subject, Range<usize>)> = self
            .made
            .iter()
            .filter_map(|(case, &made)| {
                // A case without a test needs everything that its first test needs.
                let need = if made == 0 { 0.0 } else { *needs.get(case)? };
                Some((need, case, made..next_test(made)?))
            })
            .collect();
        open.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_near = |(need, _, launches): &(f64, &Subject, Range<usize>)| *need <= launches.end as f64;
        let is_first = |(_, _, launches): &(f64, &Subject, Range<usize>)| launches.start == 0;
        let (first, open): (Vec<_>, Vec<_>) = open.into_iter().partition(is_first);
        let (near, mut far): (Vec<_>, Vec<_>) = open.into_iter().partition(is_near);
        far.truncate(far.len().div_ceil(2));
        let chosen = [first, near, far].into_iter().find(|cases| !cases.is_empty()).unwrap_or_default();
        chosen.into_iter().map(|(_, case, launches)| (case.clone(), launches)).collect()
    }

    /// Counts a launch of each side of a case.
    pub fn count(&mut self, case: &Subject) {
        *self.made.entry(case.clone()).or_default() += 1;
    }

    /// Launches per side of a case.
    pub fn made(&self, case: &Subject) -> usize {
        self.made.get(case).copied().unwrap_or(0)
    }

    /// The part of its error that a case spends on each test.
    pub fn part(&self) -> f64 {
        1.0 / self.tests.len() as f64
    }

    /// Launches per side of the case with most.
    pub fn most_made(&self) -> usize {
        self.made.values().copied().max().unwrap_or(0)
    }
}

/// For each case, the launches needed to decide the row that needs fewest; decided cases are missing.
fn needs(rows: &[&ComparisonRow]) -> BTreeMap<Subject, f64> {
    let mut needs: BTreeMap<Subject, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_open()) {
        let of_case = needs.entry(case_of(&row.subject)).or_insert(f64::INFINITY);
        *of_case = of_case.min(row.launches_needed());
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Verdict;
    use crate::compare::made::{in_states, row};

    fn needing(test: &str, launches: Option<usize>) -> ComparisonRow {
        let mut row = row(test, "ddt", 100, 1.2, Verdict::Undecided);
        if let Some(time) = &mut row.changes[0].time {
            time.would_decide = launches;
        }
        row
    }

    fn next(schedule: &Schedule, rows: &[ComparisonRow]) -> Vec<(String, Range<usize>)> {
        let next = schedule.next(&rows.iter().collect::<Vec<_>>());
        next.into_iter().map(|(case, launches)| (case.test, launches)).collect()
    }

    fn after_first_test(rows: &[ComparisonRow]) -> Schedule {
        let mut schedule = Schedule::new(rows.iter().map(|row| case_of(&row.subject)), 20);
        for (case, launches) in schedule.next(&[]) {
            assert_eq!(launches, 0..5, "all cases begin alike");
            launches.for_each(|_| schedule.count(&case));
        }
        schedule
    }

    #[test]
    fn what_the_next_test_would_decide_goes_first_then_what_is_nearest_to_it() {
        let rows = [needing("far", Some(900)), needing("near", Some(8)), needing("farther", None)];
        let mut schedule = after_first_test(&rows);
        assert_eq!(next(&schedule, &rows), [("near".to_owned(), 5..8)]);
        let decided = row("near", "ddt", 100, 2.0, Verdict::Slower);
        let left = [rows[0].clone(), decided, rows[2].clone()];
        assert_eq!(next(&schedule, &left), [("far".to_owned(), 5..8)]);
        (0..15).for_each(|_| schedule.count(&case_of(&rows[0].subject)));
        assert_eq!(next(&schedule, &left), [("farther".to_owned(), 5..8)], "the other has made all");
        (0..15).for_each(|_| schedule.count(&case_of(&rows[2].subject)));
        assert!(next(&schedule, &left).is_empty());
    }

    #[test]
    fn a_state_that_few_launches_meet_takes_more_of_them() {
        // Near ones are decided. Of 13 launches of each side 3 were far, where 6 would decide: 26 launches in all.
        let far = Some((1.2, Verdict::Undecided));
        let mut row = in_states(&needing("a", None), &[(33e-9, Some((1.0, Verdict::Same))), (160e-9, far)]);
        (row.changes[0].launches, row.changes[1].launches) = ((10, 10), (3, 3));
        row.changes[1].time.as_mut().unwrap().would_decide = Some(6);
        assert_eq!((row.verdict, row.launches_needed()), (Verdict::Undecided, 26.0));
        row.changes[1].time = None;
        row.changes[1].launches = (1, 1);
        assert_eq!(row.launches_needed(), 33.0, "three far ones have an interval");
    }

    #[test]
    fn the_last_test_is_at_all_launches() {
        assert_eq!(interim_tests(20), [5, 8, 13, 20]);
        assert_eq!(interim_tests(10), [5, 8, 10]);
        assert_eq!(interim_tests(3), [3]);
    }
}
