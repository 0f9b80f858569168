//! The tables of a run as CSV: the summary, every raw sample, and every block.
//!
//! Numbers are in the shortest form that reads back as the same number; a figure that is missing is an empty
//! cell. With `header` the first line names the columns; without any rows there is no header either.

use serde::Serialize;

use crate::earlier;
use crate::experiment::Experiment;
use crate::record::{CaseResult, Record};
use crate::summary;

/// Records as `summary.csv`: the fields of [`Record`] in their order.
pub fn summary(records: &[Record], header: bool) -> Vec<u8> {
    rows(records, header)
}

/// The records of a `summary.csv` with its header. A last line without its newline was torn off in the middle by
/// whatever ended the run, and is left out.
///
/// # Errors
/// If a row does not fit [`Record`].
pub fn read_summary(bytes: &[u8]) -> Result<Vec<Record>, csv::Error> {
    let mut records: Vec<Record> =
        csv::Reader::from_reader(whole_lines(bytes)).into_deserialize().collect::<Result<_, _>>()?;
    earlier::rename(&mut records);
    Ok(records)
}

/// All bytes up to the last newline that ends a row; one within quotes does not.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let mut is_quoted = false;
    let mut end = 0;
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => end = i + 1,
            _ => {}
        }
    }
    &bytes[..end]
}

/// Every raw sample of a case as `samples.csv`, of failed methods too: the summary says which those are. A row has the
/// k-th sample of each phase of a block; an empty cell where a phase has fewer. Of ping-pongs, those timed in parts and
/// those timed as a whole are different repetitions. Making and freeing datatypes have one sample per block, and
/// batches of their own, which the summary has.
pub fn samples(result: &CaseResult, header: bool) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let phases = result.case.experiment.phases();
    let has_early = result.case.experiment != Experiment::PingPong;
    let write = |writer: &mut csv::Writer<Vec<u8>>, row: &[String]| {
        writer.write_record(row).expect("a row of plain fields always fits into memory");
    };
    if header {
        let case = ["test", "set", "params", "mpi", "ranks", "cache"].map(str::to_owned);
        let counts = ["method", "pair", "block", "repetition", "batch"].map(str::to_owned);
        let mut columns: Vec<String> = phases.iter().map(|phase| format!("{}_s", phase.name())).collect();
        columns.extend(has_early.then(|| "early_bird".to_owned()));
        write(&mut writer, &[&case[..], &counts, &columns].concat());
    }
    for (method, block) in result.methods.iter().flat_map(|m| m.blocks.iter().map(move |block| (m, block))) {
        for repetition in 0..block.times.repetitions() {
            let (case, number) = (&result.case, |n: usize| n.to_string());
            let cell = |samples: &[f64]| samples.get(repetition).map_or_else(String::new, |&s| shortest(s));
            let shared = [&case.test, &case.set, &case.params, &case.mpi, &number(case.ranks), &case.cache];
            let shared = shared.map(Clone::clone);
            let counts = [block.pair, block.block, repetition, block.batch as usize].map(number);
            let method = [method.method.clone()];
            let mut cells: Vec<String> = phases.iter().map(|phase| cell(phase.samples(block))).collect();
            cells.extend(has_early.then(|| cell(&block.early)));
            write(&mut writer, &[&shared[..], &method, &counts, &cells].concat());
        }
    }
    writer.into_inner().expect("writing to memory does not fail")
}

/// A number in the shortest form that reads back as the same.
fn shortest(value: f64) -> String {
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if plain.len() <= scientific.len() { plain } else { scientific }
}

/// A line of `blocks.csv`.
#[derive(Serialize)]
struct BlockRow<'a> {
    test: &'a str,
    set: &'a str,
    params: &'a str,
    mpi: &'a str,
    ranks: usize,
    cache: &'a str,
    method: &'a str,
    pair: usize,
    block: usize,
    state: &'a str,
    used: bool,
    latency_before_s: Option<f64>,
    latency_after_s: Option<f64>,
    copy_before_bytes_per_s: f64,
    copy_after_bytes_per_s: f64,
    memory_copy_before_bytes_per_s: Option<f64>,
    memory_copy_after_bytes_per_s: Option<f64>,
    began_s: f64,
    place: usize,
    disturbed: bool,
    steal_s: f64,
    involuntary_switches: u64,
    page_faults: u64,
}

/// Every block of a case as `blocks.csv`: the machine beside it, its state, and whether figures rest on it.
pub fn blocks(result: &CaseResult, header: bool) -> Vec<u8> {
    let case = &result.case;
    let states = summary::block_states(&result.methods, result.rule);
    let mut all = Vec::new();
    for (measured, states) in result.methods.iter().zip(&states) {
        for (block, state) in measured.blocks.iter().zip(states) {
            all.push(BlockRow {
                test: &case.test,
                set: &case.set,
                params: &case.params,
                mpi: &case.mpi,
                ranks: case.ranks,
                cache: &case.cache,
                method: &measured.method,
                pair: block.pair,
                block: block.block,
                state: &state.state,
                used: state.used,
                latency_before_s: latency(block.before.latency_s),
                latency_after_s: latency(block.after.latency_s),
                copy_before_bytes_per_s: block.before.copy_bytes_per_s,
                copy_after_bytes_per_s: block.after.copy_bytes_per_s,
                memory_copy_before_bytes_per_s: block.before.memory_copy_bytes_per_s,
                memory_copy_after_bytes_per_s: block.after.memory_copy_bytes_per_s,
                began_s: block.began_s,
                place: block.place,
                disturbed: block.disturbance.took_a_core(),
                steal_s: block.disturbance.steal_s,
                involuntary_switches: block.disturbance.switches,
                page_faults: block.disturbance.faults,
            });
        }
    }
    rows(all, header)
}

/// A latency, where there was a peer to measure it with.
fn latency(latency_s: f64) -> Option<f64> {
    (latency_s > 0.0).then_some(latency_s)
}

/// Any rows; their fields are the columns.
pub(super) fn rows<T: Serialize>(rows: impl IntoIterator<Item = T>, header: bool) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of plain fields always fits into memory");
    }
    writer.into_inner().expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::event::{Block, Disturbance, MachineState, MessageFacts, Outcome};
    use crate::plan::Rule;
    use crate::record::{Case, Measured, Phase};
    use crate::times::Times;

    fn result(blocks: Vec<Block>) -> CaseResult {
        CaseResult {
            rule: Rule::Interval,
            case: Case {
                experiment: Experiment::PingPong,
                test: "wrf_x_vec".into(),
                set: "1".into(),
                params: "nx=8 ny=8".into(),
                mpi: "mpich".into(),
                ranks: 2,
                cache: "warm".into(),
            },
            load: None,
            message: MessageFacts { bytes: 1000, segments: 10, array_bytes: 9000, line_bytes: None },
            methods: vec![
                Measured { method: "ddt".into(), outcome: Outcome::RunLimit, blocks },
                Measured {
                    method: "put_ddt".into(),
                    outcome: Outcome::Crashed { detail: "signal 11,\n\"last words\"".into() },
                    blocks: vec![],
                },
            ],
        }
    }

    fn block() -> Block {
        Block {
            pair: 1,
            block: 3,
            before: MachineState { latency_s: 3.3e-8, copy_bytes_per_s: 1e10, memory_copy_bytes_per_s: None },
            began_s: 0.25,
            place: 7,
            disturbance: Disturbance { steal_s: 0.0, switches: 2, faults: 1 },
            after: MachineState {
                latency_s: 3.4e-8,
                copy_bytes_per_s: 2e10,
                memory_copy_bytes_per_s: Some(5e9),
            },
            batch: 4,
            times: Times::from([(Phase::Create, vec![1e-6]), (Phase::RoundTrip, vec![1.25e-7, 0.1 + 0.2])]),
            ..Block::default()
        }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_sample_is_a_row() {
        let expected = "test,set,params,mpi,ranks,cache,method,pair,block,repetition,batch,create_s,pack_s,\
            communicate_s,peer_unpack_s,peer_pack_s,net_s,unpack_s,in_parts_s,free_s,round_trip_s\n\
            wrf_x_vec,1,nx=8 ny=8,mpich,2,warm,ddt,1,3,0,4,1e-6,,,,,,,,,1.25e-7\n\
            wrf_x_vec,1,nx=8 ny=8,mpich,2,warm,ddt,1,3,1,4,,,,,,,,,,0.30000000000000004\n";
        assert_eq!(text(samples(&result(vec![block()]), true)), expected);
        let body = expected.split_once('\n').unwrap().1;
        assert_eq!(text(samples(&result(vec![block()]), false)), body);
    }

    #[test]
    fn every_block_is_a_row() {
        let expected = "test,set,params,mpi,ranks,cache,method,pair,block,state,used,latency_before_s,\
            latency_after_s,copy_before_bytes_per_s,copy_after_bytes_per_s,memory_copy_before_bytes_per_s,\
            memory_copy_after_bytes_per_s,began_s,place,disturbed,steal_s,involuntary_switches,page_faults\n\
            wrf_x_vec,1,nx=8 ny=8,mpich,2,warm,ddt,1,3,0,true,3.3e-8,3.4e-8,10000000000.0,20000000000.0,,\
            5000000000.0,0.25,7,true,0.0,2,1\n";
        assert_eq!(text(blocks(&result(vec![block()]), true)), expected);
    }

    #[test]
    fn a_summary_reads_back_as_it_was() {
        let records = summary::records(&result(vec![block()]));
        let mut bytes = summary(&records[..1], true);
        bytes.extend(summary(&records[1..], false));
        assert_eq!(read_summary(&bytes).unwrap(), records);
        assert!(
            text(bytes).starts_with("test,set,params,mpi,ranks,cache,method,phase,pair,bytes,segments,n,")
        );
    }

    #[test]
    fn a_summary_without_the_columns_that_came_later_is_read() {
        let records = summary::records(&result(vec![block()]));
        let later = ["gain", "gain_low", "gain_high", "gain_model", "speedup", "availability", "early_bird"];
        let also = ["messages", "mean_low_s", "mean_high_s", "perceived_bandwidth_bytes_per_s"];
        let ratio = |name: &str| {
            let added = ["over_", "speedup_", "fastest", "unsteady", "gain_", "availability_", "early_bird_"];
            added.iter().any(|p| name.starts_with(p))
        };
        let bytes = summary(&records, true);
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let names = reader.headers().unwrap().clone();
        let latest = ["gain_model_equation", "gain_difference", "schema"];
        let new = [&later[..], &also, &latest].concat();
        let is_old = |name: &str| !new.contains(&name) && !ratio(name);
        let mut old = csv::Writer::from_writer(Vec::new());
        let kept = |row: &csv::StringRecord| -> csv::StringRecord {
            names.iter().zip(row).filter(|(name, _)| is_old(name)).map(|(_, cell)| cell.to_owned()).collect()
        };
        old.write_record(&kept(&names)).unwrap();
        reader.records().for_each(|row| old.write_record(&kept(&row.unwrap())).unwrap());
        let read = read_summary(&old.into_inner().unwrap()).unwrap();
        assert_eq!(read.len(), records.len());
        assert_eq!((&read[0].method, read[0].gain, read[0].messages), (&records[0].method, None, None));
    }

    #[test]
    fn a_torn_last_row_is_left_out() {
        let records = summary::records(&result(vec![block()]));
        let bytes = summary(&records, true);
        let (all, whole) = (records.len(), bytes.len());
        for torn in [1, 5, 15, 20] {
            assert_eq!(read_summary(&bytes[..whole - torn]).unwrap(), records[..all - 1]);
        }
        assert_eq!(read_summary(b"").unwrap(), []);
        assert_eq!(read_summary(b"test,se").unwrap(), []);
    }

    #[test]
    fn a_row_that_does_not_fit_is_an_error() {
        assert!(read_summary(b"test,set\na,b\n").is_err());
    }

    #[test]
    fn a_hundred_thousand_samples_take_no_noticeable_time() {
        let result = result(vec![Block {
            times: Times::from([(Phase::RoundTrip, vec![1.234_567e-7; 100_000])]),
            ..Block::default()
        }]);
        let start = Instant::now();
        assert!(samples(&result, true).len() > 4_000_000);
        // A fraction of a second without optimisation; room for a busy machine.
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
