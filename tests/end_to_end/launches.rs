//! Several MPIs, cache modes and launches in one run, for every kind of experiments.

use std::collections::BTreeSet;

use libtest_mimic::Trial;

use super::job::run;
use super::results::{Row, Summary, expect_once, kept, rows, samples};
use super::setup::{ONE_LAUNCH, ddtbench, mpi};
use super::trial::alone;

/// A small case of each kind, by its command.
const KINDS: [&[&str]; 4] = [
    &["run", "nas_lu_y", "-m", "reference,ddt", "--cache", "warm,cold"],
    &["engine", "strided", "-p", "count=16,stride=2,element=double", "--cache", "warm,cold"],
    &["partitioned", "-p", "bytes=4KiB", "-p", "partitions=2", "-m", "single,isend", "--cache", "warm,cold"],
    &["halo", "stencil7", "-n", "2", "-m", "reference,manual"],
];

const LAUNCHES: usize = 3;

pub fn trials() -> Vec<Trial> {
    let of_kind = |arguments: &'static [&'static str]| {
        alone(format!("both MPIs::launches::{}", arguments[0]), move || {
            every_one_has_its_rows(arguments);
        })
    };
    let mut trials: Vec<_> = KINDS.into_iter().map(of_kind).collect();
    trials.push(alone("mpich::launches::a run resumed on another machine says so", || {
        elsewhere();
    }));
    trials.push(alone("mpich::launches::an MPI that is named by its path can be resumed", || {
        by_path();
    }));
    trials.push(alone("mpich::launches::a variant is an MPI of its own", || {
        a_variant();
    }));
    trials
}

/// What tells rows of a table apart, but for methods and phases.
fn places(rows: &[Row]) -> BTreeSet<[String; 4]> {
    let place =
        |row: &Row| ["mpi", "mpi_variant", "cache", "launch"].map(|column| row.get(column).to_owned());
    rows.iter().map(place).collect()
}

fn every_one_has_its_rows(arguments: &[&str]) {
    let mpis = ["mpich", "openmpi"].map(|name| mpi(name).name);
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args(arguments).args(["--mpi", &mpis.join(","), "--launches", &LAUNCHES.to_string()]);
    run(command.args(["--max-time", "0.02", "--min-runs", "4", "--out", "out"])).expect_code(0);
    let folder = dir.path().join("out");
    let caches = if arguments.contains(&"warm,cold") { 2 } else { 1 };
    let launches = Summary::read(&folder).0;
    assert!(launches.iter().all(Row::is_measured), "{launches:?}");
    assert_eq!(places(&launches).len(), mpis.len() * caches * LAUNCHES);
    assert_eq!(rows(&folder.join("cases.csv")).len(), mpis.len() * caches, "a launch is no case");

    let over = rows(&folder.join("summary.csv"));
    assert_eq!(places(&over).len(), mpis.len() * caches);
    assert_eq!(over.len() * LAUNCHES, launches.len());
    for row in &over {
        assert!(row.is(&[("launch", ""), ("launches", "3"), ("basis", "launches_t")]), "{row:?}");
        let [low, middle, high] =
            ["median_low_s", "median_s", "median_high_s"].map(|column| row.number(column).unwrap());
        // A phase that the clock does not see takes no time.
        assert!(low <= middle && middle <= high || middle == 0.0, "{row:?}");
        assert!(row.number("repeat_low_s").unwrap() <= low, "{row:?}");
    }
    let reported = run(ddtbench(dir.path()).args(["report", "out"])).expect_code(0);
    for mpi in mpis {
        assert!(reported.out.contains(mpi), "{reported}");
    }
    // All is there: nothing is measured again.
    let whole = kept(&folder);
    let resume = || run(ddtbench(dir.path()).args(["run", "--resume", "out"])).expect_code(0);
    resume();
    assert_eq!(kept(&folder), whole);
    // As if it had been killed before its last launch: that is made again, and nothing else.
    let last = |row: &Row| row.is(&[("mpi", "openmpi"), ("launch", &(LAUNCHES - 1).to_string())]);
    let (header, lines) = whole.split_once('\n').unwrap();
    let lines = lines.split_inclusive('\n').zip(rows(&folder.join("launches.csv")));
    let rest: String = lines.filter(|(_, row)| !last(row)).map(|(line, _)| line).collect();
    let rest = format!("{header}\n{rest}");
    assert!(rest.len() < whole.len(), "{whole}");
    std::fs::write(folder.join("launches.csv"), &rest).unwrap();
    resume();
    assert!(kept(&folder).starts_with(&rest), "what was finished has changed");
    let now = Summary::read(&folder).0;
    assert_eq!(now.len(), launches.len());
    expect_once(&now, &["mpi", "cache", "launch", "params", "method", "phase", "pair"]);
    expect_once(&samples(&folder), &["case", "launch", "method", "pair", "block", "repetition"]);
}

/// A run on an MPI that was named by the path of its mpicc.
fn by_path() {
    let dir = tempfile::tempdir().unwrap();
    let mpicc = mpi("mpich").mpicc.to_str().expect("a path in plain characters");
    let mut command = ddtbench(dir.path());
    command.args([
        "run",
        "contiguous",
        "-m",
        "reference",
        "--mpi",
        mpicc,
        "--max-time",
        "0.02",
        "--out",
        "out",
    ]);
    run(&mut command).expect_code(0);
    let resume = || run(ddtbench(dir.path()).args(["run", "--resume", "out"]));
    let whole = kept(&dir.path().join("out"));
    assert_eq!(
        places(&rows(&dir.path().join("out/launches.csv"))).len(),
        6,
        "launches where nobody says how many"
    );
    resume().expect_code(0);
    assert_eq!(kept(&dir.path().join("out")), whole, "nothing was left to do");
    // Where the plan was edited meanwhile it is another run.
    let plan = dir.path().join("out/plan.toml");
    let text = std::fs::read_to_string(&plan).unwrap();
    std::fs::write(&plan, text.replace("launches = 6", "launches = 7")).unwrap();
    resume().expect_code(2).expect_err(&["launches = 6", "launches = 7"]);
    assert_eq!(kept(&dir.path().join("out")), whole);
}

/// A run that is gone on with where its account names another processor.
fn elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["run", "contiguous", "-m", "reference", "--mpi", mpi("mpich").name, "--max-time", "0.02"]);
    run(command.args(["--launches", "2", "--out", "out"])).expect_code(0);
    let folder = dir.path().join("out");
    // As if the second launch was still to be made, and the first had been made on another machine.
    let file = folder.join("launches.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    let first: String = text.split_inclusive('\n').filter(|line| !line.contains(",reference,1,")).collect();
    assert!(first.len() < text.len(), "{text}");
    std::fs::write(&file, first).unwrap();
    let account = folder.join("environment.json");
    let text = std::fs::read_to_string(&account).unwrap();
    let mut told: serde_json::Value = serde_json::from_str(&text).unwrap();
    told["machine"]["host"] = "another".into();
    std::fs::write(&account, told.to_string()).unwrap();
    let before = kept(&folder);
    let words = ["another machine", "`another`", "column `part`"];
    let refused = run(ddtbench(dir.path()).args(["run", "--resume", "out"])).expect_code(2);
    refused.expect_err(&words).expect_err(&["--anyway"]);
    assert_eq!(kept(&folder), before, "nothing was touched");
    run(ddtbench(dir.path()).args(["run", "--resume", "out", "--anyway"])).expect_code(0).expect_err(&words);
    let parts = |launch| {
        let launches = rows(&file);
        let of = launches.iter().filter(|row| row.get("launch") == launch);
        of.map(|row| row.get("part").to_owned()).collect::<BTreeSet<_>>()
    };
    assert!(parts("0").iter().eq(["0"]) && parts("1").iter().eq(["1"]), "{:?} {:?}", parts("0"), parts("1"));
    let hosts: Vec<_> = rows(&folder.join("runs.csv")).iter().map(|row| row.get("host").to_owned()).collect();
    assert_eq!((hosts.len(), hosts[0].as_str()), (2, "another"));
    assert_ne!(hosts[1], "another");
    let parts = rows(&folder.join("runs.csv"));
    assert!(parts.iter().all(|row| row.get("mpis").starts_with("mpich ")), "{parts:?}");
    assert_eq!(parts[1].get("rank_hosts"), parts[1].get("host"));
    // It is no other place any more.
    run(ddtbench(dir.path()).args(["run", "--resume", "out"])).expect_code(0);
}

fn a_variant() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command
        .args(["run", "contiguous", "-m", "reference", "--mpi", mpi("mpich").name, "--max-time", "0.01"])
        .args(ONE_LAUNCH);
    command.args(["--variant", "quiet:MPIR_CVAR_DEBUG_SUMMARY=0", "--out", "out"]);
    run(&mut command).expect_code(0);
    let folder = dir.path().join("out");
    let variants: BTreeSet<_> =
        rows(&folder.join("cases.csv")).iter().map(|row| row.get("mpi_variant").to_owned()).collect();
    assert!(variants.iter().eq(["", "quiet"]), "{variants:?}");
    let environment = std::fs::read_to_string(folder.join("environment.json")).unwrap();
    assert_eq!(environment.matches("\"MPIR_CVAR_DEBUG_SUMMARY\": \"0\"").count(), 1, "{environment}");
    let unknown = ["run", "contiguous", "--mpi", "mpich:loud", "--out", "none"];
    run(ddtbench(dir.path()).args(unknown)).expect_code(2).expect_err(&["mpich:loud", "--variant"]);
}
