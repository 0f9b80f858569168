//! Any layout: given as text or in a file, measured without loops of its own, and recorded so that no file is needed.

use std::fs;

use libtest_mimic::Trial;

use super::by_hand::{mpiexec, refuses_once};
use super::job::run;
use super::results::Summary;
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, on_every_mpi, trials_on};
use super::trial::Need;

/// Short, since no figure is looked at.
const SHORT: [&str; 4] = ["--max-time", "0.02", "--min-runs", "4"];

/// Two arrays, several types, a count, a place, an order of bytes that goes back; received into other places.
const FILE: &str = "\
send = \"3 * hvector(4, 1, -24, double) @ 80 + struct([1, 2], [0, 8], [int32, double])\"
receive = \"struct([12, 1], [0, 128], [double, int32]) + contiguous(2, double)\"
";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] =
        &[("a file and a text are measured by all methods that need no loop", measured)];
    let mut trials = on_every_mpi("layouts", checks);
    let on_one: &[(&str, Check)] = &[
        ("the plan of a layout needs no file", no_file_needed),
        ("the engine is compared with the plain loop", compared),
        ("the rank program takes a layout, and no method by hand for it", by_the_rank_program),
    ];
    trials.extend(trials_on(&["mpich"], Need::AllProcessors, "layouts", on_one));
    trials
}

/// The methods of a layout.
const ALL: [&str; 10] = [
    "reference",
    "reference_untouched",
    "loop",
    "mpi_pack",
    "engine",
    "ddt",
    "ddt_to_packed",
    "packed_to_ddt",
    "put_reference",
    "put_ddt",
];

fn measured(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("two arrays.toml"), FILE).unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["run", "--layout", "two arrays.toml", "--layout", "vector(40, 5, 2050, double)"]);
    let ended =
        run(command.args(SHORT).args(ONE_LAUNCH).args(["--mpi", mpi.name, "--out", "out"])).expect_code(0);
    let summary = Summary::read(&dir.path().join("out"));
    let of = |set: &str| {
        let rows = summary.0.iter().filter(|row| row.is(&[("phase", "round_trip"), ("set", set)]));
        let rows: Vec<_> = rows.collect();
        assert!(rows.iter().all(|row| row.is_measured()), "{set}: {rows:?}\n{ended}");
        rows.into_iter().map(|row| row.get("method").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("vector(40,5,2050,double)"), ALL);
    // One packed end of several types has no signature.
    let of_mixed = ALL.into_iter().filter(|name| !name.contains("packed"));
    assert_eq!(of("two_arrays"), of_mixed.collect::<Vec<_>>());
}

fn no_file_needed(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.txt");
    let list: Vec<_> = (0..2000).map(|i| (i * i % 40_009).to_string()).collect();
    fs::write(&file, format!("indexed_block(1, [{}], int64)", list.join(", "))).unwrap();
    let on = ["--mpi", mpi.name, "-m", "reference,loop,ddt"];
    let mut command = ddtbench(dir.path());
    command.args(["run", "--layout", "long.txt", "--out", "first"]).args(on).args(SHORT).args(ONE_LAUNCH);
    run(&mut command).expect_code(0);
    fs::remove_file(&file).unwrap();
    let mut again = ddtbench(dir.path());
    run(again.args(["run", "--plan", "first/plan.toml", "--out", "second"])).expect_code(0);
    let [first, second] = ["first", "second"].map(|out| {
        let summary = Summary::read(&dir.path().join(out));
        summary.expect_measured("layout", &["reference", "loop", "ddt"]);
        summary.0[0].get("params").to_owned()
    });
    assert_eq!(first, second);
    // A name and a number stand for the list.
    assert!(first.starts_with("name=long send=indexed_block-") && first.len() < 80, "{first}");
    // Nothing is left to do.
    let resumed = run(ddtbench(dir.path()).args(["run", "--resume", "second"])).expect_code(0);
    assert!(resumed.out.contains("long"), "{resumed}");
}

fn compared(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["engine", "--layout", "indexed([3, 1, 2], [9, 0, 20], double)", "--out", "out"]);
    run(command.args(["--max-time", "0.01", "--cache", "warm", "--mpi", mpi.name]).args(ONE_LAUNCH))
        .expect_code(0);
    let summary = Summary::read(&dir.path().join("out"));
    for phase in ["pack", "unpack"] {
        let rows = summary.0.iter().filter(|row| row.is(&[("phase", phase)]));
        let methods: Vec<_> = rows.map(|row| row.get("method").to_owned()).collect();
        assert_eq!(methods, ["engine", "loop", "mpi_pack", "memcpy", "bound"], "{phase}");
    }
}

fn by_the_rank_program(mpi: &Mpi) {
    let layout = ["pingpong", "layout", "-p", "send=vector(8,1,[4],double)"];
    refuses_once(mpiexec(mpi, mpi, "2").args(layout), &["column 12", "whole number"]);
    let layout = ["pingpong", "layout", "-p", "send=vector(8,1,4,double)"];
    refuses_once(
        mpiexec(mpi, mpi, "2").args(layout).args(["-m", "manual"]),
        &["no loops were written by hand"],
    );
    let ended = run(mpiexec(mpi, mpi, "2").args(layout).args(["-m", "reference,loop,ddt"]).args(SHORT))
        .expect_code(0);
    assert!(ended.out.contains("loop") && !ended.out.contains("wrong data"), "{ended}");
}
