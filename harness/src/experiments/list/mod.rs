//! Lists of everything that can be measured: tests and exchanges with their parameters and sets, methods.

mod json;
mod names;
mod one;

use apps::{Context, MicroApp, ParameterSet, Preset, Side, Test, Values, WireOrder};

pub use one::one;

/// The output formats of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ListFormat {
    /// Aligned columns, for people.
    #[default]
    Table,
    /// One object with tests and methods.
    Json,
}

/// Names with a line each, within the width of a terminal; for programs with all sets. An all-to-all is shown for two ranks.
pub fn list(format: ListFormat, width: Option<u16>) -> String {
    match format {
        ListFormat::Table => names::all(width),
        ListFormat::Json => json::json(),
    }
}

/// A set of a test with its values and sizes.
struct ListEntry {
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
        Self { set, values, bytes, segments, array_bytes: array_bytes(&app) }
    }
}

fn array_bytes(app: &MicroApp) -> u64 {
    app.arrays.iter().map(|array| array.bytes() as u64).sum()
}

fn entries_of(test: &'static Test) -> impl Iterator<Item = ListEntry> {
    test.sets.iter().map(move |set| ListEntry::new(test, set))
}

pub(super) fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::Quick => "quick",
        Preset::Default => "default",
        Preset::Full => "full",
    }
}

#[cfg(test)]
mod tests {
    use apps::all as tests;
    use serde_json::Value;

    use super::*;
    use crate::experiments::Kind;

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
        let json: Value = serde_json::from_str(&list(ListFormat::Json, None)).unwrap();
        let all = |of: &Value, key: &str| of[key].as_array().unwrap().clone();
        let named = |all: Vec<Value>, name: &str| all.into_iter().find(|one| one["name"] == name).unwrap();
        let methods = || Kind::ALL.into_iter().flat_map(|kind| kind.methods());
        let (listed, kinds) = (all(&json, "tests"), all(&json, "experiments"));
        assert_eq!(listed.len(), tests().count());
        let sets: usize = tests().map(|test| test.sets.len()).sum();
        assert_eq!(listed.iter().map(|test| all(test, "sets").len()).sum::<usize>(), sets);
        assert_eq!(all(&json, "methods").len(), Kind::PingPong.methods().len());
        assert_eq!(kinds.iter().map(|kind| all(kind, "methods").len()).sum::<usize>(), methods().count());
        assert_eq!(all(&json, "exchanges").len(), apps::halo::all().count());
        let parameter = |test: &str, name: &str| named(all(&named(listed.clone(), test), "parameters"), name);
        assert_eq!(parameter("subarray", "order")["words"], serde_json::json!(["fortran", "c"]));
        assert!(all(&parameter("strided", "element"), "words").contains(&"double".into()));
        assert!(parameter("strided", "count").get("words").is_none(), "it is a number");
        named(all(&named(kinds, "partitioned"), "parameters"), "partitions");

        let table = list(ListFormat::Table, None);
        for name in tests().map(|test| test.name).chain(methods().map(|method| method.name)) {
            assert!(table.contains(&format!("  {name} ")), "{name}");
        }
    }

    #[test]
    fn one_name_has_its_sets_and_parameters_with_their_meaning() {
        let text = one("nas_lu_y", None).unwrap();
        for part in
            ["nas_lu_y  test: ", "408x408", "16.32 kB", "-p NAME=VALUE", "ddtbench run nas_lu_y -p nx=408"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let parameter = apps::find("nas_lu_y").unwrap().parameters[0];
        assert!(text.contains(parameter.about) && text.contains(parameter.unit), "{text}");
        assert!(one("ddt", None).unwrap().contains("method of `ddtbench run`"));
        for test in tests() {
            assert!(
                one(test.name, Some(80)).unwrap().lines().all(|line| line.chars().count() <= 80),
                "{}",
                test.name
            );
        }
        let unknown = one("nas_lu_yy", None).unwrap_err();
        assert!(unknown.contains("nas_lu_y\"") && unknown.contains("ddtbench list"), "{unknown}");
    }

    #[test]
    fn names_fit_the_terminal() {
        assert!(list(ListFormat::Table, Some(80)).lines().all(|line| line.chars().count() <= 80));
    }
}
