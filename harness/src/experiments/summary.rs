//! Records from blocks, for all kinds of experiments. Figures of a kind are computed in its folder.
//!
//! `t_pp` is the median round trip. `t_pack` is the packing and unpacking of both ranks within it, each by its own clock; 0 for a
//! datatype. `t_pp` - `t_pack` is one estimate of the net time. The other one is measured: the median round trip of the method's
//! reference, i.e. of the same number of contiguous bytes, rewritten before each repetition.

use common::pcomm;
use common::summary::{View, block_states, pairs, ratio, views};

use super::Kind;
use crate::model::conditions::{MemoryKind, Rule};
use crate::model::event::{Block, MachineState};
use crate::model::{CaseResult, Figure, PairScope, Phase, Quantity, Record};
use crate::stats;

pub mod early;
pub mod overhead;
pub mod ratios;

/// The records of a case: for each measured method and phase, one per pair if there are several pairs, then
/// one for all pairs. A method without usable times has one record without figures.
pub fn records(kind: Kind, result: &CaseResult) -> Vec<Record> {
    let (rule, states) = (result.rule, block_states(kind, &result.methods, result.rule));
    let views = views(&result.methods, &states, rule);
    let reference_of = |method: &View<'_>| {
        let name = kind.reference_of(&method.method.method);
        let of_name = views.iter().find(|view| name == Some(&view.method.method));
        of_name.filter(|view| view.method.outcome.is_measured())
    };
    let pairs = pairs(&result.methods);
    // All pairs come last: if that row of the headline phase is on disk, the method is complete.
    let each = pairs.iter().map(|&pair| PairScope::One(pair)).filter(|_| pairs.len() > 1);
    let scopes: Vec<_> = each.chain([PairScope::All]).collect();
    let mut records = Vec::new();
    for view in &views {
        let before = records.len();
        if view.method.outcome.is_measured() {
            let reference = reference_of(view);
            let context =
                |phase, scope| RowContext { kind, result, view, views: &views, reference, phase, scope };
            let rows =
                kind.phases().iter().flat_map(|&phase| scopes.iter().map(move |&scope| (phase, scope)));
            records.extend(rows.filter_map(|(phase, scope)| context(phase, scope).record()));
        }
        if records.len() == before {
            records.push(Record::empty(result, view.method, kind.headline()));
        }
    }
    if result.case.memory == MemoryKind::Simulated {
        return without_times(records, kind);
    }
    if kind.row().is_contest {
        ratios::add(&mut records, &views, &scopes, kind);
    }
    records
}

/// The records of a simulated device, of which only copies mean something.
fn without_times(records: Vec<Record>, kind: Kind) -> Vec<Record> {
    let of_headline = records.into_iter().filter(|record| record.phase == kind.headline());
    let kept = of_headline.map(|record| {
        let counted = |figure: &Figure| figure.quantity == Quantity::DeviceCopies;
        Record {
            figures: record.figures.into_iter().filter(counted).collect(),
            case: record.case,
            method: record.method,
            launch: record.launch,
            phase: record.phase,
            pair: record.pair,
            bytes: record.bytes,
            segments: record.segments,
            launches: record.launches,
            basis: record.basis,
            n: record.n,
            blocks: record.blocks,
            outcome: record.outcome,
            schema: record.schema,
            ..Record::default()
        }
    });
    kept.collect()
}

/// The data for a record.
#[derive(Clone, Copy, Debug)]
pub struct RowContext<'a> {
    pub kind: Kind,
    pub result: &'a CaseResult,
    pub view: &'a View<'a>,
    /// All methods of the case.
    pub views: &'a [View<'a>],
    /// The method that this one is compared with, if it was measured.
    pub reference: Option<&'a View<'a>>,
    pub phase: Phase,
    pub scope: PairScope,
}

impl<'a> RowContext<'a> {
    /// The record; `None` without samples.
    fn record(&self) -> Option<Record> {
        let Self { view, phase, scope, result, .. } = *self;
        let blocks = self.blocks();
        let samples = stats::sorted(blocks.iter().flat_map(|block| phase.samples(block).iter().copied()));
        let median = stats::median(&samples)?;
        // Any method is slow while a rank is without its core.
        let undisturbed = || blocks.iter().filter(|block| !block.is_disturbed());
        let of_method = stats::sorted(undisturbed().flat_map(|block| phase.samples(block).iter().copied()));
        let slow = stats::SlowSamples::from_sorted(&of_method);
        let rounds: Vec<_> = view.rounds(phase, scope).into_values().collect();
        let interval = stats::blocks_interval(&rounds);
        let of_states = |value: fn(&MachineState) -> f64| {
            let states = blocks.iter().flat_map(|block| [&block.before, &block.after]);
            stats::median(&stats::sorted(states.map(value).filter(|&value| value > 0.0)))
        };
        let batch = blocks.iter().map(|block| block.batch_of(phase)).max()?;
        let (mean_interval, blocks_other_state) = match result.rule {
            Rule::Interval => (None, view.blocks(phase, scope, false).len()),
            // Earlier attempts are left out too, whatever the state of the machine.
            Rule::Pcomm => (stats::student_interval(&samples, pcomm::LEVEL), 0),
        };
        let mut record = Record {
            phase,
            pair: scope,
            n: samples.len(),
            blocks: blocks.len(),
            blocks_other_state,
            mixed_states: view.mixes_states(scope),
            blocks_disturbed: blocks.len() - undisturbed().count(),
            batch,
            median_s: Some(median),
            median_low_s: interval.map(|interval| interval.0),
            median_high_s: interval.map(|interval| interval.1),
            mean_s: stats::mean(&samples),
            mean_low_s: mean_interval.map(|(mean, half)| mean - half),
            mean_high_s: mean_interval.map(|(mean, half)| mean + half),
            min_s: samples.first().copied(),
            p90_s: stats::upper_quantile(&samples, 0.9),
            p99_s: stats::upper_quantile(&samples, 0.99),
            p999_s: stats::upper_quantile(&samples, 0.999),
            max_s: samples.last().copied(),
            slow_samples: slow.map(|slow| slow.samples),
            slow_time: slow.map(|slow| slow.time),
            state_latency_s: of_states(|state| state.latency_s),
            state_copy_bytes_per_s: of_states(|state| state.copy_bytes_per_s),
            ..Record::empty(result, view.method, phase)
        };
        // The engine has figures of each phase.
        if self.is_headline() || self.kind == Kind::Engine {
            (super::of_kind(self.kind).add_figures)(&mut record, self);
        }
        Some(record)
    }

    /// Whether it is the record of the headline phase.
    pub fn is_headline(&self) -> bool {
        self.phase == self.kind.headline()
    }

    /// The blocks used for the record.
    pub fn blocks(&self) -> Vec<&'a Block> {
        self.view.blocks(self.phase, self.scope, true)
    }

    /// Another method of the case, if it was measured.
    pub fn measured(&self, method: &str) -> Option<&'a View<'a>> {
        self.views.iter().find(|view| view.method.method == method && view.method.outcome.is_measured())
    }

    /// The overhead of the phase relative to the reference: (t - t_reference) / t = 1 - their ratio, so that
    /// it is the median over rounds, like every ratio.
    pub fn overhead(&self) -> Option<Figure> {
        let reference = self.reference?;
        let ratio = self.view.ratio(reference, self.phase, self.scope);
        let figure = ratios::rest(Quantity::OverheadReference, ratio)?;
        Some(figure.against(&reference.method.method))
    }

    /// The fraction of timed packing and unpacking in the phase; 0 if MPI does all of it.
    pub fn packing(&self, whole: fn(&Block) -> Vec<f64>, without: fn(&Block) -> Vec<f64>) -> Option<Figure> {
        let of = |samples: fn(&Block) -> Vec<f64>| self.view.rounds_of(self.phase, self.scope, samples);
        let has_parts = |phase| self.view.median(phase, self.scope).is_some();
        if !has_parts(Phase::Pack) && !has_parts(Phase::Unpack) {
            return Some(Figure::plain(Quantity::OverheadPack, 0.0));
        }
        ratios::rest(Quantity::OverheadPack, ratio(&of(without), &of(whole), self.view.rule))
    }

    /// The bandwidth of these bytes in this time, unless the clock measured no time.
    pub fn bandwidth(&self, time_s: f64) -> Option<Figure> {
        let value = self.result.message.bytes as f64 / time_s;
        value.is_finite().then(|| Figure::plain(Quantity::Bandwidth, value))
    }

    /// The messages of a repetition, if the method counts them.
    pub fn messages(&self) -> Option<Figure> {
        let messages = self.blocks().last()?.messages?;
        Some(Figure::plain(Quantity::Messages, messages as f64))
    }

    /// Bytes that devices sent per repetition, in the block with the fewest. For all pairs, which devices do not distinguish.
    pub fn device_bytes(&self) -> Option<Figure> {
        let PairScope::All = self.scope else { return None };
        let bytes = self.blocks().into_iter().filter_map(Block::device_bytes_per_repetition);
        bytes.reduce(f64::min).map(|bytes| Figure::plain(Quantity::DeviceBytes, bytes))
    }

    /// Copies of a device's driver for one message, the median of the blocks; only of a simulated device.
    pub fn device_copies(&self) -> Option<Figure> {
        let copies = self.blocks().into_iter().filter_map(|block| block.device_copies);
        stats::median(&stats::sorted(copies)).map(|copies| Figure::plain(Quantity::DeviceCopies, copies))
    }

    /// The residual error of the synchronised clocks, in the worst block; only if the ranks have different clocks.
    pub fn clock_error(&self) -> Option<Figure> {
        let errors = self.blocks().into_iter().filter_map(|block| block.clock_error_s);
        errors.reduce(f64::max).map(|error| Figure::plain(Quantity::ClockError, error))
    }

    /// How late the latest rank was at agreed start times, the median of the blocks; only if there were agreed times.
    pub fn start_late(&self) -> Option<Figure> {
        let blocks = self.blocks();
        let latest = |block: &&Block| block.start_late_s.iter().copied().reduce(f64::max);
        let late = stats::median(&stats::sorted(blocks.iter().filter_map(latest)))?;
        Some(Figure::plain(Quantity::StartLate, late))
    }

    /// The maximum number of ranks whose MPI threads were not bound to the core reserved for them; only if one was reserved.
    pub fn unbound_ranks(&self) -> Option<Figure> {
        let most = self.blocks().into_iter().filter_map(|block| block.unbound_ranks).max()?;
        Some(Figure::plain(Quantity::UnboundRanks, most as f64))
    }

    /// The speed-up relative to another method, including computation.
    pub fn speedup(&self, other: &View<'_>) -> Option<Figure> {
        let total = self.view.ratio(other, Phase::Total, self.scope)?;
        let share = |ratio: f64| 1.0 - 1.0 / ratio;
        let (low, high) = total.interval?;
        let figure = Figure::with_interval(Quantity::Speedup, share(total.value), (share(low), share(high)));
        Some(figure.against(&other.method.method))
    }

    /// The gain relative to another method, without computation.
    pub fn gain(&self, other: &View<'_>) -> Option<Figure> {
        let ratio = self.view.ratio(other, self.phase, self.scope);
        ratios::figure(Quantity::Gain, ratio, &other.method.method)
    }
}
