//! Halo exchanges: every exchange with every method, on several numbers of ranks, and with computation.
//! `typed/halo.txt` tests MPIs with faults.
//!
//! Nothing is timed before all memory was compared with the expected result of the exchange, so a method that has figures is correct.

use std::fmt::Write as _;
use std::fs;

use ddtbench::experiments::halo::methods;
use ddtbench::model::OWN;
use ddtbench::model::conditions::MemoryKind;
use libtest_mimic::Trial;

use super::job::run;
use super::results::{Row, Summary};
use super::setup::{Check, MPIS, Mpi, mpi, trials_on};
use super::trial::{Need, beside_others, trial};
use super::typed::{Measuring, typed};

/// Small values of each exchange, as in a plan. Each except `layout` has faces that two threads share
/// unevenly, or evenly. `layout` has several arrays and types, a given place, and an order that goes back.
fn small() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("halo_small.txt").lines().filter_map(|line| line.split_once(": "))
}

/// The head of a plan; short, because the test does not examine figures. The silence is that of transfers, so
/// that they share results of checks.
const HEAD: &str = "schema = 1
experiment = \"halo\"
limits = { warmup = 1, min_repetitions = 2, max_repetitions = 20, max_time_s = 0.002, precision_percent = 2.5, timeout_s = 6.0 }
";

/// Whether Open MPI 5.0.11 has known errors in a method; its failures must be reported. A partitioned request that is started while
/// others are active sends too early, and partitions of a datatype with gaps begin at wrong places. Neighbourhood collectives on a grid
/// that are not blocking exchange the two messages of a dimension if both neighbours are the same rank.
fn is_known(method: &str) -> bool {
    let is_request = method.starts_with("ineighbor") || method.starts_with("persistent_neighbor");
    method.starts_with("partitioned") || is_request && method.ends_with(ALONG_A_GRID)
}

/// Their possible outcomes there. `invalid` depends on a check.
const KNOWN_ENDS: [&str; 5] = ["invalid", "wrong data", "crashed", "timed out", "MPI error"];

/// The end of methods' names for messages along the dimensions of a grid, and exchanges that also have others.
const ALONG_A_GRID: &str = ":cart";
const NOT_ALONG_A_GRID: [&str; 6] =
    ["fft2d", "specfem3d_mt", "specfem3d_oc", "specfem3d_cm", "stencil27", "messages"];

/// Conditions of a case, as in a plan.
const PLAIN: &str = r#"threads = "1""#;
const BORDERS: &str = r#"threads = "2", periodic = "no""#;
const TO_ALL: &str = r#"neighbours = "all""#;

/// The run that includes the methods in which Open MPI has errors.
const KNOWN_TOO: &str = "some exchanges";

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        beside_others("halo::every exchange has small values", || {
            assert!(apps::halo::all().map(|test| test.name).eq(small().map(|(test, _)| test)));
        }),
        beside_others("halo::a time that is set wins over rounds", time_or_rounds),
    ];
    let rows = include_str!("halo_exchanges.txt").lines().filter(|row| !row.starts_with('#'));
    trials.extend(rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [name, what, ranks, tests, conditions] = cells[..] else { panic!("{row}") };
        let full = format!("{name}::halo::{ranks} ranks, {what}: every method brings every cell");
        // Methods in which Open MPI hangs mostly wait.
        let need = if what == KNOWN_TOO { Need::Waiting } else { Need::AllProcessors };
        trial(need, full, move || {
            let tests: Vec<&str> = match tests {
                "all" => small().map(|(test, _)| test).collect(),
                some => some.split(' ').collect(),
            };
            let conditions: Vec<&str> = conditions.split("; ").collect();
            let (tests, conditions, ranks) = (&tests, &conditions, ranks.parse().unwrap());
            let exchanges =
                Exchange { mpi: mpi(name), ranks, methods: methods(name, what), tests, conditions };
            exchanges.bring_all(&exchanges.measuring().ends_in(&[0, 1]).summary);
        })
    }));
    let checks: &[(&str, Check)] = &[
        ("over TCP every cell arrives, or it is reported", over_tcp),
        ("computing in every way, with every arrival", computing),
        ("an MPI for one thread only", for_one_thread),
    ];
    trials.extend(trials_on(&MPIS, Need::AllProcessors, "halo", checks));
    trials
}

/// All methods of the host's memory, including those that are measured only on request; on Open MPI mostly
/// without the ones in which it has errors. The method of the user's loop has separate trials.
fn methods(mpi: &str, what: &str) -> Vec<&'static str> {
    let errs = |name: &&str| *name == OWN || mpi == "openmpi" && what != KNOWN_TOO && is_known(name);
    let on_host = methods::methods().iter().filter(|method| method.is_possible_in(MemoryKind::Host));
    on_host.map(|method| method.name).filter(|name| !errs(name)).collect()
}

struct Exchange<'a> {
    mpi: &'a Mpi,
    ranks: usize,
    methods: Vec<&'static str>,
    tests: &'a [&'a str],
    conditions: &'a [&'a str],
}

impl<'a> Exchange<'a> {
    fn nas_lu(mpi: &'a Mpi, ranks: usize, conditions: &'a [&'a str]) -> Self {
        Self { mpi, ranks, methods: methods(mpi.name, ""), tests: &["nas_lu"], conditions }
    }

    /// Every exchange under each condition, from a plan.
    fn measuring(&self) -> Measuring<'a> {
        let mut plan = HEAD.to_owned();
        let _ = writeln!(plan, "ranks = {}\nmethods = {:?}", self.ranks, self.methods);
        for test in self.tests {
            let (_, values) = small().find(|(name, _)| name == test).expect("an exchange with small values");
            for conditions in self.conditions {
                let params = format!("{{ {values}, {conditions} }}");
                let _ = writeln!(plan, "[[cases]]\ntest = \"{test}\"\nset = \"custom\"\nparams = {params}");
            }
        }
        Measuring::on(self.mpi, "halo --plan plan.toml").file("plan.toml", plan)
    }

    /// The rows that report the outcome of each of the methods in each case that has it.
    #[track_caller]
    fn ends<'b>(&self, summary: &'b Summary) -> Vec<&'b Row> {
        let ends = summary.ends();
        for method in methods::methods().iter().filter(|method| self.methods.contains(&method.name)) {
            let has = |test: &str, conditions: &str| {
                let is_other = NOT_ALONG_A_GRID.contains(&test) || conditions.contains(TO_ALL);
                // There are no hand-written loops for a layout.
                (!apps::is_of_layouts(test) || !method.by_hand)
                    && (!method.name.ends_with(ALONG_A_GRID) || !is_other)
            };
            let of_test = |test: &&str| self.conditions.iter().filter(|of| has(test, of)).count();
            let expected: usize = self.tests.iter().map(of_test).sum();
            let found = ends.iter().filter(|row| row.is(&[("method", method.name)])).count();
            assert_eq!(found, expected, "{}: {ends:?}", method.name);
        }
        ends
    }

    /// Fails unless every method has times, or is known to fail on this MPI.
    #[track_caller]
    fn bring_all(&self, summary: &Summary) {
        let is_wrong = |row: &&Row| {
            let is_request = row.get("method").ends_with(ALONG_A_GRID);
            match row.is(&[("mpi", "openmpi")]) && is_known(row.get("method")) {
                // Some grids have other neighbours.
                true if is_request && row.is_measured() => false,
                // Figures that depend on a failed check are not judged, even if everything was right this time.
                true => !KNOWN_ENDS.contains(&row.get("outcome")) || row.get("detail").is_empty(),
                false => !row.is_measured() || row.number("median_s") <= Some(0.0),
            }
        };
        let cell =
            |row: &Row| ["test", "params", "method", "outcome", "detail"].map(|of| row.get(of).to_owned());
        let wrong: Vec<_> = self.ends(summary).into_iter().filter(is_wrong).map(cell).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

fn time_or_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let plan =
        |flags: &str| run(&mut typed(dir.path(), &format!("halo --dry-run {flags}"))).expect_code(0).out;
    let ten = plan("nas_mg");
    assert!(ten.contains("min_rounds = 10"), "{ten}");
    fs::write(dir.path().join("ten.toml"), ten).unwrap();
    for (flags, has_rounds) in [
        ("nas_mg --max-time 0.1", false),
        ("--plan ten.toml", true),
        ("--plan ten.toml --max-time 0.1", false),
    ] {
        assert_eq!(plan(flags).contains("min_rounds"), has_rounds, "{flags}");
    }
}

fn over_tcp(mpi: &Mpi) {
    let exchange = Exchange::nas_lu(mpi, 4, &[PLAIN]);
    exchange.bring_all(&exchange.measuring().over_tcp().ends_in(&[0, 1]).summary);
}

fn computing(mpi: &Mpi) {
    let methods = ["reference", "manual", "fine", "aggregated:bins=2"];
    let line = "halo nas_lu -p nx=6,ny=7,threads=2,compute_us=300,emulate=sleep,sweep -n 2";
    let arrivals = "-p arrival=laggard:10%,uniform:50%,normal:20us,kde:sparse";
    let short = "--max-time 0.002 --min-repetitions 2 --warmup 1";
    let kept = Measuring::on(mpi, format!("{line} {arrivals} -m {} {short}", methods.join(","))).ends(0);
    kept.summary.expect_all(8, &methods);
    for row in kept.summary.ends() {
        let of_phase = |phase| {
            let case = [("params", row.get("params")), ("method", row.get("method")), ("phase", phase)];
            kept.summary.with(&case)[0].number("min_s").expect("a phase with times")
        };
        // The longest time of all threads, whatever the arrival; traces have their own times.
        let least = if row.get("params").contains("kde") { 1e-6 } else { 150e-6 };
        assert!(of_phase("compute") >= least && of_phase("total") >= of_phase("compute"), "{row:?}");
        assert!(of_phase("exchange") >= 0.0, "{row:?}");
        let has_speedup = row.figure("speedup").is_some() && row.figure("gain").is_some();
        // Both appear only with an interval, which needs six rounds.
        let has_rounds = row.number("blocks").is_some_and(|blocks| blocks >= 6.0);
        assert_eq!(has_speedup, row.get("method") != "manual" && has_rounds, "{row:?}");
        let has_ends = row.figure("speedup_low").is_some() && row.figure("gain_high").is_some();
        assert_eq!(has_ends, has_speedup, "{row:?}");
    }
}

fn for_one_thread(mpi: &Mpi) {
    let exchange = Exchange::nas_lu(mpi, 2, &[BORDERS]);
    let summary = exchange.measuring().fault("single").ends_in(&[0, 1]).summary;
    for row in exchange.ends(&summary) {
        let method = row.get("method");
        // Methods in which each thread sends its own share.
        match ["partitioned", "fine", "aggregated", "partitioned_ddt"].contains(&method) {
            true => {
                let words = ["2 threads", "MPI_THREAD_SINGLE"];
                summary.expect_failed("", method, "not available", &words);
            }
            false => summary.expect_measured("", &[method]),
        }
    }
}
