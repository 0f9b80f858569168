//! The unit tests of the rank program. It links MPI, so `cargo test` does not build it. The command that builds it
//! for a run also builds its tests, in the same target folder.

use std::env;

use ddtbench::mpi::{Project, Trusted};
use libtest_mimic::Trial;

use super::job::run;
use super::setup::{self, root, scratch};
use super::trial::beside_others;

/// Unit tests do not time anything: built for a short compilation, and with all checks.
const AS_TESTS: [&str; 4] =
    ["opt-level = 0", "codegen-units = 16", "debug-assertions = true", "overflow-checks = true"];

pub fn trials() -> Vec<Trial> {
    // They are compiled while ranks wait.
    vec![beside_others("mpich::unit tests of the rank program, and its example", unit_tests)]
}

fn unit_tests() {
    let mpi = setup::mpi("mpich");
    let project = Project::at(root().to_owned());
    let installation = project.pick(Some(mpi.name), &Trusted::default(), &mut |_| {}).unwrap();
    let mut cargo = project.cargo(&installation, &mut |_| {}).unwrap();
    cargo.args(["test", "--release", "--package", "ddtbench-rank"]);
    for setting in AS_TESTS {
        cargo.args(["--config".to_owned(), format!("profile.release.package.ddtbench-rank.{setting}")]);
    }
    // The folders of an MPI's libraries, because tests and examples do not get them from the build.
    let folder = mpi.mpicc.ancestors().nth(2).expect("a wrapper is in `bin`").join("lib");
    let own = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = [folder].into_iter().chain(installation.library_dirs.clone()).chain(env::split_paths(&own));
    let libraries = env::join_paths(folders).unwrap();
    let ended = run(cargo.env("LD_LIBRARY_PATH", &libraries)).expect_code(0);
    let passed = ended.out.lines().find_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    assert!(passed.and_then(|count| count.parse().ok()) > Some(0), "no test has run: {ended}");

    // The example sends data packed by the pack engine; it was built with the tests.
    let target = scratch().parent().expect("it is in the target folder");
    let mut command = mpi.command(&mpi.mpiexec);
    command.args(["-n", "2"]).arg(target.join("release/examples/send_a_face"));
    let ended = run(command.env("LD_LIBRARY_PATH", libraries)).expect_code(0);
    for rank in 0..2 {
        assert!(ended.out.contains(&format!("rank {rank}: 40000 bytes have come")), "{ended}");
    }
}
