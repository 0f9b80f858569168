//! Several MPIs, cache modes and launches in one run, for every kind of experiment; `typed/launches.txt` tests runs that are resumed.

use std::collections::BTreeSet;

use libtest_mimic::Trial;

use super::results::{Row, Summary, expect_once, kept, samples};
use super::setup::{MPIS, mpi};
use super::trial::alone;
use super::typed::Measuring;

/// A small case of each kind, as its command.
const KINDS: [&str; 4] = [
    "run nas_lu_y -m reference,ddt --cache warm,cold",
    "engine strided -p count=16,stride=2,element=double --cache warm,cold",
    "partitioned -p bytes=4KiB -p partitions=2 -m single,isend --cache warm,cold",
    "halo stencil7 -n 2 -m reference,manual",
];

const LAUNCHES: usize = 3;

pub fn trials() -> Vec<Trial> {
    let of_kind = |line: &'static str| {
        let name = line.split(' ').next().expect("a command");
        alone(format!("both MPIs::launches::{name}"), move || every_one_has_its_rows(line))
    };
    let mut trials: Vec<_> = KINDS.into_iter().map(of_kind).collect();
    let on_one: [(&str, fn()); 2] = [
        ("a method that moved wrong bytes in one launch has no figures", wrong_once),
        ("repetitions that are late now and then are reported", late),
    ];
    trials.extend(on_one.map(|(what, check)| alone(format!("mpich::launches::{what}"), check)));
    trials
}

/// The columns that identify a row of a table, except method and phase.
fn places(rows: &[Row]) -> BTreeSet<[String; 4]> {
    let place =
        |row: &Row| ["mpi", "mpi_variant", "cache", "launch"].map(|column| row.get(column).to_owned());
    rows.iter().map(place).collect()
}

fn every_one_has_its_rows(line: &str) {
    let mpis = MPIS.map(|name| mpi(name).name);
    let flags = format!("--mpi {} --launches {LAUNCHES} --max-time 0.02 --min-repetitions 4", mpis.join(","));
    let run = Measuring::on(mpi("mpich"), format!("{line} {flags}")).ends(0);
    let folder = run.out();
    let caches = if line.contains("warm,cold") { 2 } else { 1 };
    let launches = &run.summary.0;
    assert!(launches.iter().all(Row::is_measured), "{launches:?}");
    assert_eq!(places(launches).len(), mpis.len() * caches * LAUNCHES);
    assert_eq!(run.rows("cases.csv").len(), mpis.len() * caches, "a launch is not a case");

    let over = run.rows("summary.csv");
    assert_eq!(places(&over).len(), mpis.len() * caches);
    // A row for each state of the machine that launches were in.
    let counted = over.iter().filter_map(|row| row.number("launches")).sum::<f64>();
    assert_eq!(counted, launches.len() as f64, "{over:?}");
    for row in &over {
        assert_eq!(row.get("launch"), "");
        if row.get("launches") != "3" {
            assert!(
                row.is(&[("basis", "within_launch"), ("median_low_s", ""), ("repeat_low_s", "")]),
                "{row:?}"
            );
            continue;
        }
        assert_eq!(row.get("basis"), "launches_t");
        let [low, middle, high] =
            ["median_low_s", "median_s", "median_high_s"].map(|column| row.number(column).unwrap());
        // A phase that is too short for the clock takes no time.
        assert!(low <= middle && middle <= high || middle == 0.0, "{row:?}");
        assert!(row.number("repeat_low_s").unwrap() <= low, "{row:?}");
    }
    let reported = run.types("report out").expect_code(0);
    for mpi in mpis {
        assert!(reported.out.contains(mpi), "{reported}");
    }
    // The run is complete: nothing is measured again.
    let whole = kept(&folder);
    let resume = || run.types("run --resume out").expect_code(0);
    resume();
    assert_eq!(kept(&folder), whole);
    // The run is edited as if it had been killed before its last launch: only that launch is repeated.
    let last = |row: &Row| row.is(&[("mpi", "openmpi"), ("launch", &(LAUNCHES - 1).to_string())]);
    let (header, lines) = whole.split_once('\n').unwrap();
    let lines = lines.split_inclusive('\n').zip(run.rows("launches.csv"));
    let rest: String = lines.filter(|(_, row)| !last(row)).map(|(line, _)| line).collect();
    let rest = format!("{header}\n{rest}");
    assert!(rest.len() < whole.len(), "{whole}");
    std::fs::write(folder.join("launches.csv"), &rest).unwrap();
    resume();
    assert!(kept(&folder).starts_with(&rest), "finished results have changed");
    let now = Summary::read(&folder).0;
    assert_eq!(now.len(), launches.len());
    expect_once(&now, &["mpi", "cache", "launch", "params", "method", "phase", "pair"]);
    expect_once(&samples(&folder), &["case", "launch", "method", "pair", "block", "repetition"]);
}

/// A byte is wrong in one of three launches.
fn wrong_once() {
    let line = "run strided -p count=16,stride=2,element=double -m reference,manual,ddt --launches 3 --max-time 0.06 --min-repetitions 4";
    let run = Measuring::on(mpi("mpich"), line).fault("flip 37").ranks_see("FAULTY_MPI_ONCE", "once").ends(1);
    let command = "To isolate the wrong bytes: ddtbench conform --mpi mpich --replay out/strided-1.layout\n";
    assert!(run.ended.out.contains(command), "{}", run.ended);
    assert!(run.read("strided-1.layout").starts_with("vector(16, 1, 2, double)"));
    let of_ddt =
        |rows: Vec<Row>| rows.into_iter().filter(|row| row.get("method") == "ddt").collect::<Vec<_>>();
    let launches = of_ddt(run.rows("launches.csv"));
    let outcomes: BTreeSet<_> =
        launches.iter().filter(|row| row.get("phase") == "round_trip").map(Row::is_measured).collect();
    assert_eq!(outcomes.len(), 2, "one launch moved wrong bytes, the others did not: {launches:?}");
    let over = of_ddt(run.rows("summary.csv"));
    assert_eq!(over.len(), 1, "{over:?}");
    assert!(over[0].is(&[
        ("outcome", "wrong data"),
        ("median_s", ""),
        ("mean_s", ""),
        ("max_s", ""),
        ("n", "0")
    ]));
    let figures = run.rows("figures.csv");
    assert!(figures.iter().any(|row| row.get("method") == "manual"));
    assert!(
        figures.iter().all(|row| row.get("method") != "ddt" && row.get("against") != "ddt"),
        "{figures:?}"
    );
    assert!(of_ddt(run.rows("figures/launches.csv")).is_empty());
    for shown in ["report out", "report out --details"] {
        let text = run.types(shown).expect_code(0).out;
        assert!(text.contains("ddt wrong data: rank 1"), "{text}");
        assert!(!text.contains("as fast as ddt") && !text.contains("ddt is "), "{text}");
    }
}

/// One receive of ten takes 0.3 s longer, which is long on any machine.
fn late() {
    // Blocks of eleven receives including the untimed one, so that not all untimed ones are late.
    let line = "run strided -p count=16,stride=2,element=double -m reference,ddt --launches 1 --warmup 1 --min-repetitions 10 --max-repetitions 60 \
                --max-time 60";
    let run = Measuring::on(mpi("mpich"), line).fault("stall 10 300000").ends(0);
    let out = run.ended.out.replace("\n  ", " ");
    let is_reported = |line: &str| line.starts_with("Slow at times") && line.contains(" of strided");
    let over = run.rows("summary.csv");
    let ddt = over.iter().find(|row| row.is(&[("method", "ddt"), ("phase", "round_trip")])).expect("a row");
    // On a busy machine all blocks may be disturbed, and then no method is blamed.
    let is_disturbed = ddt.get("slow_time").is_empty() && ddt.get("blocks_disturbed") == ddt.get("blocks");
    assert!(is_disturbed || out.lines().any(is_reported), "{}", run.ended);
    // At least four samples of 60.
    assert!(ddt.number("max_s") >= Some(0.3) && ddt.number("mean_s") >= Some(0.3 * 4.0 / 60.0), "{ddt:?}");
}
