//! The order in which ranks learn the time: a binomial tree, in which synchronised ranks pass the time on pairwise.
//!
//! After each round twice as many know it. So with a hundred ranks none is more than seven exchanges away
//! from rank 0, and all have it after as many rounds. Each exchange adds its own error.

/// The part of a rank in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeStep {
    /// It asks this rank, which knows the time.
    Asks(usize),
    /// It knows the time, and answers this rank.
    Answers(usize),
}

/// The parts of `rank` among this number of ranks, round by round.
pub fn parts(rank: usize, ranks: usize) -> impl Iterator<Item = TreeStep> {
    let rounds = std::iter::successors(Some(1_usize), |know| know.checked_mul(2));
    rounds.take_while(move |&know| know < ranks).filter_map(move |know| match rank {
        knows if knows < know => Some(TreeStep::Answers(rank + know)).filter(|_| rank + know < ranks),
        asks if asks < 2 * know => Some(TreeStep::Asks(rank - know)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_asks_once_one_that_knows_and_that_expects_it() {
        for ranks in [1, 2, 3, 4, 7, 8, 100, 129] {
            let all: Vec<Vec<TreeStep>> = (0..ranks).map(|rank| parts(rank, ranks).collect()).collect();
            assert!(!all[0].iter().any(|part| matches!(part, TreeStep::Asks(_))));
            for (rank, parts) in all.iter().enumerate().skip(1) {
                let TreeStep::Asks(parent) = parts[0] else { panic!("rank {rank} of {ranks}: {parts:?}") };
                assert!(parts[1..].iter().all(|part| matches!(part, TreeStep::Answers(_))), "{parts:?}");
                assert!(parent < rank && all[parent].contains(&TreeStep::Answers(rank)));
            }
            let answers = all.iter().flatten().filter(|part| matches!(part, TreeStep::Answers(_))).count();
            assert_eq!(answers, ranks - 1);
        }
    }

    #[test]
    fn a_hundred_ranks_are_seven_exchanges_away_at_most() {
        let parent = |rank| match parts(rank, 100).next() {
            Some(TreeStep::Asks(parent)) => Some(parent),
            _ => None,
        };
        let distance = |rank| std::iter::successors(Some(rank), |&rank| parent(rank)).count() - 1;
        assert_eq!((0..100).map(distance).max(), Some(6));
        assert_eq!(parts(0, 100).count(), 7, "so many rounds");
    }
}
