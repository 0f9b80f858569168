//! Figures of papers: one command measures and draws a figure, as SVG and as CSV.

use std::collections::BTreeSet;

use libtest_mimic::Trial;

use super::setup::mpi;
use super::trial::alone;
use super::typed::{Measuring, type_alone};

/// Figures of papers, smaller than their `quick` versions, with words that they show.
const FIGURES: [(&str, &str, &[&str]); 3] = [
    (
        "ddtbench-5",
        "-p test=nas_lu_y -m reference,manual,ddt -p ny=100,200",
        &["pack overhead (%)", "bytes sent per rank", "manual", "ddt"],
    ),
    (
        "cmb-5",
        "-p bytes=1KiB,4KiB -n 2 -p threads=2 -m reference,manual,fine",
        &["speed-up relative to BSP messages (%)", "stencil7", "stencil27", "fine"],
    ),
    ("pcomm-4", "-p bytes=64,4KiB -m single,many", &["size of the message", "many"]),
];

/// The plan of HLRS' figure 4 with other methods, sizes and title.
fn edited_bandwidths(plan: &str) -> String {
    let edits = [
        ("\"single\", \"persistent\", \"partitioned\"", "\"single\", \"persistent\""),
        ("name = \"hlrs-4\"", "name = \"mine\""),
        ("figure 4: persistent and partitioned by threads", "as we have it"),
        ("\"1KiB..8MiB by 8\"", "[\"64KiB\", \"256KiB\"]"),
        ("threads = \"1..16\"", "threads = [1, 2]"),
    ];
    edits.iter().fold(plan.to_owned(), |plan, (from, to)| {
        assert!(plan.contains(from), "{from}: {plan}");
        plan.replace(from, to)
    })
}

/// The plan of BenchNBC's figure 7 with given sizes, so that none has to be calibrated.
fn edited_heat_maps(plan: &str) -> String {
    let (head, _) = plan.split_once("[[sweep]]").expect("a sweep");
    let sweep = |(communication, bytes): (u32, u32), (computation, rows): (u32, u32)| {
        format!(
            "[[sweep]]\ntest = \"ibcast\"\ncommunication_us = {communication}\nbytes = {bytes}\n\
             computation_us = {computation}\nmatrix_order = {rows}\n"
        )
    };
    let sizes = [(500, 4096), (1000, 8192)];
    let orders = [(500, 16), (1000, 24)];
    let sweeps = sizes.iter().flat_map(|size| orders.iter().map(move |order| sweep(*size, *order)));
    head.to_owned() + &sweeps.collect::<String>()
}

/// A user's change of a plan.
type Edit = fn(&str) -> String;

pub fn trials() -> Vec<Trial> {
    vec![
        alone("mpich::figures::a figure of each paper is one command", || {
            for (figure, flags, words) in FIGURES {
                let line = format!("figure {figure} --quick {flags}");
                measured(Measuring::on(mpi("mpich"), line), &[figure], words);
            }
        }),
        alone("mpich::figures::a plan file that was copied and edited is a figure", || {
            let lines =
                ["as we have it", "size of a partition", "persistent, threads=1", "persistent, threads=2"];
            let own: [(&str, Edit, &[&str], &[&str]); 2] = [
                ("hlrs-4", edited_bandwidths, &["mine"], &lines),
                ("nbc-7", edited_heat_maps, &["nbc-7a", "nbc-7b"], &["nonblocking, ibcast"]),
            ];
            for (figure, edit, pictures, words) in own {
                let plan = type_alone(&format!("list {figure}")).expect_code(0).out;
                // Ten rounds, limited by repetitions and not by time, so that there are intervals.
                let measuring = Measuring::on(mpi("mpich"), "figure my.toml --launches 1");
                measured(measuring.file("my.toml", edit(&plan)), pictures, words);
            }
        }),
    ]
}

/// Measures a figure, and checks its pictures: each has two places on its axis.
fn measured(figure: Measuring<'_>, pictures: &[&str], words: &[&str]) {
    let kept = figure.ends(0);
    for picture in pictures {
        let (svg, rows) =
            (kept.read(&format!("figures/{picture}.svg")), kept.rows(&format!("figures/{picture}.csv")));
        for word in words.iter().chain(&["In the paper:", "mpich 5"]) {
            assert!(svg.contains(word), "{picture} does not show {word:?}");
        }
        assert!(
            rows.len() >= 2 && rows.iter().all(|row| row.number("value").is_some()),
            "{picture}: {rows:?}"
        );
        let places: BTreeSet<&str> = rows.iter().map(|row| row.get("x")).collect();
        assert_eq!(places.len(), 2, "{picture} is over two sizes: {rows:?}");
        // The page of the run has it too, and `report` draws it again.
        assert!(kept.read("report.html").contains(&format!("id=\"figure-{picture}\"")), "{picture}");
        let again = kept.types(&format!("report out --figure {picture}")).expect_code(0);
        assert_eq!(again.out, svg);
    }
}
