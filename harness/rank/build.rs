//! Compiles the constants that the generated bindings lack, and makes the program find its MPI again at run time.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/checked/constants.c");
    // A changed MPICC in one target folder must not leave a program linked to the old MPI.
    for variable in ["MPICC", "MPI_PKG_CONFIG", "CRAY_MPICH_DIR", "I_MPI_ROOT"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let library = build_probe_mpi::probe().unwrap_or_else(|reasons| {
        let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        panic!("no MPI found:\n{}", reasons.join("\n"))
    });
    let mut constants = cc::Build::new();
    constants.file("src/checked/constants.c");
    match &library.mpicc {
        Some(mpicc) => constants.compiler(mpicc),
        None => constants.includes(&library.include_paths),
    };
    constants.compile("ddtbench_constants");
    for path in &library.lib_paths {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", path.display());
    }
    let rustc = Command::new(std::env::var("RUSTC").expect("cargo sets RUSTC")).arg("--version").output();
    let rustc =
        rustc.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\x1f', " ");
    let (level, target) =
        (std::env::var("OPT_LEVEL").unwrap_or_default(), std::env::var("TARGET").unwrap_or_default());
    // The instruction set that all but the tuned loops and the engine are compiled for.
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!(
        "cargo:rustc-env=DDTBENCH_BUILD={rustc}, {target} ({features}), opt-level {level}, RUSTFLAGS '{flags}'"
    );
}
