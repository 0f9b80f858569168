//! Compares `aggregated` with the other mechanisms, in folders of `ddtbench partitioned` with the plan next to this
//! file:
//!
//!     ddtbench partitioned --plan harness/examples/aggregated_contest/plan.toml --mpi mpich -o results/mpich
//!     cargo run --release --example aggregated_contest -- results/mpich
//!
//! Prints a line per cell and the shares. Ends with exit code 1 in these cases: `aggregated` loses by more than 5% to
//! the best other mechanism in more than 10% of the cells whose arrivals repeat; it loses by more than a factor of
//! 1.25 in any of them; it loses by more than a factor of 2 in a cell with random arrivals; or a cell has too few
//! rounds for an interval. A cell is lost if the whole interval of its ratio is above the limit. The number of ratios
//! above it, and of intervals that include it, are printed too.

mod contest;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use ddtbench::experiments::partitioned::Setting;
use ddtbench::folder::{CASES, SAMPLES};
use ddtbench::model::mpi_label;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

use contest::{Count, Rounds, ratio_to_best};

/// Ratios up to which a cell is as good as the best, and above which it is lost; the latter also for random arrivals.
const CLOSE: f64 = 1.05;
const LOST: f64 = 1.25;
const LOST_AT_RANDOM: f64 = 2.0;
/// Share of the cells that may be lost by [`CLOSE`].
const FEW: f64 = 0.1;

/// More rounds than any launch has, so that rounds of different launches have different numbers. It is even, so that
/// rounds stay in their half.
const ROUNDS: usize = 1 << 20;

#[derive(Deserialize)]
struct CaseRow {
    number: usize,
    params: String,
    mpi: String,
    mpi_variant: String,
}

#[derive(Deserialize)]
struct Row {
    case: usize,
    launch: usize,
    method: String,
    block: usize,
    solution_s: Option<f64>,
}

fn main() -> anyhow::Result<ExitCode> {
    let mut cells: BTreeMap<(String, String), Rounds> = BTreeMap::new();
    for folder in std::env::args_os().skip(1) {
        let open = |name: &str| {
            let path = Path::new(&folder).join(name);
            File::open(&path).with_context(|| path.display().to_string())
        };
        let mut cases = BTreeMap::new();
        for row in csv::Reader::from_reader(open(CASES)?).deserialize() {
            let row: CaseRow = row?;
            cases.insert(row.number, (mpi_label(&row.mpi, &row.mpi_variant), row.params));
        }
        for row in csv::Reader::from_reader(MultiGzDecoder::new(open(SAMPLES)?)).deserialize() {
            let row: Row = row?;
            let Some(time_s) = row.solution_s else { continue };
            let case = cases.get(&row.case).with_context(|| format!("{CASES}: no case {}", row.case))?;
            let rounds = cells.entry(case.clone()).or_default().entry(row.method).or_default();
            rounds.entry(row.launch * ROUNDS + row.block).or_default().push(time_s);
        }
    }
    anyhow::ensure!(!cells.is_empty(), "no samples: name folders of results");
    let (mut repeated, mut at_random) = (Vec::new(), Vec::new());
    for ((mpi, params), rounds) in &cells {
        let pairs = params.split_whitespace().filter_map(|pair| pair.split_once('='));
        let setting = Setting::parse(pairs).map_err(anyhow::Error::msg)?;
        let Some(found) = ratio_to_best(rounds) else {
            println!("                       {mpi} {params}: not measured in both halves");
            continue;
        };
        let is_random = setting.sampler(0, 0).map_err(anyhow::Error::msg)?.is_random();
        let ratio = found.ratio;
        let interval =
            ratio.interval.map_or("no interval".to_owned(), |(low, high)| format!("{low:.3}, {high:.3}"));
        println!(
            "{:6.3} [{interval}] {mpi} {params}, best {}, {} rounds",
            ratio.value, found.best, found.rounds
        );
        if is_random { &mut at_random } else { &mut repeated }.push(ratio);
    }
    let unknown = repeated.iter().chain(&at_random).filter(|ratio| ratio.interval.is_none()).count();
    let close = report("arrivals repeat", &repeated, CLOSE);
    let far = report("arrivals repeat", &repeated, LOST);
    let at_random = report("arrivals redrawn", &at_random, LOST_AT_RANDOM);
    if unknown > 0 {
        println!("{unknown} cells have too few rounds for an interval");
    }
    let is_close = close.lost as f64 <= FEW * close.cells as f64;
    let holds = is_close && far.lost + at_random.lost + unknown == 0;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Counts by a limit, and prints it.
fn report(what: &str, ratios: &[ddtbench::stats::Ratio], limit: f64) -> Count {
    let count = Count::of(ratios, limit);
    println!(
        "{what}: {} of {} cells within {limit} of the best, {} lost by their intervals, {} open",
        count.within, count.cells, count.lost, count.open
    );
    count
}
