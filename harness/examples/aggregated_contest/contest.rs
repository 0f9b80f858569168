//! Compares the adaptive mechanism `aggregated` with the best mechanism with a fixed mapping, cell by cell.
//!
//! The smallest of several noisy medians is smaller than that of the best mechanism. So the best one is chosen on
//! every other round and compared on the rounds between, and then the other way round. Each round gives a ratio of
//! times measured together. The result of a cell is their median, with its interval.

use std::collections::{BTreeMap, BTreeSet};

use common::fine_grained::aggregation::AGGREGATED;
use common::kinds::partitioned::methods::SINGLE;
use common::stats::{self, Ratio, paired_ratio};

/// Times by mechanism and round.
pub type Rounds = BTreeMap<String, BTreeMap<usize, Vec<f64>>>;

/// The comparison of `aggregated` with the best mechanism with a fixed mapping, in one case.
#[derive(Clone, Debug, PartialEq)]
pub struct RatioToBest {
    /// The best one on the even rounds.
    pub best: String,
    /// Its time relative to that of the best: below 1 it is faster.
    pub ratio: Ratio,
    /// Rounds in which both were measured.
    pub rounds: usize,
}

/// The best is chosen among all mechanisms except `single`, which does not use partitions and is also included as
/// `aggregated:m=` of all of them. `None` if a half has no round with both `aggregated` and another mechanism.
pub fn ratio_to_best(rounds: &Rounds) -> Option<RatioToBest> {
    let names: BTreeSet<&str> = rounds.keys().map(String::as_str).collect();
    let fixed = || names.iter().copied().filter(|&name| name != AGGREGATED && name != SINGLE);
    let of_half = |name: &str, parity: usize| {
        let of = rounds[name].iter().filter(|(round, _)| *round % 2 == parity);
        stats::median(&stats::sorted(of.flat_map(|(_, times)| times.iter().copied())))
    };
    let best = |parity: usize| {
        let times = fixed().filter_map(|name| Some((name, of_half(name, parity)?)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
    };
    // The even rounds are compared with the best of the odd rounds.
    let chosen = [best(1)?, best(0)?];
    let times = rounds.get(AGGREGATED)?;
    let median = |times: &Vec<f64>| stats::median(&stats::sorted(times.iter().copied()));
    let pair = |(&round, times): (&usize, &Vec<f64>)| {
        let half = round % 2;
        Some((half, (median(times)?, median(rounds[chosen[half]].get(&round)?)?)))
    };
    let pairs: Vec<(usize, (f64, f64))> = times.iter().filter_map(pair).collect();
    let has = |parity: usize| pairs.iter().any(|(half, _)| *half == parity);
    if !(has(0) && has(1)) {
        return None;
    }
    let ratio = paired_ratio(pairs.iter().map(|&(_, pair)| pair))?;
    Some(RatioToBest { best: chosen[1].to_owned(), ratio, rounds: pairs.len() })
}

/// Numbers of cells on either side of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Cells that have a ratio.
    pub cells: usize,
    /// Cells whose ratio is not above the limit.
    pub within: usize,
    /// Cells whose whole interval is above it.
    pub lost: usize,
    /// Cells whose interval includes the limit or is missing: they may be on either side.
    pub open: usize,
}

impl Count {
    /// Counts ratios by a limit.
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
        let found = ratio_to_best(&rounds(&times)).unwrap();
        // Odd rounds compared with `many`, 4/8, and even ones with `m=2`, 4/5.
        assert_eq!((found.best.as_str(), found.rounds), ("many", 4));
        assert!((found.ratio.value - 0.65).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn without_another_mechanism_or_without_a_half_there_is_no_ratio() {
        let alone = rounds(&[(AGGREGATED, [4.0; 4]), (SINGLE, [1.0; 4])]);
        assert_eq!(ratio_to_best(&alone), None);
        let mut one = rounds(&[(AGGREGATED, [4.0; 4]), ("many", [4.0; 4])]);
        one.get_mut("many").unwrap().retain(|&round, _| round == 0);
        assert_eq!(ratio_to_best(&one), None);
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
