//! The engine's comparison: every method has its rows. `typed/engine.txt` tests MPIs that pack wrong bytes or crash.

use std::collections::BTreeSet;

use ddtbench::experiments::Kind;
use ddtbench::experiments::engine::methods::METHODS;
use ddtbench::experiments::planned::PlannedCase;
use ddtbench::model::conditions::MemoryKind;
use ddtbench::plan::Plan;
use libtest_mimic::Trial;

use super::results::Row;
use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::{Need, beside_others};
use super::typed::{Measuring, type_alone};

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("every method packs the right bytes of every test", all_are_measured),
        ("the grid can be packed", the_grid),
    ];
    let mut trials = trials_on(&MPIS, Need::OneProcessor, "engine", checks);
    // The selection does not depend on the MPI.
    trials.push(beside_others("mpich::engine::the grid comes after the tests, or is the only test", || {
        the_grid_by_its_name();
    }));
    trials
}

/// The rows of a comparison: ten rounds, limited by repetitions and not by time, because ratios have intervals from six on.
fn compare(mpi: &Mpi, line: &str) -> Vec<Row> {
    let kept =
        Measuring::on(mpi, format!("engine {line} --min-repetitions 4 --max-repetitions 40 --max-time 60"))
            .ends(0);
    for file in ["samples.csv.gz", "blocks.csv.gz", "report.html", "summary.csv", "figures.csv"] {
        assert!(
            kept.out().join(file).metadata().is_ok_and(|facts| facts.len() > 0),
            "{file}: {}",
            kept.ended
        );
    }
    let account = kept.account();
    let of_library = account["library_account"].as_array();
    assert!(of_library.is_some_and(|settings| !settings.is_empty()), "settings of the library: {account}");
    let reported = kept.types("report out").expect_code(0);
    assert!(kept.ended.out.starts_with(&reported.out), "not the printed text: {}\n{reported}", kept.ended);
    kept.types(&format!("engine contiguous --mpi {} --out out", mpi.name))
        .expect_code(2)
        .expect_err(&["not empty"]);
    kept.summary.0
}

fn rows_of<'a>(rows: &'a [Row], method: &str, phase: &str) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.is(&[("method", method), ("phase", phase)])).collect()
}

#[track_caller]
fn expect_measured(rows: &[Row], methods: &[impl AsRef<str>], cases: usize) {
    for method in methods.iter().map(AsRef::as_ref) {
        for phase in ["pack", "unpack"] {
            let found = rows_of(rows, method, phase);
            assert_eq!(found.len(), cases, "{method} {phase}: {rows:?}");
            for row in found {
                assert!(row.number("median_s") > Some(0.0) && row.number("blocks") >= Some(1.0), "{row:?}");
                assert_eq!(row.figure("over_engine").is_some(), method != "engine", "{row:?}");
            }
        }
    }
}

fn all_are_measured(mpi: &Mpi) {
    // The state of the caches does not depend on the MPI: both states on one MPI only, and the one that takes half the time on both.
    let (caches, count) = if mpi.name == "mpich" { ("warm,cold", 2) } else { ("warm", 1) };
    let rows = compare(mpi, &format!("--preset quick --cache {caches}"));
    let tests: BTreeSet<&str> = rows.iter().map(|row| row.get("test")).collect();
    assert!(tests.len() >= 19, "{tests:?}");
    // Both LAMMPS tests pack in two orders.
    let cases = count * (tests.len() + 2);
    for method in ["engine", "mpi_pack"] {
        for phase in ["create", "free"] {
            assert_eq!(rows_of(&rows, method, phase).len(), cases, "{method} {phase}");
        }
    }
    // The other order does not have hand-written loops.
    let is_by_hand = |name: &String| METHODS.iter().any(|method| method.name == *name && method.by_hand);
    let (by_hand, others): (Vec<_>, Vec<_>) = Kind::Engine.all_methods().into_iter().partition(is_by_hand);
    expect_measured(&rows, &others, cases);
    expect_measured(&rows, &by_hand, count * tests.len());
    let of_order = |method: &str| {
        let rows = rows_of(&rows, method, "pack").into_iter();
        rows.filter(|row| row.get("params").ends_with("order=ddt")).count()
    };
    assert_eq!((of_order("engine"), of_order("manual")), (2 * count, 0));
    let lines = |row: &&Row| row.figure("line_bytes") >= row.number("bytes");
    assert!(rows_of(&rows, "bound", "unpack").iter().all(lines), "packed data is in lines");
}

fn the_grid(mpi: &Mpi) {
    // The whole grid takes minutes: only its first and its last cases, by their names in the grid.
    for case in [
        "strided -p count=4092,blocklength=1,stride=1025,element=float",
        "scattered -p count=4,blocklength=8192,places=8,element=double",
    ] {
        let methods = Kind::Engine.usual_methods_in(&[MemoryKind::Host], case.split(' ').take(1));
        expect_measured(&compare(mpi, &format!("{case} --cache warm")), &methods, 1);
    }
}

fn the_grid_by_its_name() {
    // Only planned by a dry run, because the whole takes minutes.
    let planned = |tests: &str| -> Vec<PlannedCase> {
        let dry = type_alone(&format!("engine {tests} --dry-run")).expect_code(0);
        Plan::parse(&dry.out).expect("a plan").cases
    };
    let beside = planned("nas_lu_y grid");
    assert!(beside[0].test == "nas_lu_y" && beside[0].set.as_deref() != Some("grid"), "{:?}", beside[0]);
    let alone = planned("grid");
    assert_eq!(alone, beside[1..], "the same cases");
    for case in &alone {
        assert!(["strided", "scattered"].contains(&&*case.test), "{case:?}");
        assert_eq!(case.set.as_deref(), Some("grid"), "{case:?}");
    }
    let given: Vec<_> = alone[0].given().collect();
    assert!(given.contains(&("blocklength", "1")) && given.contains(&("element", "float")), "{given:?}");
}
