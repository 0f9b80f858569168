//! The unit tests of the rank program. It links MPI, so `cargo test` knows nothing of it: what builds it for a run builds its
//! tests as well, beside it, of what is built anyway.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use ddtbench::mpi::{Installation, Project};
use libtest_mimic::Trial;

use super::job::run;
use super::setup::{self, Mpi, root};
use super::trial::beside_others;

/// Nothing is timed in unit tests: compiled in seconds, and with all checks.
const AS_TESTS: [&str; 4] =
    ["opt-level = 0", "codegen-units = 16", "debug-assertions = true", "overflow-checks = true"];

pub fn trials() -> Vec<Trial> {
    vec![
        // They are compiled while ranks wait.
        beside_others("mpich::unit tests of the rank program", unit_tests),
        beside_others("mpich::the example that sends what the pack engine has packed", send_a_face),
    ]
}

/// Cargo, as it builds the rank program.
fn cargo(project: &Project, installation: &Installation, command: &str) -> Command {
    let mut cargo = project.cargo(installation, &mut |_| {}).unwrap();
    cargo.args([command, "--release", "--package", "ddtbench-rank"]);
    for setting in AS_TESTS {
        cargo.args(["--config".to_owned(), format!("profile.release.package.ddtbench-rank.{setting}")]);
    }
    cargo
}

/// Where an MPI's libraries are. Tests and examples are no programs that the build tells where their MPI is.
fn libraries(mpi: &Mpi, installation: &Installation) -> OsString {
    let folder = mpi.mpicc.ancestors().nth(2).expect("a wrapper lies in `bin`").join("lib");
    let own = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = [folder].into_iter().chain(installation.library_dirs.clone()).chain(env::split_paths(&own));
    env::join_paths(folders).unwrap()
}

fn send_a_face() {
    let mpi = setup::mpi("mpich");
    let project = Project::at(root().to_owned());
    let installation = project.pick(Some(mpi.name), &mut |_| {}).unwrap();
    run(cargo(&project, &installation, "build").args(["--example", "send_a_face"])).expect_code(0);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder");
    let program = target.join("release/examples/send_a_face");
    let mut command = mpi.command(&mpi.mpiexec);
    command.args(["-n", "2"]).arg(program).env("LD_LIBRARY_PATH", libraries(mpi, &installation));
    let ended = run(&mut command).expect_code(0);
    for rank in 0..2 {
        assert!(ended.out.contains(&format!("rank {rank}: 40000 bytes have come")), "{ended}");
    }
}

fn unit_tests() {
    let mpi = setup::mpi("mpich");
    let project = Project::at(root().to_owned());
    let installation = project.pick(Some(mpi.name), &mut |_| {}).unwrap();
    let mut cargo = cargo(&project, &installation, "test");
    cargo.env("LD_LIBRARY_PATH", libraries(mpi, &installation));
    let ended = run(&mut cargo).expect_code(0);
    let passed = ended.out.lines().find_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    assert!(passed.and_then(|count| count.parse().ok()) > Some(0), "no test has run: {ended}");
}
