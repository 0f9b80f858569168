//! Random datatypes: faults that are planted in an MPI are found, shrunk, and confirmed by a C program.

use std::collections::BTreeSet;

use common::conformance::{self, Case, FaultKind, OPERATIONS};
use ddtbench::conformance::datatypes::program::{ProgramMemory, program};
use ddtbench::conformance::datatypes::{FindingList, Hit};
use libtest_mimic::Trial;

use datatypes::Layout;

use super::faulty_mpi;
use super::job::run;
use super::setup::{self, Check, MPIS, Mpi, mpi, trials_on};
use super::trial::{Need, Room, trial, when_asked};
use super::typed::{Kept, Measuring};

/// Each starts some dozen processes, which mostly do not exchange messages.
static ROOM: Room = Room::with_places(2);

pub fn trials() -> Vec<Trial> {
    let gate: &[(&str, Check)] =
        &[("with a list of known findings or a baseline a run passes, and a regression fails", gate)];
    let both: &[(&str, Check)] = &[("operations without faults have no findings", faultless)];
    // Only MPICH, because to start processes takes Open MPI ten times as long.
    let trial_of = |planted: Planted| {
        let [fault, .., words] = planted;
        let name = format!("{}::datatypes::the planted fault \"{fault}\" is found and shrunk", MPIS[0]);
        match words.starts_with("quick") {
            true => trial(Need::OneProcessor, name, move || is_found(planted)),
            false => when_asked(&ROOM, None, name, move || is_found(planted)),
        }
    };
    let mut trials: Vec<Trial> = planted().map(trial_of).collect();
    trials.extend(trials_on(&MPIS[..1], Need::AllProcessors, "datatypes", gate));
    trials.extend(trials_on(&MPIS, Need::AllProcessors, "datatypes", both));
    let programs = format!("{}::datatypes::the programs of all operations are right", MPIS[0]);
    trials.push(when_asked(&ROOM, None, programs, || programs_are_right(mpi(MPIS[0]))));
    trials
}

type Planted = [&'static str; 4];

fn planted() -> impl Iterator<Item = Planted> {
    let rows = include_str!("planted.txt").lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split(" | ").collect::<Vec<_>>().try_into().expect("four columns"))
}

/// The word for operations in which the MPI itself errs.
const BASELINE: &str = "baseline";

/// Faults of layouts that need more constructors.
const DEEP: (&str, usize) = ("deep", 4);
const MOST_CONSTRUCTORS: usize = 3;

/// With the default seed each is found by then.
const CASES: u32 = 600;

fn is_found([fault, operation, constructor, words]: Planted) {
    let line = format!("conform --only {operation} --cases {CASES}");
    let faulty = if words.ends_with(BASELINE) { since_baseline } else { faulty };
    let kept = faulty(mpi(MPIS[0]), fault, &line).ends(1);
    let list = FindingList::read(&kept.out().join("findings.toml")).unwrap();
    let most = if fault == DEEP.0 { DEEP.1 } else { MOST_CONSTRUCTORS };
    let is_own = |layout: &Layout| {
        ["-", layout.constructor().name()].contains(&constructor) && layout.constructors() <= most
    };
    let is_shrunk = list.finding.iter().any(|finding| is_own(&finding.layout.parse().unwrap()));
    assert!(is_shrunk, "{fault} was not found: {}", kept.ended);
    assert!(kept.ended.out.contains("confirmed by the C program"), "{}", kept.ended);
    let has_place = || list.finding.iter().any(|finding| finding.detail.contains(": in "));
    let is_crash = ["crash", "jump"].contains(&fault);
    assert!(!is_crash || has_place(), "a crash without its function: {}", kept.ended);
}

fn faulty<'a>(mpi: &'a Mpi, fault: &str, line: &str) -> Measuring<'a> {
    Measuring::on(mpi, line).fault(&format!("datatype {fault}"))
}

/// The same, with the MPI as it is for the baseline.
fn since_baseline<'a>(mpi: &'a Mpi, fault: &str, line: &str) -> Measuring<'a> {
    let variant = faulty_mpi::variant(mpi, "faulty", &format!("datatype {fault}"));
    let mpis = format!("--mpi {0}:faulty --baseline {0}", mpi.name);
    Measuring::on(mpi, format!("{line} {mpis} --variant '{variant}'"))
}

/// Known findings are those of reductions, on types whose first byte is not at the address. So are the types
/// of the regression: only the operation differs.
fn gate(mpi: &Mpi) {
    let line = |seed, known| format!("conform --only reduce,scatter --cases 300 --seed {seed}{known}");
    let healthy = Measuring::on(mpi, line(1, "")).ends(1);
    let list = std::fs::read_to_string(healthy.out().join("findings.toml")).unwrap();
    assert!(list.contains("operation = \"reduce\"") && !list.contains("scatter"), "{}", healthy.ended);
    let night = |seed| Measuring::on(mpi, line(seed, " --known list.toml")).file("list.toml", &list);
    let passed = night(2).ends(0);
    assert!(passed.ended.out.contains(": 0 new findings"), "{}", passed.ended);
    let failed = night(2).fault("datatype scattered").ends(1);
    only_scatter_fails(&failed);
    let line = "conform --only reduce,scatter --cases 300";
    let passed = Measuring::on(mpi, format!("{line} --baseline {}", mpi.name)).ends(0);
    assert!(passed.ended.out.contains(" hits: 0 here only, "), "{}", passed.ended);
    only_scatter_fails(&since_baseline(mpi, "scattered", line).ends(1));
}

fn only_scatter_fails(failed: &Kept) {
    let new = FindingList::read(&failed.out().join("findings.toml")).unwrap();
    let operations: Vec<_> = new.finding.iter().map(|finding| finding.operation.as_str()).collect();
    assert_eq!(operations, ["scatter"], "{}", failed.ended);
    assert!(failed.ended.out.contains("confirmed by the C program"), "{}", failed.ended);
}

/// An operation does in a program what it does in the rank program: on a type without faults both are right.
/// Every fourth of the other forms is tried, since they change its text by few rules.
fn programs_are_right(mpi: &Mpi) {
    use ProgramMemory::{Guarded, Static};
    // A program lists the places of one item of the third; the lists of the fourth are variables, those of its type without gaps, too.
    let ways = [
        ("contiguous(5, int32)", 3, Guarded),
        ("vector(2, 1, 2, int32)", 2, Static),
        ("resized(0, 16, vector(2, 1, 2, int32))", 30, Guarded),
        ("struct([1, 1, 1, 1], [0, 8, 24, 32], [float_complex, double_complex, int32, double])", 2, Static),
        ("contiguous(0, int32)", 2, Guarded),
    ];
    let [source, binary] = ["operation.c", "operation"].map(|name| setup::scratch().join(name));
    for (number, operation) in OPERATIONS.iter().enumerate().filter(|(i, of)| !of.is_form || i % 4 == 0) {
        // Which hang on MPIs at hand.
        let has_data = !operation.needs(conformance::Need::WithoutData);
        let (layout, items, memory) = match operation.name {
            "send_to_self" => ways[3],
            _ if has_data => ways[number % 3],
            _ => ways[4],
        };
        let kind = if has_data { FaultKind::WrongData } else { FaultKind::Hang };
        let case = Case::with_layout(0, layout.parse().unwrap(), items, true);
        let hit = Hit { operation, kind, ..Hit::untried(&case) };
        std::fs::write(&source, program(&hit, mpi.name, operation.ranks, memory)).unwrap();
        run(mpi.command(&mpi.mpicc).args(["-Wall", "-Werror", "-o"]).args([&binary, &source])).expect_code(0);
        let ended = run(mpi.command(&mpi.mpiexec).args(["-n", &operation.ranks.to_string()]).arg(&binary));
        let is_right = ended.code == Some(0) && ended.out.contains("right");
        assert!(is_right || !has_data && !ended.out.contains("WRONG"), "{}: {ended}", operation.name);
    }
}

/// Operations in which the MPI is not known to err: a finding with a planted fault is that fault. Then findings of a list.
fn faultless(mpi: &Mpi) {
    let clean = planted().filter(|[.., words]| mpi.name == MPIS[0] && !words.ends_with(BASELINE));
    let clean: BTreeSet<&str> = clean.map(|[_, operation, ..]| operation).chain(["contents"]).collect();
    let only = clean.iter().copied().collect::<Vec<_>>().join(",");
    let kept = Measuring::on(mpi, format!("conform --only {only} --cases {CASES} --format json")).ends(0);
    let report: serde_json::Value = serde_json::from_str(&kept.ended.out).unwrap();
    let operations = report["mpis"][0]["operations"].as_object().unwrap();
    let is_tried = |operation: &&str| operations[*operation].as_u64() > Some(10);
    assert!(clean.iter().all(is_tried), "{}", kept.ended);
    let list = "[[finding]]\noperation = \"contents\"\nkind = \"wrong_value\"\nlayout = \"vector(2, 1, 3, int32)\"\nitems = 1\n";
    let replay = "conform --replay list.toml";
    let kept = Measuring::on(mpi, replay).file("list.toml", list).ends(0);
    assert!(kept.ended.out.contains("not found any more: contents"), "{}", kept.ended);
}
