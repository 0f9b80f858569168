//! Compares the pack engine with loops and `MPI_Pack`, over all tests and MPIs in folders of `ddtbench engine`:
//!
//!     ddtbench engine --preset default --out results/engine
//!     cargo run --release --example engine_standing -- results/engine
//!
//! Prints geometric means of the time relative to the engine's, with the number of contests; then the number of
//! contests in which the engine is first, level and behind, and the methods that are faster. A contest is a case
//! packed or unpacked, warm or cold. The engine is first if it is faster than every other method (both loops,
//! `MPI_Pack` of every MPI) and behind if one is faster, each time by the whole interval. All sets of a test count.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};
use ddtbench::model::mpi_label;
use ddtbench::stats;
use serde::Deserialize;

/// A ratio of `figures.csv`, with its case and method.
#[derive(Clone, Deserialize)]
struct Row {
    test: String,
    set: String,
    params: String,
    mpi: String,
    mpi_variant: String,
    cache: String,
    method: String,
    phase: String,
    figure: String,
    against: String,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    unsteady: Option<bool>,
}

/// The phases of a contest. Means are shown for each, for both together, and for `create`.
const PHASES: [&str; 2] = ["pack", "unpack"];

impl Row {
    fn contest(&self) -> [&str; 5] {
        [&self.test, &self.set, &self.params, &self.cache, &self.phase]
    }

    /// The method, with its MPI if the MPI does the work.
    fn opponent(&self) -> String {
        match &*self.method {
            "mpi_pack" => format!("MPI_Pack of {}", mpi_label(&self.mpi, &self.mpi_variant)),
            method => method.to_owned(),
        }
    }

    fn ratio(&self) -> Option<(f64, (f64, f64))> {
        Some((self.value?, (self.low?, self.high?)))
    }

    /// Whether the method is faster than the engine, or slower; `None` if neither is certain.
    fn is_faster(&self) -> Option<bool> {
        let (_, (low, high)) = self.ratio().filter(|_| self.unsteady != Some(true))?;
        (high < 1.0 || low > 1.0).then_some(high < 1.0)
    }
}

fn main() -> anyhow::Result<()> {
    let mut rows: Vec<Row> = Vec::new();
    for folder in std::env::args_os().skip(1) {
        let path = Path::new(&folder).join("figures.csv");
        let mut file = csv::Reader::from_path(&path).with_context(|| path.display().to_string())?;
        for row in file.deserialize() {
            let row: Row = row?;
            let is_compared = ["manual", "manual_tuned", "mpi_pack"].contains(&&*row.method);
            if row.figure == "time_over" && row.against == "engine" && is_compared {
                rows.push(row);
            }
        }
    }
    ensure!(!rows.is_empty(), "no ratios: name folders of `ddtbench engine`");
    print_means(&rows);
    print_results(&rows);
    Ok(())
}

/// The mean of each opponent's ratios, of all contests and of parts of them.
fn print_means(rows: &[Row]) {
    type Selected = fn(&Row) -> bool;
    let columns: [(&str, Selected); 6] = [
        ("all", |row| PHASES.contains(&&*row.phase)),
        ("warm pack", |row| row.cache == "warm" && row.phase == "pack"),
        ("warm unpack", |row| row.cache == "warm" && row.phase == "unpack"),
        ("cold pack", |row| row.cache == "cold" && row.phase == "pack"),
        ("cold unpack", |row| row.cache == "cold" && row.phase == "unpack"),
        ("create", |row| row.phase == "create"),
    ];
    // The ratios of each contest, by opponent. With several MPIs the smallest ratio counts as the best one; it is by
    // chance somewhat too small.
    let mut opponents: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        opponents.entry(row.opponent()).or_default().push(row);
        if row.method == "mpi_pack" {
            opponents.entry("MPI_Pack, the best in each contest".to_owned()).or_default().push(row);
        }
    }
    println!("time over the engine's, geometric means [95%] (contests); above 1 the engine is faster");
    for (opponent, rows) in &opponents {
        print!("{opponent}:");
        for (name, is_selected) in columns {
            let mut ratios: BTreeMap<[&str; 5], Vec<_>> = BTreeMap::new();
            for row in rows.iter().filter(|row| is_selected(row)) {
                ratios.entry(row.contest()).or_default().extend(row.ratio());
            }
            let of_contest = |ratios: &Vec<(f64, (f64, f64))>| match rows[0].method == "mpi_pack" {
                true => ratios.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)),
                // The loop is the same with each MPI.
                false => stats::geometric_mean(ratios.iter().copied()),
            };
            let ratios: Vec<_> = ratios.values().filter_map(of_contest).collect();
            if let Some((mean, (low, high))) = stats::geometric_mean(ratios.iter().copied()) {
                print!("  {name} {mean:.2} [{low:.2}, {high:.2}] ({})", ratios.len());
            }
        }
        println!();
    }
}

/// The number of contests that the engine wins and loses, and the methods to which it loses.
fn print_results(rows: &[Row]) {
    let mut contests: BTreeMap<[&str; 5], Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| PHASES.contains(&&*row.phase) && row.value.is_some()) {
        contests.entry(row.contest()).or_default().push(row);
    }
    let count = |is: &dyn Fn(&[&Row]) -> bool| contests.values().filter(|rows| is(rows)).count();
    let first = count(&|rows| rows.iter().all(|row| row.is_faster() == Some(false)));
    let behind = count(&|rows| rows.iter().any(|row| row.is_faster() == Some(true)));
    let clearly = count(&|rows| {
        rows.iter().any(|row| row.is_faster() == Some(true) && row.value.is_some_and(|value| value < 0.975))
    });
    println!(
        "of {} contests the engine is first in {first}, level in {}, behind in {behind}, in {clearly} of these by more than 2.5%",
        contests.len(),
        contests.len() - first - behind
    );
    let mut faster: Vec<&Row> =
        contests.values().flatten().copied().filter(|row| row.is_faster() == Some(true)).collect();
    faster.sort_by(|a, b| a.value.partial_cmp(&b.value).expect("numbers"));
    for row in faster {
        if let Some((value, (low, high))) = row.ratio() {
            println!("  {value:.3} [{low:.3}, {high:.3}] {}: {}", row.contest().join(" "), row.opponent());
        }
    }
}
