//! Cases of overlap from a selection.

use apps::Preset;

use super::PARAMETERS;
use super::operations::{OPERATIONS, Traffic};
use super::prepared;
use crate::experiments::Context;
use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::selection::{Lists, Selection};
use common::parameter::place;

/// The default operations: from the root, to all with arithmetic, between all, between two.
const QUICK: [&str; 4] = ["ibcast", "iallreduce", "ialltoall", "isend"];

/// The cases, for these ranks and this seed.
///
/// # Errors
/// If a name is unknown, a value is refused, or the selection is empty.
pub fn cases(selection: &Selection, setup: Context) -> Result<Selected, String> {
    let mut selected = Selected::default();
    let sets = selection.sets.iter().map(|set| Some(set.as_str()));
    let sets: Vec<Option<&str>> = if selection.sets.is_empty() { vec![None] } else { sets.collect() };
    for (test, set) in
        tests(selection).into_iter().flat_map(|test| sets.iter().map(move |set| (test.clone(), *set)))
    {
        let lists = with_times(selection, &test, set)?;
        for params in lists.product(|name| place(PARAMETERS, name))? {
            let set = set.map(str::to_owned);
            let case = PlannedCase { test: test.clone(), set, ..PlannedCase::default() }.with(params);
            selected.add(prepared::prepare(&case, &[], setup)?.planned);
        }
    }
    Ok(selected)
}

fn tests(selection: &Selection) -> Vec<String> {
    if !selection.tests.is_empty() {
        return selection.tests.clone();
    }
    match selection.preset() {
        Preset::Quick => QUICK.map(str::to_owned).to_vec(),
        Preset::Default | Preset::Full => {
            OPERATIONS.iter().map(|operation| operation.name.to_owned()).collect()
        }
    }
}

/// The lists of a test. Without times, those of the preset.
fn with_times(selection: &Selection, test: &str, set: Option<&str>) -> Result<Lists, String> {
    let mut lists = selection.lists.clone();
    let times = match selection.preset() {
        // A corner of the grid that takes less than two minutes.
        Preset::Quick => vec!["500".to_owned(), "2000".to_owned()],
        Preset::Default | Preset::Full => vec!["500..16000".to_owned()],
    };
    let is_given = |name: &str| selection.lists.names().any(|known| known == name);
    let is_free = Traffic::find(test, set)?.is_sized() && !is_given("bytes") && !is_given("communication_us");
    if is_free {
        lists.set("communication_us", times.clone());
        // If the bytes are given, the computation takes as long as the communication.
        if !is_given("matrix_order") && !is_given("computation_us") {
            lists.set("computation_us", times);
        }
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(tests: &[&str], params: &[&str], preset: Preset) -> Result<Selected, String> {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let lists = Lists::typed(&words(params), "bytes=1")?;
        let selection =
            Selection { tests: words(tests), preset: Some(preset), lists, ..Selection::default() };
        cases(&selection, Context { ranks: 2, seed: 1 })
    }

    #[test]
    fn a_preset_is_a_grid_and_what_is_given_is_not_swept() {
        let count =
            |tests: &[&str], params: &[&str], preset| selected(tests, params, preset).unwrap().cases.len();
        assert_eq!(count(&[], &[], Preset::Quick), 4 * 4);
        assert_eq!(count(&["ibcast"], &[], Preset::Default), 36);
        assert_eq!(count(&["ibcast"], &["bytes=1MiB"], Preset::Quick), 1);
        assert_eq!(count(&["ibcast"], &["bytes=1MiB", "computation_us=1ms", "2ms"], Preset::Quick), 2);
        assert_eq!(count(&["nas_lu_y", "halo:nas_mg", "ibarrier"], &[], Preset::Quick), 3);
        assert_eq!(count(&["ibcast"], &["communication_us=1ms", "computation_us=1ms"], Preset::Quick), 1);
    }
}
