//! Results of earlier schemas, read with the words of today. What each schema changed: `docs/columns.md`.
//!
//! Until schema 2 all figures were columns of `summary.csv`, the kind of experiments was told by the headline phase alone, and
//! the engine's comparison had a table of its own, `engine.csv`. Each folder was of one launch. Schema 1 had a `reference`
//! whose buffer was never written again, and a `manual` of tuned copies: today these are `reference_untouched` and
//! `manual_tuned`, and are shown so. The share of packing was made of the origin's times, doubled.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::{FolderError, LAUNCHES, Result, SUMMARY, at, torn};
use crate::model::conditions::Cache;
use crate::model::plain::plain_bytes;
use crate::model::{Case, Figure, Phase, Quantity, Record};

/// The figures of the engine's comparison, until schema 2.
const ENGINE: &str = "engine.csv";

/// A row by the names of its columns.
struct Cells(HashMap<String, String>);

/// The records of a folder of an earlier schema.
///
/// # Errors
/// If there are none, or they cannot be understood.
pub fn read(path: &Path) -> Result<Vec<Record>> {
    let engine = path.join(ENGINE);
    let (file, table) = match engine.exists() {
        true => (engine, Table::Engine),
        false => (path.join(SUMMARY), Table::Summary),
    };
    if !file.exists() {
        return Err(FolderError::NotARun { path: path.to_owned(), missing: LAUNCHES });
    }
    let bytes = fs::read(&file).map_err(at(&file))?;
    parse(&bytes, table).map_err(|reason| FolderError::Broken { path: file, reason })
}

/// A table of earlier schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// Of all kinds, but for the engine's comparison.
    Summary,
    /// Of the engine's comparison.
    Engine,
}

/// The records of such a table.
///
/// # Errors
/// What is wrong, by its line.
pub(crate) fn parse(bytes: &[u8], table: Table) -> std::result::Result<Vec<Record>, String> {
    let record = match table {
        Table::Summary => of_summary,
        Table::Engine => of_engine,
    };
    let bytes = plain_bytes(torn::split(bytes).0);
    let broken = |line: u64, reason: String| format!("line {line}: {reason}");
    let mut reader = csv::Reader::from_reader(&*bytes);
    let mut records = Vec::new();
    for (i, cells) in reader.deserialize().enumerate() {
        let line = i as u64 + 2;
        let cells = cells.map(Cells).map_err(|error| broken(line, error.to_string()))?;
        let read = record(&cells)
            .ok_or_else(|| broken(line, "a column is missing, or its value is none".to_owned()))?;
        records.push(read);
    }
    name_kind(&mut records);
    rename(&mut records);
    Ok(records)
}

impl Cells {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// A figure from a column and those of its interval.
    fn figure(&self, quantity: Quantity, name: &str, against: &str) -> Option<Figure> {
        let end = |end: &str| self.number(&format!("{name}_{end}"));
        let plain = Figure::plain(quantity, self.number(name)?);
        let unsteady = self.number(&format!("{name}_unsteady"));
        Some(Figure { low: end("low"), high: end("high"), unsteady, ..plain }.against(against))
    }

    /// What both tables have.
    fn record(&self) -> Option<Record> {
        let case = Case {
            test: self.text("test")?.to_owned(),
            set: self.text("set")?.to_owned(),
            params: self.text("params").unwrap_or_default().to_owned(),
            mpi: self.text("mpi")?.to_owned(),
            ranks: self.number("ranks").unwrap_or(1),
            cache: if self.text("cache")? == Cache::Cold.name() { Cache::Cold } else { Cache::Warm },
            ..Case::default()
        };
        let phase = serde_json::from_value::<Phase>(self.text("phase")?.into()).ok()?;
        let record = Record {
            case: Arc::new(case),
            method: self.text("method")?.to_owned(),
            launch: Some(0),
            launches: 1,
            phase,
            pair: self.text("pair").unwrap_or(Record::ALL_PAIRS).to_owned(),
            bytes: self.number("bytes")?,
            segments: self.number("segments")?,
            n: self.number("n").unwrap_or_default(),
            blocks: self.number("blocks").or(self.number("rounds")).unwrap_or_default(),
            blocks_other_state: self.number("blocks_other_state").unwrap_or_default(),
            mixed_states: self.number("mixed_states").unwrap_or_default(),
            blocks_disturbed: self.number("blocks_disturbed").unwrap_or_default(),
            batch: self.number("batch").unwrap_or_default(),
            median_s: self.number("median_s"),
            median_low_s: self.number("median_low_s"),
            median_high_s: self.number("median_high_s"),
            mean_s: self.number("mean_s"),
            mean_low_s: self.number("mean_low_s"),
            mean_high_s: self.number("mean_high_s"),
            min_s: self.number("min_s"),
            p90_s: self.number("p90_s"),
            p99_s: self.number("p99_s"),
            state_latency_s: self.number("state_latency_s"),
            unsteady: self.number("unsteady"),
            fastest: self.text("fastest").map(str::to_owned),
            runnable_threads: self.number("runnable_threads"),
            cores: self.number("cores"),
            outcome: self.text("outcome")?.to_owned(),
            detail: self.text("detail").map(str::to_owned),
            // Rows that do not say are of the first.
            schema: self.number("schema").unwrap_or(1),
            ..Record::default()
        };
        // Only damage can have made what is no number.
        let times = [record.median_s, record.median_low_s, record.median_high_s, record.mean_s];
        times.into_iter().flatten().all(f64::is_finite).then_some(record)
    }
}

/// A row of `summary.csv`.
fn of_summary(cells: &Cells) -> Option<Record> {
    use Quantity::{
        Availability, Bandwidth, EarlyBird, Gain, GainDifference, GainModel, Messages, OverheadPack,
        OverheadReference, PerceivedBandwidth, Speedup, StartSkew, TimeOver, TimeOverFastest,
    };
    let mut record = cells.record()?;
    let base = if record.phase == Phase::Exchange { "manual" } else { "single" };
    let equation = match cells.text("gain_model_equation") {
        Some("none") => "no equation".to_owned(),
        Some(number) => format!("equation {number}"),
        None => String::new(),
    };
    let fastest = record.fastest.clone().unwrap_or_default();
    let columns = [
        (OverheadReference, "overhead_reference", "reference"),
        (OverheadPack, "overhead_pack", ""),
        (Bandwidth, "bandwidth_bytes_per_s", ""),
        (PerceivedBandwidth, "perceived_bandwidth_bytes_per_s", ""),
        (Gain, "gain", base),
        (GainModel, "gain_model", equation.as_str()),
        (GainDifference, "gain_difference", equation.as_str()),
        (Speedup, "speedup", base),
        (Availability, "availability", base),
        (EarlyBird, "early_bird", ""),
        (Messages, "messages", ""),
        (StartSkew, "start_skew_s", ""),
        (TimeOver, "over_manual", "manual"),
        (TimeOver, "over_manual_tuned", "manual_tuned"),
        (TimeOverFastest, "over_fastest", fastest.as_str()),
    ];
    let figures: Vec<_> = columns
        .iter()
        .filter_map(|(quantity, name, against)| cells.figure(*quantity, name, against))
        .collect();
    record.add(figures);
    if cells.text("gain_model_equation") == Some("none") {
        let none = Figure { quantity: GainModel, unit: GainModel.unit().to_owned(), ..Figure::default() };
        record.add([none.against(&equation)]);
    }
    Some(record)
}

/// A row of `engine.csv`.
fn of_engine(cells: &Cells) -> Option<Record> {
    let mut record = cells.record()?;
    let case = record.case_mut();
    "engine".clone_into(&mut case.experiment);
    if let Some(order) = cells.text("order").filter(|&order| order != "same") {
        case.params += &format!(" order={order}");
    }
    record.add(cells.figure(Quantity::TimeOver, "ratio", "engine"));
    record.add(cells.figure(Quantity::BoundShare, "bound_share", "bound"));
    let rate = cells.number::<f64>("gb_per_s").map(|rate| rate * 1e9);
    record.add(rate.map(|rate| Figure::plain(Quantity::Bandwidth, rate)));
    let lines = cells.number("line_bytes");
    record.add(lines.map(|lines| Figure::plain(Quantity::LineBytes, lines)));
    Some(record)
}

/// Names the kind of experiments, which all records of a folder share.
fn name_kind(records: &mut [Record]) {
    let has = |phase| records.iter().any(|record| record.phase == phase);
    let kind = match () {
        () if has(Phase::Exchange) => "halo",
        () if has(Phase::Solution) => "partitioned",
        () => "pingpong",
    };
    let unnamed = records.iter_mut().filter(|record| record.case.experiment.is_empty());
    unnamed.for_each(|record| kind.clone_into(&mut record.case_mut().experiment));
}

/// Gives methods of schema 1 the names that stand for them today. Halos wrote what their `reference` sends anew then as well.
fn rename(records: &mut [Record]) {
    for record in records.iter_mut().filter(|record| record.schema < 2) {
        match record.method.as_str() {
            "reference" if record.case.experiment != "halo" => "reference_untouched",
            "manual" => "manual_tuned",
            _ => continue,
        }
        .clone_into(&mut record.method);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of a file with these lines.
    fn of(name: &str, lines: &str) -> Result<Vec<Record>> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), lines).unwrap();
        read(folder.path())
    }

    const START: &str =
        "test,set,params,mpi,ranks,cache,method,phase,pair,bytes,segments,n,blocks,median_s,outcome";

    #[test]
    fn figures_of_columns_are_figures_of_today() {
        let table = format!(
            "{START},overhead_reference,overhead_reference_low,overhead_reference_high,over_manual,over_manual_low,\
             over_manual_high,over_manual_unsteady,schema\n\
             wrf_x_vec,4x4,a=1,mpich,2,cold,ddt,round_trip,all,8,1,60,12,1e-5,converged,0.5,0.4,0.6,2,1.5,2.5,false,2\n"
        );
        let records = of(SUMMARY, &table).unwrap();
        let record = &records[0];
        assert_eq!((record.case.experiment.as_str(), record.case.cache), ("pingpong", Cache::Cold));
        assert_eq!((record.launch, record.median_s, record.n), (Some(0), Some(1e-5), 60));
        assert_eq!(record.figure(Quantity::OverheadReference).unwrap().interval(), Some((0.4, 0.6)));
        let over = record.over("manual").unwrap();
        assert_eq!((over.value, over.unsteady), (Some(2.0), Some(false)));
    }

    #[test]
    fn methods_whose_meaning_changed_have_the_name_of_today() {
        let row = |method: &str, phase: &str| {
            format!("t,s,,mpich,2,warm,{method},{phase},all,8,1,6,6,1,converged\n")
        };
        let names = |lines: &str| -> Vec<String> {
            of(SUMMARY, &format!("{START}\n{lines}"))
                .unwrap()
                .into_iter()
                .map(|record| record.method)
                .collect()
        };
        let pingpong =
            row("reference", "round_trip") + &row("manual", "round_trip") + &row("ddt", "round_trip");
        assert_eq!(names(&pingpong), ["reference_untouched", "manual_tuned", "ddt"]);
        let halo = row("reference", "exchange") + &row("manual", "init") + &row("manual", "exchange");
        assert_eq!(names(&halo), ["reference", "manual_tuned", "manual_tuned"]);
    }

    #[test]
    fn a_comparison_of_the_engine_is_one_of_its_kind() {
        let table = "test,set,params,order,mpi,cache,method,phase,bytes,segments,rounds,n,batch,median_s,gb_per_s,ratio,\
                     ratio_low,ratio_high,outcome,schema\n\
                     lammps_full,s,a=1,ddt,mpich,warm,mpi_pack,pack,8,1,11,55,4,1e-6,8,2,1.9,2.1,converged,2\n";
        let records = of(ENGINE, table).unwrap();
        let case = &records[0].case;
        assert_eq!((case.experiment.as_str(), case.params.as_str()), ("engine", "a=1 order=ddt"));
        assert_eq!(records[0].over("engine").unwrap().interval(), Some((1.9, 2.1)));
        assert_eq!((records[0].value(Quantity::Bandwidth), records[0].blocks), (Some(8e9), 11));
    }

    #[test]
    fn what_cannot_be_understood_is_named_by_its_line() {
        let error =
            of(SUMMARY, &format!("{START}\nt,s,,mpich,2,warm,ddt,no_phase,all,8,1,6,6,1,converged\n"));
        assert!(error.unwrap_err().to_string().contains("summary.csv: line 2"));
        assert!(of("other.csv", "").unwrap_err().to_string().contains("no launches.csv"));
    }
}
