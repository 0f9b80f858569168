//! How the mechanism `aggregated`, which adapts, stands to the best of those whose mapping is fixed, cell by cell.
//!
//! The smallest of several noisy medians is smaller than that of the best mechanism. So the best rival is chosen on every
//! other round, compared on the rounds between, and the other way round; the ratio is the geometric mean of both.

use std::collections::{BTreeMap, BTreeSet};

use super::aggregation::AGGREGATED;
use super::mechanisms::SINGLE;
use crate::stats;

/// Times by mechanism and round.
pub type Rounds = BTreeMap<String, BTreeMap<usize, Vec<f64>>>;

/// How `aggregated` stands in a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The best rival on the even rounds.
    pub rival: String,
    /// The time of `aggregated` over that of the best rival: below 1 it is faster.
    pub ratio: f64,
    /// The ratios of each half.
    pub halves: [f64; 2],
}

/// Rivals are all mechanisms but `single`, which is told nothing of partitions and stands aside as `aggregated:m=` of all of
/// them. `None` where a half has no rounds of it or of any rival.
pub fn standing(rounds: &Rounds) -> Option<Standing> {
    let half = |name: &str, parity: usize| {
        let of = rounds.get(name)?.iter().filter(|(round, _)| *round % 2 == parity);
        stats::median(&stats::sorted(of.flat_map(|(_, times)| times.iter().copied())))
    };
    let names: BTreeSet<&str> = rounds.keys().map(String::as_str).collect();
    let rivals = || names.iter().copied().filter(|&name| name != AGGREGATED && name != SINGLE);
    let best = |parity: usize| {
        let times = rivals().filter_map(|name| Some((name, half(name, parity)?)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
    };
    let ratio = |chosen: usize, compared: usize| {
        let rival = best(chosen)?;
        Some((rival, half(AGGREGATED, compared)? / half(rival, compared)?))
    };
    let ((rival, first), (_, second)) = (ratio(0, 1)?, ratio(1, 0)?);
    Some(Standing { rival: rival.to_owned(), ratio: (first * second).sqrt(), halves: [first, second] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(times: &[(&str, [f64; 4])]) -> Rounds {
        let of = |times: &[f64; 4]| times.iter().map(|&time| vec![time; 3]).enumerate().collect();
        times.iter().map(|(name, times)| ((*name).to_owned(), of(times))).collect()
    }

    #[test]
    fn a_rival_that_is_lucky_in_one_half_is_compared_in_the_other() {
        let times = [
            (AGGREGATED, [4.0; 4]),
            ("many", [2.0, 8.0, 2.0, 8.0]),
            ("aggregated:m=2", [4.0; 4]),
            (SINGLE, [1.0; 4]),
        ];
        let standing = standing(&rounds(&times)).unwrap();
        assert_eq!((standing.rival.as_str(), standing.halves), ("many", [0.5, 1.0]));
        assert!((standing.ratio - 0.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn without_a_rival_or_without_a_half_there_is_no_standing() {
        assert_eq!(standing(&rounds(&[(AGGREGATED, [4.0; 4]), (SINGLE, [1.0; 4])])), None);
        let mut one = rounds(&[(AGGREGATED, [4.0; 4]), ("many", [4.0; 4])]);
        one.get_mut("many").unwrap().retain(|&round, _| round == 0);
        assert_eq!(standing(&one), None);
    }
}
