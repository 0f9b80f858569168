//! The processors of ranks. `typed/conditions.txt` tests other conditions of a run.

use libtest_mimic::Trial;
use serde_json::Value;

use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::Measuring;

/// A case whose times do not matter.
const CASE: &str = "run contiguous -p bytes=8 -m reference --min-repetitions 4";
/// As short as possible.
const SHORT: &str = "--max-time 0.01";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[("ranks are bound, unless it is said", binding)];
    trials_on(&MPIS, Need::AllProcessors, "conditions", checks)
}

/// Processors of each rank, as reported by the system.
fn processors(ranks: &Value) -> Vec<Vec<u64>> {
    let places = ranks["ranks"].as_array().expect("places of the ranks").iter();
    places.map(|place| serde_json::from_value(place["cpus"].clone()).expect("numbers")).collect()
}

fn binding(mpi: &Mpi) {
    let all = std::thread::available_parallelism().unwrap().get();
    let cores = ddtbench::mpi::cores();
    let places = |flags: &str| {
        let kept = Measuring::on(mpi, format!("{CASE} {SHORT} {flags}")).ends(0);
        let places = processors(&kept.account());
        assert_eq!(places.len(), 2, "{}", kept.account());
        places
    };
    let bound = places("");
    if cores >= 2 {
        // One core per rank: at most all of its hardware threads.
        assert!(bound.iter().all(|cpus| cpus.len() == all / cores), "{bound:?}");
        assert!(bound[0].iter().all(|cpu| !bound[1].contains(cpu)), "{bound:?}");
    }
    let free = places("--set-plan bind=false");
    assert!(free.iter().all(|cpus| cpus.len() == all), "{free:?}");
}
