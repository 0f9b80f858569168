//! Overlap of communication and computation: every operation, messages and exchanges with every method. `typed/overlap.txt` tests all else.

use apps::Context;
use ddtbench::experiments::Kind;
use ddtbench::experiments::overlap::OverlapCase;
use ddtbench::experiments::overlap::operations::OPERATIONS;
use ddtbench::model::conditions::MemoryKind;
use libtest_mimic::Trial;

use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::by_hand;

/// Short, because the test does not examine figures.
const SHORT: &str = "--max-time 0.002 --min-repetitions 2 --warmup 1";

/// Communication other than operations, with its parameters: from arrays, from the memory that is also
/// received into, between all ranks, in stages, with any layout.
const APPS: [(&str, &str); 9] = [
    ("nas_lu_y", "nx=40 ny=40"),
    ("wrf_x_vec", ""),
    ("lammps_full", "dim1=354 icount=62"),
    ("fft2d", "n=24"),
    ("halo:nas_mg", "d1=10 d2=8 d3=6"),
    ("halo:milc", "lx=4 ly=4 lz=4 lt=4"),
    ("halo:fft2d", "n=24"),
    ("layout", "send=vector(8,1,4,double)"),
    ("halo:layout", "send=struct([1,2],[0,8],[int32,double]) neighbours=next"),
];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("every operation moves the right bytes", operations),
        ("messages and exchanges move the right bytes by every method", apps),
    ];
    trials_on(&MPIS, Need::AllProcessors, "overlap", checks)
}

/// The rank program by hand: each of these methods has one row that ends as it should, and no row reports wrong data.
#[track_caller]
fn measures(mpi: &Mpi, ranks: usize, test: &str, params: &str) {
    let params = || params.split_whitespace();
    let flags: String = params().map(|param| format!(" -p '{param}'")).collect();
    let line = format!("overlap {test}{flags} -p matrix_order=24 {SHORT}");
    let ended = by_hand(mpi, &ranks.to_string(), &line).expect_code(0);
    let case = OverlapCase::parse(test, None, params().filter_map(|param| param.split_once('='))).unwrap();
    let built = case.build(Context { ranks, ..Context::default() }).unwrap();
    let mut methods = Kind::Overlap.usual_methods_in(&[MemoryKind::Host], std::iter::once(test));
    methods.retain(|method| case.has(&built, method));
    assert!(methods.len() >= 2, "{test}: {methods:?}");
    for method in methods {
        let is_end = |line: &&str| {
            let words = line.trim_start().strip_prefix(&*method).unwrap_or_default();
            words.starts_with(' ') && ["time limit", "converged"].iter().any(|end| words.contains(end))
        };
        let ends = ended.out.lines().filter(is_end).count();
        assert_eq!(ends, 1, "{method}: {ended}");
    }
    assert!(!ended.out.contains("wrong data"), "{ended}");
}

fn operations(mpi: &Mpi) {
    // The number of ranks affects only our code: three of them on one MPI.
    let ranks = if mpi.name == "mpich" { &[2, 3, 4][..] } else { &[2, 4] };
    for operation in OPERATIONS {
        // A block that ends within a word.
        let bytes = if operation.has_bytes() { "bytes=1003" } else { "" };
        let elements = if operation.adds() { &["", "element=float"][..] } else { &[""] };
        for &ranks in ranks.iter().filter(|ranks| operation.name != "isend" || **ranks != 3) {
            for element in elements {
                measures(mpi, ranks, operation.name, &format!("{bytes} {element}"));
            }
        }
    }
}

fn apps(mpi: &Mpi) {
    for (test, params) in APPS {
        for ranks in [2, 4] {
            measures(mpi, ranks, test, params);
        }
    }
}
