//! Which probes a mechanism's figures rest on: where one of them fails, the figures are invalid.

use super::Setting;
use crate::experiments::fine_grained::aggregation::{Aggregation, Over};
use crate::experiments::fine_grained::order::Order;

/// Those of a mechanism between two ranks.
pub fn required_probes(name: &str, setting: &Setting) -> Vec<&'static str> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::partitioned::methods::MECHANISMS;
    use crate::experiments::probes::list::{Kind, find};

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
        let mechanisms = MECHANISMS.iter().map(|mechanism| mechanism.name);
        let mechanisms = mechanisms.chain(["aggregated:m=4@partitioned"]);
        let probes = mechanisms
            .flat_map(|name| [required_probes(name, &all), required_probes(name, &equal)])
            .flatten();
        for name in probes {
            assert_eq!(find(name).unwrap().kind, Kind::Conformance, "{name}");
        }
    }

    #[test]
    fn messages_rest_on_no_probe() {
        let of = |name: &str| required_probes(name, &Setting::default());
        assert!(of("many").is_empty() && of("aggregated").is_empty());
        assert_eq!(of("partitioned:parrived"), ["equal_counts", "parrived_equal"]);
        assert_eq!(of("aggregated:m=4@partitioned"), ["equal_counts"]);
    }
}
