//! Tests and rank programs use the same builds of dependencies as `ddtbench`. A feature that a dependency has only there makes cargo build
//! all that uses it a second time, `ddtbench` included: a minute of the README's test command, half a minute of a first run.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

/// Every package with its version and features, of dependencies of these kinds.
fn packages(options: &[&str]) -> BTreeSet<String> {
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command
        .args(["tree", "--offline", "--prefix", "none", "--no-dedupe", "--format", "{p} {f}"])
        .args(options);
    let output = command.output().expect("cargo can be started");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let packages: BTreeSet<String> =
        String::from_utf8(output.stdout).expect("names are text").lines().map(str::to_owned).collect();
    assert!(packages.iter().any(|package| package.starts_with("rand ")), "{packages:?}");
    packages
}

#[test]
fn tests_and_the_rank_program_give_no_dependency_another_feature() {
    let runs = packages(&["--package", "ddtbench", "--edges", "normal,build"]);
    let tested = packages(&["--edges", "normal,build,dev"]);
    let with_rank_program =
        packages(&["--package", "ddtbench", "--package", "ddtbench-rank", "--edges", "normal,build"]);
    let tests_of_it = packages(&["--package", "ddtbench-rank", "--edges", "normal,build,dev"]);
    for (what, built) in [
        ("in tests", tested),
        ("with the rank program", with_rank_program),
        ("in tests of the rank program", tests_of_it),
    ] {
        let built_twice: Vec<&String> = runs.difference(&built).collect();
        assert_eq!(built_twice, [""; 0], "name the same features in Cargo.toml {what}");
    }
}
