//! What a planned case stands for, in each kind of experiment.

use std::collections::BTreeMap;

use apps::halo::HaloApp;
use apps::{MicroApp, Test, Values, WireOrder};

use super::{CUSTOM, Plan, PlannedCase, Text};
use crate::event::MessageFacts;
use crate::experiment::Experiment;
use crate::halo::{self, HaloCase};
use crate::memory;
use crate::partitioned::{self, Setting, reliance};

/// What each mechanism keeps of a partition: its range and its place in the order, and a handle. An MPI's own requests
/// come on top.
const PARTITION_BYTES: u64 = 64;

/// A rank that sends to itself where any does.
const FIRST: usize = 0;

/// A planned case with all its values.
pub(super) enum Resolved {
    /// A micro-app's message.
    PingPong(&'static Test, Values),
    /// A message in partitions.
    Partitioned(Setting),
    /// An exchange between many ranks.
    Halo(Box<(HaloCase, Box<dyn HaloApp>)>),
}

impl Plan {
    /// What a case stands for.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub(super) fn resolve(&self, case: &PlannedCase) -> Result<Resolved, String> {
        match self.experiment {
            Experiment::PingPong => {
                let (test, values) = case.resolve().map_err(|error| error.to_string())?;
                test.build(&values, self.context()).map_err(|error| error.to_string())?;
                Ok(Resolved::PingPong(test, values))
            }
            Experiment::Partitioned => {
                if case.test != partitioned::TEST {
                    return Err(format!("in a partitioned experiment the test is {:?}", partitioned::TEST));
                }
                let given = case.params.iter().map(|(name, value)| (name.as_str(), value.0.as_str()));
                Setting::parse(given).map(Resolved::Partitioned)
            }
            Experiment::Halo => {
                let params = case.params.iter().map(|(name, text)| (name.clone(), text.0.clone())).collect();
                let set = case.set.as_deref().filter(|&set| set != CUSTOM);
                let halo = HaloCase::parse(&case.test, set, &params)?;
                let app = halo.build(self.ranks, self.seed)?;
                Ok(Resolved::Halo(Box::new((halo, app))))
            }
        }
    }

    /// A case with all values, and the name of the set that has just these.
    pub(super) fn complete(&self, case: &PlannedCase) -> Result<PlannedCase, String> {
        Ok(match self.resolve(case)? {
            Resolved::PingPong(test, values) => PlannedCase {
                methods: case.methods.clone(),
                ..PlannedCase::of(test, case.set.as_deref(), &values)
            },
            Resolved::Partitioned(setting) => PlannedCase {
                test: case.test.clone(),
                methods: case.methods.clone(),
                set: Some(case.set.clone().unwrap_or_else(|| CUSTOM.to_owned())),
                params: setting
                    .pairs()
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), Text(value)))
                    .collect(),
            },
            Resolved::Halo(halo) => PlannedCase {
                methods: case.methods.clone(),
                params: halo.0.pairs().into_iter().map(|(name, value)| (name, Text(value))).collect(),
                ..PlannedCase::of(halo.0.test, case.set.as_deref(), &halo.0.values)
            },
        })
    }

    fn checked(&self, i: usize) -> Resolved {
        self.resolve(&self.cases[i]).expect("the plan was checked")
    }

    /// The values of case `i`, as results name them.
    pub(super) fn params(&self, i: usize) -> String {
        match self.checked(i) {
            Resolved::PingPong(_, values) => values.to_string(),
            Resolved::Partitioned(setting) => setting.to_string(),
            Resolved::Halo(halo) => halo.0.to_string(),
        }
    }

    /// The micro-app of case `i` of a ping-pong.
    ///
    /// # Panics
    /// If the plan was not checked, or is one of another experiment.
    pub fn app(&self, i: usize) -> Box<dyn MicroApp> {
        match self.checked(i) {
            Resolved::PingPong(test, values) => {
                test.build(&values, self.context()).expect("the plan was checked")
            }
            Resolved::Partitioned(_) | Resolved::Halo(_) => {
                panic!("there is no ping-pong in this experiment")
            }
        }
    }

    /// What one rank sends in case `i`.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub fn message(&self, i: usize) -> MessageFacts {
        match self.checked(i) {
            Resolved::PingPong(..) => MessageFacts::of(&*self.app(i), WireOrder::Manual),
            Resolved::Partitioned(setting) => setting.message(),
            Resolved::Halo(halo) => halo::message(&*halo.1, self.ranks),
        }
    }

    /// Threads of each rank in case `i`.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub fn threads(&self, i: usize) -> usize {
        match self.checked(i) {
            Resolved::PingPong(..) => 1,
            Resolved::Partitioned(setting) => setting.threads,
            Resolved::Halo(halo) => halo.0.setting.threads,
        }
    }

    /// Variables that the ranks of case `i` are to see.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub fn env(&self, i: usize) -> BTreeMap<String, String> {
        match self.checked(i) {
            Resolved::PingPong(..) | Resolved::Halo(_) => BTreeMap::new(),
            Resolved::Partitioned(setting) => setting.env(),
        }
    }

    /// Probes that the figures of a method rest on in case `i`.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub fn probes(&self, i: usize, method: &str) -> Vec<&'static str> {
        match self.checked(i) {
            Resolved::PingPong(..) => Vec::new(),
            Resolved::Partitioned(setting) => reliance::of_mechanism(method, &setting),
            Resolved::Halo(halo) => {
                let mut sends = halo.1.stages(FIRST).into_iter().flat_map(|stage| stage.sends);
                let sends_to_itself = sends.any(|send| send.peer == FIRST);
                reliance::of_halo(method, halo.0.setting.threads, sends_to_itself)
            }
        }
    }

    /// Memory that a rank needs for case `i`, in bytes; `None` beyond the address space.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub fn rank_bytes(&self, i: usize) -> Option<u64> {
        match self.checked(i) {
            Resolved::PingPong(..) => memory::rank_bytes(&*self.app(i)),
            // The message, and as much again in the buffers of an MPI that copies it.
            Resolved::Partitioned(setting) => {
                let partitions = setting.partitions.max(setting.receive_partitions()) as u64;
                let of_partitions = partitions.checked_mul(PARTITION_BYTES)?;
                setting
                    .bytes
                    .checked_mul(if setting.both_ways { 4 } else { 2 })?
                    .checked_add(of_partitions.checked_mul(self.methods.len() as u64)?)
            }
            Resolved::Halo(halo) => halo::rank_bytes(&*halo.1, self.ranks),
        }
    }
}
