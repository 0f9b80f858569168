//! How the mechanism `aggregated`, which adapts, stands to the best of those whose mapping is fixed, cell by cell.
//!
//! The smallest of several noisy medians is smaller than that of the best mechanism. So the best of them is chosen on every
//! other round and compared on the rounds between, and the other way round. Each round gives a ratio of times that were
//! measured side by side; a cell stands at their median, with its interval.
//!
//! What of that is noise shows where a mechanism is compared with itself: the best mapping with its [`twin`], which does the
//! same under another name.

use std::collections::{BTreeMap, BTreeSet};

use common::fine_grained::aggregation::{AGGREGATED, Aggregation, Grouping, Over};
use common::kinds::partitioned::methods::SINGLE;
use common::stats::{self, Ratio, paired_ratio};

/// Times by mechanism and round.
pub type Rounds = BTreeMap<String, BTreeMap<usize, Vec<f64>>>;

/// Which mechanism is compared with the best of those whose mapping is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// `aggregated`.
    Learning,
    /// The twin of the best one, of a message in so many partitions.
    Twin(usize),
}

/// How a mechanism stands to the best of those whose mapping is fixed, in a case.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioToBest {
    /// The best one on the even rounds.
    pub best: String,
    /// The time of the compared mechanism over that of the best: below 1 it is faster.
    pub ratio: Ratio,
    /// Rounds in which both were measured.
    pub rounds: usize,
}

/// The name by which a mapping of neighbours, so many each, is measured a second time: as so many bins.
pub fn twin(name: &str, partitions: usize) -> Option<String> {
    match Aggregation::of_mechanism(name)? {
        Ok(Aggregation { grouping: Grouping::Fixed(m), over: Over::Persistent }) => {
            Some(format!("{AGGREGATED}:bins={}", partitions.div_ceil(m)))
        }
        _ => None,
    }
}

fn is_bins(name: &str) -> bool {
    let aggregation = Aggregation::of_mechanism(name);
    matches!(aggregation, Some(Ok(Aggregation { grouping: Grouping::Bins(_), over: Over::Persistent })))
}

/// The best is sought among all mechanisms but `single`, which is told nothing of partitions and stands aside as `aggregated:m=`
/// of all of them, and bins, which are twins. `None` where a half has no round with the compared mechanism and another, or the
/// best has no twin.
pub fn ratio_to_best(rounds: &Rounds, compared: Compared) -> Option<RatioToBest> {
    let names: BTreeSet<&str> = rounds.keys().map(String::as_str).collect();
    let fixed =
        || names.iter().copied().filter(|&name| name != AGGREGATED && name != SINGLE && !is_bins(name));
    let of_half = |name: &str, parity: usize| {
        let of = rounds[name].iter().filter(|(round, _)| *round % 2 == parity);
        stats::median(&stats::sorted(of.flat_map(|(_, times)| times.iter().copied())))
    };
    let best = |parity: usize| {
        let times = fixed().filter_map(|name| Some((name, of_half(name, parity)?)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
    };
    // Compared on the even rounds is who was the best on the odd ones.
    let chosen = [best(1)?, best(0)?];
    let name = |best: &str| match compared {
        Compared::Learning => Some(AGGREGATED.to_owned()),
        Compared::Twin(partitions) => twin(best, partitions),
    };
    let times = [rounds.get(&name(chosen[0])?)?, rounds.get(&name(chosen[1])?)?];
    let median = |times: &Vec<f64>| stats::median(&stats::sorted(times.iter().copied()));
    let pair = |half: usize, round: usize| {
        Some((median(times[half].get(&round)?)?, median(rounds[chosen[half]].get(&round)?)?))
    };
    let all: BTreeSet<usize> = times.iter().flat_map(|times| times.keys().copied()).collect();
    let pairs: Vec<(usize, (f64, f64))> =
        all.into_iter().filter_map(|round| Some((round % 2, pair(round % 2, round)?))).collect();
    let has = |parity: usize| pairs.iter().any(|(half, _)| *half == parity);
    if !(has(0) && has(1)) {
        return None;
    }
    let ratio = paired_ratio(pairs.iter().map(|&(_, pair)| pair))?;
    Some(RatioToBest { best: chosen[1].to_owned(), ratio, rounds: pairs.len() })
}

/// How many cells lie how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Cells that have a ratio.
    pub cells: usize,
    /// Those whose ratio is not beyond the limit.
    pub within: usize,
    /// Those whose whole interval is beyond it.
    pub lost: usize,
    /// Those whose interval holds the limit, or who have none: they may lie on either side.
    pub open: usize,
}

impl Count {
    /// Of ratios, by a limit.
    pub fn of<'a>(ratios: impl IntoIterator<Item = &'a Ratio>, limit: f64) -> Self {
        let mut count = Self::default();
        for ratio in ratios {
            count.cells += 1;
            count.within += usize::from(ratio.value <= limit);
            count.lost += usize::from(ratio.interval.is_some_and(|(low, _)| low > limit));
            count.open += usize::from(ratio.interval.is_none_or(|(low, high)| low <= limit && limit < high));
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(times: &[(&str, [f64; 4])]) -> Rounds {
        let of = |times: &[f64; 4]| times.iter().map(|&time| vec![time; 3]).enumerate().collect();
        times.iter().map(|(name, times)| ((*name).to_owned(), of(times))).collect()
    }

    #[test]
    fn a_mechanism_that_is_lucky_in_one_half_is_compared_in_the_other() {
        let times = [
            (AGGREGATED, [4.0; 4]),
            ("many", [2.0, 8.0, 2.0, 8.0]),
            ("aggregated:m=2", [5.0; 4]),
            (SINGLE, [1.0; 4]),
        ];
        let found = ratio_to_best(&rounds(&times), Compared::Learning).unwrap();
        // On the odd rounds against `many`, 4/8, and on the even ones against `m=2`, 4/5.
        assert_eq!((found.best.as_str(), found.rounds), ("many", 4));
        assert!((found.ratio.value - 0.65).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_mapping_is_compared_with_its_twin_and_a_twin_is_never_the_best() {
        assert_eq!(twin("aggregated:m=4", 16).as_deref(), Some("aggregated:bins=4"));
        assert_eq!(twin("aggregated:m=4", 17).as_deref(), Some("aggregated:bins=5"));
        assert_eq!((twin("many", 16), twin("aggregated:m=4@partitioned", 16)), (None, None));
        let times = [("aggregated:m=4", [2.0; 4]), ("aggregated:bins=4", [1.0; 4]), ("many", [4.0; 4])];
        let of_twin = ratio_to_best(&rounds(&times), Compared::Twin(16)).unwrap();
        assert_eq!((of_twin.best.as_str(), of_twin.ratio.value), ("aggregated:m=4", 0.5));
        assert_eq!(ratio_to_best(&rounds(&times), Compared::Twin(8)), None, "there is no such twin");
    }

    #[test]
    fn without_another_mechanism_or_without_a_half_there_is_no_ratio() {
        let alone = rounds(&[(AGGREGATED, [4.0; 4]), (SINGLE, [1.0; 4])]);
        assert_eq!(ratio_to_best(&alone, Compared::Learning), None);
        let mut one = rounds(&[(AGGREGATED, [4.0; 4]), ("many", [4.0; 4])]);
        one.get_mut("many").unwrap().retain(|&round, _| round == 0);
        assert_eq!(ratio_to_best(&one, Compared::Learning), None);
    }

    #[test]
    fn a_cell_is_lost_only_where_its_whole_interval_is() {
        let ratio = |value, interval| Ratio { value, interval, unsteady: false };
        let ratios = [
            ratio(1.0, Some((0.9, 1.04))),
            ratio(1.04, Some((1.0, 1.2))),
            ratio(1.1, Some((1.04, 1.2))),
            ratio(1.1, Some((1.06, 1.2))),
            ratio(1.1, None),
        ];
        assert_eq!(Count::of(&ratios, 1.05), Count { cells: 5, within: 2, lost: 1, open: 3 });
    }
}
