//! The fuzz targets of `harness/fuzz`: random bytes go to every reader of files that others may have written.
//! No reader may panic, and if a reader has a writer, written values must read as the same again.

use std::sync::Arc;

use crate::compare::KeptComparison;
use crate::conformance::process::CheckLog;
use crate::experiments::halo::HaloSetting;
use crate::experiments::layout_file;
use crate::experiments::overlap::OverlapCase;
use crate::experiments::partitioned::Setting;
use crate::folder::recorded::parse_table;
use crate::folder::rows::{FigureRow, NumberedCase};
use crate::folder::{gzip, samples, torn};
use crate::model::Record;
use crate::model::plain::from_json;
use crate::mpi::registry::Registry;
use crate::mpi::{Exit, ExitDescription, Line, Variant};
use crate::plan::Plan;
use crate::report::account::accounts;
use crate::run::Environment;
use crate::run::process_log::ProcessLog;
use common::fine_grained::aggregation::Aggregation;
use common::fine_grained::arrival::Arrival;
use common::fine_grained::order::WriteOrder;
use common::fine_grained::trace::Trace;

/// A name, which is also that of its corpus, and the function to call with the bytes.
pub type FuzzTarget = (&'static str, fn(&[u8]));

pub const TARGETS: [FuzzTarget; 13] = [
    ("aggregation", |bytes| text(bytes, aggregation)),
    ("arrival", |bytes| text(bytes, arrival)),
    ("cases", table::<NumberedCase>),
    ("comparison", |bytes| drop(from_json::<KeptComparison>(bytes))),
    ("environment", environment),
    ("events", |bytes| text(bytes, events)),
    ("figures", table::<FigureRow>),
    ("launches", table::<Record>),
    ("layout", |bytes| text(bytes, layout)),
    ("mpis", |bytes| text(bytes, mpis)),
    ("parameters", |bytes| text(bytes, parameters)),
    ("plan", |bytes| text(bytes, plan)),
    ("samples", members),
];

/// The target of this name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> fn(&[u8]) {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no target is called {name:?}")).1
}

/// Reads the bytes as text, if they are.
fn text(bytes: &[u8], read: fn(&str)) {
    let _ = std::str::from_utf8(bytes).map(read);
}

/// Reads a table, also in the way that appending does.
fn table<T: crate::folder::rows::FromCells>(bytes: &[u8]) {
    let columns = ["run", "experiment"].map(str::to_owned);
    let _ = (parse_table::<T>(bytes), torn::check(bytes, &columns));
    let (whole, rest) = torn::split(bytes);
    assert_eq!(whole.len() + rest.len(), bytes.len(), "nothing is lost");
}

/// A file of compressed members.
fn members(bytes: &[u8]) {
    let (all, rest) = gzip::members(bytes);
    let packed: usize = all.iter().map(|member| member.packed.len()).sum();
    assert_eq!(packed + rest.len(), bytes.len(), "nothing is lost");
    let _ = gzip::check(bytes);
    let case = [(0, Arc::default())].into();
    let _ = samples::each_method(bytes, &case, |_| Ok(()));
}

fn environment(bytes: &[u8]) {
    text(bytes, |text| accounts(text).iter().for_each(|account| drop(account.text())));
    if let Ok(environment) = Environment::parse(bytes) {
        let again = serde_json::to_vec(&environment).expect("plain data");
        let again = Environment::parse(&again).expect("written text can be read");
        assert_eq!(again.rows().count(), environment.rows().count());
    }
}

/// Output of a rank program and its MPI, and how it may end.
fn events(text: &str) {
    let (mut log, mut of_check) = (ProcessLog::default(), CheckLog::default());
    for line in text.lines() {
        log.line(Line::Out(line.to_owned()));
        of_check.line(Line::Out(line.to_owned()));
    }
    let asked = ["reference", "ddt"].map(str::to_owned);
    for exit in [Exit::Silent(1.0), Exit::Ended(ExitDescription { code: Some(3), signal: None })] {
        let outcomes = log.outcomes(&asked, exit);
        drop(of_check.answer(exit));
        assert!(!outcomes.is_empty(), "there is an outcome");
    }
    asked.iter().for_each(|method| drop(log.blocks_of(method)));
}

fn layout(text: &str) {
    let _ = layout_file::parse(text, &datatypes::Definitions::default());
    if let Ok(layout) = text.parse::<datatypes::Layout>() {
        assert_eq!(layout.to_text().parse().as_ref(), Ok(&layout), "{text}");
    }
}

/// The list of a machine's MPIs, which people write by hand.
fn mpis(text: &str) {
    if let Ok(list) = Registry::parse(text) {
        let again = list.to_toml().expect("names, paths and variables");
        assert_eq!(Registry::parse(&again).as_ref(), Ok(&list), "{text}");
    }
}

fn arrival(text: &str) {
    let _ = Trace::parse("trace", text);
    if let Ok(arrival) = text.parse::<Arrival>() {
        assert_eq!(arrival.to_string().parse(), Ok(arrival), "{text}");
    }
}

fn aggregation(text: &str) {
    let _ = (text.parse::<WriteOrder>(), text.parse::<Variant>());
    if let Ok(aggregation) = text.parse::<Aggregation>() {
        assert_eq!(aggregation.to_string().parse(), Ok(aggregation), "{text}");
        let units = aggregation.units(7, 3);
        assert_eq!(units.iter().map(ExactSizeIterator::len).sum::<usize>(), 7, "{text}");
    }
}

/// Lines of NAME=VALUE, for the kinds with their own parameters.
fn parameters(text: &str) {
    // Traces are files; their content is another target.
    if text.contains("kde:") {
        return;
    }
    let given = || text.lines().filter_map(|line| line.split_once('='));
    let _ = (Setting::parse(given()), HaloSetting::parse(given()));
    let _ = OverlapCase::parse("ibcast", None, given());
}

/// A plan. If it has few cases, it is checked too, which prepares them.
fn plan(text: &str) {
    const FEW: usize = 4;
    let Ok(plan) = Plan::parse(text) else { return };
    assert_eq!(Plan::parse(&plan.to_toml()).as_ref(), Ok(&plan), "written text reads as the same");
    // Sweeps make many cases, and may name files.
    if plan.cases.len() <= FEW && plan.sweeps.is_empty() && !plan.to_toml().contains("kde:") {
        let _ = plan.check();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_corpus_of_every_target_is_read_without_a_panic() {
        for (name, target) in TARGETS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
            let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
            assert!(!files.is_empty(), "{} has no file", folder.display());
            files.iter().for_each(|file| target(&fs::read(file).unwrap()));
        }
    }
}
