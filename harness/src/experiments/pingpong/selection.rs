//! Cases from a selection: tests, a preset, named sets, single values, layouts.

use apps::{ParameterError, TESTS, Test, Values};

use crate::experiments::Context;
use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::selection::Selection;

/// The cases, for these ranks and this seed.
///
/// # Errors
/// If a test, set or parameter is unknown, a value is refused, or the selection is empty.
pub fn cases(selection: &Selection, setup: Context) -> Result<Selected, String> {
    let mut selected = Selected::default();
    for test in tests(selection)? {
        if !selection.sets.is_empty() || !selection.lists.is_empty() {
            for set in sets(selection, test) {
                for values in choices(selection, test, set)? {
                    test.build(&values, setup).map_err(|error| error.to_string())?;
                    selected.add(PlannedCase::from_test(test, set, &values));
                    selected
                        .notes
                        .extend(values.note_on_order().filter(|note| !selected.notes.contains(note)));
                }
            }
            continue;
        }
        for set in test.sets_of(selection.preset()) {
            let values = test.set(set.name).map_err(|error| error.to_string())?;
            match test.build(&values, setup) {
                Ok(_) => selected.add(PlannedCase::from_test(test, Some(set.name), &values)),
                // A set that needs another number of ranks is not the user's mistake.
                Err(error @ ParameterError::Value { .. }) => {
                    selected.notes.push(format!("left out: {} {}: {error}", test.name, set.name))
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }
    for case in selection.layout_cases()? {
        apps::find(&case.test).map_err(|_| "from and to are for halo exchanges: `ddtbench halo --layout`")?;
        selected.add(case);
    }
    match selected.cases.is_empty() {
        true => Err(format!("nothing to run; {}", selected.notes.join("; "))),
        false => Ok(selected),
    }
}

/// The values of one test: the named set or the one of `quick`, changed by single values, one per name.
///
/// # Errors
/// If a set or parameter is unknown, a value is invalid, or there are several sets or several values of a name.
pub fn values(selection: &Selection, test: &Test) -> Result<Values, String> {
    let Selection { sets, lists, .. } = selection;
    if sets.len() > 1 {
        return Err(format!("--set {}: give one set here", sets.join(",")));
    }
    let mut all = choices(selection, test, sets.first().map(String::as_str))?;
    match all.pop() {
        Some(values) if all.is_empty() => Ok(values),
        _ => {
            let values = |name: &str| lists.get(name).unwrap_or_default().join(",");
            let given: Vec<String> = lists.names().map(|name| format!("{name}={}", values(name))).collect();
            Err(format!("-p {}: give one value per parameter here", given.join(",")))
        }
    }
}

/// The named sets of a test. `None` means the one of `quick`.
fn sets<'a>(selection: &'a Selection, test: &Test) -> Vec<Option<&'a str>> {
    let Selection { tests, sets, .. } = selection;
    if sets.is_empty() {
        return vec![None];
    }
    let is_its_own = |set: &&String| !tests.is_empty() || test.set(set).is_ok();
    sets.iter().filter(is_its_own).map(|set| Some(set.as_str())).collect()
}

/// The values of a set for each choice of single values.
fn choices(selection: &Selection, test: &Test, set: Option<&str>) -> Result<Vec<Values>, String> {
    let start = test.set(set.unwrap_or(test.quick_set().name)).map_err(|error| error.to_string())?;
    let changed = |choice: Vec<(&str, String)>| {
        let mut values = start.clone();
        choice
            .iter()
            .try_for_each(|(name, value)| values.assign(name, value).map_err(|error| error.to_string()))?;
        Ok(values)
    };
    // All ranks are equal, so that the last name changes fastest.
    selection.choices(|_| 0)?.into_iter().map(changed).collect()
}

fn tests(selection: &Selection) -> Result<Vec<&'static Test>, String> {
    if !selection.tests.is_empty() {
        return selection
            .tests
            .iter()
            .map(|name| apps::find(name).map_err(|error| error.to_string()))
            .collect();
    }
    if !selection.lists.is_empty() {
        return Err("-p needs the TEST whose parameters it sets".to_owned());
    }
    if selection.is_of_layouts_only() {
        return Ok(Vec::new());
    }
    if let Some(set) = selection.sets.iter().find(|set| TESTS.iter().all(|test| test.set(set).is_err())) {
        return Err(format!("no test has a parameter set called {set:?}; `ddtbench list` shows them"));
    }
    Ok(TESTS.iter().filter(|test| !sets(selection, test).is_empty()).collect())
}
