//! The program's part of the kinds of experiments: preparing cases, evaluating times, showing results. Each
//! kind has a folder, and an arm of [`of_kind`]. Methods, phases and settings are in [`common::kinds`].

pub mod copies;
pub mod engine;
pub mod halo;
pub mod launches;
pub mod layout_file;
pub mod list;
pub mod overlap;
pub mod partitioned;
pub mod pingpong;
pub mod planned;
pub mod selection;
pub mod summary;

pub use apps::Context;
pub use common::kinds::Kind;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use common::parameter::ParameterInfo;
use indexmap::IndexMap;

use crate::model::Record;
use crate::model::conditions::Configuration;
use crate::model::event::{Block, MessageFacts};
use crate::report::answer;
use crate::report::table::{self, TableFormat};
use planned::{PlannedCase, Selected};
use selection::Selection;
use summary::RowContext;

/// The program's part of a kind of experiments; the common part is [its row](common::kinds::Row).
pub struct Experiment {
    /// The parameters of its cases, besides those of a test.
    pub parameters: fn() -> Vec<&'static ParameterInfo>,
    /// The cases of a selection, each with all values; or an error with the invalid name or value, and valid ones.
    pub cases: fn(&Selection, Context) -> Result<Selected, String>,
    /// Prepares a case for these methods; or an error with the invalid value, and valid ones.
    pub prepare: fn(&PlannedCase, &[String], Context) -> Result<Prepared, String>,
    /// Adds figures to a record of any phase.
    add_figures: fn(&mut Record, &RowContext<'_>),
    /// How a case is shown: [`plain_table_format`] with the kind's own columns and texts.
    pub table_format: &'static LazyLock<TableFormat>,
}

impl Experiment {
    /// A line per case with its result, within the width of a terminal. With codes for colours.
    pub fn answer(&self, records: &[Record], width: Option<u16>, loops: Option<&str>) -> String {
        answer::answer(self.table_format, records, width, loops)
    }

    /// The records as tables with all details, within the width of a terminal.
    pub fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(self.table_format, records, width)
    }
}

/// A text format, made of samples.
#[derive(Debug)]
pub struct TextFormat {
    pub name: &'static str,
    pub file: &'static str,
    /// The beginning of the file.
    pub header: fn() -> String,
    /// The lines for the blocks of a method; the record is that of the headline phase in this launch.
    pub lines: fn(&Record, &[Block]) -> String,
}

/// The text format of a kind with this name.
///
/// # Errors
/// If there is none, with the names of the kind's formats.
pub fn text_format(kind: Kind, name: &str) -> Result<&'static TextFormat, String> {
    const ONLY: &TextFormat = &pingpong::TEXT_FORMAT;
    match kind {
        Kind::PingPong if name == ONLY.name => Ok(ONLY),
        Kind::PingPong => Err(format!("unknown text format {name:?}; known: {}", ONLY.name)),
        _ => Err(format!("{} experiments have no text formats", kind.name())),
    }
}

/// How the processes of a case are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSettings {
    /// Threads of each rank.
    pub threads: usize,
    /// Asynchronous progress.
    pub configuration: Configuration,
    /// Variables for the ranks.
    pub env: BTreeMap<String, String>,
}

impl Default for ProcessSettings {
    /// One thread, no other settings.
    fn default() -> Self {
        Self { threads: 1, configuration: Configuration::Basic, env: BTreeMap::new() }
    }
}

/// A case that can be measured: everything that is known without an MPI.
#[derive(Debug)]
pub struct Prepared {
    pub planned: PlannedCase,
    /// All values, as results have them.
    pub params: String,
    /// The arguments of the rank program, after the kind.
    pub arguments: Vec<String>,
    /// The message of one rank. Computed on first use, which takes long for large layouts.
    pub message: LazyLock<MessageFacts, Box<dyn FnOnce() -> MessageFacts + Send>>,
    /// How its processes are started.
    pub process_settings: ProcessSettings,
    /// Methods that cannot measure the case, with reasons. An obvious reason is empty.
    pub lacking: BTreeMap<String, &'static str>,
    /// The checks on which each method depends.
    pub required_checks: BTreeMap<String, Vec<&'static str>>,
    /// Memory of a rank with the methods, in bytes; `None` beyond the address space.
    pub rank_bytes: Option<u64>,
}

impl Prepared {
    /// A case for all methods, without checks, and with default processes.
    fn new(
        planned: PlannedCase,
        params: String,
        message: impl FnOnce() -> MessageFacts + Send + 'static,
        rank_bytes: Option<u64>,
    ) -> Self {
        Self {
            arguments: planned.arguments(),
            planned,
            params,
            message: LazyLock::new(Box::new(message)),
            process_settings: ProcessSettings::default(),
            lacking: BTreeMap::new(),
            required_checks: BTreeMap::new(),
            rank_bytes,
        }
    }

    /// Whether the method can measure it.
    pub fn has(&self, method: &str) -> bool {
        !self.lacking.contains_key(method)
    }

    /// Those of these methods that cannot measure it, grouped by reason: `manual, manual_tuned (no loops were written for it)`.
    pub fn lacks(&self, methods: &[String]) -> Vec<String> {
        let mut reasons: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for method in methods {
            let reason = self.lacking.get(method).copied();
            reason.into_iter().for_each(|reason| reasons.entry(reason).or_default().push(method));
        }
        let text = |(reason, methods): (&str, Vec<&str>)| match reason {
            "" => methods.join(", "),
            _ => format!("{} ({reason})", methods.join(", ")),
        };
        reasons.into_iter().map(text).collect()
    }

    pub fn checks(&self, method: &str) -> &[&'static str] {
        self.required_checks.get(method).map_or(&[], Vec::as_slice)
    }

    /// The numeric values, in the order of display.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        let pairs = self.params.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
    }
}

/// The program's part of a kind.
pub fn of_kind(kind: Kind) -> &'static Experiment {
    match kind {
        Kind::PingPong => &pingpong::EXPERIMENT,
        Kind::Engine => &engine::EXPERIMENT,
        Kind::Partitioned => &partitioned::EXPERIMENT,
        Kind::Halo => &halo::EXPERIMENT,
        Kind::Overlap => &overlap::EXPERIMENT,
    }
}

/// The common format of a kind. It lives as long as the program, so that a kind makes it once.
pub fn plain_table_format(kind: Kind) -> TableFormat {
    let method = Box::leak(Box::new(move |name: &str| kind.method(name).ok()));
    TableFormat::new(method, kind.headline(), kind.reference())
}

#[cfg(test)]
mod tests;
