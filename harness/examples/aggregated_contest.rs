//! How `aggregated` stands to its rivals in the folders of `ddtbench partitioned --preset aggregated`:
//!
//!     ddtbench partitioned --preset aggregated --mpi mpich -o results/mpich
//!     cargo run --release --example aggregated_contest -- results/mpich
//!
//! Prints a line per cell and the shares; ends with exit code 1 if `aggregated` is not within 5% of the best rival in at least
//! 90% of the cells whose arrivals repeat, beyond 1.25 in any of them, or beyond 2 where arrivals are drawn anew.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context;
use ddtbench::partitioned::Setting;
use ddtbench::partitioned::contest::{Rounds, standing};
use serde::Deserialize;

/// Ratios up to which a cell is as good as the best, and beyond which it is lost; the same where arrivals are drawn anew.
const CLOSE: f64 = 1.05;
const LOST: f64 = 1.25;
const LOST_AT_RANDOM: f64 = 2.0;
/// Share of the cells that have to be close.
const MOST: f64 = 0.9;

#[derive(Deserialize)]
struct Row {
    params: String,
    mpi: String,
    method: String,
    block: usize,
    solution_s: Option<f64>,
}

fn main() -> anyhow::Result<ExitCode> {
    let mut cells: BTreeMap<(String, String), Rounds> = BTreeMap::new();
    for folder in std::env::args_os().skip(1) {
        let path = std::path::Path::new(&folder).join(ddtbench::folder::SAMPLES);
        let mut reader = csv::Reader::from_path(&path).with_context(|| path.display().to_string())?;
        for row in reader.deserialize() {
            let row: Row = row?;
            let Some(time_s) = row.solution_s else { continue };
            let cell = cells.entry((row.mpi, row.params)).or_default();
            cell.entry(row.method).or_default().entry(row.block).or_default().push(time_s);
        }
    }
    anyhow::ensure!(!cells.is_empty(), "no samples: name folders of results");
    let (mut repeated, mut at_random) = (Vec::new(), Vec::new());
    for ((mpi, params), rounds) in &cells {
        let Some(standing) = standing(rounds) else {
            println!("       {mpi} {params}: not measured in both halves");
            continue;
        };
        let pairs = params.split_whitespace().filter_map(|pair| pair.split_once('='));
        let setting = Setting::parse(pairs).map_err(anyhow::Error::msg)?;
        let is_random = setting.sampler(0, 0).map_err(anyhow::Error::msg)?.is_random();
        let [first, second] = standing.halves;
        println!("{:6.3} [{first:.3}, {second:.3}] {mpi} {params}, best {}", standing.ratio, standing.rival);
        if is_random { &mut at_random } else { &mut repeated }.push(standing.ratio);
    }
    let beyond = |ratios: &[f64], limit: f64| ratios.iter().filter(|&&ratio| ratio > limit).count();
    let close = repeated.len() - beyond(&repeated, CLOSE);
    let (lost, lost_at_random) = (beyond(&repeated, LOST), beyond(&at_random, LOST_AT_RANDOM));
    println!(
        "arrivals repeat: {close} of {} cells within {CLOSE} of the best, {lost} beyond {LOST}",
        repeated.len()
    );
    println!("arrivals drawn anew: {lost_at_random} of {} cells beyond {LOST_AT_RANDOM}", at_random.len());
    let holds = close as f64 >= MOST * repeated.len() as f64 && lost == 0 && lost_at_random == 0;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
