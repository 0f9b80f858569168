//! The raw samples and the blocks of a case, under the case's number.

use serde::Serialize;

use super::gzip::member;
use super::rows::{columns, header, rows};
use crate::model::{BlockState, CaseResult, Phase};

/// The header of the samples of one kind of experiments, which has these phases.
pub fn samples_header(phases: &[Phase]) -> Vec<u8> {
    let names = ["run", "case", "launch", "method", "pair", "block", "repetition", "batch"];
    let times = phases.iter().map(|phase| format!("{}_s", phase.name()));
    let all: Vec<_> =
        names.map(str::to_owned).into_iter().chain(times).chain(["early_bird".to_owned()]).collect();
    member(&header(&all))
}

/// Every raw sample of a case, of failed methods too: the tables of launches say which those are. A row has the k-th sample of
/// each phase of a block; an empty cell where a phase has fewer. Of ping-pongs, those timed in parts and those timed as a
/// whole are different repetitions. Making and freeing datatypes have one sample per block, and batches of their own, which
/// the tables of launches have.
pub fn samples(number: usize, result: &CaseResult, phases: &[Phase]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (run, number, launch) = (&result.case.run, number.to_string(), result.launch.to_string());
    for (method, block) in result.methods.iter().flat_map(|m| m.blocks.iter().map(move |block| (m, block))) {
        for repetition in 0..block.times.repetitions().max(block.early.len()) {
            let cell = |samples: &[f64]| samples.get(repetition).map_or_else(String::new, |&s| shortest(s));
            let counts = [block.pair, block.block, repetition, block.batch as usize].map(|n| n.to_string());
            let shared = [run.clone(), number.clone(), launch.clone(), method.method.clone()];
            let times = phases.iter().map(|phase| cell(phase.samples(block)));
            let row: Vec<String> =
                shared.into_iter().chain(counts).chain(times).chain([cell(&block.early)]).collect();
            writer.write_record(&row).expect("a row of plain fields always fits into memory");
        }
    }
    member(&writer.into_inner().expect("writing to memory does not fail"))
}

/// A number in the shortest form that reads back as the same.
fn shortest(value: f64) -> String {
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if plain.len() <= scientific.len() { plain } else { scientific }
}

/// A row of the blocks.
#[derive(Default, Serialize)]
struct BlockRow {
    run: String,
    case: usize,
    launch: usize,
    method: String,
    pair: usize,
    block: usize,
    state: String,
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

/// The header of the blocks.
pub fn blocks_header() -> Vec<u8> {
    member(&header(&columns(&BlockRow::default())))
}

/// Every block of a case: the machine beside it, its state, and whether figures rest on it.
pub fn blocks(number: usize, result: &CaseResult, states: &[Vec<BlockState>]) -> Vec<u8> {
    let mut all = Vec::new();
    for (measured, states) in result.methods.iter().zip(states) {
        for (block, state) in measured.blocks.iter().zip(states) {
            all.push(BlockRow {
                run: result.case.run.clone(),
                case: number,
                launch: result.launch,
                method: measured.method.clone(),
                pair: block.pair,
                block: block.block,
                state: state.state.clone(),
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
    member(&rows(all))
}

/// A latency, where there was a peer to measure it with.
fn latency(latency_s: f64) -> Option<f64> {
    (latency_s > 0.0).then_some(latency_s)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::folder::gzip::members;
    use crate::model::conditions::Rule;
    use crate::model::event::{Block, Disturbance, MachineState, MessageFacts};
    use crate::model::{Case, Measured, Outcome, Times};

    const PHASES: [Phase; 3] = [Phase::Create, Phase::Pack, Phase::RoundTrip];

    fn result(blocks: Vec<Block>) -> CaseResult {
        CaseResult {
            case: Case { run: "r".to_owned(), ..Case::default() }.into(),
            launch: 2,
            rule: Rule::Interval,
            load: None,
            message: MessageFacts::default(),
            methods: vec![
                Measured { method: "ddt".into(), outcome: Outcome::RunLimit, blocks },
                Measured {
                    method: "put_ddt".into(),
                    outcome: Outcome::Crashed { detail: "signal 11".into() },
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
            early: vec![0.5],
            ..Block::default()
        }
    }

    /// What is in a file of these members.
    fn text(file: &[Vec<u8>]) -> String {
        let file = file.concat();
        let (members, rest) = members(&file);
        assert!(rest.is_empty());
        String::from_utf8(members.into_iter().flat_map(|member| member.bytes).collect()).unwrap()
    }

    #[test]
    fn every_sample_is_a_row() {
        let expected = "run,case,launch,method,pair,block,repetition,batch,create_s,pack_s,round_trip_s,early_bird\n\
            r,4,2,ddt,1,3,0,4,1e-6,,1.25e-7,0.5\n\
            r,4,2,ddt,1,3,1,4,,,0.30000000000000004,\n";
        let file = [samples_header(&PHASES), samples(4, &result(vec![block()]), &PHASES)];
        assert_eq!(text(&file), expected);
        let looked = Block { early: vec![0.5; 3], ..block() };
        let rows = text(&[samples(4, &result(vec![looked]), &PHASES)]);
        assert_eq!(rows.lines().last(), Some("r,4,2,ddt,1,3,2,4,,,,0.5"), "a look more than there are times");
    }

    #[test]
    fn every_block_is_a_row() {
        let expected = "run,case,launch,method,pair,block,state,used,latency_before_s,\
            latency_after_s,copy_before_bytes_per_s,copy_after_bytes_per_s,memory_copy_before_bytes_per_s,\
            memory_copy_after_bytes_per_s,began_s,place,disturbed,steal_s,involuntary_switches,page_faults\n\
            r,4,2,ddt,1,3,0,true,3.3e-8,3.4e-8,10000000000.0,20000000000.0,,\
            5000000000.0,0.25,7,true,0.0,2,1\n";
        let states = [vec![BlockState { state: "0".into(), used: true }], vec![]];
        assert_eq!(text(&[blocks_header(), blocks(4, &result(vec![block()]), &states)]), expected);
    }

    #[test]
    fn a_hundred_thousand_samples_take_no_noticeable_time() {
        let result = result(vec![Block {
            times: Times::from([(Phase::RoundTrip, vec![1.234_567e-7; 100_000])]),
            ..Block::default()
        }]);
        let start = Instant::now();
        let member = samples(0, &result, &PHASES);
        // A fraction of a second without optimisation; room for a busy machine.
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(text(&[member]).lines().count(), 100_000);
    }
}
