//! Data in the memory of a device, on a machine without one: the driver is a stand-in, which protects that
//! memory from the host, delays work until somebody waits for it, and can be faulty (`typed/device.txt`).

use std::process::Command;

use apps::TESTS;
use ddtbench::experiments::Kind;
use ddtbench::model::conditions::MemoryKind;
use libtest_mimic::Trial;

use super::setup::{Check, MPIS, Mpi, root, trials_on};
use super::trial::Need;
use super::typed::Measuring;

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("staged methods move the right bytes of every test", every_test),
        ("every method moves the right bytes in pinned memory", pinned),
    ];
    trials_on(&MPIS[..1], Need::AllProcessors, "device", checks)
}

const STAGED: [&str; 4] = ["reference:staged", "engine:mapped", "engine:staged", "copies"];
const SHORT: &str = "--min-repetitions 2 --max-repetitions 8 --max-time 60";

fn staged(line: &str) -> String {
    format!("run {line} --memory simulated -m {} {SHORT}", STAGED.join(","))
}

fn every_test(mpi: &Mpi) {
    let names: Vec<&str> = TESTS.iter().map(|test| test.name).filter(|name| *name != "layout").collect();
    let kept = Measuring::on(mpi, staged(&names.join(" "))).ends(0);
    kept.summary.expect_all(names.len(), &STAGED);
}

/// Memory that the device sees, and every MPI takes: all methods use their twins.
fn pinned(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("libcuda.so.1");
    let source = root().join("kernels/device/stand_in.c");
    let compiled =
        Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.unwrap().success());
    let tests = ["nas_lu_y", "wrf_x_vec", "fft2d", "specfem3d_mt", "lammps_full"];
    let methods = Kind::PingPong.usual_methods_in(&[MemoryKind::Pinned], std::iter::empty());
    let all = ["persistent_ddt", "ddt:struct", "ddt:halves", "get_ddt"].map(str::to_owned);
    let mut methods = [methods, all.into()].concat();
    let on = |line: String| {
        Measuring::on(mpi, line + " --memory pinned")
            .env("LD_LIBRARY_PATH", &dir.path().display().to_string())
    };
    for test in tests {
        if test == "fft2d" {
            methods.retain(|method| !["persistent_ddt", "ddt:halves"].contains(&&**method));
        }
        let measuring = on(format!("run {test} -m {} {SHORT}", methods.join(",")));
        measuring.ends(0).summary.expect_all(1, &methods);
    }
    // A wrong byte of a message.
    let line = "run wrf_x_vec -m ddt --min-repetitions 100 --max-repetitions 400 --max-time 60";
    let kept = on(line.to_owned()).fault("flip 37").ends(1);
    kept.summary.expect_failed("wrf_x_vec", "ddt", "wrong data", &["expected 0x"]);
    let conform = |only: &str| on(format!("conform --cases 60 --only {only}"));
    conform("pack,unpack,send,receive,put,get").ends(0);
    let kept = conform("receive_from_self").fault("datatype sent").ends(1);
    assert!(kept.ended.out.contains("confirmed by the C program"), "{}", kept.ended);
}
