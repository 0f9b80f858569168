//! Halo exchanges on many ranks: the methods, and what a case says besides the exchange's own values.

pub mod selection;

use std::collections::BTreeMap;
use std::fmt;

use apps::Values;
use apps::halo::{HaloApp, HaloContext, HaloTest};

use crate::event::MessageFacts;
use crate::methods::MethodInfo;
use crate::partitioned::aggregation::{AGGREGATED, Aggregation, Over};
use crate::partitioned::arrival::{Arrival, Sampler};
use crate::partitioned::{Emulation, emulation};

/// The method against which packing is an overhead.
pub const REFERENCE: &str = "reference";
/// The bulk-synchronous method that speed-ups are over.
pub const MANUAL: &str = "manual";

const fn method(name: &'static str, about: &'static str, is_complete: bool) -> MethodInfo {
    let method = MethodInfo::new(name, about);
    if is_complete { method } else { method.contiguous() }
}

/// All methods, in report order.
pub const METHODS: &[MethodInfo] = &[
    method(REFERENCE, "contiguous messages of the same sizes, nothing packed", false),
    method(
        MANUAL,
        "the application's loops around nonblocking messages, sent when all threads have packed",
        true,
    ),
    method("manual_tuned", "these loops as an expert tunes them by hand, around nonblocking messages", true),
    method("engine", "our own pack engine around nonblocking messages", true),
    method("ddt", "nonblocking messages with derived datatypes", true),
    method("persistent", "hand-written loops around persistent messages", true),
    method("neighbor_alltoallw", "one MPI_Neighbor_alltoallw per stage, with derived datatypes", true),
    method("put_ddt", "MPI_Put between fences, with derived datatypes at both ends", true),
    method("partitioned", "each thread packs its share of a message by hand, and marks it ready", true),
    method("fine", "the same with a persistent message per share, as CMB's fine granularity", true),
    method(
        "aggregated",
        "the same over our own layer, which merges shares into messages worth sending",
        true,
    ),
    method(
        "partitioned_ddt",
        "each thread's share is a partition with a datatype over the face; a request each where shares are uneven",
        true,
    ),
];

/// The method called `name`, or the reason why there is none.
///
/// # Errors
/// A sentence with all names.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    let stem = match Aggregation::of_mechanism(name) {
        Some(Ok(Aggregation { over: Over::Partitioned, .. })) => {
            return Err(format!("method {name:?}: a halo aggregates over messages alone"));
        }
        Some(aggregation) => aggregation.map(|_| AGGREGATED)?,
        None => name,
    };
    METHODS.iter().find(|method| method.name == stem).ok_or_else(|| {
        let names: Vec<_> = METHODS.iter().map(|method| method.name).collect();
        format!("no method of a halo is called {name:?}; there are {}", names.join(", "))
    })
}

/// How ranks begin an exchange together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Start {
    /// They leave a barrier
    #[default]
    Barrier,
    /// They wait for an agreed time of synchronised clocks
    Clock,
}

/// What a case says besides the exchange's values.
#[derive(Clone, Debug, PartialEq)]
pub struct HaloSetting {
    /// Threads of each rank.
    pub threads: usize,
    /// Whether the first and the last rank of a dimension are neighbours.
    pub periodic: bool,
    /// Whether MPI may place ranks anew on the grid.
    pub reorder: bool,
    /// When threads are done computing.
    pub arrival: Arrival,
    /// Time that each thread computes, in microseconds.
    pub compute_us: f64,
    /// How.
    pub emulation: Emulation,
    /// How ranks begin together.
    pub start: Start,
}

impl Default for HaloSetting {
    fn default() -> Self {
        Self {
            threads: 1,
            periodic: true,
            reorder: false,
            arrival: Arrival::None,
            compute_us: 0.0,
            emulation: Emulation::Spin,
            start: Start::Barrier,
        }
    }
}

/// The names of all parameters, in the order in which they are shown.
pub const NAMES: [&str; 7] = ["threads", "periodic", "reorder", "arrival", "compute_us", "emulate", "start"];

impl HaloSetting {
    /// The setting of those of the parameters that are its own; all others are left to the exchange.
    ///
    /// # Errors
    /// A value that cannot be, and what would be right.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut setting = Self::default();
        for (name, text) in given {
            setting.assign(name, text).map_err(|reason| format!("{name} = {text}: {reason}"))?;
        }
        setting.sampler(0, 0)?;
        Ok(setting)
    }

    fn assign(&mut self, name: &str, text: &str) -> Result<(), String> {
        let switch = || match text {
            "yes" | "true" => Ok(true),
            "no" | "false" => Ok(false),
            _ => Err("must be yes or no".to_owned()),
        };
        match name {
            "threads" => {
                let threads = text.parse().ok().filter(|threads| (1..=4096).contains(threads));
                self.threads = threads.ok_or("must be a whole number from 1 to 4096")?;
            }
            "periodic" => self.periodic = switch()?,
            "reorder" => self.reorder = switch()?,
            "arrival" => self.arrival = text.parse()?,
            "compute_us" => self.compute_us = emulation::compute_us(text)?,
            "emulate" => self.emulation = Emulation::parse(text)?,
            "start" => {
                let start = <Start as clap::ValueEnum>::from_str(text, false);
                self.start = start.map_err(|_| "must be barrier or clock")?;
            }
            _ => {}
        }
        Ok(())
    }

    /// All parameters that differ from the default, and the threads.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| if on { "yes" } else { "no" }.to_owned();
        let default = Self::default();
        let text = |name: &str| match name {
            "threads" => Some(self.threads.to_string()),
            "periodic" => (self.periodic != default.periodic).then(|| switch(self.periodic)),
            "reorder" => (self.reorder != default.reorder).then(|| switch(self.reorder)),
            "arrival" => (self.arrival != default.arrival).then(|| self.arrival.to_string()),
            "compute_us" => (self.compute_us > 0.0).then(|| self.compute_us.to_string()),
            "emulate" => (self.emulation != default.emulation).then(|| self.emulation.name().to_owned()),
            _ => (self.start != default.start).then(|| "clock".to_owned()),
        };
        NAMES.into_iter().filter_map(|name| Some((name, text(name)?))).collect()
    }

    /// What the exchange needs to know.
    pub fn context(&self, ranks: usize, seed: u64) -> HaloContext {
        HaloContext { ranks, periodic: self.periodic, seed }
    }

    /// Draws of the threads' times at one rank. A late partition is none of a halo's: its delay is that of no size.
    ///
    /// # Errors
    /// As [`Sampler::new`], and a delay of a partition.
    pub fn sampler(&self, seed: u64, rank: usize) -> Result<Sampler, String> {
        if matches!(self.arrival, Arrival::Delay { .. }) {
            return Err(format!(
                "arrival \"{}\" is of one message's last partition; a halo has laggard, uniform, normal or kde",
                self.arrival
            ));
        }
        Sampler::new(&self.arrival, self.compute_us * 1e-6, self.threads, 0, seed, rank)
    }
}

impl fmt::Display for HaloSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<_> = self.pairs().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&pairs.join(" "))
    }
}

/// A case: an exchange with its values, and the setting.
#[derive(Clone, Debug)]
pub struct HaloCase {
    /// The exchange.
    pub test: &'static HaloTest,
    /// Its values.
    pub values: Values,
    /// The rest.
    pub setting: HaloSetting,
}

impl HaloCase {
    /// The case of a test, one of its sets, and parameters of both kinds.
    ///
    /// # Errors
    /// An unknown test, set or parameter, or a value that cannot be.
    pub fn parse(test: &str, set: Option<&str>, params: &BTreeMap<String, String>) -> Result<Self, String> {
        let test = apps::halo::find(test).map_err(|error| error.to_string())?;
        let set = set.unwrap_or(test.quick_set().name);
        let mut values = test.set(set).map_err(|error| error.to_string())?;
        let is_own = |name: &str| NAMES.contains(&name);
        for (name, text) in params.iter().filter(|(name, _)| !is_own(name)) {
            values.assign(test, name, text).map_err(|error| error.to_string())?;
        }
        let own = params.iter().filter(|(name, _)| is_own(name));
        let setting = HaloSetting::parse(own.map(|(name, text)| (name.as_str(), text.as_str())))?;
        Ok(Self { test, values, setting })
    }

    /// The exchange on so many ranks.
    ///
    /// # Errors
    /// Values or ranks that it cannot have, with the nearest that it can.
    pub fn build(&self, ranks: usize, seed: u64) -> Result<Box<dyn HaloApp>, String> {
        self.test.build(&self.values, self.setting.context(ranks, seed)).map_err(|error| error.to_string())
    }

    /// All parameters.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let own = self.setting.pairs().into_iter().map(|(name, value)| (name.to_owned(), value));
        self.values.pairs().map(|(name, value)| (name.to_owned(), value)).chain(own).collect()
    }
}

impl fmt::Display for HaloCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<_> = self.pairs().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&pairs.join(" "))
    }
}

/// What the rank sends that sends most.
pub fn message(app: &dyn HaloApp, ranks: usize) -> MessageFacts {
    let of_rank = |rank: usize| {
        let stages = app.stages(rank);
        let faces = || stages.iter().flat_map(|stage| &stage.sends).map(|send| &send.face);
        let message = |face: &apps::halo::Face| face.message(apps::WireOrder::Ddt).segments().count() as u64;
        MessageFacts {
            bytes: faces().map(|face| face.bytes() as u64).sum(),
            segments: faces().map(message).sum(),
            array_bytes: app.arrays(rank).iter().map(|array| array.bytes() as u64).sum(),
            line_bytes: None,
        }
    };
    (0..ranks).map(of_rank).max_by_key(|facts| facts.bytes).unwrap_or_default()
}

/// Memory that the largest rank needs, in bytes: arrays, what they are to hold, and wire buffers.
pub fn rank_bytes(app: &dyn HaloApp, ranks: usize) -> Option<u64> {
    /// Of each element what it is after the exchange: a number and its kind.
    const CELL_BYTES: u64 = 16;
    let of_rank = |rank: usize| {
        let arrays = app.arrays(rank);
        let elements: u64 = arrays.iter().map(|array| array.elements() as u64).sum();
        let stages = app.stages(rank);
        let both = stages.iter().flat_map(|stage| stage.sends.iter().chain(&stage.receives));
        let wire: u64 = both.map(|transfer| transfer.face.bytes() as u64).sum();
        (apps::Arrays::footprint_bytes(&arrays)? as u64)
            .checked_add(elements.checked_mul(CELL_BYTES)?)?
            .checked_add(wire)
    };
    (0..ranks).map(of_rank).try_fold(0, |most: u64, bytes| Some(most.max(bytes?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn parameters_of_both_kinds_come_back() {
        let given = params(&[("threads", "4"), ("periodic", "no"), ("d1", "34"), ("d2", "18"), ("d3", "18")]);
        let case = HaloCase::parse("nas_mg", None, &given).unwrap();
        assert_eq!((case.setting.threads, case.setting.periodic), (4, false));
        let again: BTreeMap<_, _> = case.pairs().into_iter().collect();
        assert_eq!(HaloCase::parse("nas_mg", None, &again).unwrap().to_string(), case.to_string());
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (name, text) in [
            ("threads", "0"),
            ("periodic", "perhaps"),
            ("arrival", "delay:100"),
            ("start", "gun"),
            ("colour", "red"),
        ] {
            let error = HaloCase::parse("nas_mg", None, &params(&[(name, text)])).unwrap_err();
            assert!(error.contains(name) || error.contains(text), "{error}");
        }
        assert!(find("aggregated:bins=2").is_ok() && find("aggregated:bins=0").is_err());
        assert!(find("aggregated:m=2@partitioned").unwrap_err().contains("messages alone"));
        assert!(HaloCase::parse("nas_mgg", None, &params(&[])).unwrap_err().contains("nas_mg"));
        let case = HaloCase::parse("nas_mg", None, &params(&[])).unwrap();
        assert!(case.build(3, 1).err().unwrap().contains("2 and 4"));
    }

    #[test]
    fn every_exchange_fits_and_says_what_it_sends() {
        for test in apps::halo::HALOS {
            let case = HaloCase::parse(test.name, None, &params(&[])).unwrap();
            let app = case.build(4, 1).unwrap();
            assert!(message(&*app, 4).bytes > 0, "{}", test.name);
            assert!(rank_bytes(&*app, 4).unwrap() > message(&*app, 4).bytes, "{}", test.name);
        }
    }
}
