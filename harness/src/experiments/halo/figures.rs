//! Figures of halo exchanges relative to the bulk-synchronous exchange that packs by hand, or by the plain loop if there is no
//! hand-written loop.

use common::kinds::halo::methods::{Call, HaloTransfer, transfer};

use super::MANUAL;
use crate::experiments::summary::{RowContext, early, overhead::exchange_without_packing};
use crate::model::event::Block;
use crate::model::{LOOP, Phase, Record};

/// Adds the figures of the exchange: its overhead, if it consists of messages as the reference does; the fraction of packing and
/// unpacking; gain and speed-up relative to `manual`, or to `loop` if `manual` was not measured; the bandwidth of the rank that sends
/// most; its messages; and the fraction of the first stage's bytes that were in the receiver's memory when its own threads had handed
/// over everything.
pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    if !context.is_headline() {
        return;
    }
    // The difference to other calls is not only packing.
    if matches!(transfer(&record.method), Ok(HaloTransfer::Bulk(Call::Messages(_), _))) {
        record.add(context.overhead());
    }
    record.add(record.median_s.and_then(|exchange| context.bandwidth(exchange)));
    record.add(early::figure(context));
    record.add(context.messages());
    record.add(context.clock_error());
    record.add(context.device_bytes());
    record.add(context.device_copies());
    if record.method != context.kind.reference() {
        record.add(
            context.packing(|block: &Block| block.times[Phase::Exchange].clone(), exchange_without_packing),
        );
    }
    let base = context.measured(MANUAL).or_else(|| context.measured(LOOP));
    if let Some(base) = base.filter(|base| record.method != base.method.method) {
        record.add(context.gain(base));
        record.add(context.speedup(base));
    }
}

#[cfg(test)]
mod tests {
    use crate::experiments::{Kind, summary};
    use crate::model::{Case, Measured, PairScope, Phase, Quantity, Record};
    use crate::report::made::{self, block, measured};

    fn records(test: &str, methods: Vec<Measured>) -> Vec<Record> {
        let case = Case { experiment: Kind::Halo, ..made::case(test, "mpich", "") };
        let mut records = summary::records(Kind::Halo, &made::result(case, methods));
        records.retain(|record| record.phase == Phase::Exchange && record.pair == PairScope::All);
        records
    }

    #[test]
    fn gain_is_over_the_loop_where_nobody_wrote_one_by_hand() {
        let gains = |methods: &[(&str, f64)]| {
            let measured = |&(method, time): &(&str, f64)| {
                let times = [(Phase::Exchange, vec![time; 5]), (Phase::Total, vec![time; 5])];
                measured(method, vec![block(times); 6])
            };
            let gain = |record: Record| {
                let figure = record.figure(Quantity::Gain)?;
                Some((record.method.clone(), figure.value?, figure.against.clone()))
            };
            let records = records("layout", methods.iter().map(measured).collect());
            records.into_iter().filter_map(gain).collect::<Vec<_>>()
        };
        let over = |method: &str, gain, base: &str| (method.to_owned(), gain, base.to_owned());
        assert_eq!(gains(&[("loop", 8.0), ("ddt", 4.0)]), [over("ddt", 2.0, "loop")]);
        let with_manual = gains(&[("manual", 2.0), ("loop", 8.0), ("ddt", 4.0)]);
        assert_eq!(with_manual, [over("loop", 0.25, "manual"), over("ddt", 0.5, "manual")]);
    }

    #[test]
    fn calls_that_differ_from_the_reference_have_no_overhead() {
        let measured = |(method, time): (&str, f64)| {
            let times = [(Phase::Exchange, vec![time; 5]), (Phase::Pack, vec![1.0; 5])];
            measured(method, vec![block(times); 6])
        };
        let methods = [("reference", 2.0), ("manual", 8.0), ("persistent", 4.0), ("put_manual", 8.0)];
        let methods = methods.into_iter().chain([("neighbor_alltoallv", 8.0), ("partitioned", 8.0)]);
        let records = records("nas_mg", methods.map(measured).collect());
        let shares = |quantity| records.iter().map(move |record| record.value(quantity)).collect::<Vec<_>>();
        assert_eq!(shares(Quantity::OverheadReference), [None, Some(0.75), Some(0.5), None, None, None]);
        let packing = [None, Some(0.125), Some(0.25), Some(0.125), Some(0.125), Some(0.125)];
        assert_eq!(shares(Quantity::OverheadPack), packing);
    }
}
