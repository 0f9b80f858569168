//! A partitioned transfer, ready to be measured.

use std::collections::BTreeMap;

use super::required::required_probes;
use super::{Setting, TEST};
use crate::experiments::Prepared;
use crate::experiments::planned::{PlannedCase, Text};
use crate::model::CUSTOM;
use crate::model::event::MessageFacts;

/// What each mechanism keeps of a partition: its range and its place in the order, and a handle. An MPI's own requests
/// come on top.
const PARTITION_BYTES: u64 = 64;

/// A transfer with its setting.
#[derive(Debug)]
pub struct Transfer {
    planned: PlannedCase,
    setting: Setting,
}

impl Transfer {
    /// That of a planned case.
    ///
    /// # Errors
    /// Another test, an unknown parameter, or a value that cannot be.
    pub fn of(case: &PlannedCase) -> Result<Self, String> {
        if case.test != TEST {
            return Err(format!("in a partitioned experiment the test is {TEST:?}"));
        }
        let setting = Setting::parse(case.given())?;
        let params =
            setting.pairs().into_iter().map(|(name, value)| (name.to_owned(), Text(value))).collect();
        let set = Some(case.set.clone().unwrap_or_else(|| CUSTOM.to_owned()));
        Ok(Self { planned: PlannedCase { set, params, ..case.clone() }, setting })
    }
}

impl Prepared for Transfer {
    fn planned(&self) -> PlannedCase {
        self.planned.clone()
    }

    fn params(&self) -> String {
        self.setting.to_string()
    }

    fn arguments(&self) -> Vec<String> {
        // There is one test only, which is not named.
        self.planned.value_arguments().collect()
    }

    fn message(&self) -> MessageFacts {
        self.setting.message()
    }

    fn threads(&self) -> usize {
        self.setting.threads
    }

    fn env(&self) -> BTreeMap<String, String> {
        self.setting.env()
    }

    fn required_probes(&self, method: &str) -> Vec<&'static str> {
        required_probes(method, &self.setting)
    }

    /// The message, and as much again in the buffers of an MPI that copies it.
    fn rank_bytes(&self, methods: usize) -> Option<u64> {
        let partitions = self.setting.partitions.max(self.setting.receive_partitions()) as u64;
        let of_partitions = partitions.checked_mul(PARTITION_BYTES)?.checked_mul(methods as u64)?;
        let copies = if self.setting.both_ways { 4 } else { 2 };
        self.setting.bytes.checked_mul(copies)?.checked_add(of_partitions)
    }
}
