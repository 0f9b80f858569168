//! One point of a sweep: the message, its partitions, who finishes them when, and in which order.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::model::event::MessageFacts;

use crate::experiments::fine_grained::arrival::{Arrival, Sampler};
use crate::experiments::fine_grained::emulation::{self, Emulation};
use crate::experiments::fine_grained::order::{self, Order};

/// A message between two ranks, finished partition by partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Bytes of the message.
    pub bytes: u64,
    /// Partitions of the sender.
    pub partitions: usize,
    /// Partitions of the receiver, where they are not the sender's.
    pub receive_partitions: Option<usize>,
    /// Threads of each rank.
    pub threads: usize,
    /// The order in which partitions become ready.
    pub order: Order,
    /// When threads are done.
    pub arrival: Arrival,
    /// Time that each thread computes, in microseconds.
    pub compute_us: f64,
    /// How.
    pub emulation: Emulation,
    /// Bytes per second that the model is given, instead of those that `single` reached.
    pub beta_bytes_per_s: Option<f64>,
    /// Virtual communication interfaces that MPICH is to have, on which threads do not disturb each other.
    pub vcis: Option<usize>,
    /// Whether the other rank sends such a message as well, at the same time.
    pub both_ways: bool,
}

impl Default for Setting {
    /// 32 partitions of 1 KiB, all ready at once.
    fn default() -> Self {
        Self {
            bytes: 32 * 1024,
            partitions: 32,
            receive_partitions: None,
            threads: 1,
            order: Order::Linear,
            arrival: Arrival::None,
            compute_us: 0.0,
            emulation: Emulation::Spin,
            beta_bytes_per_s: None,
            vcis: None,
            both_ways: false,
        }
    }
}

/// The names of all parameters, in the order in which they are shown.
const NAMES: [&str; 11] = [
    "bytes",
    "partitions",
    "receive",
    "threads",
    "order",
    "arrival",
    "compute_us",
    "emulate",
    "beta",
    "vcis",
    "ways",
];

/// Limits of what can be asked for: an MPI's partition numbers and counts are of C's type int.
const MOST: u64 = i32::MAX as u64;
/// Threads of a rank: more than any node has cores.
const MOST_THREADS: u64 = 4096;

impl Setting {
    /// The setting of parameters by name; those that are not given have their defaults.
    ///
    /// # Errors
    /// An unknown name, or a value that cannot be, and what would be right.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut setting = Self::default();
        for (name, text) in given {
            setting.assign(name, text).map_err(|reason| format!("{name} = {text}: {reason}"))?;
        }
        setting.check()?;
        Ok(setting)
    }

    /// All parameters that differ from none, as text; [`Setting::parse`] makes the same setting of them.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let text = |name: &str| match name {
            "bytes" => Some(self.bytes.to_string()),
            "partitions" => Some(self.partitions.to_string()),
            "receive" => self.receive_partitions.map(|n| n.to_string()),
            "threads" => Some(self.threads.to_string()),
            "order" => Some(self.order.to_string()),
            "arrival" => Some(self.arrival.to_string()),
            "compute_us" => (self.compute_us > 0.0).then(|| self.compute_us.to_string()),
            "emulate" => (self.emulation != Emulation::Spin).then(|| self.emulation.name().to_owned()),
            "vcis" => self.vcis.map(|n| n.to_string()),
            "ways" => self.both_ways.then(|| "2".to_owned()),
            _ => self.beta_bytes_per_s.map(|beta| (beta / 1e9).to_string()),
        };
        NAMES.into_iter().filter_map(|name| Some((name, text(name)?))).collect()
    }

    fn assign(&mut self, name: &str, text: &str) -> Result<(), String> {
        let count = |from: u64, to: u64| {
            let value = bytes(text).filter(|value| (from..=to).contains(value));
            value.ok_or_else(|| format!("must be a whole number from {from} to {to}, for example 64KiB"))
        };
        let number = || text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        match name {
            "bytes" => self.bytes = count(0, isize::MAX as u64)?,
            "partitions" => self.partitions = count(1, MOST)? as usize,
            "receive" => self.receive_partitions = Some(count(1, MOST)? as usize),
            "threads" => self.threads = count(1, MOST_THREADS)? as usize,
            "order" => self.order = text.parse()?,
            "arrival" => self.arrival = text.parse()?,
            "compute_us" => self.compute_us = emulation::compute_us(text)?,
            "emulate" => self.emulation = Emulation::parse(text)?,
            "beta" => {
                let beta = number().filter(|beta| *beta > 0.0).ok_or("must be GB/s, above 0")?;
                self.beta_bytes_per_s = Some(beta * 1e9);
            }
            "vcis" => self.vcis = Some(count(1, MOST_THREADS)? as usize),
            "ways" => {
                self.both_ways = match text {
                    "1" => false,
                    "2" => true,
                    _ => return Err("must be 1 or 2: from rank 0 to rank 1, or both at once".to_owned()),
                }
            }
            _ => return Err(format!("there is no such parameter; there are {}", NAMES.join(", "))),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        // All that sampling can refuse, a trace that is not there included.
        self.sampler(0, 0).map(|_| ())
    }

    /// What the sender sends.
    pub fn message(&self) -> MessageFacts {
        MessageFacts { bytes: self.bytes, segments: 1, array_bytes: self.bytes, line_bytes: None }
    }

    /// Variables that the ranks are to see.
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

    /// The partitions of each thread, in the order in which they become ready: a slice of the order for each, as in the
    /// HLRS benchmark. Threads in excess have none.
    pub fn of_thread(&self, seed: u64) -> Vec<Vec<usize>> {
        let order = self.order.permutation(self.bytes, self.partitions, seed);
        let slice = |thread: usize| {
            let at = |thread: usize| thread * self.partitions / self.threads;
            order[at(thread)..at(thread + 1)].to_vec()
        };
        (0..self.threads).map(slice).collect()
    }

    /// Draws of the threads' times at one rank.
    ///
    /// # Errors
    /// As [`Sampler::new`].
    pub fn sampler(&self, seed: u64, rank: usize) -> Result<Sampler, String> {
        let partition_bytes = self.bytes / self.partitions as u64;
        Sampler::new(&self.arrival, self.compute_us * 1e-6, self.threads, partition_bytes, seed, rank)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<_> = self.pairs().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&pairs.join(" "))
    }
}

/// A number of bytes: plain, or with a unit of 1000 or 1024.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[digits..] {
        "" | "B" => 1,
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" | "m" => 1 << 20,
        "GiB" | "G" | "g" => 1 << 30,
        "TiB" | "T" | "t" => 1 << 40,
        _ => return None,
    };
    u64::from_str(&text[..digits]).ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_makes_the_same_setting_again() {
        let given = [("bytes", "4MiB"), ("partitions", "4"), ("threads", "2"), ("order", "random")];
        let more = [
            ("arrival", "delay:100"),
            ("receive", "8"),
            ("emulate", "sleep"),
            ("beta", "12.5"),
            ("ways", "2"),
        ];
        let setting = Setting::parse(given.into_iter().chain(more)).unwrap();
        assert_eq!((setting.bytes, setting.receive_partitions()), (4 << 20, 8));
        let pairs = setting.pairs();
        let again = Setting::parse(pairs.iter().map(|(name, value)| (*name, value.as_str()))).unwrap();
        assert_eq!(again, setting);
        assert!(
            setting.to_string().starts_with("bytes=4194304 partitions=4 receive=8 threads=2 order=random ")
        );
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (name, text) in [
            ("bytes", "-1"),
            ("bytes", "4 MiB"),
            ("partitions", "0"),
            ("threads", "0"),
            ("order", "diagonal"),
            ("arrival", "poisson:3"),
            ("arrival", "kde:/no/such/file"),
            ("arrival", "laggard:4%"),
            ("compute_us", "nan"),
            ("emulate", "nap"),
            ("beta", "0"),
            ("ways", "3"),
            ("colour", "red"),
        ] {
            let error = Setting::parse([(name, text)]).unwrap_err();
            assert!(error.contains(name) || error.contains(text), "{name} {text}: {error}");
        }
    }

    #[test]
    fn every_partition_has_one_thread() {
        for (partitions, threads) in [(1, 1), (4, 4), (5, 2), (3, 8), (32, 5)] {
            let setting = Setting { partitions, threads, order: Order::Reverse, ..Setting::default() };
            let of_thread = setting.of_thread(1);
            assert_eq!(of_thread.len(), threads);
            assert_eq!(of_thread.concat(), (0..partitions).rev().collect::<Vec<_>>());
        }
    }
}
