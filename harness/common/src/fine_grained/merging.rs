//! Which partitions are sent together, given when they became ready in earlier transfers and the cost of messages.
//!
//! Neighbours are merged into one message as long as none of them waits for the last one longer than a
//! separate message would take, in all observed transfers except one. A partition held back that long costs,
//! at worst, as much as sending it at once. The maximum number of neighbours is then the one with which the
//! observed transfers would have taken the least time.

use std::ops::Range;

use super::costs::{Costs, Departure};

/// The partitions of a message, and the threads that make them ready.
#[derive(Clone, Copy, Debug)]
pub struct MessagePartitions<'a> {
    /// Bytes of each partition.
    pub ranges: &'a [Range<usize>],
    pub threads: &'a [usize],
}

/// Maximum number of messages of a transfer: more would mean as many requests, and as many sizes to measure.
pub const MOST_MESSAGES: usize = 1024;

/// A mapping with fewer messages is kept unless another is better by at least this share: a calibration is
/// not precise enough to show less.
const BETTER: f64 = 0.04;

/// From this many observed transfers on, the one in which a run would wait longest is ignored: a thread that
/// occasionally loses its core is not typical of the application.
const ONE_IS_CHANCE: usize = 4;

/// The numbers of neighbours to try: powers of two up to all `partitions`.
pub fn sizes(partitions: usize) -> Vec<usize> {
    let least = partitions.div_ceil(MOST_MESSAGES);
    let mut sizes: Vec<usize> = (0..usize::BITS - 1)
        .map(|n| 1 << n)
        .take_while(|&m| m < partitions)
        .filter(|&m| m >= least)
        .collect();
    sizes.push(partitions);
    sizes
}

/// Runs of neighbours that are sent together. `observed` has, for each observed transfer, when each partition
/// became ready, in seconds; if it is empty, all are ready at once.
pub fn units(message: MessagePartitions<'_>, observed: &[Vec<f64>], costs: &Costs) -> Vec<Range<usize>> {
    let at_once = [vec![0.0; message.ranges.len()]];
    let observed = if observed.is_empty() { &at_once } else { observed };
    let candidate = |most: usize| {
        let units = runs(message, observed, costs, most);
        let taken = |ready_s: &Vec<f64>| taken_s(message, &units, ready_s, costs);
        let all_s: f64 = observed.iter().map(taken).sum();
        (units, all_s)
    };
    let mut best: Option<(Vec<Range<usize>>, f64)> = None;
    for (units, all_s) in sizes(message.ranges.len()).into_iter().rev().map(candidate) {
        if best.as_ref().is_none_or(|(_, best_s)| all_s < best_s * (1.0 - BETTER)) {
            best = Some((units, all_s));
        }
    }
    best.map(|(units, _)| units).unwrap_or_default()
}

/// Runs of at most `most` neighbours, none of which waits too long.
fn runs(
    message: MessagePartitions<'_>,
    observed: &[Vec<f64>],
    costs: &Costs,
    most: usize,
) -> Vec<Range<usize>> {
    let partitions = message.ranges.len();
    let (mut runs, mut start) = (Vec::new(), 0);
    let mut first_and_last: Vec<(f64, f64)> = Vec::new();
    let alone = |ready_s: &Vec<f64>, at: usize| (ready_s[at], ready_s[at]);
    for next in 0..partitions {
        let with: Vec<(f64, f64)> = match next == start {
            true => observed.iter().map(|ready_s| alone(ready_s, next)).collect(),
            false => {
                let both = first_and_last.iter().zip(observed);
                both.map(|(span, ready_s)| (span.0.min(ready_s[next]), span.1.max(ready_s[next]))).collect()
            }
        };
        let mut held_s: Vec<f64> = with.iter().map(|(first, last)| last - first).collect();
        held_s.sort_by(f64::total_cmp);
        let chance = usize::from(held_s.len() >= ONE_IS_CHANCE);
        let held_s = held_s[held_s.len() - 1 - chance];
        let is_too_long = held_s > costs.cost_of(message.ranges[next].len() as u64).alone_s;
        if next > start && (next - start == most || is_too_long) {
            runs.push(start..next);
            start = next;
            first_and_last = observed.iter().map(|ready_s| alone(ready_s, next)).collect();
        } else {
            first_and_last = with;
        }
    }
    runs.push(start..partitions);
    runs
}

/// Duration of a transfer after its last partition became ready.
fn taken_s(message: MessagePartitions<'_>, units: &[Range<usize>], ready_s: &[f64], costs: &Costs) -> f64 {
    let departure = |unit: &Range<usize>| {
        let last = unit.clone().max_by(|&a, &b| ready_s[a].total_cmp(&ready_s[b])).unwrap_or(unit.start);
        let bytes = message.ranges[unit.end - 1].end - message.ranges[unit.start].start;
        Departure { ready_s: ready_s[last], thread: message.threads[last], bytes: bytes as u64 }
    };
    let mut departures: Vec<Departure> = units.iter().map(departure).collect();
    let last_s = ready_s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    costs.arrival_s(&mut departures) - last_s
}

#[cfg(test)]
mod tests {
    use super::super::costs::Cost;
    use super::*;

    /// A message takes 1 µs plus 1 µs per 1000 bytes. In a series, its bytes take as long, and each message adds 0.1 µs.
    fn costs() -> Costs {
        let cost = |bytes: u64| {
            let bytes_s = bytes as f64 * 1e-9;
            Cost { bytes, start_s: 1e-7, alone_s: 1e-6 + bytes_s, streamed_s: 1e-7 + bytes_s }
        };
        Costs::new([0, 1 << 30].map(cost).into())
    }

    /// The units of partitions of one thread, all of this size.
    fn units_of(bytes: usize, partitions: usize, observed: &[Vec<f64>]) -> Vec<Range<usize>> {
        let ranges: Vec<Range<usize>> = (0..partitions).map(|p| p * bytes..(p + 1) * bytes).collect();
        units(MessagePartitions { ranges: &ranges, threads: &vec![0; partitions] }, observed, &costs())
    }

    #[test]
    fn what_is_late_for_longer_than_a_message_takes_is_not_waited_for() {
        // All of eight partitions are ready at once, except the last one; or four come one by one.
        let late = |delay_s: f64| vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, delay_s];
        let apart = |gap_s: f64| vec![0.0, gap_s, 2.0 * gap_s, 3.0 * gap_s];
        let cases = [
            (64, 8, vec![], &[8][..]),
            (64, 8, vec![late(0.0)], &[8]),
            (64, 1, vec![], &[1]),
            (1000, 8, vec![late(100e-6)], &[7, 8]),
            (64, 8, vec![late(0.05e-6)], &[8]),
            // One such transfer among few changes the result; one among many is chance.
            (64, 8, vec![late(0.0), late(100e-6), late(0.0)], &[7, 8]),
            (64, 8, vec![late(0.0), late(0.0), late(100e-6), late(0.0)], &[8]),
            (1000, 4, vec![apart(10e-6)], &[1, 2, 3, 4]),
            (1000, 4, vec![apart(0.01e-6)], &[4]),
        ];
        for (bytes, partitions, observed, ends) in cases {
            let units = units_of(bytes, partitions, &observed);
            assert!(units.iter().map(|unit| &unit.end).eq(ends), "{bytes} {observed:?}");
        }
    }

    #[test]
    fn no_partition_waits_longer_than_a_message_takes() {
        let observed: Vec<Vec<f64>> = (0..4_u32)
            .map(|t| (0..32_u32).map(|p| f64::from(p * 7919 % 101 * (t + 1)) * 1e-7).collect())
            .collect();
        let units = units_of(500, 32, &observed);
        assert_eq!(units.iter().cloned().flatten().collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
        for unit in units {
            let alone_s = costs().cost_of(500).alone_s;
            let is_too_long = |ready_s: &&Vec<f64>| {
                let of_unit = || ready_s[unit.clone()].iter().copied();
                of_unit().fold(0.0, f64::max) - of_unit().fold(f64::INFINITY, f64::min) > alone_s
            };
            assert!(observed.iter().filter(is_too_long).count() <= 1, "{unit:?} is held back");
        }
    }

    #[test]
    fn sizes_end_with_all_and_leave_out_what_is_too_many() {
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(6), [1, 2, 4, 6]);
        assert_eq!(sizes(8), [1, 2, 4, 8]);
        assert_eq!(sizes(65536)[0], 64);
    }
}
