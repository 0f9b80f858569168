//! The applications' loops compared with plain C: the plain nest with the original's loop as a reader's compiler builds
//! it, the tuned loops with the best that a C compiler makes for this processor.
//!
//! `cargo bench -p ddtbench-apps [-- FILTER]` needs a C compiler. It takes each test at its quick set and at the
//! largest set of the original. First it checks that all loops move the same bytes, as `cargo test` also does; then
//! it times short interleaved blocks. `docs/evidence/loops.md` explains the table.

mod case;
mod interleaved;
mod ratios;
mod twins;

use case::{Case, Direction};
use ddtbench_apps::{Context, ParameterSet, Preset, TESTS, Test};
use interleaved::Comparison;
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo passes `--bench` for benchmarks; `--test` comes from the user.
    let is_timed = arguments.iter().any(|a| a == "--bench") && !arguments.iter().any(|a| a == "--test");
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let mut comparisons = Vec::new();
    for test in TESTS.iter().filter(|test| filter.is_none_or(|filter| test.name.contains(filter.as_str()))) {
        if twins[0].loops(test.name).is_err() {
            eprintln!("{}: not compared, no twin in twins.c", test.name);
            continue;
        }
        for set in sets(test) {
            let mut case = Case::new(test, set, &twins);
            case.check();
            if is_timed {
                eprintln!("{}", case.name);
                let directions = [Direction::Pack, Direction::Unpack];
                comparisons.extend(directions.map(|direction| Comparison::of(&mut case, direction)));
            }
        }
    }
    if is_timed {
        twins::print_compilers();
        interleaved::print(&comparisons);
    }
}
