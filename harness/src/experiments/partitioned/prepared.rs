//! Prepares a partitioned transfer for measuring.

use super::{Setting, TEST, methods};
use crate::experiments::planned::PlannedCase;
use crate::experiments::{Prepared, ProcessSettings};
use crate::model::CUSTOM;
use common::fine_grained::order::WriteOrder;

/// Memory of each mechanism per partition: its range, its place in the order, and a handle. Requests of the MPI come on top.
const PARTITION_BYTES: u64 = 64;

/// The transfer with its setting, for these methods.
///
/// # Errors
/// If it is another test, a parameter is unknown, or a value is invalid.
pub fn prepare(case: &PlannedCase, methods: &[String]) -> Result<Prepared, String> {
    if case.test != TEST {
        return Err(format!("the only test of partitioned experiments is {TEST:?}"));
    }
    let setting = Setting::parse(case.given())?;
    let set = Some(case.set.clone().unwrap_or_else(|| CUSTOM.to_owned()));
    let planned = PlannedCase { set, ..case.clone() }.with(setting.pairs());
    let message = setting.message();
    Ok(Prepared {
        // The only test is not passed.
        arguments: planned.value_arguments().collect(),
        process_settings: ProcessSettings {
            threads: setting.threads,
            env: setting.env(),
            ..ProcessSettings::default()
        },
        required_checks: methods.iter().map(|method| (method.clone(), checks(&setting, method))).collect(),
        ..Prepared::new(planned, setting.to_string(), move || message, rank_bytes(&setting, methods))
    })
}

/// The checks of a method for this transfer.
fn checks(setting: &Setting, method: &str) -> Vec<&'static str> {
    let mut checks = methods::find(method).map_or(Vec::new(), |method| method.checks.concat());
    let is_unequal = checks.contains(&"unequal_counts") && setting.receive_partitions() != setting.partitions;
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

/// The message, and the same again in the buffers of an MPI that copies it.
fn rank_bytes(setting: &Setting, methods: &[String]) -> Option<u64> {
    let partitions = setting.partitions.max(setting.receive_partitions()) as u64;
    let of_partitions = partitions.checked_mul(PARTITION_BYTES)?.checked_mul(methods.len() as u64)?;
    let copies = if setting.both_ways { 4 } else { 2 };
    setting.bytes.checked_mul(copies)?.checked_add(of_partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(params: &[(&str, &str)], method: &str) -> Vec<&'static str> {
        let params = params.iter().map(|&(name, value)| (name, value.to_owned()));
        let case = PlannedCase { test: TEST.to_owned(), ..PlannedCase::default() }.with(params);
        prepare(&case, &[method.to_owned()]).unwrap().checks(method).to_vec()
    }

    #[test]
    fn a_transfer_rests_on_the_checks_of_what_it_does() {
        assert!(checks(&[], "many").is_empty() && checks(&[], "aggregated").is_empty());
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
