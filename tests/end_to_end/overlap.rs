//! Communication beside computation: every operation, messages and exchanges by every method; sizes that are found once; and what
//! goes wrong in between.

use std::fs;
use std::path::Path;
use std::process::Command;

use ddtbench::experiments::overlap::operations::OPERATIONS;
use libtest_mimic::Trial;

use super::by_hand::{mpiexec, refuses_once};
use super::faulty_mpi::under_faults;
use super::job::{Ended, run};
use super::results::{Row, Summary, rows};
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, on_every_mpi, trials_on};
use super::trial::Need;

/// Short, since no figure is looked at.
const SHORT: [&str; 6] = ["--max-time", "0.002", "--min-runs", "2", "--warmup", "1"];

/// What is communicated besides operations: from arrays, from the same memory as is received into, between all, in stages.
const OF_APPS: [(&str, &str); 9] = [
    ("nas_lu_y", "nx=40,ny=40"),
    ("wrf_x_vec", ""),
    ("lammps_full", "dim1=354,icount=62"),
    ("fft2d", "n=24"),
    ("halo:nas_mg", "d1=10,d2=8,d3=6"),
    ("halo:milc", "lx=4,ly=4,lz=4,lt=4"),
    ("halo:fft2d", "n=24"),
    ("layout", "send=vector(8,1,4,double)"),
    ("halo:layout", "send=struct([1,2],[0,8],[int32,double]),neighbours=next"),
];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("every operation moves the right bytes", operations),
        ("messages and exchanges move the right bytes by every method", apps),
        ("over TCP, and between three ranks, as over memory between two", over_tcp),
        ("a barrier that waits for nobody is found", a_wrong_barrier),
        ("a broadcast is timed where it takes its time", delayed),
        ("a rim is computed after the wait", rims),
        ("a rank that dies costs its method alone", a_dead_rank),
        ("a computation that looks after its messages", looking),
    ];
    let mut trials = on_every_mpi("overlap", checks);
    let only_on_mpich: [(&str, Check); 4] = [
        ("sizes are found once and kept in the plan", sizes),
        ("asynchronous progress is switched on, and what came of it is reported", configurations),
        ("the progress thread has a core of its own where there is one", dedicated),
        ("a layout has the plain loop where nobody asks for methods", layouts),
    ];
    trials.extend(trials_on(&["mpich"], Need::AllProcessors, "overlap", &only_on_mpich));
    let by_hand: (&str, Check) = ("the rank program refuses what cannot be", refusals);
    trials.extend(trials_on(&["mpich"], Need::Waiting, "overlap", &[by_hand]));
    let refused: (&str, Check) = ("progress that is not in force is refused", no_progress);
    trials.extend(trials_on(&["openmpi"], Need::Waiting, "overlap", &[refused]));
    trials
}

/// The rank program by hand: its table has a row with times for each of these methods, and no row says anything else.
#[track_caller]
fn measures(mpi: &Mpi, ranks: &str, test: &str, params: &str, methods: &[&str]) {
    let params = format!("{params},matrix_order=24");
    let params = ["-p", params.trim_start_matches(',')];
    let ended = run(mpiexec(mpi, mpi, ranks).args(["overlap", test]).args(params).args(SHORT)).expect_code(0);
    for method in methods {
        let is_end = |line: &&str| {
            let words = line.trim_start().strip_prefix(method).unwrap_or_default();
            words.starts_with(' ') && ["time limit", "converged"].iter().any(|end| words.contains(end))
        };
        let ends = ended.out.lines().filter(is_end).count();
        assert_eq!(ends, 1, "{method} of {test} on {ranks} ranks: {ended}");
    }
    assert!(!ended.out.contains("wrong data"), "{ended}");
}

fn operations(mpi: &Mpi) {
    // What a number of ranks changes is ours: three of them on one MPI.
    let ranks = if mpi.name == "mpich" { &["2", "3", "4"][..] } else { &["2", "4"] };
    for operation in OPERATIONS {
        // A block that ends within a word.
        let params = if operation.has_bytes() { "bytes=1003" } else { "" };
        for &ranks in ranks {
            if operation.name != "isend" || ranks != "3" {
                measures(mpi, ranks, operation.name, params, &["nonblocking", "persistent"]);
                if operation.adds() {
                    let params = format!("{params},element=float");
                    measures(mpi, ranks, operation.name, &params, &["nonblocking", "persistent"]);
                }
            }
        }
    }
}

fn apps(mpi: &Mpi) {
    const OF_MESSAGE: [&str; 8] =
        ["reference", "manual", "manual_tuned", "mpi_pack", "engine", "ddt", "persistent", "persistent_ddt"];
    const OF_EXCHANGE: [&str; 9] = [
        "reference",
        "manual",
        "manual_tuned",
        "engine",
        "ddt",
        "persistent",
        "persistent_ddt",
        "ineighbor_alltoallw",
        "persistent_neighbor_alltoallw",
    ];
    for (test, params) in OF_APPS {
        let methods: &[&str] = if test.starts_with("halo:") { &OF_EXCHANGE } else { &OF_MESSAGE };
        // Nobody wrote loops for a layout: the plain one stands in their place.
        const BY_HAND: [&str; 3] = ["manual", "manual_tuned", "persistent"];
        let is_layout = test.ends_with("layout");
        let has = |method: &&str| !is_layout || !BY_HAND.contains(method);
        let methods = methods.iter().copied().filter(has);
        let methods: Vec<&str> = methods.chain(is_layout.then_some("loop")).collect();
        for ranks in ["2", "4"] {
            measures(mpi, ranks, test, params, &methods);
        }
    }
}

fn over_tcp(mpi: &Mpi) {
    let tcp = match mpi.name {
        "openmpi" => ["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"],
        _ => ["-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "FI_PROVIDER", "tcp"],
    };
    let netmod: &[&str] = if mpi.name == "mpich" { &["-genv", "MPIR_CVAR_CH4_NETMOD", "ofi"] } else { &[] };
    for (test, ranks, method) in [
        ("iallreduce -p bytes=100000", "2", "nonblocking"),
        ("wrf_x_vec", "2", "ddt"),
        ("halo:wrf_vec", "3", "ddt"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let arguments = ["-p", "matrix_order=24", "-m", method, "-n", ranks];
        let arguments: Vec<&str> = test.split(' ').chain(arguments).collect();
        let mut command = overlap(mpi, dir.path(), &arguments);
        command.args(SHORT).arg("--").args(tcp).args(netmod);
        run(&mut command).expect_code(0);
        let cases = rows(&dir.path().join("out/cases.csv"));
        assert_eq!((cases.len(), cases[0].get("transport")), (1, "tcp"), "{test}");
        expect_measured(dir.path(), method);
    }
}

/// One rank begins late on purpose: the others must not go on without it.
fn a_wrong_barrier(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = overlap(mpi, dir.path(), &["ibarrier", "-p", "matrix_order=24"]);
    command.args(SHORT);
    under_faults(mpi, &mut command, &[("FAULTY_MPI", "no barrier")]);
    run(&mut command).expect_code(1);
    let summary = Summary::read(&dir.path().join("out"));
    let wrong = summary.with(&[("method", "nonblocking")])[0];
    assert_eq!(wrong.get("outcome"), "wrong data", "{wrong:?}");
    assert!(wrong.get("detail").contains("before the last rank"), "{wrong:?}");
    expect_measured(dir.path(), "persistent");
}

/// The phases of a rim are there where one was asked for, or where there is one without asking, and nowhere else.
fn rims(mpi: &Mpi) {
    for (rim, has_rim) in [("25%", true), ("0%", false)] {
        let dir = tempfile::tempdir().unwrap();
        let arguments =
            ["halo:wrf_vec", "-p", "matrix_order=96", "-m", "ddt", "-p", &format!("rim_percent={rim}")];
        run(overlap(mpi, dir.path(), &arguments).args(SHORT)).expect_code(0);
        let summary = Summary::read(&dir.path().join("out"));
        let phases = ["rim", "rim_alone"].map(|phase| {
            let of_phase = summary.with(&[("phase", phase)]);
            of_phase.iter().any(|row| row.is_measured() && row.number("median_s") > Some(0.0))
        });
        assert_eq!(phases, [has_rim; 2], "{rim}");
        expect_measured(dir.path(), "ddt");
    }
}

fn overlap(mpi: &Mpi, dir: &Path, arguments: &[&str]) -> Command {
    let mut command = ddtbench(dir);
    command.arg("overlap").args(arguments).args(["--mpi", mpi.name, "--out", "out"]).args(ONE_LAUNCH);
    command
}

#[track_caller]
fn expect_measured(dir: &Path, method: &str) {
    let summary = Summary::read(&dir.join("out"));
    let measured = summary.with(&[("method", method), ("phase", "overlapped")]);
    assert!(measured.iter().any(|row| row.is_measured()), "{measured:?}");
}

fn a_dead_rank(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["ibcast", "-p", "bytes=1000,matrix_order=24", "-m", "nonblocking,persistent"];
    let mut command = overlap(mpi, dir.path(), &arguments);
    command.args(SHORT);
    under_faults(mpi, &mut command, &[("FAULTY_MPI", "dead bcast"), ("FAULTY_MPI_AFTER", "20")]);
    run(&mut command).expect_code(1);
    let summary = Summary::read(&dir.path().join("out"));
    assert_eq!(summary.with(&[("method", "nonblocking")])[0].get("outcome"), "crashed");
    expect_measured(dir.path(), "persistent");
}

fn looking(mpi: &Mpi) {
    for test in ["ialltoall -p bytes=50000", "halo:nas_mg", "wrf_x_vec"] {
        let mut command = mpiexec(mpi, mpi, "2");
        command
            .arg("overlap")
            .args(test.split(' '))
            .args(["-p", "matrix_order=90,test_every_us=5"])
            .args(SHORT);
        let ended = run(&mut command).expect_code(0);
        assert!(ended.out.contains("test_every_us=5") && !ended.out.contains("wrong data"), "{ended}");
    }
}

/// A broadcast of 20 ms in the wait, and one in a thread beside the computation: no sample can be shorter than that.
fn delayed(mpi: &Mpi) {
    const DELAY_S: f64 = 0.02;
    for (fault, phases) in [
        ("late 20000", &["communication_alone", "wait", "in_mpi", "overlapped"][..]),
        ("asleep 20000", &["communication_alone", "overlapped"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = overlap(mpi, dir.path(), &["ibcast", "-p", "bytes=1000,matrix_order=24"]);
        command.args(["-m", "nonblocking"]).args(SHORT);
        under_faults(mpi, &mut command, &[("FAULTY_MPI", fault)]);
        run(&mut command).expect_code(0);
        expect_measured(dir.path(), "nonblocking");
        let summary = Summary::read(&dir.path().join("out"));
        for phase in phases {
            let rows = summary.with(&[("phase", phase), ("pair", "all")]);
            assert!(
                !rows.is_empty() && rows.iter().all(|row| row.number("min_s") >= Some(DELAY_S)),
                "{fault}: {rows:?}"
            );
        }
    }
}

fn sizes(_: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args([
        "overlap",
        "ialltoall",
        "nas_lu_y",
        "-p",
        "communication_us=500us",
        "-p",
        "computation_us=500,1ms",
    ]);
    command
        .args(["--mpi", "mpich,openmpi", "-m", "nonblocking,ddt", "--out", "out"])
        .args(ONE_LAUNCH)
        .args(SHORT);
    let dry = run(ddtbench(dir.path()).args(["overlap", "ialltoall", "--dry-run"])).expect_code(0).out;
    assert!(dry.contains("communication_us") && !dry.contains("matrix_order"), "{dry}");
    // An operation has a time to be asked for, the message of a test has not.
    let refused = run(&mut command).expect_code(2);
    assert!(refused.err.contains("nas_lu_y") && refused.err.contains("communication_us"), "{refused}");
    let mut command = ddtbench(dir.path());
    command.args(["overlap", "ialltoall", "-p", "communication_us=500us", "-p", "computation_us=500us,1ms"]);
    command
        .args(["--mpi", "mpich,openmpi", "-m", "nonblocking", "--out", "out"])
        .args(ONE_LAUNCH)
        .args(SHORT);
    let ended = run(&mut command).expect_code(0);
    assert!(ended.err.contains("finding sizes: ialltoall"), "{ended}");
    let out = dir.path().join("out");
    let plan = fs::read_to_string(out.join("plan.toml")).unwrap();
    assert_eq!((plan.matches("matrix_order = ").count(), plan.matches("bytes = ").count()), (2, 2), "{plan}");
    let cases = rows(&out.join("cases.csv"));
    // The same sizes on both MPIs.
    let of = |mpi: &str| -> Vec<(&str, &str)> {
        let of_mpi = cases.iter().filter(|row| row.get("mpi") == mpi);
        of_mpi.map(|row| (row.get("bytes"), row.get("matrix_order"))).collect()
    };
    assert_eq!((of("mpich").len(), of("mpich")), (2, of("openmpi")), "{cases:?}");
    // Repeating the plan finds nothing anew.
    let again = run(ddtbench(dir.path()).args(["overlap", "--plan", "out/plan.toml", "--out", "again"]))
        .expect_code(0);
    assert!(!again.err.contains("finding sizes"), "{again}");
    let compared = run(ddtbench(dir.path()).args(["compare", "out", "again", "--anyway"]));
    assert!([Some(0), Some(1)].contains(&compared.code), "{compared}");
}

fn configurations(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [
        "ibcast",
        "-p",
        "bytes=1000,matrix_order=24",
        "-p",
        "configuration=basic,progress,dedicated",
        "-m",
        "nonblocking",
    ];
    let ended: Ended = run(overlap(mpi, dir.path(), &arguments).args(SHORT)).expect_code(0);
    let environment = fs::read_to_string(dir.path().join("out/environment.json")).unwrap();
    assert!(environment.contains("threads of MPI in each rank"), "{environment}");
    let summary = rows(&dir.path().join("out/summary.csv"));
    let headline = |configuration: &str| {
        let of = |row: &&Row| {
            let params = row.get("params");
            let is_it = params.contains(&format!("configuration={configuration}"))
                || (configuration == "basic" && !params.contains("configuration"));
            is_it && row.get("phase") == "overlapped"
        };
        summary.iter().find(of).unwrap_or_else(|| panic!("no {configuration}: {summary:?}"))
    };
    assert!(headline("basic").is_measured(), "{ended}");
    let progress = headline("progress");
    assert!(progress.is_measured(), "{progress:?}");
    assert!(
        progress.number("runnable_threads") > headline("basic").number("runnable_threads"),
        "{progress:?}"
    );
    assert!(environment.contains("in force"), "{environment}");
    // With fewer cores than two for each rank there is none for the thread.
    let dedicated = headline("dedicated");
    if std::thread::available_parallelism().map_or(1, usize::from) < 4 {
        assert_eq!(dedicated.get("outcome"), "not available");
        assert!(dedicated.get("detail").contains("cores"), "{dedicated:?}");
    }
}

/// Open MPI has a progress thread for TCP alone: over memory there is nothing to be measured, though it has threads of other work.
fn no_progress(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let arguments =
        ["ibcast", "-p", "bytes=1000,matrix_order=24", "-p", "configuration=progress", "-m", "nonblocking"];
    run(overlap(mpi, dir.path(), &arguments).args(SHORT)).expect_code(1);
    let summary = Summary::read(&dir.path().join("out"));
    let refused = summary.with(&[("method", "nonblocking")])[0];
    assert_eq!(refused.get("outcome"), "not available", "{refused:?}");
    assert!(refused.get("detail").contains("for TCP alone"), "{refused:?}");
    let environment = fs::read_to_string(dir.path().join("out/environment.json")).unwrap();
    assert!(
        environment.contains("asynchronous progress") && !environment.contains("in force"),
        "{environment}"
    );
}

/// Where there are two cores for each of two ranks, for so many hardware threads; and where they cannot be bound. The shim has the
/// kernel say so.
fn dedicated(mpi: &Mpi) {
    for (fault, bound, unbound_ranks) in [
        ("cores 4", "\"1, 3\"", Some(0.0)),
        ("cores 8 paired", "\"1+5, 3+7\"", Some(0.0)),
        ("cores 4 unbound", "\"not bound, not bound\"", Some(2.0)),
        ("cores 4 paired", "", None),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let arguments = [
            "ibcast",
            "-p",
            "bytes=1000,matrix_order=24",
            "-p",
            "configuration=dedicated",
            "-m",
            "nonblocking",
        ];
        let mut command = overlap(mpi, dir.path(), &arguments);
        command.args(SHORT);
        under_faults(mpi, &mut command, &[("FAULTY_MPI", fault)]);
        let ended = run(&mut command);
        let Some(unbound_ranks) = unbound_ranks else {
            // As many hardware threads as before, on half as many cores.
            let ended = ended.expect_code(1);
            let summary = Summary::read(&dir.path().join("out"));
            let refused = summary.with(&[("method", "nonblocking")])[0];
            assert_eq!(refused.get("outcome"), "not available", "{refused:?}");
            assert!(refused.get("detail").contains("4 cores are needed"), "{ended}");
            assert!(refused.get("detail").contains("there are 2"), "{refused:?}");
            continue;
        };
        let ended = ended.expect_code(0);
        expect_measured(dir.path(), "nonblocking");
        let environment = fs::read_to_string(dir.path().join("out/environment.json")).unwrap();
        let told: Vec<&str> =
            environment.lines().skip_while(|line| !line.contains("core of the progress thread")).collect();
        assert!(told.iter().take(2).any(|line| line.contains(bound)), "{fault}: {environment}");
        let figures = rows(&dir.path().join("out/figures.csv"));
        let unbound = figures.iter().find(|row| row.get("figure") == "unbound_ranks");
        assert_eq!(unbound.map(|row| row.number("value")), Some(Some(unbound_ranks)), "{fault}: {figures:?}");
        let details = run(ddtbench(dir.path()).args(["report", "out", "--details"])).expect_code(0);
        assert_eq!(details.out.contains("not bound in 2 ranks"), unbound_ranks > 0.0, "{details}");
        assert_eq!(ended.out.contains(", not bound"), unbound_ranks > 0.0, "{ended}");
    }
}

fn layouts(mpi: &Mpi) {
    const VECTOR: &[&str] = &["-p", "send=vector(8,1,4,double)"];
    // How often each of them has the loop, and the application's loops.
    for (test, params, loops) in [
        ("layout", VECTOR, (1, 0)),
        ("halo:layout", VECTOR, (1, 0)),
        ("nas_lu_y", &["-p", "nx=40", "-p", "ny=40"], (0, 1)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let arguments = [&[test, "-p", "matrix_order=24"], params].concat();
        run(overlap(mpi, dir.path(), &arguments).args(SHORT)).expect_code(0);
        let summary = Summary::read(&dir.path().join("out"));
        let of = |method| summary.with(&[("method", method), ("phase", "overlapped")]).len();
        assert_eq!((of("loop"), of("manual")), loops, "{test}");
    }
}

fn refusals(mpi: &Mpi) {
    let by_hand = |arguments: &[&str], words: &[&str]| {
        let mut command = mpiexec(mpi, mpi, "2");
        refuses_once(command.arg("overlap").args(arguments), words);
    };
    by_hand(&["ibcast", "-p", "bytes=8"], &["matrix_order", "ddtbench overlap"]);
    by_hand(&["ibcast", "-p", "bytes=8,matrix_order=9", "-m", "ddt"], &["ibcast", "ddt"]);
}
