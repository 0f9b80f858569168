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

pub use common::kinds::{Kind, Setup};

use std::collections::BTreeMap;
use std::fmt::Debug;

use common::parameter::ParameterInfo;

use crate::model::Record;
use crate::model::calibration::CalibratedSize;
use crate::model::conditions::Configuration;
use crate::model::event::{Block, MessageFacts};
use crate::report::answer;
use crate::report::table::{self, TableFormat};
use planned::{PlannedCase, Selected};
use selection::Selection;
use summary::RowContext;

/// What a kind of experiments does in this program, besides what [its row](common::kinds::Row) says of it.
pub trait Experiment: Debug + Sync {
    /// The kind.
    fn kind(&self) -> Kind;

    /// Text formats that its samples can be written in besides.
    fn text_formats(&self) -> &'static [TextFormat] {
        &[]
    }

    /// The text format called `name`.
    ///
    /// # Errors
    /// A sentence with those that there are.
    fn text_format(&self, name: &str) -> Result<&'static TextFormat, String> {
        let formats = self.text_formats();
        formats.iter().find(|format| format.name == name).ok_or_else(|| match formats {
            [] => format!("{} experiments have no text formats: leave it out", self.kind().name()),
            _ => {
                let names: Vec<_> = formats.iter().map(|format| format.name).collect();
                format!("no text format is called so; there is {}", names.join(", "))
            }
        })
    }

    /// What its cases say beside the parameters of a test.
    fn parameters(&self) -> Vec<&'static ParameterInfo> {
        Vec::new()
    }

    /// The cases of a selection, each with all values.
    ///
    /// # Errors
    /// A name or a value that cannot be, and what would be right.
    fn cases(&self, selection: &Selection, setup: Setup) -> Result<Selected, String>;

    /// Makes a case ready to be measured: its values complete, and everything known of it that needs no MPI.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    fn prepare(&self, case: &PlannedCase, setup: Setup) -> Result<Box<dyn Prepared>, String>;

    /// What is to be found out on an MPI before cases can be measured; `None` where nothing is.
    fn calibration(&self, _cases: &[PlannedCase]) -> Option<Box<dyn Calibration>> {
        None
    }

    /// Adds figures to a record, of any phase.
    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>);

    /// How a case of it is shown: [`plain_table_format`] with its own columns and texts.
    fn table_format(&self) -> &'static TableFormat;

    /// A line per case and what was found, nothing wider than a terminal of `width`. With codes for colours.
    fn answer(&self, records: &[Record], width: Option<u16>) -> String {
        answer::answer(self.table_format(), records, width)
    }

    /// The records as tables with all details, nothing wider than a terminal of `width`.
    fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(self.table_format(), records, width)
    }
}

/// A text format, made of samples.
#[derive(Debug)]
pub struct TextFormat {
    /// Its name.
    pub name: &'static str,
    /// The file that has it.
    pub file: &'static str,
    /// What the file begins with.
    pub header: fn() -> String,
    /// The lines of the blocks of a method, of which this is the record of the headline phase in this launch.
    pub lines: fn(&Record, &[Block]) -> String,
}

/// What is to be found out on an MPI before the cases of a plan can be measured.
pub trait Calibration: Debug {
    /// What processes of the rank program find out, one each.
    ///
    /// # Errors
    /// What is wrong with a case.
    fn requests(&self, setup: Setup) -> Result<Vec<Box<dyn Prepared>>, String>;

    /// The cases with what each of them has found, and notes on those that are left out.
    fn frozen(&self, sizes: &[Vec<CalibratedSize>]) -> Selected;
}

/// A case that can be measured.
pub trait Prepared: Debug + Send + Sync {
    /// The case with all values.
    fn planned(&self) -> PlannedCase;

    /// All values, as results have them.
    fn params(&self) -> String;

    /// The values that are numbers, in the order in which they are shown.
    fn numbers(&self) -> Vec<(String, f64)> {
        let pairs = self.params();
        let pairs = pairs.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
    }

    /// The names of these, and of those that it will have once its sizes are found.
    fn number_names(&self) -> Vec<String> {
        self.numbers().into_iter().map(|(name, _)| name).collect()
    }

    /// What the rank program is told of it, after the kind.
    fn arguments(&self) -> Vec<String>;

    /// What one rank sends.
    fn message(&self) -> MessageFacts;

    /// Threads of each rank.
    fn threads(&self) -> usize {
        1
    }

    /// What brings its communication forward.
    fn configuration(&self) -> Configuration {
        Configuration::Basic
    }

    /// Whether sizes must be found on an MPI before it can be measured.
    fn needs_calibration(&self) -> bool {
        false
    }

    /// Variables that the ranks are to see.
    fn env(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
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
