//! Figures of halo exchanges: how they stand to the bulk-synchronous exchange that packs by hand.

use super::MANUAL;
use crate::experiments::summary::{RowContext, early, overhead::exchange_without_packing};
use crate::model::event::Block;
use crate::model::{Phase, Record};

/// Adds what can be known of the exchange: its overhead; the share of packing and unpacking; the gain and the speed-up over
/// `manual`; the bandwidth of the rank that sends most; its messages; and the share of the first stage's bytes that lay in the
/// receiver's memory when its own threads had all handed over.
pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    if !context.is_headline() {
        return;
    }
    record.add(context.overhead());
    record.add(record.median_s.and_then(|exchange| context.bandwidth(exchange)));
    record.add(early::figure(context));
    record.add(context.messages());
    record.add(context.clock_error());
    if record.method != context.kind.reference() {
        record.add(
            context.packing(|block: &Block| block.times[Phase::Exchange].clone(), exchange_without_packing),
        );
    }
    if let Some(manual) = context.measured(MANUAL).filter(|_| record.method != MANUAL) {
        record.add(context.gain(manual));
        record.add(context.speedup(manual));
    }
}

#[cfg(test)]
mod tests {
    use crate::experiments::halo::KIND;
    use crate::experiments::summary;
    use crate::experiments::summary::tests::{high, low};
    use crate::model::conditions::Rule;
    use crate::model::event::{Block, MessageFacts};
    use crate::model::{Case, CaseResult, Measured, Outcome, Phase, Quantity, Record, Times};

    /// The record of `manual` after so many blocks, each of which looked twice and found a quarter of the bytes.
    fn record(blocks: usize) -> Record {
        let case = Case {
            experiment: "halo".to_owned(),
            test: "nas_mg".to_owned(),
            set: "s".to_owned(),
            params: "d1=66".to_owned(),
            mpi: "mpich".to_owned(),
            ranks: 2,
            ..Case::default()
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
        let result = CaseResult { launch: 0, rule: Rule::Interval, case, message, load: None, methods };
        let is_whole = |record: &Record| record.phase == Phase::Exchange && record.pair == "all";
        summary::records(KIND, &result).into_iter().find(is_whole).expect("a row of the whole")
    }

    #[test]
    fn what_is_early_stands_with_its_interval_or_not_at_all() {
        let early = |record: Record| {
            [
                record.value(Quantity::EarlyBird),
                low(&record, Quantity::EarlyBird),
                high(&record, Quantity::EarlyBird),
            ]
        };
        assert_eq!(early(record(6)), [Some(0.25); 3]);
        assert_eq!(early(record(5)), [None; 3]);
    }
}
