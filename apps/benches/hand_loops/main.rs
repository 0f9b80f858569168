//! The hand-written loops against plain C and against a copy of as many bytes.
//!
//! `cargo bench -p ddtbench-apps [-- FILTER]` needs a C compiler. For each test, at its quick set and its largest
//! set of the original: first the twins must move the same bytes, then Criterion times rust, c (with `restrict`)
//! and memcpy one after the other, and a run of short interleaved blocks gives the table at the end. `-- --test`
//! checks without timing.

mod case;
mod interleaved;
mod twins;

use std::time::Duration;

use apps::{Context, ParameterSet, Preset, TESTS, Test};
use case::{Case, Direction, Variant};
use criterion::{Criterion, Throughput};
use interleaved::Comparison;
use twins::{QUALIFIERS, Twins};

/// The quick set, and the largest of the original's where that is another.
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

fn bench(criterion: &mut Criterion, case: &mut Case) {
    for direction in [Direction::Pack, Direction::Unpack] {
        let kind = if direction == Direction::Pack { "pack" } else { "unpack" };
        let mut group = criterion.benchmark_group(format!("{} {kind}", case.name));
        group.throughput(Throughput::Bytes(case.bytes() as u64));
        let restrict = QUALIFIERS.len() - 1;
        for (name, variant) in
            [("rust", Variant::Rust), ("c", Variant::C(restrict)), ("memcpy", Variant::Memcpy)]
        {
            group.bench_function(name, |bencher| bencher.iter(|| case.run(direction, variant)));
        }
        group.finish();
    }
}

fn main() {
    let twins =
        QUALIFIERS.map(|qualifier| Twins::compile(qualifier).unwrap_or_else(|error| panic!("{error}")));
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .configure_from_args();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo passes --bench when it benches; --test, --list and the like come from the user.
    let timed =
        arguments.iter().any(|a| a == "--bench") && !arguments.iter().any(|a| a == "--test" || a == "--list");
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let mut comparisons = Vec::new();
    for test in TESTS.iter().filter(|test| filter.is_none_or(|filter| test.name.contains(filter.as_str()))) {
        for set in sets(test) {
            let mut case = Case::new(test, set, &twins);
            case.check();
            bench(&mut criterion, &mut case);
            if timed {
                comparisons
                    .extend([Direction::Pack, Direction::Unpack].map(|d| Comparison::of(&mut case, d)));
            }
        }
    }
    if timed {
        interleaved::print(&comparisons);
    }
    criterion.final_summary();
}
