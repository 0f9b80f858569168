//! The size that takes a given time, found by interpolation between sizes with measured times, as in BenchNBC
//! (Denis et al., CCPE 2022, section 5.1), but by lines and halves instead of parabolas.

/// Permitted deviation from the target time, as a share: the paper's compromise between precision and the time needed to find a size.
pub const TOLERANCE: f64 = 0.1;

/// Maximum sizes to try for a target: if times scatter by a few percent ten are enough, and a step at the target takes twenty.
pub const MOST_TRIALS: usize = 30;

/// Maximum expected growth of the time from one trial to the next until a point is above the target: one slow
/// measurement must not lead to one that takes minutes.
const MOST_GROWTH: f64 = 16.0;

/// Sizes with their times, and the search for the one that takes a target time.
#[derive(Clone, Debug)]
pub struct SizeSearch {
    least: u64,
    most: u64,
    /// Time grows with this power of the size.
    power: f64,
    /// Sizes in rising order, each once, with its latest measured time.
    points: Vec<(u64, f64)>,
}

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchStep {
    /// Measure this size, and add its time.
    Try(u64),
    /// This size takes this time, in seconds, which is near enough.
    Found(u64, f64),
    /// No size takes the target time: the nearest one, and its time in seconds.
    Nearest(u64, f64),
}

impl SizeSearch {
    /// A search among sizes from `least` to `most`, whose times grow about with this power of the size: 1 for
    /// bytes, 3 for the rows of a matrix product.
    ///
    /// # Panics
    /// If there is no such size.
    pub fn new(least: u64, most: u64, power: f64) -> Self {
        assert!(1 <= least && least <= most, "no size from {least} to {most}");
        Self { least, most, power, points: Vec::new() }
    }

    /// A size takes this time, in seconds.
    pub fn add(&mut self, size: u64, time_s: f64) {
        match self.points.binary_search_by_key(&size, |point| point.0) {
            Ok(place) => self.points[place].1 = time_s,
            Err(place) => self.points.insert(place, (size, time_s)),
        }
    }

    /// The next step for a target in seconds, after this number of trials for it.
    pub fn next(&self, target_s: f64, trials: usize) -> SearchStep {
        let off = |point: &&(u64, f64)| (point.1 - target_s).abs();
        let Some(&(size, time_s)) = self.points.iter().min_by(|a, b| off(a).total_cmp(&off(b))) else {
            return SearchStep::Try(self.least.max(self.most.min(START)));
        };
        if (time_s - target_s).abs() < TOLERANCE * target_s {
            return SearchStep::Found(size, time_s);
        }
        let next = self.between(target_s, trials).clamp(self.least, self.most);
        let is_known = self.points.iter().any(|point| point.0 == next);
        // There is nothing beyond the smallest and the largest size; any other may have been disturbed, and is measured again.
        if trials >= MOST_TRIALS || (is_known && [self.least, self.most].contains(&next)) {
            return SearchStep::Nearest(size, time_s);
        }
        SearchStep::Try(next)
    }

    /// The next size, according to the points around the target.
    fn between(&self, target_s: f64, trials: usize) -> u64 {
        let below = self.points.iter().rev().find(|point| point.1 < target_s);
        let above = self.points.iter().find(|point| point.1 >= target_s);
        match (below, above) {
            (Some(&(low, low_s)), None) => {
                let times = (target_s / low_s.max(f64::MIN_POSITIVE)).clamp(1.5, MOST_GROWTH);
                let growth = times.powf(1.0 / self.power);
                let largest = self.points.last().map_or(low, |point| point.0);
                ((largest.max(low) as f64) * growth).ceil().min(self.most as f64) as u64
            }
            (None, Some(&(high, high_s))) => {
                let shrink = (target_s / high_s).clamp(1.0 / MOST_GROWTH, 1.0 / 1.5).powf(1.0 / self.power);
                (high as f64 * shrink) as u64
            }
            // If a smaller size takes longer, it was disturbed, or the larger one is above a step: measure it again.
            (Some(&(low, _)), Some(&(high, _))) if high < low && trials % 2 == 1 => high,
            (Some(&(low, low_s)), Some(&(high, high_s))) => {
                let (inner_low, inner_high) = (low.min(high), low.max(high));
                let share = (target_s - low_s) / (high_s - low_s);
                let guess = (low as f64 + share * (high as f64 - low as f64)).round() as u64;
                // A size next to an end would bring no information, and at a step a line approaches it slowly.
                if guess > inner_low && guess < inner_high && trials % 3 < 2 {
                    guess
                } else {
                    u64::midpoint(inner_low, inner_high)
                }
            }
            (None, None) => self.least,
        }
    }
}

/// The first size to try: small enough to be quick, large enough for the clock.
const START: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of the search for a target, the number of trials, and the longest time of one.
    fn find(search: &mut SizeSearch, target_s: f64, law: impl Fn(u64) -> f64) -> (SearchStep, usize, f64) {
        let mut longest_s = 0.0_f64;
        for trials in 0.. {
            match search.next(target_s, trials) {
                SearchStep::Try(size) => search.add(size, law(size)),
                end => return (end, trials, longest_s),
            }
            longest_s = search.points.iter().map(|point| point.1).fold(longest_s, f64::max);
        }
        unreachable!("a search ends")
    }

    #[test]
    fn a_size_is_found_in_few_trials_whatever_the_law() {
        type Law = fn(u64) -> f64;
        let cube: Law = |size| 2.0 * (size as f64).powi(3) / 4e9;
        let targets = [500e-6, 1e-3, 2e-3, 32e-3, 1.0];
        // No rows of a matrix are tried that take many times as long as the target.
        let laws: [(&str, Law, f64, [f64; 5], f64); 5] = [
            ("latency and bandwidth", |size| 5e-6 + size as f64 / 4e9, 1.0, targets, f64::INFINITY),
            ("a cube", cube, 1.0, targets, f64::INFINITY),
            ("rows of a matrix", cube, 3.0, [1e-3, 0.1, 2.0, 10.0, 30.0], 3.0),
            (
                "a step at an eager limit",
                |size| size as f64 / 4e9 + if size > 65_536 { 40e-6 } else { 2e-6 },
                1.0,
                targets,
                f64::INFINITY,
            ),
            (
                "slower out of cache",
                |size| size as f64 / if size > 1 << 20 { 2e9 } else { 9e9 },
                1.0,
                targets,
                f64::INFINITY,
            ),
        ];
        for (name, law, power, targets, most) in laws {
            let mut search = SizeSearch::new(1, 1 << 40, power);
            for target_s in targets {
                let (end, trials, longest_s) = find(&mut search, target_s, law);
                let SearchStep::Found(size, time_s) = end else { panic!("{name}, {target_s}: {end:?}") };
                assert!((law(size) - target_s).abs() < TOLERANCE * target_s, "{name}: {size} for {target_s}");
                assert_eq!(time_s, law(size));
                // A target within a step is found by bisection.
                assert!(
                    trials <= 20 && longest_s < most * target_s,
                    "{name}, {target_s}: {trials}, {longest_s}"
                );
            }
        }
    }

    #[test]
    fn times_that_are_disturbed_or_scatter_do_not_mislead_for_good() {
        let mut search = SizeSearch::new(1, 1 << 40, 1.0);
        search.add(64, 600e-6);
        search.add(1000, 2e-6);
        let (end, trials, _) = find(&mut search, 500e-6, |size| 2e-9 * size as f64);
        assert!(matches!(end, SearchStep::Found(..)), "{end:?} after {trials}");
        // A tenth more or less, depending on the digits of the size.
        let noisy =
            |size: u64| (size as f64 / 4e9) * (0.9 + 0.2 * ((size * 2_654_435_761) % 97) as f64 / 96.0);
        for target_s in [500e-6, 3e-3, 0.2] {
            let (_, trials, _) = find(&mut SizeSearch::new(1, 1 << 40, 1.0), target_s, noisy);
            assert!(trials <= MOST_TRIALS, "{target_s}: {trials}");
        }
    }

    #[test]
    fn a_time_that_no_size_takes_is_reported() {
        let nearest = |least: u64, most: u64, target_s: f64, law: fn(u64) -> f64| {
            let end = find(&mut SizeSearch::new(least, most, 1.0), target_s, law).0;
            let SearchStep::Nearest(size, time_s) = end else { panic!("{target_s}: {end:?}") };
            (size, time_s)
        };
        // A barrier with a constant time, a step at the target, a target beyond the largest size and below the smallest.
        assert_eq!(nearest(1, 1 << 20, 1e-3, |_| 2e-6).1, 2e-6);
        nearest(1, 1 << 20, 1e-3, |size| if size > 1000 { 10e-3 } else { 1e-6 });
        assert_eq!(nearest(1, 4096, 1.0, |size| size as f64 * 1e-6), (4096, 4096e-6));
        assert_eq!(nearest(8, 4096, 1e-6, |size| size as f64 * 1e-6), (8, 8e-6));
    }
}
