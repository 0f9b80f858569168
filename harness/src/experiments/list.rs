//! What there is to measure: all tests with their sets, and all methods.

use std::fmt::Write as _;

use apps::halo::HALOS;
use apps::{Context, MicroApp, ParameterSet, Preset, Side, TESTS, Test, Values, WireOrder};
use serde::Serialize;

use super::parameter::Flag;
use super::{ALL, Kind, halo, partitioned, pingpong, probes};
use crate::model::MethodInfo;
use crate::report::columns::{Align, Column, aligned};
use crate::report::layout::{Params, pretty};
use crate::report::units;

/// The schema of the JSON list. The number changes when the old form would be read wrongly or not at all.
const SCHEMA: &str = "ddtbench-list/1";

/// How a list can be printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ListFormat {
    /// Aligned columns, for people.
    #[default]
    Table,
    /// A line per test and set, with a header line.
    Csv,
    /// One object with tests and methods.
    Json,
}

/// All tests with all sets, and all methods. An all-to-all is shown as two ranks run it.
pub fn list(format: ListFormat) -> String {
    match format {
        ListFormat::Table => table(),
        ListFormat::Csv => csv(),
        ListFormat::Json => json(),
    }
}

/// A set of a test and what it makes of the test.
struct ListEntry {
    test: &'static Test,
    set: &'static ParameterSet,
    values: Values,
    bytes: u64,
    segments: u64,
    array_bytes: u64,
}

impl ListEntry {
    fn new(test: &'static Test, set: &'static ParameterSet) -> Self {
        let values = test.set(set.name).expect("the set is the test's own");
        let app = test.build(&values, Context::default()).expect("named sets can be built");
        let message = app.message(Side::Send, WireOrder::Ddt);
        let (bytes, segments) = (message.size(), message.segments().count() as u64);
        Self { test, set, values, bytes, segments, array_bytes: array_bytes(&*app) }
    }
}

fn array_bytes(app: &dyn MicroApp) -> u64 {
    app.arrays().iter().map(|array| array.bytes() as u64).sum()
}

fn entries_of(test: &'static Test) -> impl Iterator<Item = ListEntry> {
    test.sets.iter().map(move |set| ListEntry::new(test, set))
}

fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::Quick => "quick",
        Preset::Default => "default",
        Preset::Full => "full",
    }
}

fn table() -> String {
    let columns = [
        Column::new("test", Align::Left, 2),
        Column::new("set", Align::Left, 2),
        Column::new("preset", Align::Left, 2),
        Column::new("message", Align::Right, 2),
        Column::new("segments", Align::Right, 2),
        Column::new("arrays", Align::Right, 2),
        Column::new("source", Align::Left, 2),
    ];
    let row = |entry: ListEntry| {
        vec![
            entry.test.name.to_owned(),
            entry.set.name.to_owned(),
            preset_name(entry.set.preset).to_owned(),
            units::bytes(entry.bytes),
            entry.segments.to_string(),
            units::bytes(entry.array_bytes),
            entry.test.source.to_owned(),
        ]
    };
    let mut rows = vec![columns.iter().map(|column| column.name.to_owned()).collect()];
    rows.extend(TESTS.iter().flat_map(entries_of).map(row));
    let mut text = String::new();
    for line in aligned(&columns, &rows) {
        let _ = writeln!(text, "{line}");
    }
    text += "\nA preset runs its own sets and those of the smaller ones: quick, default, full.\n";

    text += "\nParameters (JSON has them with units)\n";
    text += &named(TESTS.iter().map(|test| {
        let names: Vec<_> = test.parameters.iter().map(|parameter| parameter.name).collect();
        (test.name, names.join(" "))
    }));
    text += "\nTests\n";
    text += &named(TESTS.iter().map(|test| (test.name, test.about.to_owned())));
    text += "\nExchanges between many ranks, with their sets (ddtbench halo)\n";
    text += &named(HALOS.iter().map(|halo| {
        let sets: Vec<_> = halo.sets.iter().map(|set| set.name).collect();
        (halo.name, format!("{}; {}", halo.about, sets.join(" ")))
    }));
    text += "\nParameters of exchanges besides their own (flags, or -p)\n";
    text += &flags(halo::PARAMETERS.iter().map(|own| &own.flag));
    text += "\nParameters of a message that is finished in partitions (flags)\n";
    text += &flags(partitioned::PARAMETERS.iter().map(|own| &own.flag).chain(partitioned::sweep::PRODUCTS));
    for kind in ALL {
        text += &format!("\nMethods of `ddtbench {}`\n", kind.command());
        text += &methods(kind.methods());
    }
    text += "\nProbes: what an MPI must do for these, or may (ddtbench probe)\n";
    text += &named(probes::list::PROBES.iter().map(|probe| (probe.name, probe.about.to_owned())));
    text
}

/// Parameters with what they are; what a switch does after the value that it stands for.
fn flags(flags: impl Iterator<Item = &'static Flag>) -> String {
    named(flags.map(|flag| {
        let value = flag.switch.map_or_else(String::new, |value| format!("{value}: "));
        (flag.name, format!("{value}{}{}", flag.about, flag.default_text()))
    }))
}

/// Methods with what they do.
fn methods(methods: &[MethodInfo]) -> String {
    let about = |method: &MethodInfo| {
        let request = if method.on_request { ", where it is asked for" } else { "" };
        (method.name, format!("{}{request}", method.about))
    };
    named(methods.iter().map(about))
}

/// Indented lines of a name and a text.
fn named(lines: impl Iterator<Item = (&'static str, String)>) -> String {
    let rows: Vec<_> = lines.map(|(name, text)| vec![name.to_owned(), text]).collect();
    let columns = [Column::new("", Align::Left, 2), Column::new("", Align::Left, 2)];
    aligned(&columns, &rows).into_iter().map(|line| format!("  {line}\n")).collect()
}

fn csv() -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["test", "set", "preset", "params", "message_bytes", "segments", "array_bytes", "source"];
    let written = writer.write_record(header);
    let written = TESTS.iter().flat_map(entries_of).fold(written, |written, entry| {
        written.and(writer.write_record([
            entry.test.name,
            entry.set.name,
            preset_name(entry.set.preset),
            &entry.values.to_string(),
            &entry.bytes.to_string(),
            &entry.segments.to_string(),
            &entry.array_bytes.to_string(),
            entry.test.source,
        ]))
    });
    written.expect("memory can be written to, and all lines are equally long");
    let bytes = writer.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("only text was written")
}

#[derive(Serialize)]
struct Listed {
    schema: &'static str,
    tests: Vec<ListedTest>,
    /// Those of ping-pongs, which have the tests.
    methods: Vec<ListedMethod>,
    experiments: Vec<ListedKind>,
}

#[derive(Serialize)]
struct ListedKind {
    name: &'static str,
    command: &'static str,
    phases: Vec<&'static str>,
    methods: Vec<ListedMethod>,
}

impl ListedKind {
    fn of(kind: Kind) -> Self {
        Self {
            name: kind.name(),
            command: kind.command(),
            phases: kind.phases().iter().map(|phase| phase.name()).collect(),
            methods: ListedMethod::all(kind),
        }
    }
}

#[derive(Serialize)]
struct ListedTest {
    name: &'static str,
    original_name: Option<&'static str>,
    about: &'static str,
    source: &'static str,
    parameters: Vec<ListedParameter>,
    sets: Vec<ListedSet>,
}

#[derive(Serialize)]
struct ListedParameter {
    name: &'static str,
    unit: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct ListedSet {
    name: &'static str,
    preset: &'static str,
    params: Params,
    message_bytes: u64,
    segments: u64,
    array_bytes: u64,
}

#[derive(Serialize)]
struct ListedMethod {
    name: &'static str,
    about: &'static str,
    original_name: Option<&'static str>,
}

impl ListedMethod {
    fn all(kind: Kind) -> Vec<Self> {
        let listed =
            |&MethodInfo { name, about, original_name, .. }: &MethodInfo| Self { name, about, original_name };
        kind.methods().iter().map(listed).collect()
    }
}

fn json() -> String {
    let set = |entry: ListEntry| ListedSet {
        name: entry.set.name,
        preset: preset_name(entry.set.preset),
        message_bytes: entry.bytes,
        segments: entry.segments,
        array_bytes: entry.array_bytes,
        params: Params(entry.values),
    };
    let test = |test: &'static Test| ListedTest {
        name: test.name,
        original_name: test.original_name,
        about: test.about,
        source: test.source,
        parameters: test
            .parameters
            .iter()
            .map(|p| ListedParameter { name: p.name, unit: p.unit, about: p.about })
            .collect(),
        sets: entries_of(test).map(set).collect(),
    };
    pretty(&Listed {
        schema: SCHEMA,
        tests: TESTS.iter().map(test).collect(),
        methods: ListedMethod::all(pingpong::KIND),
        experiments: ALL.map(ListedKind::of).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> ListEntry {
        let test = apps::find("strided").unwrap();
        ListEntry::new(test, test.quick_set())
    }

    #[test]
    fn an_entry_has_the_figures_of_the_message() {
        let entry = small();
        assert_eq!((entry.bytes, entry.segments), (16_384 * 8, 16_384));
        assert_eq!(entry.array_bytes, 2 * (16_383 * 2 + 1) * 8);
    }

    #[test]
    fn every_form_has_every_test_set_and_method() {
        let sets: usize = TESTS.iter().map(|test| test.sets.len()).sum();
        let csv = list(ListFormat::Csv);
        assert!(csv.starts_with("test,set,preset,params,message_bytes,segments,array_bytes,source\n"));
        assert_eq!(csv.lines().count(), 1 + sets);
        let line =
            "strided,16384x1x2_double,quick,count=16384 blocklength=1 stride=2 element=double,131072,16384,";
        assert!(csv.contains(line));

        let json: serde_json::Value = serde_json::from_str(&list(ListFormat::Json)).unwrap();
        let tests = json["tests"].as_array().unwrap();
        assert_eq!(tests.len(), TESTS.len());
        assert_eq!(tests.iter().map(|test| test["sets"].as_array().unwrap().len()).sum::<usize>(), sets);
        let methods = || ALL.into_iter().flat_map(|kind| kind.methods());
        assert_eq!(json["methods"].as_array().unwrap().len(), pingpong::KIND.methods().len());
        let kinds = json["experiments"].as_array().unwrap();
        assert_eq!(
            kinds.iter().map(|kind| kind["methods"].as_array().unwrap().len()).sum::<usize>(),
            methods().count()
        );

        let table = list(ListFormat::Table);
        for name in TESTS.iter().map(|test| test.name).chain(methods().map(|method| method.name)) {
            assert!(table.contains(&format!("  {name} ")), "{name}");
        }
    }
}
