//! The commands of `tables/as_subarray.txt` move the same bytes as a test of an application.

use ddtbench_apps::{Context, MicroApp, Side, Test, Values, WireOrder};

/// The commands that correspond to tests, each with the comment before it.
fn commands_of_tests() -> Vec<(String, String)> {
    let mut commands = Vec::new();
    let mut comment = "";
    let table = include_str!("tables/as_subarray.txt").replace("\\\n", " ");
    for line in table.lines() {
        match line.strip_prefix("# ") {
            Some(text) => comment = text,
            None if line.starts_with("ddtbench ") => commands.push((comment.to_owned(), line.to_owned())),
            None => {}
        }
    }
    commands
}

/// The values that a command gives one by one.
fn given(command: &str) -> Vec<(&str, &str)> {
    let lists = command.split(" -p ").skip(1).flat_map(|list| list.trim().split(','));
    lists.map(|text| text.split_once('=').expect("NAME=VALUE")).collect()
}

/// The test must accept each value; the last one of a name stays.
fn values<M>(test: &Test<M>, command: &str) -> Values {
    crate::values(test, &given(command)).unwrap_or_else(|error| panic!("{command}: {error}"))
}

fn build(test: &Test, values: &Values) -> MicroApp {
    test.build(values, Context::default()).unwrap_or_else(|error| panic!("{} {values}: {error}", test.name))
}

/// The properties that a test and a command must share: the bytes of each array, and every run of both sides.
fn moved(app: &MicroApp) -> impl PartialEq + std::fmt::Debug + use<> {
    let arrays: Vec<_> = app.arrays.iter().map(|spec| (spec.element, spec.bytes())).collect();
    let runs = [Side::Send, Side::Receive].map(|side| {
        let runs = app.message(side, WireOrder::Ddt);
        runs.segments().map(|(array, run)| (array, run.offset, run.bytes)).collect::<Vec<_>>()
    });
    (app.element, arrays, runs)
}

#[test]
fn tests_of_applications_move_the_bytes_of_their_commands() {
    let subarray = ddtbench_apps::find("subarray").unwrap();
    let mut checked = Vec::new();
    for (comment, command) in &commands_of_tests() {
        let (names, set) = comment.split_once(", set ").expect("# TEST and TEST, set SET: words");
        let set = set.split(':').next().expect("a set");
        let own = moved(&build(subarray, &values(subarray, command)));
        for name in names.split(" and ") {
            let test = ddtbench_apps::find(name).unwrap();
            assert!(own == moved(&build(test, &test.set(set).unwrap())), "{name} {set}: {command}");
            checked.push(name.to_owned());
        }
    }
    for test in ddtbench_apps::TESTS.iter().filter(|test| ["wrf", "nas"].contains(&&test.name[..3])) {
        assert!(checked.iter().any(|name| name == test.name), "there is no command for {}", test.name);
    }
}
