//! How the mechanism `aggregated` maps user partitions to transport partitions.
//!
//! As text: `aggregated` or `aggregated:RULE`. The rule is `m=4`, `bytes=65536`, `bins=8` or `adaptive`, followed by
//! `@partitioned` if the transport partitions are those of an MPI-4 request instead of persistent sends.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Our own layer on top of an MPI's transfers. Its name may include how it aggregates: see [`Aggregation`].
pub const AGGREGATED: &str = "aggregated";

/// Messages from this size on, in bytes, are worth sending separately. For smaller ones, most of the time is latency:
/// on MPICH 5.0.2 and Open MPI 5.0.11 in shared memory, 64 KiB take about ten times as long as 8 bytes.
pub const WORTH_SENDING: u64 = 64 * 1024;

/// Which partitions travel together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// This many neighbours each, as in the HLRS benchmark's paper (EuroMPI 2024, section 3.2).
    Fixed(usize),
    /// As many neighbours as fit into this many bytes, like MPICH's `MPIR_CVAR_PART_AGGR_SIZE` (ICPP 2023,
    /// section 3.2.1).
    Bytes(u64),
    /// This many bins of neighbours, as in CMB (CCGrid 2024, section III-C).
    Bins(usize),
    /// Neighbours up to a size that is worth sending separately. In transfers between two ranks, the mapping
    /// follows when partitions became ready in the first transfers.
    #[default]
    Adaptive,
}

/// The transfers that carry transport partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Messages.
    #[default]
    Persistent,
    /// The partitions of an MPI-4 request.
    Partitioned,
}

/// How partitions are aggregated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aggregation {
    /// Which partitions travel together.
    pub grouping: Grouping,
    /// The transfers that carry the resulting transport partitions.
    pub over: Over,
}

impl Aggregation {
    /// The aggregation in a mechanism's name; `None` for another mechanism.
    pub fn of_mechanism(name: &str) -> Option<Result<Self, String>> {
        if name == AGGREGATED {
            return Some(Ok(Self::default()));
        }
        Some(name.strip_prefix(AGGREGATED)?.strip_prefix(':')?.parse())
    }

    /// The user partitions of each transport partition, given their number and the bytes of one. Sizes of
    /// partitions differ by at most one byte.
    pub fn units(&self, partitions: usize, partition_bytes: u64) -> Vec<Range<usize>> {
        let fits = |bytes: u64| usize::try_from(bytes / partition_bytes.max(1)).unwrap_or(usize::MAX).max(1);
        let together = match self.grouping {
            Grouping::Fixed(m) => m,
            Grouping::Bytes(bytes) => fits(bytes),
            Grouping::Adaptive => partitions.div_ceil(self.worthwhile(partitions, partition_bytes)),
            Grouping::Bins(bins) => {
                let bins = bins.min(partitions);
                let bin = |i: usize| i * partitions / bins..(i + 1) * partitions / bins;
                return (0..bins).map(bin).collect();
            }
        };
        let starts = (0..partitions).step_by(together.min(partitions).max(1));
        starts.map(|start| start..(start + together.min(partitions)).min(partitions)).collect()
    }

    /// The largest number of transport partitions with each still worth sending.
    fn worthwhile(&self, partitions: usize, partition_bytes: u64) -> usize {
        let bytes = partition_bytes.saturating_mul(partitions as u64);
        usize::try_from(bytes / WORTH_SENDING).unwrap_or(usize::MAX).clamp(1, partitions.max(1))
    }
}

impl FromStr for Aggregation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (grouping, over) = match text.split_once('@') {
            None => (text, Over::Persistent),
            Some((grouping, "partitioned")) => (grouping, Over::Partitioned),
            Some((_, over)) => return Err(format!("aggregation over {over:?}: it can be over partitioned")),
        };
        let wrong = || {
            format!(
                "aggregation {grouping:?}: must be m=4, bytes=65536, bins=8 or adaptive, with a number of at least 1"
            )
        };
        let number = |text: &str| text.parse::<u64>().ok().filter(|&n| n > 0).ok_or_else(wrong);
        let count = |text: &str| usize::try_from(number(text)?).map_err(|_| wrong());
        let grouping = match grouping.split_once('=') {
            None if grouping == "adaptive" => Grouping::Adaptive,
            Some(("m", m)) => Grouping::Fixed(count(m)?),
            Some(("bytes", bytes)) => Grouping::Bytes(number(bytes)?),
            Some(("bins", bins)) => Grouping::Bins(count(bins)?),
            _ => return Err(wrong()),
        };
        if (grouping, over) == (Grouping::Adaptive, Over::Partitioned) {
            let reason = "the partitions of an MPI request are fixed when it is made";
            return Err(format!("aggregation {text:?}: adaptive is only for messages, because {reason}"));
        }
        Ok(Self { grouping, over })
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.grouping {
            Grouping::Fixed(m) => write!(f, "m={m}"),
            Grouping::Bytes(bytes) => write!(f, "bytes={bytes}"),
            Grouping::Bins(bins) => write!(f, "bins={bins}"),
            Grouping::Adaptive => f.write_str("adaptive"),
        }?;
        f.write_str(if self.over == Over::Partitioned { "@partitioned" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, partitions: usize, bytes: u64) -> Vec<Range<usize>> {
        text.parse::<Aggregation>().unwrap().units(partitions, bytes)
    }

    #[test]
    fn every_partition_travels_once_and_in_order() {
        for grouping in
            ["m=1", "m=3", "m=99", "bytes=1", "bytes=4096", "bins=1", "bins=3", "bins=99", "adaptive"]
        {
            for partitions in [1, 2, 7, 32, 100] {
                for bytes in [0, 1, 1000, 1 << 20] {
                    let units = units(grouping, partitions, bytes);
                    let all: Vec<usize> = units.iter().cloned().flatten().collect();
                    assert_eq!(all, (0..partitions).collect::<Vec<_>>(), "{grouping} {partitions} {bytes}");
                    assert!(units.iter().all(|unit| !unit.is_empty()), "{grouping} {partitions} {bytes}");
                }
            }
        }
    }

    #[test]
    fn rules_do_what_they_are_named_for() {
        // The ends of the units. All of a small message is less than is worth sending twice.
        for (text, partitions, bytes, ends) in [
            ("m=4", 8, 1, &[4, 8][..]),
            ("m=3", 8, 1, &[3, 6, 8]),
            ("bytes=2048", 4, 1000, &[2, 4]),
            ("bytes=999", 2, 1000, &[1, 2]),
            ("bins=2", 5, 1, &[2, 5]),
            ("adaptive", 32, 1024, &[32]),
            ("adaptive", 4, 1 << 20, &[1, 2, 3, 4]),
            ("adaptive", 256, 1024, &[64, 128, 192, 256]),
        ] {
            assert!(
                units(text, partitions, bytes).iter().map(|unit| &unit.end).eq(ends),
                "{text} {partitions}"
            );
        }
    }

    #[test]
    fn text_comes_back_and_wrong_text_is_refused() {
        for text in ["m=4", "bytes=65536@partitioned", "bins=8", "adaptive"] {
            assert_eq!(text.parse::<Aggregation>().unwrap().to_string(), text);
        }
        for text in ["", "m", "m=0", "m=x", "bins=-1", "m=4@rma", "adaptive@partitioned"] {
            assert!(text.parse::<Aggregation>().is_err(), "{text}");
        }
        assert_eq!(Aggregation::of_mechanism("many"), None);
        assert_eq!(Aggregation::of_mechanism("aggregated"), Some(Ok(Aggregation::default())));
    }
}
