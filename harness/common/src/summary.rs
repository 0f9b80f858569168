//! The blocks of a method that count, and the values derived from them: medians, ratios, and whether a method has been
//! measured enough. The rank program's decision to stop uses the same blocks as the results of `ddtbench`.

use std::collections::{BTreeMap, BTreeSet};

use crate::kinds::Kind;
use crate::model::conditions::Rule;
use crate::model::event::Block;
use crate::model::{BlockState, Measured, PairScope, Phase, State};
use crate::stats::{self, Ratio};

/// The state of each block: per method, in the order of its blocks.
///
/// States are determined separately for each pair, because the distances between ranks differ. The blocks used are those of rounds
/// entirely in one state, so that all methods are compared over the same time; all blocks are used if there is no such round.
///
/// Under bench-pcomm's rule a block is an attempt, and the last one of each method is used.
pub fn block_states(kind: Kind, methods: &[Measured], rule: Rule) -> Vec<Vec<BlockState>> {
    let mut all: Vec<_> =
        methods.iter().map(|method| vec![BlockState::default(); method.blocks.len()]).collect();
    // Methods measured in separate processes share no round with the others.
    let groups = pairs(methods).into_iter().flat_map(|pair| [(pair, false), (pair, true)]);
    for (pair, in_own) in groups {
        let of_pair = || {
            let blocks = |(m, method)| indexed(method).map(move |(b, block): (usize, &Block)| (m, b, block));
            let of_group =
                move |(_, method): &(usize, &Measured)| kind.in_own_processes(&method.method) == in_own;
            let all = methods.iter().enumerate().filter(of_group).flat_map(blocks);
            all.filter(move |(_, _, block)| block.pair == pair)
        };
        if of_pair().next().is_none() {
            continue;
        }
        let is_measured = |m: usize| methods[m].outcome.is_measured();
        let machines: Vec<_> = of_pair().map(|(_, _, block)| (block.before, block.after)).collect();
        let states = stats::states(&machines);
        let mut rounds: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        for ((m, _, block), &state) in of_pair().zip(&states) {
            if is_measured(m) {
                rounds.entry(block.block).or_default().push(state);
            }
        }
        let chosen = stats::used_state(&rounds.values().cloned().collect::<Vec<_>>());
        for ((m, b, block), &state) in of_pair().zip(&states) {
            let in_chosen = || chosen.is_none_or(|chosen| stats::passed_in(&rounds[&block.block], chosen));
            let is_last = || methods[m].blocks[b + 1..].iter().all(|later| later.pair != pair);
            let counts = || match rule {
                Rule::Interval => in_chosen(),
                Rule::Pcomm => is_last(),
            };
            let used = is_measured(m) && counts();
            all[m][b] = BlockState { state: Some(state), used };
        }
    }
    all
}

/// Whether the intervals of each method's medians in the decisive phases are within `precision` of them, with
/// the same blocks that its results will use.
pub fn narrow(kind: Kind, methods: &[Measured], precision: f64) -> Vec<bool> {
    let states = block_states(kind, methods, Rule::Interval);
    let is_narrow = |view: View<'_>| {
        kind.row().decisive.iter().all(|&phase| {
            let rounds: Vec<_> = view.rounds(phase, PairScope::All).into_values().collect();
            stats::is_narrow(&rounds, precision)
        })
    };
    views(methods, &states, Rule::Interval).into_iter().map(is_narrow).collect()
}

fn indexed(method: &Measured) -> impl Iterator<Item = (usize, &Block)> {
    method.blocks.iter().enumerate()
}

/// The numbers of the pairs, rising.
pub fn pairs(methods: &[Measured]) -> BTreeSet<usize> {
    methods.iter().flat_map(|method| &method.blocks).map(|block| block.pair).collect()
}

/// A method's blocks with their states.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The results for the method.
    pub method: &'a Measured,
    states: &'a [BlockState],
    /// The rule by which it was measured.
    pub rule: Rule,
}

impl<'a> View<'a> {
    /// Blocks of some pairs that have samples of a phase: those used, or those left out. For phases that
    /// happen once, before the first block, that block counts in any state, because it is the only one.
    pub fn blocks(&self, phase: Phase, scope: PairScope, used: bool) -> Vec<&'a Block> {
        let all = self.method.blocks.iter().zip(self.states);
        let is_once = matches!(phase, Phase::Init | Phase::ComputationWithoutMpi);
        let of = all.filter(|(block, state)| (state.used || is_once) == used && scope.has(block.pair));
        of.map(|(block, _)| block).filter(|block| !phase.samples(block).is_empty()).collect()
    }

    /// The samples of the blocks used, of all pairs together, by round number. Attempts that count are
    /// treated as one round, whenever they were made.
    pub fn rounds(&self, phase: Phase, scope: PairScope) -> Rounds {
        self.rounds_of(phase, scope, |block| phase.samples(block).to_vec())
    }

    /// The same for values derived from a block's samples, for blocks that have any of `phase`.
    pub fn rounds_of(&self, phase: Phase, scope: PairScope, samples: impl Fn(&Block) -> Vec<f64>) -> Rounds {
        let mut rounds = Rounds::new();
        for block in self.blocks(phase, scope, true) {
            let round = match self.rule {
                Rule::Interval => block.block,
                Rule::Pcomm => 0,
            };
            rounds.entry(round).or_default().extend(samples(block));
        }
        rounds
    }

    /// Whether blocks of different states are used for one pair, because there are no better ones.
    pub fn mixes_states(&self, scope: PairScope) -> bool {
        let mut states: BTreeMap<usize, BTreeSet<Option<State>>> = BTreeMap::new();
        for (block, state) in self.method.blocks.iter().zip(self.states) {
            if state.used && scope.has(block.pair) {
                states.entry(block.pair).or_default().insert(state.state);
            }
        }
        states.values().any(|states| states.len() > 1 || states.contains(&Some(State::Mixed)))
    }

    /// The ratio of another method's times to these; `None` without an interval.
    pub fn ratio(&self, other: &View<'_>, phase: Phase, scope: PairScope) -> Option<Ratio> {
        ratio(&other.rounds(phase, scope), &self.rounds(phase, scope), self.rule)
    }

    /// The median over the blocks used.
    pub fn median(&self, phase: Phase, scope: PairScope) -> Option<f64> {
        let blocks = self.blocks(phase, scope, true);
        stats::median(&stats::sorted(blocks.into_iter().flat_map(|block| phase.samples(block)).copied()))
    }
}

/// The views of all methods of a case, given the states of their blocks.
pub fn views<'a>(methods: &'a [Measured], states: &'a [Vec<BlockState>], rule: Rule) -> Vec<View<'a>> {
    methods.iter().zip(states).map(|(method, states)| View { method, states, rule }).collect()
}

/// Samples by round number.
pub type Rounds = BTreeMap<usize, Vec<f64>>;

/// The ratio a / b of two methods' times over the rounds that both have. Under bench-pcomm's rule, whose attempts are not rounds,
/// it is the ratio of the means of the attempts that count. `None` without an interval, because nothing can be concluded from it.
pub fn ratio(a: &Rounds, b: &Rounds, rule: Rule) -> Option<Ratio> {
    let ratio = match rule {
        Rule::Interval => paired(&medians(a), &medians(b)),
        Rule::Pcomm => {
            let all = |rounds: &Rounds| rounds.values().flatten().copied().collect::<Vec<_>>();
            stats::mean_ratio(&all(a), &all(b))
        }
    };
    ratio.filter(|ratio| ratio.interval.is_some())
}

pub fn medians(rounds: &Rounds) -> BTreeMap<usize, f64> {
    let median = |samples: &[f64]| stats::median(&stats::sorted(samples.iter().copied()));
    rounds.iter().filter_map(|(&round, samples)| Some((round, median(samples)?))).collect()
}

/// The ratio over the rounds that both have, given the median of each.
pub fn paired(a: &BTreeMap<usize, f64>, b: &BTreeMap<usize, f64>) -> Option<Ratio> {
    stats::paired_ratio(a.iter().filter_map(|(round, &a)| Some((a, *b.get(round)?))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::MachineState;
    use crate::model::{Outcome, Times};

    /// A block of five round trips of `time` at a latency in nanoseconds.
    fn block(time: f64, latency_ns: f64) -> Block {
        let machine = MachineState { latency_s: latency_ns * 1e-9, ..MachineState::default() };
        let times = Times::from([(Phase::RoundTrip, vec![time; 5])]);
        Block { before: machine, after: machine, times, ..Block::default() }
    }

    #[test]
    fn narrowness_is_that_of_the_blocks_used() {
        let steady = vec![block(1.0, 33.0); 8];
        let flipping: Vec<_> =
            (0..20).map(|i| if i < 12 { block(1.0, 33.0) } else { block(3.0, 190.0) }).collect();
        let wide: Vec<_> = (0..8).map(|i| block(f64::from(1 + i % 2), 33.0)).collect();
        let of = |blocks: Vec<Block>| {
            let numbered = blocks.into_iter().enumerate().map(|(i, block)| Block { block: i, ..block });
            let blocks = numbered.collect();
            let measured = Measured { method: "ddt".into(), outcome: Outcome::Converged, blocks };
            narrow(Kind::PingPong, &[measured], 0.025)
        };
        assert_eq!((of(steady), of(flipping), of(wide)), (vec![true], vec![true], vec![false]));
    }
}
