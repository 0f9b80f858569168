//! One point of a sweep: the message, its partitions, which thread finishes them and when, and in which order.

use std::collections::BTreeMap;
use std::fmt;

use apps::bytes;

use crate::fine_grained::arrival::{Arrival, Sampler};
use crate::fine_grained::emulation::{Computing, Emulation, compute_us};
use crate::fine_grained::order::{self, WriteOrder};
use crate::model::event::MessageFacts;
use crate::parameter::{self, Parameter, always, given, joined, threads, unusual};

/// A message between two ranks, finished partition by partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Bytes of the message.
    pub bytes: u64,
    /// Partitions of the sender.
    pub partitions: usize,
    /// Partitions of the receiver, if not the sender's number.
    pub receive_partitions: Option<usize>,
    /// Threads of each rank.
    pub threads: usize,
    /// The order in which partitions become ready.
    pub order: WriteOrder,
    /// When threads are done.
    pub arrival: Arrival,
    /// The computation of each thread before the transfer.
    pub computing: Computing,
    /// The bandwidth for the model, in bytes per second, instead of the one that `single` reached.
    pub beta_bytes_per_s: Option<f64>,
    /// Virtual communication interfaces of MPICH; threads on different ones do not disturb each other.
    pub vcis: Option<usize>,
    /// Whether the other rank sends the same message at the same time.
    pub both_ways: bool,
}

/// All parameters, in the order in which they are shown.
pub const PARAMETERS: &[Parameter<Setting>] = &[
    parameter!("bytes", bytes: "BYTES" = "32KiB", message_bytes, always; "bytes of the message"),
    parameter!("partitions", partitions: "N" = "32", partitions, always; "partitions of the sender"),
    parameter!("receive", receive_partitions: "N" = "", partitions, given;
        "partitions of the receiver, if different"),
    parameter!("threads", threads: "N" = "1", threads, always; "threads of each rank"),
    parameter!("order", order: "ORDER" = "linear", str::parse::<WriteOrder>, always;
        "order in which partitions become ready: linear, reverse, random, strided:BYTES, burst:BYTES, neighbourhood"),
    parameter!("arrival", arrival: "ARRIVAL" = "none", str::parse::<Arrival>, always;
        "when threads are done: none, laggard:4%, uniform:10%, normal:2us, kde:NAME, delay:GAMMA (us/MB of the last \
         partition)"),
    parameter!("compute_us", computing.time_us: "US" = "0", compute_us, unusual;
        "time that each thread computes, in microseconds"),
    parameter!("emulate", computing.emulation: "HOW" = "spin", str::parse::<Emulation>, unusual;
        "how computing time passes: spin, sleep, work or sweep"),
    parameter!("beta", beta_bytes_per_s: "GB/S" = "the bandwidth of `single`", beta,
        |beta: &Option<f64>| beta.map(|beta| (beta / 1e9).to_string());
        "bandwidth for the model, in GB/s"),
    parameter!("vcis", vcis: "N" = "the environment's value", threads, given;
        "virtual interfaces of MPICH (MPIR_CVAR_CH4_NUM_VCIS)"),
    parameter!("ways", both_ways: "N" = "1", both_ways, |&both: &bool| both.then(|| "2".to_owned());
        "2: both ranks send such a message, at the same time"),
];

/// A whole number within limits.
fn count(text: &str, from: u64, to: u64) -> Result<u64, String> {
    let value = bytes(text).filter(|value| (from..=to).contains(value));
    value.ok_or_else(|| format!("must be a whole number from {from} to {to}"))
}

fn message_bytes(text: &str) -> Result<u64, String> {
    count(text, 0, isize::MAX as u64).map_err(|reason| reason + ", for example 64KiB")
}

/// An MPI's partition numbers and counts have C's type `int`.
fn partitions(text: &str) -> Result<usize, String> {
    count(text, 1, i32::MAX as u64).map(|value| value as usize)
}

fn beta(text: &str) -> Result<f64, String> {
    let beta = text.parse::<f64>().ok().filter(|beta| beta.is_finite() && *beta > 0.0);
    beta.map(|beta| beta * 1e9).ok_or_else(|| "must be GB/s, above 0".to_owned())
}

fn both_ways(text: &str) -> Result<bool, String> {
    match text {
        "1" => Ok(false),
        "2" => Ok(true),
        _ => Err("must be 1 or 2: from rank 0 to rank 1, or both at once".to_owned()),
    }
}

impl Setting {
    /// The setting from parameters by name; parameters that are not given have their defaults.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let setting = parameter::parse(PARAMETERS, given)?;
        // Refuses all that sampling refuses, including a missing trace.
        setting.sampler(0, 0)?;
        Ok(setting)
    }

    /// All parameters that differ from the default, as text; [`Setting::parse`] makes the same setting from them.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        parameter::pairs(PARAMETERS, self)
    }

    /// The sender's message.
    pub fn message(&self) -> MessageFacts {
        MessageFacts { bytes: self.bytes, segments: 1, array_bytes: self.bytes, line_bytes: None }
    }

    /// Environment variables for the ranks.
    pub fn env(&self) -> BTreeMap<String, String> {
        self.vcis.map(|vcis| ("MPIR_CVAR_CH4_NUM_VCIS".to_owned(), vcis.to_string())).into_iter().collect()
    }

    /// Partitions of the receiver.
    pub fn receive_partitions(&self) -> usize {
        self.receive_partitions.unwrap_or(self.partitions)
    }

    /// The bytes of each partition of the sender.
    pub fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        (0..self.partitions).map(|p| order::partition(self.bytes, self.partitions, p)).collect()
    }

    /// The partitions of each thread, in the order in which they become ready: each thread has a slice of the
    /// order, as in the HLRS benchmark. Threads in excess have none.
    pub fn of_thread(&self, seed: u64) -> Vec<Vec<usize>> {
        let order = self.order.permutation(self.bytes, self.partitions, seed);
        let slice = |thread: usize| {
            let at = |thread: usize| thread * self.partitions / self.threads;
            order[at(thread)..at(thread + 1)].to_vec()
        };
        (0..self.threads).map(slice).collect()
    }

    /// Draws of the threads' times at one rank.
    pub fn sampler(&self, seed: u64, rank: usize) -> Result<Sampler, String> {
        let partition_bytes = self.bytes / self.partitions as u64;
        Sampler::new(&self.arrival, self.computing.time_us * 1e-6, self.threads, partition_bytes, seed, rank)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(self.pairs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_makes_the_same_setting_again_and_what_cannot_be_is_refused_by_name() {
        let text = "bytes=4194304 partitions=4 receive=8 threads=2 order=random arrival=delay:100 emulate=sleep beta=12.5 ways=2";
        let parse = |text: &str| Setting::parse(text.split(' ').filter_map(|pair| pair.split_once('=')));
        let setting = parse(&text.replace("4194304", "4MiB")).unwrap();
        assert_eq!((setting.bytes, setting.receive_partitions()), (4 << 20, 8));
        assert_eq!((setting.to_string(), parse(text)), (text.to_owned(), Ok(setting)));
        for wrong in ["bytes=-1", "compute_us=nan", "beta=0", "ways=3", "colour=red"] {
            let error = parse(wrong).unwrap_err();
            assert!(wrong.split('=').any(|part| error.contains(part)), "{wrong}: {error}");
        }
    }

    #[test]
    fn every_partition_has_one_thread() {
        for (partitions, threads) in [(1, 1), (4, 4), (5, 2), (3, 8), (32, 5)] {
            let setting =
                Setting { partitions, threads, order: WriteOrder::Reverse, ..parameter::usual(PARAMETERS) };
            let of_thread = setting.of_thread(1);
            assert_eq!(of_thread.len(), threads);
            assert_eq!(of_thread.concat(), (0..partitions).rev().collect::<Vec<_>>());
        }
    }
}
