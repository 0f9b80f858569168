//! What carries the bytes between the ranks of one host.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;

use super::job::run;
use super::results::rows;
use super::setup::{Check, Mpi, ONE_LAUNCH, WITHOUT_SLEEP, ddtbench, on_every_mpi};

/// Short, and of a size that is worth a network.
const CASE: [&str; 7] = ["run", "contiguous", "-p", "bytes=100000", "-m", "reference", "--max-time=0.02"];

/// Bytes of its message.
const BYTES: f64 = 100_000.0;

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] =
        &[("memory and TCP on one host are told apart, and by the library itself", one_host)];
    on_every_mpi("transport", checks)
}

/// The only value of a column of the run's cases.
#[track_caller]
fn case(dir: &Path, column: &str) -> String {
    let cases = rows(&dir.join("out/cases.csv"));
    assert_eq!(cases.len(), 1, "{cases:?}");
    cases[0].get(column).to_owned()
}

/// What the library told of its ways.
#[track_caller]
fn account(dir: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(dir.join("out/environment.json")).unwrap();
    let environment: Value = serde_json::from_str(&text).unwrap();
    let told = &environment["mpis"][0]["rank_program"]["library_account"];
    serde_json::from_value::<Vec<(String, String)>>(told.clone()).unwrap().into_iter().collect()
}

/// Settings of the library and its components are those of the run.
#[track_caller]
fn expect_account(mpi: &Mpi, dir: &Path, transport: &str) {
    let told = account(dir);
    let is_tcp = transport == "tcp";
    let of = |name: &str| told.get(name).unwrap_or_else(|| panic!("no {name} in {told:?}")).as_str();
    if mpi.name != "openmpi" {
        assert_eq!(of("MPIR_CVAR_NOLOCAL"), if is_tcp { "1" } else { "0" });
        return;
    }
    assert_eq!((of("btl"), of("pml")), if is_tcp { ("tcp,self", "ob1") } else { (WITHOUT_SLEEP.1, "") });
    assert_eq!(of("pml components"), "ob1");
    let btl: Vec<&str> = of("btl components").split(' ').collect();
    assert!(btl.contains(&"tcp") && btl.contains(&"sm") != is_tcp, "{btl:?}");
}

/// The devices have counted the case's own messages where they carry them, there and back, and nothing of that size elsewhere.
#[track_caller]
fn expect_counted(dir: &Path, transport: &str) {
    let figures = rows(&dir.join("out/figures.csv"));
    let of_devices = figures.iter().find(|row| row.is(&[("figure", "device_bytes"), ("pair", "all")]));
    let counted = of_devices.expect("devices are counted").number("value").unwrap();
    if transport == "tcp" {
        assert!(counted >= 2.0 * BYTES, "{counted}");
    } else {
        assert!(counted < BYTES / 16.0, "{counted}");
    }
}

fn one_host(mpi: &Mpi) {
    let tcp = match mpi.name {
        "openmpi" => ["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"],
        // Messages within a host go as those between hosts do.
        _ => ["-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "FI_PROVIDER", "tcp"],
    };
    let netmod: &[&str] = if mpi.name == "mpich" { &["-genv", "MPIR_CVAR_CH4_NETMOD", "ofi"] } else { &[] };
    for (flags, expected) in [(Vec::new(), "shm"), ([&tcp[..], netmod].concat(), "tcp")] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = ddtbench(dir.path());
        command.args(CASE).args(ONE_LAUNCH).args(["--mpi", mpi.name, "--out", "out", "--"]).args(flags);
        let ended = run(&mut command).expect_code(0);
        assert_eq!(
            (case(dir.path(), "hosts"), case(dir.path(), "transport")),
            ("1".to_owned(), expected.to_owned())
        );
        assert!(ended.out.contains(&format!("2 ranks, {expected}, warm")), "{ended}");
        assert!(!ended.err.contains("crosses no network"), "{ended}");
        expect_account(mpi, dir.path(), expected);
        expect_counted(dir.path(), expected);
        assert!(!ended.err.contains("what it sends was carried"), "{ended}");
    }
}
