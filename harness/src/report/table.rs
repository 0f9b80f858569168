//! Records as a table for people: a block per case, a row per method, and what can be said from it.

use std::fmt::Write as _;

use super::columns::{Align, Column, aligned, wrapped};
use super::units;
use crate::methods;
use crate::record::{Phase, Record};
use crate::stats;

/// Columns of text where no width is given.
const DEFAULT_WIDTH: usize = 120;

/// Below this, text is not made narrower.
const LEAST_WIDTH: usize = 60;

const ALL_PAIRS: &str = "all";
const REFERENCE: &str = "reference";

/// A row per method: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 12] = [
    Column::new("method", Align::Left, 0),
    Column::new("round trip", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("create", Align::Right, 2),
    Column::new("pack", Align::Right, 2),
    Column::new("comm", Align::Right, 2),
    Column::new("unpack", Align::Right, 2),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("pack%", Align::Right, 2),
    Column::new("rate", Align::Right, 2),
    Column::new("note", Align::Left, 2),
];

const LEGEND: &str = "round trip: median of a whole ping-pong, creation left out, ± the larger side of its 95% \
    interval. create, pack, comm, unpack: medians at the origin. ovh: (t - t_reference) / t, with its 95% \
    interval. pack%: share of timed packing and unpacking, both sides. rate: payload per second one way.";

/// The records of one case, in the order in which they came.
struct Block<'a> {
    records: Vec<&'a Record>,
}

impl<'a> Block<'a> {
    fn all(records: &'a [Record]) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::new();
        for record in records {
            match blocks.iter_mut().find(|block| key(block.first()) == key(record)) {
                Some(block) => block.records.push(record),
                None => blocks.push(Self { records: vec![record] }),
            }
        }
        blocks
    }

    fn first(&self) -> &'a Record {
        self.records[0]
    }

    /// The `round_trip` line of each method.
    fn methods(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.round_trips().filter(|record| record.pair == ALL_PAIRS)
    }

    fn round_trips(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.records.iter().copied().filter(|record| record.phase == Phase::RoundTrip)
    }

    /// A phase's median, as text; blank where there is none.
    fn median(&self, method: &str, phase: Phase) -> String {
        let of =
            |record: &&&Record| record.method == method && record.phase == phase && record.pair == ALL_PAIRS;
        let median = self.records.iter().find(of).and_then(|record| record.median_s);
        median.map_or_else(String::new, units::seconds)
    }

    fn name(&self) -> String {
        format!("{}  {}", self.first().test, self.first().set)
    }

    fn row(&self, record: &Record) -> Vec<String> {
        let mut row = vec![record.method.clone()];
        if !measured(record) {
            row.resize(COLUMNS.len() - 1, String::new());
            row.push(record.outcome.clone());
            return row;
        }
        let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
        let half = interval(record).and_then(|(low, median, high)| {
            (median > 0.0).then(|| (median - low).max(high - median) / median)
        });
        row.push(text(record.median_s, units::seconds));
        row.push(half.map_or_else(String::new, |half| format!("±{}", units::percent(half))));
        row.extend(
            [Phase::Create, Phase::Pack, Phase::Communicate, Phase::Unpack]
                .map(|phase| self.median(&record.method, phase)),
        );
        let overhead = record.overhead_reference.filter(|_| record.method != REFERENCE);
        row.push(text(overhead, units::percent));
        row.push(match (overhead, record.overhead_reference_low, record.overhead_reference_high) {
            (Some(value), Some(low), Some(high)) => {
                let figure = |end| units::percent_figure(end, units::percent_decimals(value));
                format!("[{}, {}]", figure(low), figure(high))
            }
            _ => String::new(),
        });
        row.push(text(record.overhead_pack.filter(|_| record.method != REFERENCE), units::percent));
        row.push(text(record.bandwidth_bytes_per_s, units::rate));
        row.push(if record.outcome == "converged" { String::new() } else { record.outcome.clone() });
        row
    }

    /// The fastest and the slowest pair, where there are several.
    fn pairs(&self, method: &str) -> Option<String> {
        let of = self.round_trips().filter(|record| record.method == method && record.pair != ALL_PAIRS);
        let medians = stats::sorted(of.filter_map(|record| record.median_s));
        let [first, .., last] = &medians[..] else { return None };
        Some(format!("{} to {}", units::seconds(*first), units::seconds(*last)))
    }

    /// What went wrong, and for which methods: one cause, as that the process did not even start, may be several's.
    fn failures(&self) -> Vec<(&'a str, &'a str, Vec<&'a str>)> {
        let mut failures: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for record in self.methods() {
            let Some(detail) = record.detail.as_deref() else { continue };
            match failures.iter_mut().find(|failure| failure.0 == record.outcome && failure.1 == detail) {
                Some(failure) => failure.2.push(&record.method),
                None => failures.push((&record.outcome, detail, vec![&record.method])),
            }
        }
        failures
    }

    /// Which method is fastest, and by how much over the next.
    fn fastest(&self) -> String {
        let mut all: Vec<_> = self
            .methods()
            .filter(|record| methods::find(&record.method).is_ok_and(|method| method.is_complete))
            .filter(|record| measured(record))
            .filter_map(|record| Some((record.method.as_str(), interval(record)?)))
            .collect();
        all.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        match &all[..] {
            [] => "too few blocks to compare".to_owned(),
            [(only, _)] => format!("{only} alone was measured"),
            [(first, a), (next, b), ..] if a.2 < b.0 => format!("{first}, {:.2}x {next}", b.1 / a.1),
            [(_, a), rest @ ..] => {
                let close = rest.iter().filter(|(_, b)| b.0 <= a.2).map(|(name, _)| *name);
                let names: Vec<_> = std::iter::once(all[0].0).chain(close).collect();
                format!("one of {}", names.join(", "))
            }
        }
    }

    /// Whether the application's loops or the datatype win.
    fn manual_or_ddt(&self) -> String {
        let of = |name: &str| self.methods().find(|r| r.method == name && measured(r)).and_then(interval);
        match (of("manual"), of("ddt")) {
            (Some(manual), Some(ddt)) if ddt.2 < manual.0 => format!("ddt, {:.2}x manual", manual.1 / ddt.1),
            (Some(manual), Some(ddt)) if manual.2 < ddt.0 => format!("manual, {:.2}x ddt", ddt.1 / manual.1),
            (Some(_), Some(_)) => "no difference shown".to_owned(),
            _ => String::new(),
        }
    }
}

fn key(r: &Record) -> (&str, &str, &str, &str, usize, &str) {
    (&r.test, &r.set, &r.params, &r.mpi, r.ranks, &r.cache)
}

fn place(r: &Record) -> String {
    format!("{}, {} ranks, {}", r.mpi, r.ranks, r.cache)
}

/// Whether the times of a method can be used.
fn measured(record: &Record) -> bool {
    record.median_s.is_some() && matches!(record.outcome.as_str(), "converged" | "time limit" | "run limit")
}

/// Low end, median and high end.
fn interval(record: &Record) -> Option<(f64, f64, f64)> {
    Some((record.median_low_s?, record.median_s?, record.median_high_s?))
}

/// The records as text. Headings and notes are broken at `width`; rows keep their columns.
pub fn table(records: &[Record], width: Option<u16>) -> String {
    let width = width.map_or(DEFAULT_WIDTH, |width| usize::from(width).max(LEAST_WIDTH));
    let blocks = Block::all(records);
    let Some(first) = blocks.first().map(Block::first) else {
        return "No records.\n".to_owned();
    };
    // What is the same everywhere is said once.
    let same = blocks.iter().all(|block| place(block.first()) == place(first));
    let mut text = wrapped("", LEGEND, width, 0);
    if same {
        let _ = writeln!(text, "All: {}", place(first));
    }

    let header: Vec<String> = COLUMNS.iter().map(|column| column.name.to_owned()).collect();
    let rows_of = |block: &Block| {
        let rows = block.methods().map(|record| block.row(record));
        std::iter::once(header.clone()).chain(rows).collect::<Vec<_>>()
    };
    let rows: Vec<_> = blocks.iter().flat_map(rows_of).collect();
    let mut lines = aligned(&COLUMNS, &rows).into_iter();
    for block in &blocks {
        let r = block.first();
        let size = format!("{} in {} segments", units::bytes(r.bytes), r.segments);
        let at = if same { String::new() } else { format!("  {}", place(r)) };
        text.push('\n');
        text += &wrapped(&format!("{}  {size}{at}  ", block.name()), &format!("({})", r.params), width, 4);
        for line in lines.by_ref().take(block.methods().count() + 1) {
            let _ = writeln!(text, "  {line}");
        }
    }

    text += "\nFastest from arrays to arrays (a difference is shown only where 95% intervals part)\n";
    let columns =
        ["test", "set", "at", "fastest", "manual or ddt"].map(|name| Column::new(name, Align::Left, 2));
    let mut rows = vec![columns.iter().map(|column| column.name.to_owned()).collect::<Vec<_>>()];
    rows.extend(blocks.iter().map(|block| {
        let r = block.first();
        let at = if same { String::new() } else { place(r) };
        vec![r.test.clone(), r.set.clone(), at, block.fastest(), block.manual_or_ddt()]
    }));
    if same {
        rows[0][2].clear();
    }
    for line in aligned(&columns, &rows) {
        let _ = writeln!(text, "  {line}");
    }
    text + &notes(&blocks, width, same)
}

/// What went wrong, what was left out, what is a mean of several.
fn notes(blocks: &[Block], width: usize, same: bool) -> String {
    let mut text = String::new();
    for block in blocks {
        let at = if same { String::new() } else { format!("  {}", place(block.first())) };
        let start = format!("  {}{at}: ", block.name());
        for (outcome, detail, methods) in block.failures() {
            text += &wrapped(&start, &format!("{} {outcome}: {detail}", methods.join(", ")), width, 4);
        }
        let of = |figure: &dyn Fn(&Record) -> Option<String>| {
            let each = block.methods().filter_map(|r| Some(format!("{} {}", r.method, figure(r)?)));
            each.collect::<Vec<_>>().join(", ")
        };
        let pairs = of(&|r| block.pairs(&r.method));
        if !pairs.is_empty() {
            text += &wrapped(
                &start,
                &format!("round trips of the fastest and the slowest pair: {pairs}"),
                width,
                4,
            );
        }
        let left_out = of(&|r| {
            let (left, all) = (r.blocks_other_state, r.blocks + r.blocks_other_state);
            (left > 0).then(|| format!("{left} of {all}"))
        });
        if !left_out.is_empty() {
            let what = format!("blocks left out, the machine was in another state: {left_out}");
            text += &wrapped(&start, &what, width, 4);
        }
        let batched = of(&|r| (r.batch > 1).then(|| r.batch.to_string()));
        if !batched.is_empty() {
            text += &wrapped(&start, &format!("samples are means of a batch: {batched}"), width, 4);
        }
    }
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}

#[cfg(test)]
mod tests;
