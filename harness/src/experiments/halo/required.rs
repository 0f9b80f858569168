//! Which probes a method's figures rest on: where one of them fails, the figures are invalid.

/// Whether MPI may be called between the start of a request and its first partition, of any size.
const PROGRESS: [&str; 3] = [
    "progress_before_first_pready_8b",
    "progress_before_first_pready_4kib",
    "progress_before_first_pready_64kib",
];

/// Those of a halo's method. Where there are several neighbours, MPI is called for one between the start of another's
/// request and its first partition. On a periodic grid with one rank along a dimension, a rank is its own neighbour.
pub fn required_probes(name: &str, threads: usize, sends_to_itself: bool) -> Vec<&'static str> {
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
    use crate::experiments::halo::methods::METHODS;
    use crate::experiments::probes::list::{Kind, find};

    #[test]
    fn every_probe_that_figures_rest_on_is_one_that_can_fail() {
        for name in METHODS.iter().flat_map(|method| required_probes(method.name, 2, true)) {
            assert_eq!(find(name).unwrap().kind, Kind::Conformance, "{name}");
        }
    }

    #[test]
    fn messages_rest_on_no_probe_and_a_rank_that_sends_to_itself_on_one_more() {
        assert!(required_probes("ddt", 4, true).is_empty());
        let of_itself = required_probes("partitioned", 1, true);
        assert_eq!(of_itself.len(), required_probes("partitioned", 1, false).len() + 1);
        assert_eq!(of_itself.last(), Some(&"self_communication"));
    }
}
