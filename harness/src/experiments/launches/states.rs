//! Launches by the state of the machine: times and ratios differ more between states than within one, and no interval over all
//! launches shows this.

use std::collections::{BTreeMap, HashMap};

use super::intervals;
use crate::model::{Figure, InState, PairScope, Record};
use crate::stats;

/// Launches with comparable latencies: same run, same number of ranks and hosts.
type LatencyGroup<'a> = (&'a str, usize, usize);

fn place(record: &Record) -> LatencyGroup<'_> {
    (&record.case.run, record.case.hosts, record.case.ranks)
}

/// The latencies at which the states of each group begin. All cases and methods together show them.
pub(super) struct Levels<'a>(HashMap<LatencyGroup<'a>, Vec<f64>>);

impl<'a> Levels<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let mut latencies: HashMap<LatencyGroup<'_>, Vec<f64>> = HashMap::new();
        for record in records.iter().filter(|record| super::is_headline(record)) {
            latencies.entry(place(record)).or_default().extend(latency(record));
        }
        let levels = |latencies: Vec<f64>| stats::levels(&stats::sorted(latencies));
        Self(latencies.into_iter().map(|(place, latencies)| (place, levels(latencies))).collect())
    }

    /// The number of the state with this latency.
    fn number(&self, record: &Record, latency_s: f64) -> usize {
        let levels = self.0.get(&place(record)).map_or(&[][..], Vec::as_slice);
        levels.partition_point(|&level| level <= latency_s)
    }

    /// The states of a method's launches, without figures. Pairs have none, because they are at different distances.
    pub(super) fn met(&self, launches: &[&Record]) -> Vec<InState> {
        let mut states: BTreeMap<usize, Vec<&Record>> = BTreeMap::new();
        for record in launches.iter().filter(|record| record.pair == PairScope::All) {
            if let Some(latency_s) = latency(record) {
                states.entry(self.number(record, latency_s)).or_default().push(record);
            }
        }
        let median = |of: &[&Record], value: fn(&Record) -> Option<f64>| {
            stats::median(&stats::sorted(of.iter().filter_map(|record| value(record))))
        };
        let state = |(number, of): (usize, Vec<&Record>)| {
            let (latency_s, median_s) = (median(&of, latency)?, median(&of, |record| record.median_s));
            Some(InState { number, latency_s, launches: of.len(), median_s, figures: Vec::new() })
        };
        states.into_iter().filter_map(state).collect()
    }

    /// Adds a figure over all launches, of which each has a value, to the states that they met, if these are several.
    pub(super) fn add<'b>(
        &self,
        record: &mut Record,
        figure: &Figure,
        values: impl Iterator<Item = (&'b Record, f64)>,
    ) {
        if record.states.len() < 2 || figure.low.is_none() {
            return;
        }
        let mut groups = vec![Vec::new(); record.states.len()];
        for (launch, value) in values {
            let number = latency(launch).map(|latency_s| self.number(launch, latency_s));
            let state = record.states.iter().position(|state| Some(state.number) == number);
            state.into_iter().for_each(|state| groups[state].push(value));
        }
        let intervals = intervals::intervals(figure.quantity, &groups);
        for (state, (group, interval)) in record.states.iter_mut().zip(groups.iter().zip(intervals)) {
            let (low, high) = interval.unzip();
            let value = stats::median(&stats::sorted(group.iter().copied()));
            state.figures.push(Figure { value, low, high, unsteady: None, ..figure.clone() });
        }
    }
}

/// The latency of a launch's blocks, if it was measured.
fn latency(record: &Record) -> Option<f64> {
    record.state_latency_s.filter(|&latency_s| latency_s > 0.0 && latency_s.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::over_launches;
    use crate::experiments::Kind;
    use crate::model::{Figure, Quantity, Record};

    /// Launches at these latencies in nanoseconds, with the ratios of `ddt` to `manual`.
    fn over(launches: &[(f64, f64)]) -> Record {
        let record = |(launch, &(latency_ns, ratio)): (usize, &(f64, f64))| Record {
            method: "ddt".to_owned(),
            phase: Kind::PingPong.headline(),
            launch: Some(launch),
            median_s: Some(1e-6 * latency_ns),
            state_latency_s: Some(1e-9 * latency_ns),
            figures: vec![Figure::with_interval(Quantity::TimeOver, ratio, (ratio, ratio)).against("manual")],
            ..Record::default()
        };
        let records: Vec<_> = launches.iter().enumerate().map(record).collect();
        over_launches(&records, None).remove(0)
    }

    #[test]
    fn ratios_are_given_for_each_state_that_launches_met() {
        // Measured values: milc_su3_zd on MPICH.
        let over =
            over(&[(30.0, 1.14), (31.0, 1.13), (186.0, 0.73), (30.0, 1.15), (185.0, 0.74), (30.5, 1.14)]);
        let states: Vec<_> = over.states.iter().map(|state| (state.number, state.launches)).collect();
        assert_eq!(states, [(0, 4), (1, 2)]);
        let ratio = over.over("manual").unwrap();
        let [(near_s, near), (far_s, far)] = over.in_states(ratio).collect::<Vec<_>>()[..] else {
            panic!("{over:?}")
        };
        assert_eq!((near.value, far.value), (Some(1.14), Some(0.735)));
        assert!((near_s - 30.25e-9).abs() < 1e-15 && (far_s - 185.5e-9).abs() < 1e-15, "{near_s} {far_s}");
        let ((near_low, near_high), (far_low, far_high)) =
            (near.interval().unwrap(), far.interval().unwrap());
        assert!(1.11 < near_low && near_high < 1.17, "{near:?}");
        assert!(0.7 < far_low && far_high < 0.77, "{far:?}");
        assert!(over.states[1].median_s.is_some_and(|median_s| (median_s - 185.5e-6).abs() < 1e-12));
    }

    #[test]
    fn one_state_is_reported_without_figures_of_its_own_and_none_if_nothing_was_measured() {
        let steady = over(&[(30.0, 1.14), (31.0, 1.13), (34.0, 1.12)]);
        let [state] = &steady.states[..] else { panic!("{steady:?}") };
        assert_eq!((state.launches, state.figures.len()), (3, 0));
        assert!(over(&[(0.0, 1.14), (0.0, 1.13)]).states.is_empty());
    }

    #[test]
    fn a_single_launch_has_its_state() {
        let one = over(&[(30.0, 1.14)]);
        assert_eq!((one.states.len(), one.states[0].launches), (1, 1));
    }
}
