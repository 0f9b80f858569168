//! Cases of halo exchanges from a selection.

use std::collections::BTreeMap;

use apps::halo::{HALOS, HaloTest, LAYOUT, MESSAGES};

use super::{HaloCase, PARAMETERS};
use crate::experiments::Context;
use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::selection::Selection;
use crate::model::CUSTOM;
use common::parameter::place;

/// The cases, for these ranks and this seed. Layouts become cases of the exchange `layout`.
///
/// # Errors
/// If a name is unknown, a value is refused, a named exchange does not support the number of ranks, or the selection is empty.
pub fn cases(selection: &Selection, setup: Context) -> Result<Selected, String> {
    let mut selected = Selected::default();
    let choices = selection.choices(|name| place(PARAMETERS, name))?;
    let owned = |choice: Vec<(&str, String)>| {
        choice.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    let choices: Vec<BTreeMap<String, String>> = choices.into_iter().map(owned).collect();
    let has_own_values = selection.lists.names().any(|name| place(PARAMETERS, name).is_none());
    for test in chosen(selection, has_own_values)? {
        for set in sets(selection, test, has_own_values)? {
            let name = if has_own_values { CUSTOM } else { set };
            for params in &choices {
                match planned(test, set, name, params, setup)? {
                    Ok((case, note)) => {
                        selected.add(case);
                        selected.notes.extend(note.filter(|note| !selected.notes.contains(note)));
                    }
                    // If all exchanges are requested, those that need another number of ranks are not a mistake.
                    Err(reason) if selection.tests.is_empty() => {
                        let note = format!("left out: {} {set}: {reason}", test.name);
                        if !selected.notes.contains(&note) {
                            selected.notes.push(note);
                        }
                    }
                    Err(reason) => return Err(reason),
                }
            }
        }
    }
    for layout in selection.layout_cases()? {
        let test = if layout.test == MESSAGES.name { &MESSAGES } else { &LAYOUT };
        let given = layout.params;
        for params in &choices {
            if let Some(name) = params.keys().find(|name| given.contains_key(*name)) {
                return Err(format!("{name} is given with -p and with --layout; remove one of them"));
            }
            let all = given.clone().into_iter().chain(params.clone()).collect();
            selected.add(planned(test, test.quick_set().name, CUSTOM, &all, setup)??.0);
        }
    }
    match selected.cases.is_empty() {
        true => Err(format!("nothing to run; {}", selected.notes.join("; "))),
        false => Ok(selected),
    }
}

fn chosen(selection: &Selection, has_own_values: bool) -> Result<Vec<&'static HaloTest>, String> {
    if selection.is_of_layouts_only() {
        return Ok(Vec::new());
    }
    if selection.tests.is_empty() && has_own_values {
        return Err("-p needs the TEST whose parameters it sets".to_owned());
    }
    match selection.tests.is_empty() {
        true => Ok(HALOS.iter().collect()),
        false => {
            let found = selection.tests.iter().map(|name| apps::halo::find(name));
            found.collect::<Result<_, _>>().map_err(|error| error.to_string())
        }
    }
}

fn sets<'a>(
    selection: &'a Selection,
    test: &'static HaloTest,
    has_own_values: bool,
) -> Result<Vec<&'a str>, String> {
    let Selection { sets, .. } = selection;
    if sets.is_empty() {
        return match has_own_values {
            false => Ok(test.sets_of(selection.preset()).map(|set| set.name).collect()),
            true => Ok(vec![test.quick_set().name]),
        };
    }
    sets.iter().try_for_each(|name| test.set(name).map(drop)).map_err(|error| error.to_string())?;
    Ok(sets.iter().map(String::as_str).collect())
}

/// The case of the exchange `name`, whose values start from a set; and a note for the user. The inner error
/// is about the number of ranks.
fn planned(
    test: &HaloTest,
    set: &str,
    name: &str,
    params: &BTreeMap<String, String>,
    setup: Context,
) -> Result<Result<(PlannedCase, Option<String>), String>, String> {
    let case = HaloCase::parse(test.name, Some(set), params)?;
    let planned =
        PlannedCase { test: test.name.to_owned(), set: Some(name.to_owned()), ..PlannedCase::default() };
    let built = case.build(setup.ranks, setup.seed);
    Ok(built.map(|_| (planned.with(case.pairs()), case.values.note_on_order())))
}
