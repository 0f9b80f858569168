//! The raw samples and the blocks of a case, under the case's number.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use csv::StringRecord;
use serde::Deserialize;
use serde_json::{Value, json};

use super::gzip::{Members, member};
use super::{CASES, SAMPLES};
use crate::cells::{header, rows};
use crate::model::event::{Block, TimedApart};
use crate::model::{BlockState, Case, CaseResult, Phase, State};

/// The header of the samples of a kind with these phases.
pub fn samples_header(phases: &[Phase]) -> Vec<u8> {
    let names = ["run", "case", "launch", "method", "pair", "block", "repetition", "batch"];
    let times = phases.iter().map(|phase| format!("{}_s", phase.name()));
    let all: Vec<_> =
        names.map(str::to_owned).into_iter().chain(times).chain(["early_bird".to_owned()]).collect();
    member(&header(&all))
}

/// All samples of a case, also of failed methods (the tables of launches show which). A row is a repetition, numbered within its
/// block, with only the times of that repetition. `apart`: phases with separate repetitions.
pub fn samples(number: usize, result: &CaseResult, phases: &[Phase], apart: TimedApart) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (run, number, launch) = (&result.case.run, number.to_string(), result.launch.to_string());
    for (method, block) in result.methods.iter().flat_map(|m| m.blocks.iter().map(move |block| (m, block))) {
        for (repetition, (batch, cells)) in repetitions(block, phases, apart(block)).into_iter().enumerate() {
            let counts = [block.pair, block.block, repetition, batch as usize].map(|n| n.to_string());
            let shared = [run.clone(), number.clone(), launch.clone(), method.method.clone()];
            let row = shared.into_iter().chain(counts).chain(cells);
            writer.write_record(row).expect("a row of plain fields always fits into memory");
        }
    }
    member(&writer.into_inner().expect("writing to memory does not fail"))
}

/// The repetitions of a block: the batch size of each time, and the cells of all phases and of `early_bird`.
/// Repetitions with most phases come first, then those of each phase that is timed separately.
fn repetitions(block: &Block, phases: &[Phase], apart: &[Phase]) -> Vec<(u32, Vec<String>)> {
    let (alone, together): (Vec<Phase>, Vec<Phase>) = phases.iter().partition(|phase| apart.contains(phase));
    let mut rows = Vec::new();
    for group in std::iter::once(&together[..]).chain(alone.chunks(1)) {
        let of = |phase: &Phase| if group.contains(phase) { phase.samples(block) } else { &[] };
        let samples: Vec<&[f64]> = phases.iter().map(of).collect();
        let batch = group.first().map_or(1, |phase| block.batch_of(*phase));
        for k in 0..samples.iter().map(|samples| samples.len()).max().unwrap_or(0) {
            let cells = samples.iter().map(|samples| cell(samples.get(k)));
            rows.push((batch, cells.chain([String::new()]).collect()));
        }
    }
    rows.extend(block.early.iter().map(|early| {
        let cells = phases.iter().map(|_| String::new());
        (block.batch, cells.chain([cell(Some(early))]).collect())
    }));
    rows
}

fn cell(sample: Option<&f64>) -> String {
    sample.map_or_else(String::new, |&sample| shortest(sample))
}

/// A number in the shortest form that reads back as the same.
fn shortest(value: f64) -> String {
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if plain.len() <= scientific.len() { plain } else { scientific }
}

/// The samples of a method in a launch of a case.
#[derive(Clone, Debug, Default)]
pub struct MethodSamples {
    pub case: Arc<Case>,
    pub launch: usize,
    pub method: String,
    /// Its blocks; only pair, number, times and the first row's batch are known.
    pub blocks: Vec<Block>,
}

/// Identifies the rows of one method.
#[derive(Deserialize)]
struct SampleKey<'a> {
    run: &'a str,
    case: usize,
    launch: usize,
    method: &'a str,
    pair: usize,
    block: usize,
    batch: u32,
}

/// The samples of each method of these cases, in the order of the file. An incomplete end of the file is ignored.
///
/// # Errors
/// If a row cannot be read or is for another case, or if `visit` fails.
pub fn each_method(
    file: &[u8],
    cases: &HashMap<usize, Arc<Case>>,
    mut visit: impl FnMut(MethodSamples) -> io::Result<()>,
) -> io::Result<()> {
    let damaged = |error: csv::Error| io::Error::other(format!("{SAMPLES}: {error}"));
    let mut members = Members::whole(file);
    let header = members.next().map(|member| member.bytes).unwrap_or_default();
    let header = csv::Reader::from_reader(&header[..]).headers().map_err(damaged)?.clone();
    members
        .flat_map(|member| match methods(&member.bytes, &header, cases) {
            Ok(methods) => methods.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(damaged(error))],
        })
        .try_for_each(|method| visit(method?))
}

/// The methods of these rows, in their order.
fn methods(
    rows: &[u8],
    header: &StringRecord,
    cases: &HashMap<usize, Arc<Case>>,
) -> csv::Result<Vec<MethodSamples>> {
    let phase = |name: &str| {
        let name = name.strip_suffix("_s")?;
        Phase::ALL.into_iter().find(|phase| phase.name() == name)
    };
    let phases: Vec<_> = header.iter().map(phase).collect();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(rows);
    let (mut cells, mut methods) = (StringRecord::new(), Vec::<MethodSamples>::new());
    while reader.read_record(&mut cells)? {
        let SampleKey { run, case, launch, method, pair, block, batch } = cells.deserialize(Some(header))?;
        let unknown = || {
            io::Error::other(format!(
                "has samples of case {case} of the run {run:?}, which is not in {CASES}"
            ))
        };
        let case = cases.get(&case).filter(|known| known.run == run).ok_or_else(unknown)?;
        let is_same =
            |last: &mut MethodSamples| last.case == *case && last.launch == launch && last.method == method;
        let mut samples = methods.pop_if(is_same).unwrap_or_else(|| {
            let (case, method) = (case.clone(), method.to_owned());
            MethodSamples { case, launch, method, blocks: Vec::new() }
        });
        let is_same = |last: &mut Block| (last.pair, last.block) == (pair, block);
        let new = || Block { pair, block, batch, ..Block::default() };
        let mut its_block = samples.blocks.pop_if(is_same).unwrap_or_else(new);
        for (phase, cell) in phases.iter().zip(&cells) {
            if let (Some(phase), false) = (phase, cell.is_empty()) {
                let seconds =
                    cell.parse().map_err(|_| io::Error::other(format!("{cell:?} is not a time")))?;
                its_block.times[*phase].push(seconds);
            }
        }
        samples.blocks.push(its_block);
        methods.push(samples);
    }
    Ok(methods)
}

/// The columns of a block: its key, its state, and the state of the machine.
fn block_columns(
    run: &str,
    [case, launch]: [usize; 2],
    method: &str,
    block: &Block,
    state: BlockState,
) -> [(&'static str, Value); 22] {
    let Block { before, after, disturbance, .. } = block;
    [
        ("run", json!(run)),
        ("case", json!(case)),
        ("launch", json!(launch)),
        ("method", json!(method)),
        ("pair", json!(block.pair)),
        ("block", json!(block.block)),
        ("state", json!(state.state.map_or("", State::name))),
        ("used", json!(state.used)),
        ("latency_before_s", json!(latency(before.latency_s))),
        ("latency_after_s", json!(latency(after.latency_s))),
        ("copy_before_bytes_per_s", json!(before.copy_bytes_per_s)),
        ("copy_after_bytes_per_s", json!(after.copy_bytes_per_s)),
        ("memory_copy_before_bytes_per_s", json!(before.memory_copy_bytes_per_s)),
        ("memory_copy_after_bytes_per_s", json!(after.memory_copy_bytes_per_s)),
        ("began_s", json!(block.began_s)),
        ("place", json!(block.place)),
        ("disturbed", json!(block.is_disturbed())),
        ("steal_s", json!(disturbance.steal_s)),
        ("waited", json!(disturbance.waited)),
        ("involuntary_switches", json!(disturbance.switches)),
        ("page_faults", json!(disturbance.faults)),
        ("compared", json!(block.compared)),
    ]
}

pub fn blocks_header() -> Vec<u8> {
    let columns = block_columns("", [0; 2], "", &Block::default(), BlockState::default());
    member(&header(&columns.map(|(name, _)| name.to_owned())))
}

/// All blocks of a case: the machine, the block's state, and whether results use it.
pub fn blocks(number: usize, result: &CaseResult, states: &[Vec<BlockState>]) -> Vec<u8> {
    let of_methods = result.methods.iter().zip(states);
    let all = of_methods.flat_map(|(measured, states)| {
        let of = |(block, state): (&Block, &BlockState)| {
            block_columns(&result.case.run, [number, result.launch], &measured.method, block, *state)
        };
        measured.blocks.iter().zip(states).map(of).map(|row| row.map(|(_, value)| value)).collect::<Vec<_>>()
    });
    member(&rows(all))
}

/// The latency is missing without a peer.
fn latency(latency_s: f64) -> Option<f64> {
    (latency_s > 0.0).then_some(latency_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::gzip::members;
    use crate::model::event::{Block, Disturbance, MachineState};
    use crate::model::{Case, Measured, Outcome, Times};

    const PHASES: [Phase; 3] = [Phase::Create, Phase::Pack, Phase::RoundTrip];

    fn result(blocks: Vec<Block>) -> CaseResult {
        CaseResult {
            case: Case { run: "r".to_owned(), ..Case::default() }.into(),
            launch: 2,
            methods: vec![
                Measured { method: "ddt".into(), outcome: Outcome::RunLimit, blocks },
                Measured {
                    method: "put_ddt".into(),
                    outcome: Outcome::Crashed { detail: "signal 11".into() },
                    blocks: vec![],
                },
            ],
            ..CaseResult::default()
        }
    }

    fn block() -> Block {
        Block {
            pair: 1,
            block: 3,
            before: MachineState { latency_s: 3.3e-8, copy_bytes_per_s: 1e10, memory_copy_bytes_per_s: None },
            began_s: 0.25,
            place: 7,
            disturbance: Disturbance { steal_s: 0.0, waited: 0.25, switches: 2, faults: 1 },
            after: MachineState {
                latency_s: 3.4e-8,
                copy_bytes_per_s: 2e10,
                memory_copy_bytes_per_s: Some(5e9),
            },
            batch: 4,
            compared: 5,
            times: Times::from([(Phase::Create, vec![1e-6]), (Phase::RoundTrip, vec![1.25e-7, 0.1 + 0.2])]),
            early: vec![0.5],
            ..Block::default()
        }
    }

    fn text(file: &[Vec<u8>]) -> String {
        let file = file.concat();
        let (members, rest) = members(&file);
        assert!(rest.is_empty());
        String::from_utf8(members.into_iter().flat_map(|member| member.bytes).collect()).unwrap()
    }

    #[test]
    fn a_row_has_what_was_timed_in_one_repetition() {
        let expected = "run,case,launch,method,pair,block,repetition,batch,create_s,pack_s,round_trip_s,early_bird\n\
            r,4,2,ddt,1,3,0,4,,3e-8,1.25e-7,\n\
            r,4,2,ddt,1,3,1,4,,,0.30000000000000004,\n\
            r,4,2,ddt,1,3,2,1,1e-6,,,\n\
            r,4,2,ddt,1,3,3,4,,,,0.5\n";
        let mut block = block();
        block.times[Phase::Pack] = vec![3e-8];
        let apart = |_: &Block| &[Phase::Create][..];
        let file = [samples_header(&PHASES), samples(4, &result(vec![block.clone()]), &PHASES, apart)];
        assert_eq!(text(&file), expected);
        // Repetitions of different kinds never share a row.
        block.made_in_a_row = 7;
        let rows = text(&[samples(4, &result(vec![block]), &PHASES, |_| &PHASES)]);
        let expected = "r,4,2,ddt,1,3,0,7,1e-6,,,\nr,4,2,ddt,1,3,1,4,,3e-8,,\nr,4,2,ddt,1,3,2,4,,,1.25e-7,\n";
        assert!(rows.starts_with(expected), "{rows}");
    }

    #[test]
    fn what_was_written_is_read_again() {
        let apart = |_: &Block| &[Phase::Create][..];
        let blocks = vec![block(), Block { block: 4, ..block() }];
        let file = [samples_header(&PHASES), samples(4, &result(blocks), &PHASES, apart)].concat();
        let case = result(Vec::new()).case;
        let mut read = Vec::new();
        let mut keep = |method| {
            read.push(method);
            Ok(())
        };
        each_method(&file[..file.len() - 1], &HashMap::new(), &mut keep).unwrap();
        each_method(&file, &[(4, case.clone())].into(), &mut keep).unwrap();
        let [MethodSamples { case: its_case, launch: 2, method, blocks }] = &read[..] else {
            panic!("{read:?}")
        };
        assert_eq!((its_case, method.as_str(), blocks.len()), (&case, "ddt", 2));
        assert_eq!((blocks[1].pair, blocks[1].block, &blocks[1].times), (1, 4, &block().times));
        let error = each_method(&file, &HashMap::new(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains(SAMPLES) && error.contains("case 4"), "{error}");
        let damaged = [samples_header(&PHASES), member(b"r,4,2,ddt,1,3,0,4,,1e-6x,,\n")].concat();
        let error = each_method(&damaged, &[(4, case)].into(), |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("\"1e-6x\" is not a time"), "{error}");
        let other = Arc::new(Case { run: "other".to_owned(), ..Case::default() });
        assert!(each_method(&file, &[(4, other)].into(), |_| Ok(())).is_err(), "samples of another run");
    }

    #[test]
    fn every_block_is_a_row() {
        let expected = "run,case,launch,method,pair,block,state,used,latency_before_s,\
            latency_after_s,copy_before_bytes_per_s,copy_after_bytes_per_s,memory_copy_before_bytes_per_s,\
            memory_copy_after_bytes_per_s,began_s,place,disturbed,steal_s,waited,involuntary_switches,page_faults,compared\n\
            r,4,2,ddt,1,3,0,true,3.3e-8,3.4e-8,10000000000.0,20000000000.0,,\
            5000000000.0,0.25,7,true,0.0,0.25,2,1,5\n";
        let states = [vec![BlockState { state: Some(State::Steady(0)), used: true }], vec![]];
        assert_eq!(text(&[blocks_header(), blocks(4, &result(vec![block()]), &states)]), expected);
    }
}
