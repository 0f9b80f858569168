//! Figures of papers: one command measures and draws one, as SVG and as CSV.

use std::fs;

use libtest_mimic::Trial;

use super::job::run;
use super::setup::{ddtbench, mpi};
use super::trial::alone;

/// A figure of each paper, smaller than its own first look, with what its picture must say.
const FIGURES: [(&str, &[&str], &[&str]); 4] = [
    (
        "ddtbench-5",
        &["nas_lu_y", "-m", "reference,manual,ddt", "--preset", "quick", "-p", "ny=100,200"],
        &["packing overhead (%)", "bytes that a rank sends", "manual", "ddt"],
    ),
    (
        "cmb-5",
        &["-p", "bytes=1KiB,4KiB", "-n", "2", "--threads", "2", "-m", "reference,manual,fine"],
        &["speed-up over BSP messages (%)", "stencil7", "stencil27", "fine"],
    ),
    (
        "hlrs-4",
        &["--partition-bytes", "64KiB,256KiB", "-m", "single,persistent", "--threads", "1,2"],
        &["size of a partition", "persistent, threads=1", "persistent, threads=2"],
    ),
    ("pcomm-4", &["--bytes", "64,4KiB", "-m", "single,many"], &["size of the message", "single", "many"]),
];

pub fn trials() -> Vec<Trial> {
    vec![alone("mpich::figures::a figure of each paper is one command", || {
        every_paper();
    })]
}

fn every_paper() {
    let name = mpi("mpich").name;
    for (figure, flags, words) in FIGURES {
        let dir = tempfile::tempdir().unwrap();
        let mut command = ddtbench(dir.path());
        // Ten rounds whatever they take, so that there are intervals.
        command.args(["figure", figure]).args(flags).args(["--quick", "--mpi", name, "--out", "out"]);
        run(&mut command).expect_code(0);
        let read = |ending: &str| {
            let file = dir.path().join(format!("out/figures/{figure}.{ending}"));
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        let (svg, csv) = (read("svg"), read("csv"));
        for word in words.iter().chain(&["In the paper:", "mpich 5"]) {
            assert!(svg.contains(word), "{figure} does not say {word:?}");
        }
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let at = |name: &str| headers.iter().position(|header| header == name).expect("a column");
        let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
        assert!(rows.len() >= 2, "{figure}: {csv}");
        assert!(rows.iter().all(|row| row[at("value")].parse::<f64>().is_ok()), "{figure}: {csv}");
        let mut places: Vec<&str> = rows.iter().map(|row| &row[at("x")]).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 2, "{figure} is over two sizes: {csv}");
        // The page of the run has it too, and `report` draws it again.
        let page = fs::read_to_string(dir.path().join("out/report.html")).unwrap();
        assert!(page.contains(&format!("id=\"figure-{figure}\"")), "{figure}");
        let again = ["report", "out", "--figures", "again.svg", "--figure", figure];
        run(ddtbench(dir.path()).args(again)).expect_code(0);
        assert_eq!(fs::read_to_string(dir.path().join("again.svg")).unwrap(), svg);
    }
}
