//! What `ddtbench` does with the kinds of experiments: how their cases are prepared, what is made of their times, and how they
//! are shown. A folder each, and an arm of [`of`]. Methods, phases and settings are in [`common::kinds`].

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

/// What this program does with a kind of experiments, besides what is in [its row](common::kinds::Row).
pub struct Experiment {
    /// The parameters of its cases, besides those of a test.
    pub parameters: fn() -> Vec<&'static ParameterInfo>,
    /// The cases of a selection, each with all values; or which name or value is wrong, and what would be right.
    pub cases: fn(&Selection, Context) -> Result<Selected, String>,
    /// Makes a case ready to be measured by these methods; or what is wrong with it, and what would be right.
    pub prepare: fn(&PlannedCase, &[String], Context) -> Result<Prepared, String>,
    /// Adds figures to a record of any phase.
    add_figures: fn(&mut Record, &RowContext<'_>),
    /// How a case is shown.
    table_format: &'static LazyLock<TableFormat>,
}

impl Experiment {
    /// How a case is shown: [`plain_table_format`] with the kind's own columns and texts.
    pub fn table_format(&self) -> &'static TableFormat {
        self.table_format
    }

    /// A line per case and what was found, nothing wider than a terminal of `width`. With codes for colours.
    pub fn answer(&self, records: &[Record], width: Option<u16>) -> String {
        answer::answer(self.table_format, records, width)
    }

    /// The records as tables with all details, nothing wider than a terminal of `width`.
    pub fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(self.table_format, records, width)
    }
}

/// A text format, made of samples.
#[derive(Debug)]
pub struct TextFormat {
    /// The kind whose samples it is made of.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
    /// The file that has it.
    pub file: &'static str,
    /// What the file begins with.
    pub header: fn() -> String,
    /// The lines of the blocks of a method, of which this is the record of the headline phase in this launch.
    pub lines: fn(&Record, &[Block]) -> String,
}

/// All text formats.
const TEXT_FORMATS: &[TextFormat] = &[pingpong::TEXT_FORMAT];

/// The text format of a kind that is called `name`.
///
/// # Errors
/// A sentence with the names of those that the kind has.
pub fn text_format(kind: Kind, name: &str) -> Result<&'static TextFormat, String> {
    let formats = || TEXT_FORMATS.iter().filter(|format| format.kind == kind);
    let names: Vec<_> = formats().map(|format| format.name).collect();
    formats().find(|format| format.name == name).ok_or_else(|| match names.as_slice() {
        [] => format!("{} experiments have no text formats: leave it out", kind.name()),
        names => format!("there is no text format {name:?}, but {}", names.join(", ")),
    })
}

/// How the processes of a case are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSettings {
    /// Threads of each rank.
    pub threads: usize,
    /// What makes progress on its communication.
    pub configuration: Configuration,
    /// Variables for the ranks.
    pub env: BTreeMap<String, String>,
}

impl Default for ProcessSettings {
    /// One thread, and nothing else.
    fn default() -> Self {
        Self { threads: 1, configuration: Configuration::Basic, env: BTreeMap::new() }
    }
}

/// A case that can be measured: all that is known of it without an MPI.
#[derive(Debug)]
pub struct Prepared {
    /// The case with all values.
    pub planned: PlannedCase,
    /// All values, as results have them.
    pub params: String,
    /// The arguments of the rank program, after the kind.
    pub arguments: Vec<String>,
    /// What one rank sends; found when it is first asked for, since that takes long for large layouts.
    pub message: LazyLock<MessageFacts, Box<dyn FnOnce() -> MessageFacts + Send>>,
    /// How its processes are started.
    pub process_settings: ProcessSettings,
    /// Those of the methods that it cannot be measured by, and why; without a reason if that is clear.
    pub lacking: BTreeMap<String, &'static str>,
    /// The checks that the figures of each method rest on.
    pub required_checks: BTreeMap<String, Vec<&'static str>>,
    /// Memory that a rank needs with the methods, in bytes; `None` beyond the address space.
    pub rank_bytes: Option<u64>,
}

impl Prepared {
    /// One that can be measured by all methods, rests on no checks, and needs processes as usual.
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

    /// Whether it can be measured by one of the methods.
    pub fn has(&self, method: &str) -> bool {
        !self.lacking.contains_key(method)
    }

    /// Which of these methods it cannot be measured by, and why if that is not clear, methods of one reason together: as
    /// `manual, manual_tuned (no loops were written for it)`.
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

    /// The checks that the figures of a method rest on.
    pub fn checks(&self, method: &str) -> &[&'static str] {
        self.required_checks.get(method).map_or(&[], Vec::as_slice)
    }

    /// The values that are numbers, in the order in which they are shown.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        let pairs = self.params.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
    }
}

/// What this program does with a kind.
pub fn of(kind: Kind) -> &'static Experiment {
    match kind {
        Kind::PingPong => &pingpong::EXPERIMENT,
        Kind::Engine => &engine::EXPERIMENT,
        Kind::Partitioned => &partitioned::EXPERIMENT,
        Kind::Halo => &halo::EXPERIMENT,
        Kind::Overlap => &overlap::EXPERIMENT,
    }
}

/// The format that has all that is known of a kind. It is kept for good, so that a kind makes it once.
pub fn plain_table_format(kind: Kind) -> TableFormat {
    let method = Box::leak(Box::new(move |name: &str| kind.method(name).ok()));
    TableFormat::new(method, kind.headline(), kind.reference())
}
