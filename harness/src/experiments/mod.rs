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
use std::fmt::Debug;

use common::parameter::ParameterInfo;

use crate::model::Record;
use crate::model::conditions::Configuration;
use crate::model::event::{Block, MessageFacts};
use crate::report::answer;
use crate::report::table::{self, TableFormat};
use planned::{PlannedCase, Selected};
use selection::Selection;
use summary::RowContext;

/// What a kind of experiments does in this program, besides what [its row](common::kinds::Row) says of it.
pub trait Experiment: Debug + Sync {
    /// What its cases say beside the parameters of a test.
    fn parameters(&self) -> Vec<&'static ParameterInfo> {
        Vec::new()
    }

    /// The cases of a selection, each with all values.
    ///
    /// # Errors
    /// A name or a value that cannot be, and what would be right.
    fn cases(&self, selection: &Selection, setup: Context) -> Result<Selected, String>;

    /// Makes a case ready to be measured: its values complete, and everything known of it that needs no MPI.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    fn prepare(&self, case: &PlannedCase, setup: Context) -> Result<Box<dyn Prepared>, String>;

    /// Adds figures to a record, of any phase.
    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>);

    /// How a case of it is shown: [`plain_table_format`] with its own columns and texts.
    fn table_format(&self) -> &'static TableFormat;
}

impl dyn Experiment {
    /// A line per case and what was found, nothing wider than a terminal of `width`. With codes for colours.
    pub fn answer(&self, records: &[Record], width: Option<u16>) -> String {
        answer::answer(self.table_format(), records, width)
    }

    /// The records as tables with all details, nothing wider than a terminal of `width`.
    pub fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(self.table_format(), records, width)
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

/// A case that can be measured.
pub trait Prepared: Debug + Send + Sync {
    /// The case with all values.
    fn planned(&self) -> PlannedCase;

    /// All values, as results have them.
    fn params(&self) -> String;

    /// What the rank program is told of it, after the kind.
    fn arguments(&self) -> Vec<String>;

    /// What one rank sends.
    fn message(&self) -> MessageFacts;

    /// How its processes are started.
    fn process_settings(&self) -> ProcessSettings {
        ProcessSettings::default()
    }

    /// Whether it can be measured by a method.
    fn has(&self, _method: &str) -> bool {
        true
    }

    /// Why it cannot be measured by these methods, which it lacks, and by which it can; empty where that goes without saying.
    fn lacks(&self, _methods: &[&str]) -> &'static str {
        ""
    }

    /// The checks that the figures of a method rest on: those of its row that concern this case.
    fn required_checks(&self, _method: &str) -> Vec<&'static str> {
        Vec::new()
    }

    /// Memory that a rank needs with these methods, in bytes; `None` beyond the address space.
    fn rank_bytes(&self, methods: &[String]) -> Option<u64>;
}

impl dyn Prepared {
    /// The values that are numbers, in the order in which they are shown.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        let pairs = self.params();
        let pairs = pairs.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
    }
}

/// What this program does with a kind.
pub fn of(kind: Kind) -> &'static dyn Experiment {
    match kind {
        Kind::PingPong => &pingpong::PingPong,
        Kind::Engine => &engine::Engine,
        Kind::Partitioned => &partitioned::Partitioned,
        Kind::Halo => &halo::Halo,
        Kind::Overlap => &overlap::Overlap,
    }
}

/// The format that has all that is known of a kind. It is kept for good, so that a kind makes it once.
pub fn plain_table_format(kind: Kind) -> TableFormat {
    let method = Box::leak(Box::new(move |name: &str| kind.method(name).ok()));
    TableFormat::new(method, kind.headline(), kind.reference())
}
