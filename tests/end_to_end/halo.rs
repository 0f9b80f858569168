//! Halo exchanges: every exchange by every method, on several numbers of ranks, and what must be found out or refused.
//!
//! Nothing is timed before all memory was compared with what the exchange must have brought, so a method that has
//! figures has brought it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use ddtbench::experiments::halo::methods::METHODS;
use libtest_mimic::Trial;

use super::by_hand::mpiexec;
use super::faulty_mpi::under_faults;
use super::job::{Ended, run};
use super::results::{ATTEMPTS_AFTER_CRASHES, Row, Summary};
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, mpi, on_every_mpi, waiting_on_every_mpi};
use super::trial::{alone, beside_others};

/// Small values of each exchange, as a plan has them; each but `layout` has faces that two threads share unevenly, or evenly.
const SMALL: [(&str, &str); 15] = [
    ("wrf_vec", "ni = '5', nj = '6', nk = '4', width = '3', margin = '4', limit = '2'"),
    ("wrf_sa", "ni = '5', nj = '6', nk = '4', width = '2', margin = '3', limit = '3'"),
    ("milc", "lx = '4', ly = '6', lz = '2', lt = '4'"),
    ("nas_mg", "d1 = '10', d2 = '8', d3 = '7'"),
    ("nas_lu", "nx = '6', ny = '7'"),
    ("fft2d", "n = '24'"),
    ("specfem3d_mt", "dim1 = '3', dim3 = '11'"),
    ("specfem3d_oc", "dim1 = '101', icount = '11'"),
    ("specfem3d_cm", "dim2_cm = '60', icount_cm = '9', dim2_ic = '5', icount_ic = '1'"),
    ("lammps_full", "dim1 = '20', icount = '13'"),
    ("lammps_atomic", "dim1 = '9', icount = '4'"),
    ("stencil7", "bytes = '56'"),
    ("stencil27", "bytes = '8'"),
    ("subarray", "shape = '9x7x8+9x7x5x8', halo = '2x1x2+2x1x0x2', arrays = '1+2', corners = 'yes'"),
    // Several arrays and types, a place, an order that goes back.
    (
        "layout",
        "send = '3 * hvector(4, 1, -24, double) @ 80 + struct([1, 2], [0, 8], [int32, double])', \
         receive = 'struct([12, 1], [0, 128], [double, int32]) + contiguous(2, double)'",
    ),
];

/// Short, since no figure is looked at.
const LIMITS: &str = "warmup = 1\nmin_runs = 2\nmax_runs = 20\nmax_time_s = 0.002\nprecision_percent = 2.5";

/// The same as flags.
const SHORT: [&str; 6] = ["--max-time", "0.002", "--min-runs", "2", "--warmup", "1"];

/// Methods that Open MPI 5.0.11 is known to err in, which must not stay in the dark: a partitioned request that is
/// started while others are on their way sends too early, and partitions of a datatype with gaps begin at wrong places.
const KNOWN: [&str; 2] = ["partitioned", "partitioned_ddt"];

/// Ways in which they may end there. `invalid` rests on a check.
const KNOWN_ENDS: [&str; 5] = ["invalid", "wrong data", "crashed", "timed out", "MPI error"];

/// Conditions of a case, as a plan has them.
const PLAIN: &str = "threads = '1'";
const THREADS: &str = "threads = '2'";
const BORDERS: &str = "threads = '2', periodic = 'no'";

pub fn trials() -> Vec<Trial> {
    // Exchanges that any number of ranks can have, and other shapes of neighbourhoods.
    const ANY: [&str; 6] = ["wrf_vec", "nas_lu", "fft2d", "specfem3d_cm", "lammps_full", "stencil27"];
    const FEW: [&str; 4] = ["nas_mg", "wrf_sa", "stencil7", "specfem3d_oc"];
    let all = SMALL.map(|(test, _)| test);
    let rounds = beside_others("halo::a time that is set wins over rounds", || {
        let dir = tempfile::tempdir().unwrap();
        let plan = |flags: &[&str]| {
            run(ddtbench(dir.path()).args(["halo", "--dry-run"]).args(flags)).expect_code(0).out
        };
        let ten = plan(&["nas_mg"]);
        assert!(ten.contains("min_rounds = 10"), "{ten}");
        assert!(!plan(&["nas_mg", "--max-time", "0.1"]).contains("min_rounds"));
        fs::write(dir.path().join("ten.toml"), ten).unwrap();
        assert!(plan(&["--plan", "ten.toml"]).contains("min_rounds = 10"));
        assert!(!plan(&["--plan", "ten.toml", "--max-time", "0.1"]).contains("min_rounds"));
    });
    let mut trials = vec![beside_others("halo::every exchange has small values", || {
        let of_table: Vec<_> = apps::halo::all().map(|test| test.name).collect();
        assert_eq!(of_table, SMALL.map(|(test, _)| test));
    })];
    trials.push(rounds);
    let mut add = |mpi: &'static str, what: &str, ranks, cases: Vec<(&'static str, &'static str)>| {
        let name = format!("{mpi}::halo::{ranks} ranks, {what}: every method brings every cell");
        // What Open MPI errs in must not stay in the dark: it is measured in one of them.
        let methods = if what == "some exchanges" {
            METHODS.iter().map(|method| method.name).collect()
        } else {
            methods_on(mpi)
        };
        trials.push(alone(name, move || {
            everything_arrives(mpi, ranks, &methods, &cases);
        }));
    };
    let with = |tests: &[&'static str], conditions: &[&'static str]| {
        let of = |&condition| tests.iter().map(move |&test| (test, condition));
        conditions.iter().flat_map(of).collect::<Vec<_>>()
    };
    add("mpich", "all exchanges", 4, with(&all, &[PLAIN]));
    add("mpich", "two threads", 4, with(&["milc", "nas_mg", "lammps_atomic"], &[THREADS]));
    add("mpich", "with and without borders", 2, with(&["wrf_sa", "nas_mg", "stencil7"], &[THREADS, BORDERS]));
    add("mpich", "two threads, borders", 3, with(&ANY, &[BORDERS]));
    add("mpich", "two threads", 8, with(&["nas_mg"], &[THREADS]));
    let placed = ["threads = '1', reorder = 'yes'", "threads = '2', start = 'clock'"];
    add("mpich", "placed anew, or started by the clock", 4, with(&["nas_lu"], &placed));
    add("mpich", "alone", 1, with(&["nas_mg", "specfem3d_oc"], &[PLAIN]));
    let neighbours = [
        PLAIN,
        "threads = '2', neighbours = 'next', periodic = 'no'",
        "threads = '1', neighbours = 'faces3d'",
    ];
    for (mpi, ranks) in [("mpich", 2), ("mpich", 4), ("openmpi", 2), ("openmpi", 4)] {
        add(mpi, "any layout", ranks, with(&["layout"], &neighbours));
    }
    add("openmpi", "some exchanges", 4, with(&FEW, &[PLAIN]));
    add("openmpi", "two threads", 2, with(&["nas_lu"], &[BORDERS]));
    add("openmpi", "borders", 3, with(&["wrf_vec"], &[BORDERS]));
    add("openmpi", "one thread", 8, with(&["nas_mg"], &[PLAIN]));
    let checks: &[(&str, Check)] = &[
        ("over TCP every cell arrives, or it is told", over_tcp),
        ("computing in every way, with every arrival", computing),
        ("a cell that is left out is named", a_cell_left_out),
        ("a message that is lost once within a block is found", a_message_lost_once),
        ("an MPI for one thread alone", one_thread_alone),
    ];
    trials.extend(on_every_mpi("halo", checks));
    trials.extend(waiting_on_every_mpi("halo", &[("the rank program prints a table", by_hand)]));
    trials
}

/// A case: an exchange, and conditions as a plan has them.
type Case = (&'static str, &'static str);

/// All methods, also those that are measured only if they are asked for; on Open MPI without those that it errs in.
fn methods_on(mpi: &str) -> Vec<&'static str> {
    let errs = |name: &&str| mpi == "openmpi" && KNOWN.contains(name);
    METHODS.iter().map(|method| method.name).filter(|name| !errs(name)).collect()
}

/// Runs cases by a plan into the folder `out`; exit code 1 means that a method failed, which the rows show as well.
fn measure(
    mpi: &Mpi,
    dir: &Path,
    ranks: usize,
    methods: &[&str],
    cases: &[Case],
    prepare: impl Fn(&mut Command),
) -> Summary {
    let mut plan = format!(
        "schema = 1\nexperiment = \"halo\"\nranks = {ranks}\nmethods = {methods:?}\n[limits]\n{LIMITS}\n"
    );
    // As in the trials of partitioned transfers, with which probes are shared.
    let _ = writeln!(plan, "timeout_s = 6.0");
    for (test, conditions) in cases {
        let (_, small) = SMALL.iter().find(|(name, _)| name == test).expect("an exchange with small values");
        let params = format!("{small}, {conditions}").replace('\'', "\"");
        let _ = writeln!(plan, "[[cases]]\ntest = \"{test}\"\nset = \"custom\"\nparams = {{ {params} }}");
    }
    fs::write(dir.join("plan.toml"), plan).unwrap();
    let mut attempts = 0;
    loop {
        let mut command = ddtbench(dir);
        command.args(["halo", "--plan", "plan.toml", "--mpi", mpi.name, "--out", "out"]).args(ONE_LAUNCH);
        prepare(&mut command);
        let ended = run(&mut command);
        assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
        let summary = Summary::read(&dir.join("out"));
        if attempts == ATTEMPTS_AFTER_CRASHES || summary.crashed_by_puts().is_empty() {
            return summary;
        }
        attempts += 1;
        fs::remove_dir_all(dir.join("out")).unwrap();
    }
}

/// The rows that report how each of the methods ended in each case that has it.
#[track_caller]
fn ends<'a>(summary: &'a Summary, methods: &[&str], cases: &[Case]) -> Vec<&'a Row> {
    let ends = summary.with(&[("phase", "exchange"), ("pair", "all")]);
    for method in METHODS.iter().filter(|method| methods.contains(&method.name)) {
        // Nobody wrote loops for a layout.
        let expected = cases.iter().filter(|(test, _)| *test != "layout" || !method.by_hand).count();
        let found = ends.iter().filter(|row| row.is(&[("method", method.name)])).count();
        assert_eq!(found, expected, "{}: {ends:?}", method.name);
    }
    ends
}

/// Why an end is not the right one: a method has times, or is known to err on this MPI.
fn wrong_end(row: &Row) -> Option<String> {
    let (method, outcome) = (row.get("method"), row.get("outcome"));
    let is_known = row.is(&[("mpi", "openmpi")]) && KNOWN.contains(&method);
    let is_right = match is_known {
        // What rests on a failed check has no say, even where all was right this time.
        true => KNOWN_ENDS.contains(&outcome) && !row.get("detail").is_empty(),
        false => row.is_measured() && row.number("median_s") > Some(0.0),
    };
    (!is_right).then(|| format!("{} {method}: {outcome}: {}", row.get("test"), row.get("detail")))
}

fn everything_arrives(name: &'static str, ranks: usize, methods: &[&str], cases: &[Case]) {
    let dir = tempfile::tempdir().unwrap();
    let summary = measure(mpi(name), dir.path(), ranks, methods, cases, |_| ());
    let wrong: Vec<_> = ends(&summary, methods, cases).into_iter().filter_map(wrong_end).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn over_tcp(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let cases = [("nas_lu", PLAIN)];
    let methods = methods_on(mpi.name);
    let summary = measure(mpi, dir.path(), 4, &methods, &cases, |command| {
        match mpi.name {
            "openmpi" => command.args(["--", "--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]),
            _ => command.env("MPIR_CVAR_NOLOCAL", "1").env("UCX_TLS", "tcp,self"),
        };
    });
    let wrong: Vec<_> = ends(&summary, &methods, &cases).into_iter().filter_map(wrong_end).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn computing(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let methods = ["reference", "manual", "fine", "aggregated:bins=2"];
    let mut command = ddtbench(dir.path());
    command.args([
        "halo",
        "nas_lu",
        "-p",
        "nx=6,ny=7",
        "-n",
        "2",
        "-p",
        "threads=2",
        "-m",
        &methods.join(","),
    ]);
    command.args(["-p", "compute_us=300", "-p", "arrival=laggard:10%,uniform:50%,normal:20us,kde:sparse"]);
    command
        .args(["-p", "emulate=sleep,sweep"])
        .args(SHORT)
        .args(ONE_LAUNCH)
        .args(["--mpi", mpi.name, "--out", "out"]);
    run(&mut command).expect_code(0);
    let summary = Summary::read(&dir.path().join("out"));
    let wholes = summary.with(&[("phase", "exchange"), ("pair", "all")]);
    assert_eq!(wholes.len(), 8 * methods.len());
    for row in wholes {
        assert!(row.is_measured(), "{row:?}");
        let of_phase = |phase| {
            let case = [("params", row.get("params")), ("method", row.get("method")), ("phase", phase)];
            summary.with(&case)[0].number("min_s").expect("a phase with times")
        };
        // The longest of all threads, whatever the arrival; traces have times of their own.
        let least = if row.get("params").contains("kde") { 1e-6 } else { 150e-6 };
        assert!(of_phase("compute") >= least && of_phase("total") >= of_phase("compute"), "{row:?}");
        assert!(of_phase("exchange") >= 0.0, "{row:?}");
        let has_speedup = row.figure("speedup").is_some() && row.figure("gain").is_some();
        // Neither stands without an interval, which takes six rounds.
        let has_rounds = row.number("blocks").is_some_and(|blocks| blocks >= 6.0);
        assert_eq!(has_speedup, row.get("method") != "manual" && has_rounds, "{row:?}");
        let has_ends = row.figure("speedup_low").is_some() && row.figure("gain_high").is_some();
        assert_eq!(has_ends, has_speedup, "{row:?}");
    }
}

/// A double of the halo that keeps what it had: the neighbourhood's collective says that all went well.
fn a_cell_left_out(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    // An exchange that forwards nothing, so that no other rank has a wrong cell.
    command.args(["halo", "nas_lu", "-p", "nx=6,ny=7", "-m", "reference,manual,neighbor_alltoallw"]);
    command.args(SHORT).args(ONE_LAUNCH).args(["--mpi", mpi.name, "--out", "out"]);
    under_faults(mpi, &mut command, &[("FAULTY_MPI", "left out")]);
    let ended = run(&mut command).expect_code(1);
    let summary = Summary::read(&dir.path().join("out"));
    let end = |method| end_of(&summary, method, &ended);
    let row = end("neighbor_alltoallw");
    assert_eq!(row.get("outcome"), "wrong data", "{row:?}");
    // The first cell that comes from the first neighbour, with the eight bytes of its double.
    let detail = row.get("detail");
    let (place, values) = detail.rsplit_once(": ").expect("a place and values");
    assert!(place.contains("rank 1, u["), "{detail}");
    let (found, expected) = values.split_once(" instead of ").expect("what is there, and what should be");
    assert!(found.len() == 16 && expected.len() == 16, "{detail}");
    // What no rank has sent: memory is poisoned before each exchange.
    assert!(found.as_bytes().chunks(2).all(|byte| byte == &found.as_bytes()[..2]), "{detail}");
    for method in ["reference", "manual"] {
        assert!(end(method).is_measured(), "{ended}");
    }
}

/// Exchanges of a method before its first block, as `LATE` has it: three that verify it, one that is timed for a start, one
/// that warms up, five that tell how long one takes.
const BEFORE_BLOCKS: u32 = 3 + 1 + 1 + 5;

/// A run of which the exchanges before the blocks are known: there is time for each, and rounds end it.
const LATE: [&str; 8] = ["--max-time", "5", "--min-runs", "4", "--max-runs", "40", "--warmup", "1"];

/// The one row of how a method's exchange ended, in what a command has kept.
fn end_of(summary: &Summary, method: &str, ended: &impl std::fmt::Display) -> Row {
    let rows = summary.with(&[("phase", "exchange"), ("method", method), ("pair", "all")]);
    assert_eq!(rows.len(), 1, "{ended}");
    rows[0].clone()
}

/// The next exchange brings all that this one has not: only what was looked at in between tells of it.
fn a_message_lost_once(mpi: &Mpi) {
    // The last of the four messages of the third exchange of the first block, which has six at least.
    let after = (4 * (BEFORE_BLOCKS + 3) - 1).to_string();
    let faults = [("FAULTY_MPI", "stale"), ("FAULTY_MPI_AFTER", &*after), ("FAULTY_MPI_TIMES", "1")];
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["halo", "nas_lu", "-p", "nx=6,ny=7", "-n", "2", "-m", "reference,manual,ddt"]).args(LATE);
    command.args(["--mpi", mpi.name, "--out", "out"]).args(ONE_LAUNCH);
    under_faults(mpi, &mut command, &faults);
    let ended = run(&mut command).expect_code(1);
    let summary = Summary::read(&dir.path().join("out"));
    for method in ["reference", "manual"] {
        assert!(end_of(&summary, method, &ended).is_measured(), "{ended}");
    }
    let row = end_of(&summary, "ddt", &ended);
    assert_eq!(row.get("outcome"), "wrong data", "{row:?}");
    let detail = row.get("detail");
    assert!(detail.contains("rank 1 of the world: exchange 3 since the fill"), "{detail}");
    assert!(detail.contains("from rank") && !detail.contains("rank 0 of the world"), "{detail}");
}

fn one_thread_alone(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let cases = [("nas_lu", BORDERS)];
    let methods = methods_on(mpi.name);
    let summary = measure(mpi, dir.path(), 2, &methods, &cases, |command| {
        under_faults(mpi, command, &[("FAULTY_MPI", "single")]);
    });
    for row in ends(&summary, &methods, &cases) {
        let method = row.get("method");
        // Those in which each thread hands over its own share.
        match ["partitioned", "fine", "aggregated", "partitioned_ddt"].contains(&method) {
            true => assert!(
                row.is(&[("outcome", "not available"), ("median_s", "")])
                    && ["2 threads", "MPI_THREAD_SINGLE"].iter().all(|word| row.get("detail").contains(word)),
                "{row:?}"
            ),
            false => assert!(row.is_measured(), "{row:?}"),
        }
    }
}

fn by_hand(mpi: &Mpi) {
    let table = |ended: Ended| {
        for word in ["stencil7", "exchange", "reference", "manual", "ranks and their processors"] {
            assert!(ended.out.contains(word), "`{word}` is not in: {ended}");
        }
    };
    let arguments = ["halo", "stencil7", "--method", "reference,manual,ddt"];
    table(run(mpiexec(mpi, mpi, "2").args(arguments).args(SHORT)).expect_code(0));
    let layout = ["halo", "layout", "-p", "send=vector(8,1,4,double)", "-p", "neighbours=next"];
    let ended = run(mpiexec(mpi, mpi, "4").args(layout).args(["-m", "reference,loop,ddt"]).args(SHORT));
    let ended = ended.expect_code(0);
    assert!(ended.out.contains("loop") && !ended.out.contains("wrong data"), "{ended}");
    let manual = run(mpiexec(mpi, mpi, "2").args(layout).args(["-m", "manual"])).expect_code(2);
    manual.expect_err(&["no loops were written by hand"]);
    let ended = run(mpiexec(mpi, mpi, "3").args(["halo", "nas_mg"])).expect_code(2).expect_err(&["2 and 4"]);
    assert_eq!(ended.err.matches("error:").count(), 1, "{ended}");
}
