//! The applications' loops compared with plain C: the plain nest with the original's loop as a reader's
//! compiler builds it, the tuned loops with the best that a C compiler makes for this processor.
//!
//! `cargo bench --bench hand_loops [-- FILTER]` needs a C compiler. It takes each test at its quick set and at
//! the largest set of the original. First it checks that all loops move the same bytes, then Criterion times
//! them. `cargo test` checks them and runs each loop once. The time of a plain copy is the bound.

mod case;
mod twins;

use std::time::Duration;

use case::Case;
use criterion::{Criterion, Throughput};
use ddtbench_apps::{Context, ParameterSet, Preset, Side, TESTS, Test};
use twins::Twins;

/// The quick set, and the largest set of the original if that is a different one.
fn sets(test: &'static Test) -> Vec<&'static ParameterSet> {
    let bytes = |set: &&ParameterSet| {
        let values = test.set(set.name).expect("the set is the test's own");
        test.build(&values, Context::default()).expect("the test's own sets are right").message_bytes()
    };
    let mut sets = vec![test.quick_set()];
    let largest = test.sets_of(Preset::Default).max_by_key(bytes).expect("every test has sets");
    if bytes(&largest) > bytes(&sets[0]) {
        sets.push(largest);
    }
    sets
}

fn main() {
    let twins = Twins::compile_all().unwrap_or_else(|error| panic!("{error}"));
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .configure_from_args();
    // Criterion would leave out the times, but not the arrays and the comparison. Other words may be values of options.
    let is_asked = |test: &Test, word: &str| test.name.contains(word) || word.contains(test.name);
    let is_filter = |word: &String| !word.starts_with('-') && TESTS.iter().any(|test| is_asked(test, word));
    let filter = std::env::args().skip(1).find(is_filter).unwrap_or_default();
    for test in TESTS.iter().filter(|test| is_asked(test, &filter)) {
        if twins[0].loops(test.name).is_err() {
            eprintln!("{}: not compared, no twin in twins.c", test.name);
            continue;
        }
        for set in sets(test) {
            let mut case = Case::new(test, set, &twins);
            case.check();
            for (name, side) in [("pack", Side::Send), ("unpack", Side::Receive)] {
                let mut group = criterion.benchmark_group(format!("{}/{name}", case.name));
                group.throughput(Throughput::Bytes(case.bytes() as u64));
                for (name, variant) in case.variants() {
                    group.bench_function(name, |bencher| bencher.iter(|| case.run(side, variant)));
                }
                group.finish();
            }
        }
    }
    criterion.final_summary();
}
