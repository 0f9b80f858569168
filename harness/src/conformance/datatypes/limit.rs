//! The time of a search: how much its steps get.

use std::time::{Duration, Instant};

use common::conformance::FaultKind;

use super::worker::HURRY;

/// Time to compile a C program and to run it in several ways, and for one that ends itself because an
/// operation hangs. None is begun with less.
const OF_PROGRAM: Duration = Duration::from_secs(4);
const OF_HANGING_PROGRAM: Duration = Duration::from_secs(12);

/// So many hangs may take all the time.
const HANGS: f64 = 40.0;

/// The time of a search, if it is limited.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub time: Duration,
    pub end: Instant,
}

impl Limit {
    pub fn new(time: Duration, now: Instant) -> Self {
        Self { time, end: now + time }
    }

    fn left(self, now: Instant) -> Duration {
        self.end.saturating_duration_since(now)
    }

    /// The rest without the time for a C program.
    pub fn left_to_search(self, now: Instant) -> Duration {
        self.left(now).saturating_sub(OF_PROGRAM.min(self.time / 8))
    }

    /// How much shorter than this the limit of silence is, so that a hang takes a small part of the time.
    pub fn hurry(self, timeout_s: f64) -> f64 {
        (timeout_s * HANGS / self.time.as_secs_f64()).clamp(1.0, HURRY)
    }

    /// Whether the rest is enough for one more campaign.
    pub fn has_room(self, now: Instant) -> bool {
        self.left_to_search(now) > self.time / 8
    }

    /// The end of the cases of a campaign. The rest is for shrinking, C programs and later campaigns; a baseline takes as long as the cases.
    pub fn of_cases(self, now: Instant, cases_first: bool, has_baseline: bool) -> Instant {
        let left = self.left_to_search(now);
        let most = if cases_first { left * 3 / 4 } else { left / 2 };
        now + if has_baseline { most / 2 } else { most }
    }

    /// The end of shrinking, if the remaining cases need this much time: they come first. A part is always left to shrink.
    pub fn of_shrinking(self, now: Instant, cases: Duration) -> Instant {
        let left = self.left_to_search(now);
        now + left.saturating_sub(cases).clamp(left / 8, left / 2)
    }

    /// Whether no time is left to run the program of such a fault, if the remaining cases need this much.
    pub fn is_too_late(self, now: Instant, kind: FaultKind, rest: Duration) -> bool {
        let needs = if kind == FaultKind::Hang { OF_HANGING_PROGRAM } else { OF_PROGRAM };
        self.left(now) < needs.saturating_add(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of a search on a made-up clock, if all of them need all their time: how long it takes, and how many campaigns it has.
    fn search(time_s: u64, programs: u32, rest_s: u64) -> (f64, u32) {
        let begun = Instant::now();
        let limit = Limit::new(Duration::from_secs(time_s), begun);
        let (mut now, mut campaigns) = (begun, 0);
        while limit.has_room(now) {
            campaigns += 1;
            now = limit.of_cases(now, rest_s > 0, false);
            now = limit.of_shrinking(now, Duration::from_secs(rest_s));
            let most = limit.left(now).as_secs_f64() / OF_PROGRAM.as_secs_f64();
            now += OF_PROGRAM * programs.min(most as u32);
        }
        ((now - begun).as_secs_f64(), campaigns)
    }

    #[test]
    fn shrinking_leaves_time_for_the_remaining_cases() {
        let now = Instant::now();
        let limit = Limit::new(Duration::from_secs(80), now);
        let seconds = |rest_s| (limit.of_shrinking(now, Duration::from_secs(rest_s)) - now).as_secs();
        assert_eq!([0, 50, 1000].map(seconds), [38, 26, 9]);
    }

    #[test]
    fn a_hang_takes_a_small_part_of_a_short_search() {
        let hurry = |time_s| Limit::new(Duration::from_secs(time_s), Instant::now()).hurry(5.0);
        assert_eq!([10, 50, 100, 300].map(hurry), [4.0, 4.0, 2.0, 1.0]);
    }

    #[test]
    fn a_search_ends_in_time() {
        for time_s in [1, 20, 60, 300, 3600] {
            for programs in [0, 1, 10, 100] {
                for rest_s in [0, 100, u64::MAX] {
                    let (took_s, campaigns) = search(time_s, programs, rest_s);
                    let is_used = (0.7..=1.0).contains(&(took_s / time_s as f64));
                    assert!(campaigns >= 1 && is_used, "{time_s} s, {programs}, {rest_s}: {took_s} s");
                }
            }
        }
    }
}
