//! Which probes a method's figures rest on: where one of them fails, the figures are invalid.

use super::aggregation::{Aggregation, Over};
use super::order::Order;
use super::setting::Setting;

/// Those of a mechanism between two ranks.
pub fn of_mechanism(name: &str, setting: &Setting) -> Vec<&'static str> {
    let over_requests =
        matches!(Aggregation::of_mechanism(name), Some(Ok(Aggregation { over: Over::Partitioned, .. })));
    let is_native = name == "partitioned" || name.starts_with("partitioned:");
    if !over_requests && !is_native {
        return Vec::new();
    }
    let is_unequal = is_native && setting.receive_partitions() != setting.partitions;
    let has_threads = setting.threads > 1;
    let mut probes = vec![if is_unequal { "unequal_counts" } else { "equal_counts" }];
    probes.extend((setting.order != Order::Linear).then_some("any_order"));
    probes.extend(has_threads.then_some("pready_threads"));
    probes.extend((setting.bytes == 0).then_some("zero_count"));
    match name {
        "partitioned:list" => probes.push("pready_list"),
        "partitioned:parrived" => {
            probes.push(if is_unequal { "parrived_unequal" } else { "parrived_equal" });
            probes.extend(has_threads.then_some("parrived_threads"));
        }
        _ => {}
    }
    probes
}

/// Whether MPI may be called between the start of a request and its first partition, of any size.
const PROGRESS: [&str; 3] = [
    "progress_before_first_pready_8b",
    "progress_before_first_pready_4kib",
    "progress_before_first_pready_64kib",
];

/// Those of a halo's method. Where there are several neighbours, MPI is called for one between the start of another's
/// request and its first partition. On a periodic grid with one rank along a dimension, a rank is its own neighbour.
pub fn of_halo(name: &str, threads: usize, sends_to_itself: bool) -> Vec<&'static str> {
    if !["partitioned", "partitioned_ddt"].contains(&name) {
        return Vec::new();
    }
    let mut probes = vec!["equal_counts", "ring"];
    probes.extend(PROGRESS);
    probes.extend((name == "partitioned_ddt").then_some("datatype_with_gaps"));
    probes.extend((threads > 1).then_some("pready_threads"));
    probes.extend(sends_to_itself.then_some("self_communication"));
    probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partitioned::probe::{Kind, find};

    #[test]
    fn every_probe_that_figures_rest_on_is_one_that_can_fail() {
        let all = Setting {
            receive_partitions: Some(8),
            threads: 2,
            order: Order::Random,
            bytes: 0,
            ..Setting::default()
        };
        let equal = Setting { receive_partitions: None, ..all.clone() };
        let mechanisms = super::super::mechanisms::MECHANISMS.iter().map(|mechanism| mechanism.name);
        let mechanisms: Vec<_> = mechanisms.chain(["aggregated:m=4@partitioned"]).collect();
        let of_transfers =
            mechanisms.iter().flat_map(|name| [of_mechanism(name, &all), of_mechanism(name, &equal)]);
        let of_halos = crate::halo::METHODS.iter().map(|method| of_halo(method.name, 2, true));
        for name in of_transfers.chain(of_halos).flatten() {
            assert_eq!(find(name).unwrap().kind, Kind::Conformance, "{name}");
        }
    }

    #[test]
    fn messages_rest_on_no_probe() {
        let setting = Setting::default();
        assert!(of_mechanism("many", &setting).is_empty() && of_mechanism("aggregated", &setting).is_empty());
        assert_eq!(of_mechanism("partitioned:parrived", &setting), ["equal_counts", "parrived_equal"]);
        assert_eq!(of_mechanism("aggregated:m=4@partitioned", &setting), ["equal_counts"]);
        assert!(of_halo("ddt", 4, true).is_empty());
        let of_itself = of_halo("partitioned", 1, true);
        assert_eq!(of_itself.len(), of_halo("partitioned", 1, false).len() + 1);
        assert_eq!(of_itself.last(), Some(&"self_communication"));
    }
}
