//! Describes the build, and links unit tests and examples with the MPI of the variable `MPICC`. The library itself needs no MPI.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=abi/constants.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    if let Some(mpicc) = std::env::var_os("MPICC") {
        let object = Path::new(&std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("constants.o");
        let mut compile = Command::new(&mpicc);
        compile.args(["-c", "-fPIC", "-DDDTBENCH_NO_MAIN", "abi/constants.c", "-o"]).arg(&object);
        assert!(compile.status().is_ok_and(|status| status.success()), "{compile:?} failed");
        println!("cargo:rustc-link-arg={}", object.display());
        let show = Command::new(&mpicc).arg("-show").output().expect("it has compiled already");
        let show = String::from_utf8(show.stdout).expect("a command line is text");
        let is_for_linking = |word: &&str| ["-l", "-L", "-Wl,"].iter().any(|start| word.starts_with(start));
        for word in show.split_whitespace().filter(is_for_linking) {
            println!("cargo:rustc-link-arg={word}");
        }
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
