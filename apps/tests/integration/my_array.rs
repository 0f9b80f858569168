//! Commands with arrays and layouts: those of `docs/my-array.md` can be built, and those of `tables/as_subarray.txt` move the
//! same bytes as a test of an application.

use ddtbench_apps::{Context, MicroApp, Side, Test, Values, WireOrder};

fn commands_of_page() -> Vec<String> {
    let page = include_str!("../../../docs/my-array.md");
    // Between fences every second part is code.
    let code = page.split("\n```").skip(1).step_by(2).flat_map(str::lines);
    code.filter(|line| line.starts_with("ddtbench ")).map(str::to_owned).collect()
}

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

/// The values that a command gives one by one; if it gives several for one name, all of them.
fn given(command: &str) -> Vec<(&str, &str)> {
    let mut given = Vec::new();
    let mut depth = 0;
    // A comma within parentheses belongs to the value: Fortran's bounds.
    let mut ends_value = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    let lists = command.split(" -p ").skip(1).filter_map(|rest| match rest.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next(),
        None => rest.split_whitespace().next(),
    });
    for text in lists.flat_map(|list| list.split(&mut ends_value).collect::<Vec<_>>()) {
        let last = given.last().map_or("", |(name, _)| *name);
        given.push(text.split_once('=').unwrap_or((last, text)));
    }
    given
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
fn the_commands_of_the_page_can_be_run() {
    let all = commands_of_page();
    assert!(all.len() >= 10, "{all:?}");
    for command in &all {
        let name = if command.contains("--layout ") { "layout" } else { "subarray" };
        match command.split_whitespace().nth(1) {
            Some("halo") => {
                let test = ddtbench_apps::halo::find(name).unwrap();
                let context = ddtbench_apps::halo::HaloContext::periodic(8);
                test.build(&values(test, command), context).unwrap_or_else(|e| panic!("{command}: {e}"));
            }
            _ => {
                let test = ddtbench_apps::find(name).unwrap();
                drop(build(test, &values(test, command)));
            }
        }
    }
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
