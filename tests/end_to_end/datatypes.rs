//! Random datatypes: faults that are planted in an MPI are found, shrunk, and confirmed by a C program.

use common::conformance::{self, Case, FaultKind, OPERATIONS};
use ddtbench::conformance::datatypes::program::{ProgramMemory, program};
use ddtbench::conformance::datatypes::{FindingList, Hit};
use libtest_mimic::Trial;

use datatypes::Layout;

use super::faulty_mpi;
use super::job::run;
use super::setup::{self, Check, MPIS, Mpi, mpi, trials_on};
use super::trial::{Need, Room, alone, when_asked};
use super::typed::{Kept, Measuring};

/// Each starts some dozen processes, which mostly do not exchange messages.
static ROOM: Room = Room::with_places(2);

pub fn trials() -> Vec<Trial> {
    let gate: &[(&str, Check)] =
        &[("with a list of known findings or a baseline a run passes, and a regression fails", gate)];
    let both: &[(&str, Check)] = &[("operations without faults have no findings", faultless)];
    // Only MPICH, because to start processes takes Open MPI ten times as long.
    let trial = |planted: Planted| {
        let [fault, .., time] = planted;
        let name = format!("{}::datatypes::the planted fault \"{fault}\" is found and shrunk", MPIS[0]);
        match time {
            "quick" => alone(name, move || is_found(planted)),
            _ => when_asked(&ROOM, None, name, move || is_found(planted)),
        }
    };
    let mut trials: Vec<Trial> = planted().map(trial).collect();
    trials.extend(trials_on(&MPIS[..1], Need::AllProcessors, "datatypes", gate));
    trials.extend(trials_on(&MPIS, Need::AllProcessors, "datatypes", both));
    let programs = format!("{}::datatypes::the programs of all operations are right", MPIS[0]);
    trials.push(when_asked(&ROOM, None, programs, || programs_are_right(mpi(MPIS[0]))));
    trials
}

/// A planted fault, the operation that finds it, the constructor at fault, and whether it takes only a few seconds.
type Planted = [&'static str; 4];

fn planted() -> impl Iterator<Item = Planted> {
    let rows = include_str!("planted.txt").lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split(" | ").collect::<Vec<_>>().try_into().expect("four columns"))
}

/// Faults of layouts that need more constructors.
const DEEP: (&str, usize) = ("deep", 4);
const MOST_CONSTRUCTORS: usize = 3;

/// With the default seed each is found by then.
const CASES: u32 = 600;

fn is_found([fault, operation, constructor, _]: Planted) {
    let line = format!("conform --only {operation} --cases {CASES}");
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

/// A command on an MPI with a fault, with the MPI as it is for the baseline.
fn faulty<'a>(mpi: &'a Mpi, fault: &str, line: &str) -> Measuring<'a> {
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
    only_scatter_fails(&faulty(mpi, "scattered", line).ends(1));
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
    let few = Case::with_layout(0, "contiguous(5, int32)".parse().unwrap(), 3, true);
    // So many that a program lists those of one item.
    let many = Case::with_layout(0, "resized(0, 16, vector(2, 1, 2, int32))".parse().unwrap(), 30, true);
    // So long lists that they are variables, in the type without gaps, too.
    let lists = "struct([1, 1, 1, 1], [0, 8, 24, 32], [float_complex, double_complex, int32, double])";
    let lists = Case::with_layout(0, lists.parse().unwrap(), 2, true);
    let folder = setup::scratch();
    let (source, program_file) = (folder.join("operation.c"), folder.join("operation"));
    let tried =
        OPERATIONS.iter().enumerate().filter(|(number, operation)| !operation.is_form || number % 4 == 0);
    // So few bytes that they are constants, between others.
    let small = Case::with_layout(0, "vector(2, 1, 2, int32)".parse().unwrap(), 2, true);
    let nothing = Case::with_layout(0, "contiguous(0, int32)".parse().unwrap(), 2, true);
    for ((_, operation), case) in tried.zip([few, many].iter().cycle()) {
        let case = if operation.name == "send_to_self" { &lists } else { case };
        // Which hang on MPIs at hand.
        let has_data = !operation.needs(conformance::Need::WithoutData);
        let [case, small] = if has_data { [case, &small] } else { [&nothing; 2] };
        for (case, memory) in [(case, ProgramMemory::Guarded), (small, ProgramMemory::Literal)] {
            let kind = if has_data { FaultKind::WrongData } else { FaultKind::Hang };
            let hit = Hit { operation, kind, ..Hit::untried(case) };
            std::fs::write(&source, program(&hit, mpi.name, operation.ranks, memory)).unwrap();
            run(mpi.command(&mpi.mpicc).arg(&source).arg("-o").arg(&program_file)).expect_code(0);
            let ranks = operation.ranks.to_string();
            let ended = run(mpi.command(&mpi.mpiexec).args(["-n", &ranks]).arg(&program_file));
            let is_right = ended.code == Some(0) && ended.out.contains("right");
            assert!(is_right || !has_data && !ended.out.contains("WRONG"), "{}: {ended}", operation.name);
        }
    }
}

/// Operations in which neither MPI is known to err, and the same findings again.
fn faultless(mpi: &Mpi) {
    let kept = Measuring::on(mpi, "conform --only contents --cases 50 --format json").ends(0);
    let report: serde_json::Value = serde_json::from_str(&kept.ended.out).unwrap();
    let operations = report["mpis"][0]["operations"].as_object().unwrap();
    assert!(operations.len() == 1 && operations["contents"].as_u64().unwrap() > 40, "{}", kept.ended);
    let list = "[[finding]]\noperation = \"contents\"\nkind = \"wrong_value\"\nlayout = \"vector(2, 1, 3, int32)\"\nitems = 1\n";
    let replay = "conform --replay list.toml";
    let kept = Measuring::on(mpi, replay).file("list.toml", list).ends(0);
    assert!(kept.ended.out.contains("not found any more: contents"), "{}", kept.ended);
}
