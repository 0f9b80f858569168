//! The kinds of experiments: what each measures, by which methods, in which phases, and what is made of the times.
//!
//! A kind is a folder and a line in [`ALL`]. In its folder are the methods (one row each), what a case says (its parameters), how
//! a case is prepared or refused, its figures where it has some, and how its table looks.

pub mod engine;
pub mod fine_grained;
pub mod halo;
pub mod launches;
pub mod layout_file;
pub mod list;
pub mod memory;
pub mod overlap;
pub mod parameter;
pub mod partitioned;
pub mod pcomm;
pub mod pingpong;
pub mod planned;
pub mod probes;
pub mod selection;
pub mod summary;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::calibration::CalibratedSize;
use crate::model::conditions::{Cache, Configuration};
use crate::model::event::{Block, MessageFacts, TimedApart};
use crate::model::{LOOP, MethodInfo, Outcome, Phase, Record};
use crate::report::compared::Compared;
use crate::report::pictures::Drawn;
use crate::report::table::{self, TableFormat};
use crate::report::{answer, html};
use parameter::Flag;
use planned::{PlannedCase, Selected};
use selection::Selection;
use summary::RowContext;

/// All kinds, in the order in which `list` shows them.
pub const ALL: [Kind; 6] =
    [pingpong::KIND, engine::KIND, partitioned::KIND, halo::KIND, overlap::KIND, probes::KIND];

/// Launches of a plan that does not say: the fewest whose intervals assume no distribution, and with which another run is where it
/// is said to be. Measured: docs/statistics.md, "How many launches".
pub const LAUNCHES: usize = 6;

/// A kind of experiments, as plans and results name it.
#[derive(Clone, Copy, Debug)]
pub struct Kind(pub &'static dyn Experiment);

/// What a kind of experiments knows.
pub trait Experiment: Debug + Sync {
    /// Its name: the subcommand of the rank program, the word in plans and results.
    fn name(&self) -> &'static str;

    /// Its methods, in report order.
    fn methods(&self) -> &'static [MethodInfo];

    /// The method called `name`.
    ///
    /// # Errors
    /// A sentence with all names.
    fn method(&self, name: &str) -> Result<&'static MethodInfo, String> {
        find(self.methods(), "method", name)
    }

    /// Its phases, in the order in which they happen; the headline phase last.
    fn phases(&self) -> &'static [Phase];

    /// The method that all others are compared with.
    fn reference(&self) -> &'static str;

    /// Ranks where nobody says how many.
    fn default_ranks(&self) -> usize {
        2
    }

    /// New starts of the rank program for each case where nobody says how many.
    fn default_launches(&self) -> usize {
        LAUNCHES
    }

    /// What is wrong with a number of ranks, if anything.
    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str>;

    /// What is wrong with a cache mode, if anything.
    fn refuse_cache(&self, _cache: Cache) -> Option<&'static str> {
        None
    }

    /// The subcommand of `ddtbench` that makes plans of it.
    fn command(&self) -> &'static str {
        self.name()
    }

    /// Those of a plan's options that not all kinds have: `pairs`, `startall`, `rule`.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

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
            [] => format!("{} experiments have no text formats: leave it out", self.name()),
            _ => {
                let names: Vec<_> = formats.iter().map(|format| format.name).collect();
                format!("no text format is called so; there is {}", names.join(", "))
            }
        })
    }

    /// Tells which phases of a block were timed in repetitions of their own. The k-th samples of all others are of one repetition.
    fn timed_apart(&self) -> TimedApart {
        |_| NOT_REPEATED
    }

    /// What its cases say beside the parameters of a test.
    fn flags(&self) -> Vec<&'static Flag> {
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

    /// Whether methods are ranked by the ratios of their headline phase.
    fn is_contest(&self) -> bool {
        true
    }

    /// Whether what came of a test is tried once more before it counts, since the machine may be at fault.
    fn needs_second_try(&self, _test: &str, _outcome: &Outcome) -> bool {
        false
    }

    /// Whether it looks at what other runs remember of an MPI, so that they are to forget it.
    fn asks_anew(&self) -> bool {
        false
    }

    /// Whether a record is of a method that has failed, and not of one that the MPI lacks.
    fn has_failed(&self, record: &Record) -> bool {
        let lacks = Outcome::NotAvailable { reason: String::new() }.label();
        !Outcome::counts(&record.outcome) && record.outcome != lacks
    }

    /// Whether these records of the headline phase are what was asked for: there are times, and every method has some that count
    /// unless the MPI lacks what it needs.
    fn is_success(&self, records: &[&Record]) -> bool {
        let lacks = Outcome::NotAvailable { reason: String::new() }.label();
        let has_times = |record: &Record| record.median_s.is_some() && Outcome::counts(&record.outcome);
        let mut asked = records.iter().filter(|record| record.outcome != lacks).peekable();
        asked.peek().is_some() && asked.all(|record| has_times(record))
    }

    /// How a case of it is shown: [`Kind::plain_table_format`] with its own columns and texts.
    fn table_format(&self) -> &'static TableFormat;

    /// A line per case and what was found, nothing wider than a terminal of `width`. With codes for colours.
    fn answer(&self, records: &[Record], width: Option<u16>) -> String {
        answer::answer(self.table_format(), records, width)
    }

    /// The records as tables with all details, nothing wider than a terminal of `width`.
    fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(self.table_format(), records, width)
    }

    /// The records as a page with their pictures, with the account of the machine, which may be empty, and with what a comparison of
    /// them has found.
    fn page(&self, records: &[Record], pictures: &[Drawn], environment: &str, compared: &Compared) -> String {
        html::html(self.table_format(), records, pictures, environment, compared)
    }
}

/// Phases that are no part of a repetition, in any kind; of the first partition, only those repetitions have a time in which the
/// receiver looked.
const NOT_REPEATED: &[Phase] =
    &[Phase::Create, Phase::Free, Phase::Init, Phase::ComputationWithoutMpi, Phase::FirstPartition];

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

/// What a case is prepared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Ranks of the run.
    pub ranks: usize,
    /// Seed of everything random.
    pub seed: u64,
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

    /// Its number of ranks, where it is not the plan's.
    fn ranks(&self) -> Option<usize> {
        None
    }

    /// Whether each rank is bound to a core where the plan says so.
    fn is_bound(&self) -> bool {
        true
    }

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

    /// Probes that the figures of a method rest on: those of its row that are of what the case does.
    fn required_probes(&self, _method: &str) -> Vec<&'static str> {
        Vec::new()
    }

    /// Memory that a rank needs with these methods, in bytes; `None` beyond the address space.
    fn rank_bytes(&self, methods: &[String]) -> Option<u64>;
}

impl Kind {
    /// The kind called `name`.
    ///
    /// # Errors
    /// A sentence with all names.
    pub fn find(name: &str) -> Result<Self, String> {
        ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|kind| kind.name()).collect();
            format!("no kind of experiments is called {name:?}; there are {}", names.join(", "))
        })
    }

    /// The phase that a method is judged by: that of its last.
    pub fn headline(self) -> Phase {
        let phases = self.phases();
        phases[phases.len() - 1]
    }

    /// The format that has all that is known of the kind. It is kept for good, so that a kind makes it once.
    pub fn plain_table_format(self) -> TableFormat {
        let method = Box::leak(Box::new(move |name: &str| self.method(name).ok()));
        TableFormat::new(method, self.headline(), self.reference())
    }

    /// The names of all methods that are measured where nobody says which.
    pub fn all_methods(self) -> Vec<String> {
        self.usual_methods(std::iter::empty())
    }

    /// The same for a run of these tests: with the plain loop where one of them has no loops written by hand.
    pub fn usual_methods<'a>(self, mut tests: impl Iterator<Item = &'a str>) -> Vec<String> {
        // Of overlap the exchange has a word before its name.
        let has_layout = tests.any(|test| {
            test.strip_prefix(overlap::operations::EXCHANGE).unwrap_or(test) == apps::LAYOUT.name
        });
        let usual = self.methods().iter();
        let usual = usual.filter(|method| !method.on_request || has_layout && method.name == LOOP);
        usual.map(|method| method.name.to_owned()).collect()
    }

    /// The method that `method` is compared with; `None` for one that others are compared with.
    pub fn reference_of(self, method: &str) -> Option<&'static str> {
        let info = self.method(method).ok();
        let is_reference = method == self.reference() || info.is_some_and(|info| info.is_reference);
        (!is_reference).then(|| info.and_then(|info| info.reference).unwrap_or(self.reference()))
    }

    /// Whether a method is measured in processes of its own.
    pub fn in_own_processes(self, method: &str) -> bool {
        self.method(method).is_ok_and(|info| info.in_own_processes)
    }
}

impl Deref for Kind {
    type Target = dyn Experiment;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Kind {}

impl Default for Kind {
    /// Ping-pongs.
    fn default() -> Self {
        pingpong::KIND
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::find(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// The row of a table that has a name; `word` is what its rows are.
///
/// # Errors
/// A sentence with all names.
pub fn find(rows: &'static [MethodInfo], word: &str, name: &str) -> Result<&'static MethodInfo, String> {
    rows.iter().find(|row| row.name == name).ok_or_else(|| {
        let names: Vec<_> = rows.iter().map(|row| row.name).collect();
        format!("no {word} is called {name:?}; there are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn methods_are_found_in_their_kind_and_each_once() {
        for kind in ALL {
            let names: HashSet<_> = kind.methods().iter().map(|method| method.name).collect();
            assert_eq!(names.len(), kind.methods().len(), "{}", kind.name());
            for method in kind.methods() {
                assert_eq!(kind.method(method.name), Ok(method));
                assert!(method.needs.iter().all(|function| function.starts_with("MPI_")), "{}", method.name);
            }
            assert!(kind.method(kind.reference()).is_ok(), "{}", kind.name());
            assert_eq!(Kind::find(kind.name()), Ok(kind));
        }
        assert!(
            pingpong::KIND.method("many").is_err() && Kind::find("pingpongs").unwrap_err().contains("halo")
        );
    }

    #[test]
    fn every_probe_of_a_method_is_one_that_can_fail() {
        for method in ALL.iter().flat_map(|kind| kind.methods()) {
            for name in method.probes.concat() {
                let kind = probes::list::find(name).unwrap().kind;
                assert_eq!(kind, probes::list::ProbeKind::Conformance, "{}: {name}", method.name);
            }
        }
    }

    #[test]
    fn every_picture_is_of_kinds_that_there_are() {
        for picture in crate::report::pictures::PICTURES {
            assert!(!picture.kinds.is_empty(), "{}", picture.name);
            for kind in picture.kinds {
                assert!(Kind::find(kind).is_ok(), "{}: {kind}", picture.name);
            }
        }
    }

    #[test]
    fn every_phase_belongs_to_a_kind() {
        for phase in Phase::ALL {
            assert!(ALL.iter().any(|kind| kind.phases().contains(&phase)), "{phase:?}");
        }
    }
}
