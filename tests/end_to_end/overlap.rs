//! Overlap of communication and computation: every operation, messages and exchanges with every method; sizes that
//! are calibrated once; and failures during that. `typed/overlap.txt` tests more failures.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use apps::Context;
use ddtbench::experiments::Kind;
use ddtbench::experiments::overlap::OverlapCase;
use ddtbench::experiments::overlap::operations::OPERATIONS;
use libtest_mimic::Trial;

use super::results::Row;
use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::{Kept, Measuring, by_hand, type_alone};

/// Short, because the test does not examine figures.
const SHORT: &str = "--max-time 0.002 --min-repetitions 2 --warmup 1";

/// Communication other than operations, with its parameters: from arrays, from the memory that is also received into,
/// between all ranks, in stages, with any layout.
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
        ("over TCP, and between three ranks, as over memory between two", over_tcp),
        ("a broadcast is timed where it takes its time", delayed),
        ("a rim is computed after the wait", rims),
        ("a computation that polls its messages", polling),
    ];
    let mut trials = trials_on(&MPIS, Need::AllProcessors, "overlap", checks);
    let only_on_mpich: [(&str, Check); 4] = [
        ("sizes are found once and kept in the plan", sizes),
        ("asynchronous progress is enabled, and its effect is reported", configurations),
        ("the progress thread has a core of its own where there is one", dedicated),
        ("a layout has the generic loop by default", layouts),
    ];
    trials.extend(trials_on(&["mpich"], Need::AllProcessors, "overlap", &only_on_mpich));
    let refused: (&str, Check) = ("progress that is not in force is refused", no_progress);
    trials.extend(trials_on(&["openmpi"], Need::Waiting, "overlap", &[refused]));
    trials
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
    let mut methods = Kind::Overlap.usual_methods(std::iter::once(test));
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

fn over_tcp(mpi: &Mpi) {
    for (test, ranks, method) in [
        ("iallreduce -p bytes=100000", 2, "nonblocking"),
        ("wrf_x_vec", 2, "ddt"),
        ("halo:wrf_vec", 3, "ddt"),
    ] {
        let kept =
            overlap(mpi, &format!("{test} -p matrix_order=24 -m {method} -n {ranks}")).over_tcp().ends(0);
        let cases = kept.rows("cases.csv");
        assert_eq!((cases.len(), cases[0].get("transport")), (1, "tcp"), "{test}");
        kept.summary.expect_all(1, &[method]);
    }
}

/// A short measurement.
fn overlap<'a>(mpi: &'a Mpi, line: &str) -> Measuring<'a> {
    Measuring::on(mpi, format!("overlap {line} {SHORT}"))
}

/// The phases of a rim appear if one was requested or is there by default, and otherwise not.
fn rims(mpi: &Mpi) {
    let kept = overlap(mpi, "halo:wrf_vec -p matrix_order=96,rim_percent=25%,0% -m ddt").ends(0);
    kept.summary.expect_all(2, &["ddt"]);
    for row in kept.summary.ends() {
        let has_rim = row.get("params").contains("rim_percent=25");
        for phase in ["rim", "rim_alone"] {
            let of_phase = kept.summary.with(&[("phase", phase), ("params", row.get("params"))]);
            let is_timed = of_phase.iter().any(|row| row.is_measured() && row.number("median_s") > Some(0.0));
            assert_eq!(is_timed, has_rim, "{phase} of {row:?}");
        }
    }
}

fn polling(mpi: &Mpi) {
    for test in ["ialltoall -p bytes=50000", "halo:nas_mg", "wrf_x_vec"] {
        let line = format!("overlap {test} -p matrix_order=90,test_every_us=5 {SHORT}");
        let ended = by_hand(mpi, "2", &line).expect_code(0);
        assert!(ended.out.contains("test_every_us=5") && !ended.out.contains("wrong data"), "{ended}");
    }
}

/// A broadcast of 20 ms in the wait, and one in a thread during the computation: no sample can be shorter than that.
fn delayed(mpi: &Mpi) {
    const DELAY_S: f64 = 0.02;
    for (fault, phases) in [
        ("late 20000", &["communication_alone", "wait", "in_mpi", "overlapped"][..]),
        ("asleep 20000", &["communication_alone", "overlapped"]),
    ] {
        let line = "ibcast -p bytes=1000,matrix_order=24 -m nonblocking";
        let summary = overlap(mpi, line).fault(fault).ends(0).summary;
        summary.expect_all(1, &["nonblocking"]);
        for phase in phases {
            let rows = summary.with(&[("phase", phase), ("pair", "all")]);
            assert!(
                !rows.is_empty() && rows.iter().all(|row| row.number("min_s") >= Some(DELAY_S)),
                "{fault}: {rows:?}"
            );
        }
    }
}

/// Whether a size takes the requested time depends on the machine, so a launcher reports the nearest one as found.
fn sizes(mpi: &Mpi) {
    let dry = type_alone("overlap ialltoall --dry-run").expect_code(0).out;
    assert!(dry.contains("communication_us") && !dry.contains("matrix_order"), "{dry}");
    let line = "ialltoall -p communication_us=500us,computation_us=500us,1ms -m nonblocking";
    let measuring =
        overlap(mpi, &format!("{line} --variant again:MPIR_CVAR_DEBUG_SUMMARY=0 --launcher ./launch"));
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" | sed -u 's/\"is_found\":false/\"is_found\":true/'\n",
        mpi.mpiexec.display()
    );
    let measuring = measuring.file("launch", script);
    fs::set_permissions(measuring.dir().join("launch"), fs::Permissions::from_mode(0o755)).unwrap();
    let kept = measuring.ends(0);
    assert!(kept.ended.err.contains("finding sizes: ialltoall"), "{}", kept.ended);
    let plan = kept.read("plan.toml");
    assert_eq!((plan.matches("matrix_order = ").count(), plan.matches("bytes = ").count()), (2, 2), "{plan}");
    let cases = kept.rows("cases.csv");
    // The same sizes on both sides.
    let of = |variant: &str| -> Vec<(&str, &str)> {
        let of_side = cases.iter().filter(|row| row.get("mpi_variant") == variant);
        of_side.map(|row| (row.get("bytes"), row.get("matrix_order"))).collect()
    };
    assert_eq!((of("").len(), of("")), (2, of("again")), "{cases:?}");
    // Repeating the plan does not calibrate again.
    let again = kept.types("overlap --plan out/plan.toml --out again").expect_code(0);
    assert!(!again.err.contains("finding sizes"), "{again}");
    // A broadcast that always takes 20 ms.
    let none =
        overlap(mpi, "ibcast -p communication_us=500us,matrix_order=24 -m nonblocking").fault("late 20000");
    none.ends(2).ended.expect_err(&["no bytes take 500 us", "no sizes were found for any case"]);
}

fn configurations(mpi: &Mpi) {
    let line = "ibcast -p bytes=1000,matrix_order=24,configuration=basic,progress,dedicated -m nonblocking";
    let kept = overlap(mpi, line).ends(0);
    let environment = kept.read("environment.json");
    assert!(environment.contains("threads of MPI in each rank"), "{environment}");
    assert!(environment.contains("in force"), "{environment}");
    let summary = kept.rows("summary.csv");
    let headline = |configuration: &str| {
        let of = |row: &&Row| {
            let params = row.get("params");
            let is_it = params.contains(&format!("configuration={configuration}"))
                || (configuration == "basic" && !params.contains("configuration"));
            is_it && row.get("phase") == "overlapped"
        };
        summary.iter().find(of).unwrap_or_else(|| panic!("no {configuration}: {summary:?}"))
    };
    let (basic, progress) = (headline("basic"), headline("progress"));
    assert!(basic.is_measured() && progress.is_measured(), "{}", kept.ended);
    assert!(progress.number("runnable_threads") > basic.number("runnable_threads"), "{progress:?}");
    // With fewer than two cores per rank there is none for the thread.
    let dedicated = headline("dedicated");
    if std::thread::available_parallelism().map_or(1, usize::from) < 4 {
        assert_eq!(dedicated.get("outcome"), "not available");
        assert!(dedicated.get("detail").contains("cores"), "{dedicated:?}");
    }
}

/// Open MPI has a progress thread only for TCP: over shared memory there is nothing to measure, though it has threads
/// for other work.
fn no_progress(mpi: &Mpi) {
    let kept =
        overlap(mpi, "ibcast -p bytes=1000,matrix_order=24,configuration=progress -m nonblocking").ends(1);
    kept.summary.expect_failed("ibcast", "nonblocking", "not available", &["for TCP alone"]);
    let environment = kept.read("environment.json");
    let is_in_force = environment.contains("in force");
    assert!(environment.contains("asynchronous progress") && !is_in_force, "{environment}");
}

/// With two cores for each of two ranks, with as many hardware threads, and with cores that ranks cannot be bound to.
/// The shim makes the kernel report these.
fn dedicated(mpi: &Mpi) {
    let under = |fault: &str, code| -> Kept {
        let line = "ibcast -p bytes=1000,matrix_order=24,configuration=dedicated -m nonblocking";
        overlap(mpi, line).fault(fault).ends(code)
    };
    for (fault, bound, unbound_ranks) in [
        ("cores 4", "\"1, 3\"", 0.0),
        ("cores 8 paired", "\"1+5, 3+7\"", 0.0),
        ("cores 4 unbound", "\"not bound, not bound\"", 2.0),
    ] {
        let kept = under(fault, 0);
        kept.summary.expect_all(1, &["nonblocking"]);
        let environment = kept.read("environment.json");
        let (_, reported) = environment.split_once("core of the progress thread").expect("it is reported");
        assert!(reported.lines().take(2).any(|line| line.contains(bound)), "{fault}: {environment}");
        let figures = kept.rows("figures.csv");
        let unbound = figures.iter().find(|row| row.get("figure") == "unbound_ranks");
        assert_eq!(unbound.map(|row| row.number("value")), Some(Some(unbound_ranks)), "{fault}: {figures:?}");
        let details = kept.types("report out --details").expect_code(0);
        assert_eq!(details.out.contains("not bound to it in 2 ranks"), unbound_ranks > 0.0, "{details}");
        assert_eq!(kept.ended.out.contains(", not bound"), unbound_ranks > 0.0, "{}", kept.ended);
    }
    // As many hardware threads as in the first, on half as many cores.
    let words = ["4 cores are needed", "there are 2"];
    under("cores 4 paired", 1).summary.expect_failed("ibcast", "nonblocking", "not available", &words);
}

fn layouts(mpi: &Mpi) {
    // How many times each of them has the loop, and the application's loops.
    for (test, loops) in [
        ("layout -p 'send=vector(8,1,4,double)'", (1, 0)),
        ("halo:layout -p 'send=vector(8,1,4,double)'", (1, 0)),
        ("nas_lu_y -p nx=40,ny=40", (0, 1)),
    ] {
        let summary = overlap(mpi, &format!("{test} -p matrix_order=24")).ends(0).summary;
        let of = |method| summary.with(&[("method", method), ("phase", "overlapped")]).len();
        assert_eq!((of("loop"), of("manual")), loops, "{test}");
    }
}
