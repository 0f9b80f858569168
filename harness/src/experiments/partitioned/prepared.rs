//! A partitioned transfer, ready to be measured.

use super::{Setting, TEST, methods};
use crate::experiments::planned::{PlannedCase, Text};
use crate::experiments::{Prepared, ProcessSettings};
use crate::model::CUSTOM;
use crate::model::event::MessageFacts;
use common::fine_grained::order::WriteOrder;

/// What each mechanism keeps of a partition: its range and its place in the order, and a handle. An MPI's own requests
/// come on top.
const PARTITION_BYTES: u64 = 64;

/// A transfer with its setting.
#[derive(Debug)]
pub struct PreparedTransfer {
    planned: PlannedCase,
    setting: Setting,
}

impl PreparedTransfer {
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

impl Prepared for PreparedTransfer {
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

    fn process_settings(&self) -> ProcessSettings {
        let (threads, env) = (self.setting.threads, self.setting.env());
        ProcessSettings { threads, env, ..ProcessSettings::default() }
    }

    fn required_checks(&self, method: &str) -> Vec<&'static str> {
        let setting = &self.setting;
        let mut checks = methods::find(method).map_or(Vec::new(), |method| method.checks.concat());
        let is_unequal =
            checks.contains(&"unequal_counts") && setting.receive_partitions() != setting.partitions;
        checks.retain(|check| match *check {
            "equal_counts" | "parrived_equal" => !is_unequal,
            "unequal_counts" | "parrived_unequal" => is_unequal,
            "any_order" => setting.order != WriteOrder::Linear,
            "pready_threads" | "parrived_threads" => setting.threads > 1,
            "zero_count" => setting.bytes == 0,
            _ => true,
        });
        checks
    }

    /// The message, and as much again in the buffers of an MPI that copies it.
    fn rank_bytes(&self, methods: &[String]) -> Option<u64> {
        let partitions = self.setting.partitions.max(self.setting.receive_partitions()) as u64;
        let of_partitions = partitions.checked_mul(PARTITION_BYTES)?.checked_mul(methods.len() as u64)?;
        let copies = if self.setting.both_ways { 4 } else { 2 };
        self.setting.bytes.checked_mul(copies)?.checked_add(of_partitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(params: &[(&str, &str)], method: &str) -> Vec<&'static str> {
        let params = params.iter().map(|&(name, value)| (name.to_owned(), Text(value.to_owned()))).collect();
        let case = PlannedCase { test: TEST.to_owned(), params, ..PlannedCase::default() };
        PreparedTransfer::of(&case).unwrap().required_checks(method)
    }

    #[test]
    fn messages_rest_on_no_check() {
        assert!(checks(&[], "many").is_empty() && checks(&[], "aggregated").is_empty());
    }

    #[test]
    fn a_transfer_rests_on_the_checks_of_what_it_does() {
        assert_eq!(checks(&[], "partitioned"), ["equal_counts"]);
        assert_eq!(checks(&[], "partitioned:list"), ["equal_counts", "pready_list"]);
        assert_eq!(checks(&[], "partitioned:parrived"), ["equal_counts", "parrived_equal"]);
        assert_eq!(checks(&[], "aggregated:m=4@partitioned"), ["equal_counts"]);

        let all = [("receive", "8"), ("threads", "2"), ("order", "random"), ("bytes", "0")];
        let marking = ["any_order", "pready_threads", "zero_count"];
        let of = |first: &'static str, rest: &[&'static str]| [&[first][..], &marking, rest].concat();
        assert_eq!(checks(&all, "partitioned"), of("unequal_counts", &[]));
        assert_eq!(
            checks(&all, "partitioned:parrived"),
            of("unequal_counts", &["parrived_unequal", "parrived_threads"])
        );
        assert_eq!(checks(&all, "aggregated:m=4@partitioned"), of("equal_counts", &[]));
    }
}
