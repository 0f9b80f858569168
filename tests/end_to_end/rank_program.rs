//! The unit tests of the rank program, which need an MPI to be linked with, and its declarations of MPI,
//! which compilers of MPIs compare with their headers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use ddtbench::mpi::{Abi, Installation, Project, Trusted};
use libtest_mimic::Trial;

use super::job::run;
use super::setup::{self, root, scratch};
use super::trial::{alone, beside_others};

/// Unit tests do not time anything: built for a short compilation, and with all checks.
const AS_TESTS: [&str; 4] =
    ["opt-level = 0", "codegen-units = 16", "debug-assertions = true", "overflow-checks = true"];

pub fn trials() -> Vec<Trial> {
    vec![
        // Ranks would take several times as long while it compiles.
        alone("mpich::unit tests of the rank program, and its example", unit_tests),
        beside_others(
            "mpich, openmpi::declarations of MPI are those of the headers of all MPIs here",
            declarations,
        ),
    ]
}

/// Compares the declarations with the headers of MPICH, of Open MPI, and of what else is installed on this machine.
fn declarations() {
    for mpi in setup::MPIS {
        setup::mpi(mpi);
    }
    let known = Project::at(root().to_owned()).installations(&mut |_| {}).unwrap();
    let mut compared = BTreeSet::new();
    for Installation { mpicc, abi, env, .. } in known {
        for (wrapper, abi) in [(mpicc.clone(), abi), (mpicc.with_file_name("mpicc_abi"), Abi::Standard)] {
            if wrapper.exists() {
                compare_declarations(&wrapper, &env, abi);
                compared.insert(abi.name());
            }
        }
    }
    assert_eq!(compared.len(), Abi::ALL.len(), "{compared:?}");
}

fn unit_tests() {
    let mpi = setup::mpi("mpich");
    let project = Project::at(root().to_owned());
    let installation = project.pick(Some(mpi.name), &Trusted::default(), &mut |_| {}).unwrap();
    let mut cargo = project.cargo(installation.abi).unwrap();
    cargo.args(["test", "--locked", "--release", "--package", "ddtbench-rank"]).env("MPICC", &mpi.mpicc);
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

/// A C program that declares again what the package `mpi-sys` declares for a family: the compiler refuses what its header defines otherwise.
fn declared_again(abi: Abi) -> String {
    let source = |file: &str| fs::read_to_string(root().join("harness/rank/abi/src").join(file)).unwrap();
    let mut program = String::from("#include <mpi.h>\n#include <stddef.h>\n");
    let functions = source("functions.rs");
    let rows = functions.lines().filter_map(|line| line.strip_prefix("    MPI_")?.strip_suffix(';'));
    for row in rows {
        let (name, rest) = row.split_once('(').unwrap();
        let (types, result) = rest.split_once(") -> ").unwrap();
        let types: Vec<String> = types.split(", ").map(in_c).collect();
        program += &format!("{} MPI_{name}({});\n", in_c(result), types.join(", "));
    }
    let family = source(&format!("{}.rs", abi.name()));
    let same = |what: &str, value: &str| format!("_Static_assert({what} == {value}, \"{what}\");\n");
    let place = ["mpich", "openmpi", "standard"].iter().position(|name| *name == abi.name()).unwrap();
    for (row, all) in source("lib.rs").lines().filter_map(|line| line.strip_suffix("];")?.split_once(" = ["))
    {
        program += &same(row.trim().split(':').next().unwrap(), all.split(", ").nth(place).unwrap());
    }
    // Fields before those of the standard are `int`s.
    let fields = family.split("pub struct MPI_Status {").nth(1).unwrap().lines().skip(1);
    for (place, field) in fields.map_while(|line| line.trim().strip_prefix("pub ")).enumerate() {
        if let Some(name) = field.split(':').next().filter(|name| name.starts_with("MPI_")) {
            program += &same(&format!("offsetof(MPI_Status, {name})"), &(4 * place).to_string());
        }
    }
    program += &same("sizeof(MPI_Status)", &abi.status_bytes().to_string());
    let handle = if abi == Abi::Mpich { 4 } else { 8 };
    for name in ["Comm", "Datatype", "Errhandler", "Group", "Info", "Message", "Op", "Request", "Win"] {
        program += &same(&format!("sizeof(MPI_{name})"), &handle.to_string());
    }
    for name in ["File", "Aint", "Count", "Offset"] {
        program += &same(&format!("sizeof(MPI_{name})"), "8");
    }
    program + "int main(void) { return 0; }\n"
}

/// A type of Rust as C writes it.
fn in_c(kind: &str) -> String {
    if let Some(row) = kind.strip_prefix("*mut [c_int; ") {
        return format!("int (*)[{}]", row.trim_end_matches(']'));
    }
    if let Some(to) = kind.strip_prefix("*const ") {
        return format!("const {} *", in_c(to));
    }
    if let Some(to) = kind.strip_prefix("*mut ") {
        return format!("{} *", in_c(to));
    }
    match kind {
        "" => "void".to_owned(),
        "f64" => "double".to_owned(),
        // A type of functions, which are passed by address.
        kind if kind.ends_with("_function") => format!("{kind} *"),
        kind => kind.strip_prefix("c_").unwrap_or(kind).to_owned(),
    }
}

fn compare_declarations(wrapper: &Path, env: &BTreeMap<String, String>, abi: Abi) {
    let folder = tempfile::tempdir().unwrap();
    let compile = |text: &str| {
        fs::write(folder.path().join("declared.c"), text).unwrap();
        let mut command = Command::new(wrapper);
        command.envs(env);
        run(command.current_dir(&folder).args(["-c", "-Werror", "declared.c"]))
    };
    let text = declared_again(abi);
    assert!(text.matches("int MPI_").count() > 150, "{text}");
    compile(&text).expect_code(0);
    // The compiler refuses an error.
    for (right, wrong) in [
        ("MPI_Send(const void *, int", "MPI_Send(const void *, long"),
        ("MPI_ORDER_C == ", "MPI_ORDER_C == 1 + "),
    ] {
        assert!(text.contains(right), "{right}");
        compile(&text.replace(right, wrong)).expect_code(1);
    }
}
