//! Figures of halo exchanges: how they stand to the bulk-synchronous exchange that packs by hand.

use super::overhead::exchange_without_packing;
use super::{Scope, View, add_packing, early, finite, ratios};
use crate::event::Block;
use crate::halo::MANUAL;
use crate::record::{CaseResult, Phase, Record};

/// Adds what can be known: the share of packing and unpacking in the exchange; the speed-up over `manual`, computing left
/// out, as `gain`, and with it as `speedup`; the bandwidth of the rank that sends most; its messages; and the share
/// of the first stage's bytes that lay in the receiver's memory when its own threads had all handed over.
pub(super) fn add(
    record: &mut Record,
    result: &CaseResult,
    view: &View<'_>,
    views: &[View<'_>],
    scope: Scope<'_>,
) {
    let Some(exchange) = record.median_s else { return };
    record.bandwidth_bytes_per_s = finite(result.message.bytes as f64 / exchange);
    early::add(record, view, Phase::Exchange, scope);
    record.messages = view.blocks(Phase::Exchange, scope, true).last().and_then(|block| block.messages);
    if view.method.method != result.case.experiment.reference() {
        let whole = |block: &Block| block.times[Phase::Exchange].clone();
        add_packing(record, view, scope, whole, exchange_without_packing);
    }
    let manual = views.iter().find(|view| view.method.method == MANUAL && view.method.outcome.is_measured());
    let Some(manual) = manual.filter(|manual| manual.method.method != view.method.method) else { return };
    let ratio = |phase: Phase| ratios::figures(view.ratio(manual, phase, scope));
    (record.gain, record.gain_low, record.gain_high, record.gain_unsteady) = ratio(Phase::Exchange);
    let total = ratio(Phase::Total);
    [record.speedup, record.speedup_low, record.speedup_high] =
        [total.0, total.1, total.2].map(|ratio| ratio.map(|ratio| 1.0 - 1.0 / ratio));
}

#[cfg(test)]
mod tests {
    use crate::event::{Block, MessageFacts, Outcome};
    use crate::experiment::Experiment;
    use crate::plan::Rule;
    use crate::record::{Case, CaseResult, Measured, Phase, Record};
    use crate::times::Times;

    /// The record of `manual` after so many blocks, each of which looked twice and found a quarter of the bytes.
    fn record(blocks: usize) -> Record {
        let case = Case {
            experiment: Experiment::Halo,
            test: "nas_mg".to_owned(),
            set: "s".to_owned(),
            params: "d1=66".to_owned(),
            mpi: "mpich".to_owned(),
            ranks: 2,
            cache: "warm".to_owned(),
        };
        let block = |i| Block {
            method: "manual".to_owned(),
            block: i,
            batch: 1,
            times: Times::from([(Phase::Exchange, vec![8.0; 5])]),
            early: vec![0.25; 2],
            ..Block::default()
        };
        let blocks = (0..blocks).map(block).collect();
        let methods = vec![Measured { method: "manual".to_owned(), outcome: Outcome::Converged, blocks }];
        let message = MessageFacts { bytes: 800, segments: 1, array_bytes: 800, line_bytes: None };
        let result = CaseResult { rule: Rule::Interval, case, message, load: None, methods };
        let is_whole = |record: &Record| record.phase == Phase::Exchange && record.pair == "all";
        crate::summary::records(&result).into_iter().find(is_whole).expect("a row of the whole")
    }

    #[test]
    fn what_is_early_stands_with_its_interval_or_not_at_all() {
        let early = |record: Record| [record.early_bird, record.early_bird_low, record.early_bird_high];
        assert_eq!(early(record(6)), [Some(0.25); 3]);
        assert_eq!(early(record(5)), [None; 3]);
    }
}
