use apps::Preset;

use super::*;
use crate::experiments::planned::Selected;

fn selection(tests: &[&str]) -> Selection {
    Selection { tests: tests.iter().map(|&test| test.to_owned()).collect(), ..Selection::default() }
}

fn checked(selection: &Selection) -> Result<CheckedPlan, PlanError> {
    let mut plan = Plan::default();
    plan.select(selection)?;
    plan.check()
}

fn plan(selection: &Selection) -> Result<Plan, PlanError> {
    Ok(checked(selection)?.plan)
}

fn read(text: &str) -> Result<Plan, PlanError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    std::fs::write(&file, text).unwrap();
    Ok(Plan::read(&file)?.check()?.plan)
}

#[test]
fn a_plan_survives_its_file() {
    for preset in [Preset::Quick, Preset::Default, Preset::Full] {
        let plan = plan(&Selection { preset: Some(preset), ..selection(&[]) }).unwrap();
        assert_eq!(read(&plan.to_toml()).unwrap(), plan);
    }
}

#[test]
fn sets_that_do_not_fit_the_ranks_are_left_out_with_a_note() {
    let six = Plan { ranks: Some(6), ..Plan::default() };
    let cases =
        |selection: &Selection| (experiments::of_kind(six.experiment).cases)(selection, six.context());
    let selected = cases(&Selection { preset: Some(Preset::Default), ..selection(&["fft2d"]) }).unwrap();
    assert_eq!(selected.cases.len(), 2, "{:?}", selected.cases);
    assert!(selected.notes[0].contains("fft2d 256"), "{:?}", selected.notes);
    // A method that was requested by name is refused.
    let named = Selection { sets: vec!["256".to_owned()], ..selection(&["fft2d"]) };
    assert!(cases(&named).unwrap_err().contains("multiple of the 6 ranks"));
}

#[test]
fn mistakes_are_named() {
    for row in include_str!("mistakes.txt").lines().skip(1) {
        let (text, words) = row.split_once(" => ").unwrap();
        let error = read(&text.replace("\\n", "\n")).unwrap_err().to_string();
        assert!(words.split(" | ").all(|word| error.contains(word)), "{row}: {error}");
    }
}

#[test]
fn several_sets_make_a_case_each_and_are_of_the_tests_that_have_them() {
    let sets = |tests: &[&str], sets: &[&str]| {
        let sets = sets.iter().map(|&set| set.to_owned()).collect();
        let context = Context { ranks: 2, seed: 1 };
        (experiments::of_kind(Kind::default()).cases)(&Selection { sets, ..selection(tests) }, context)
    };
    let names = |selected: Selected| -> Vec<(String, Option<String>)> {
        selected.cases.into_iter().map(|case| (case.test, case.set)).collect()
    };
    let two = [("nas_lu_y", "408x408"), ("nas_lu_y", "1020x1020")];
    let two = two.map(|(test, set)| (test.to_owned(), Some(set.to_owned())));
    assert_eq!(names(sets(&["nas_lu_y"], &["408x408", "1020x1020"]).unwrap()), two);
    // Without a test: a set applies to the tests that have it, and at least one test must have it.
    let found = names(sets(&[], &["408x408", "256"]).unwrap());
    let of: Vec<&str> = found.iter().map(|(test, _)| test.as_str()).collect();
    assert_eq!(of, ["nas_lu_x", "nas_lu_y", "fft2d"]);
    assert!(sets(&[], &["408x408", "nosuch"]).unwrap_err().to_string().contains("nosuch"));
    assert!(sets(&["nas_lu_y"], &["408x408", "256"]).unwrap_err().to_string().contains("256"));
}

#[test]
fn sweeps_make_cases_as_flags_do() {
    let text = "schema = 1\n[[sweep]]\ntest = \"nas_lu_y\"\nny = [8, 16]\nnx = 4\n[[sweep]]\ntest = \"fft2d\"\nmethods = [\"ddt\"]\n";
    let plan = read(text).unwrap();
    let of: Vec<(&str, usize)> =
        plan.cases.iter().map(|case| (case.test.as_str(), case.methods.len())).collect();
    assert_eq!(of, [("nas_lu_y", 0), ("nas_lu_y", 0), ("fft2d", 1)]);
    assert!(plan.sweeps.is_empty(), "recorded plans have cases");
    assert_eq!(read(&plan.to_toml()).unwrap(), plan);
}

#[test]
fn other_values_are_merged() {
    let plan = Plan::parse(
        "schema = 1\nlaunches = 4\n[[sweep]]\ntest = \"nas_lu_y\"\nny = 8\n[[sweep]]\ntest = \"nas_lu_x\"\n",
    )
    .unwrap();
    let with = |text: &str| plan.clone().with(toml::from_str(text).unwrap());
    let merged = with("launches = 1\nlimits.max_time_s = 0.25\n[sweep]\nny = [4, 16]\n").unwrap();
    assert_eq!((merged.launches, merged.limits.max_time_s, merged.limits.min_runs), (Some(1), 0.25, 30));
    assert_eq!(merged.check().unwrap().cases.len(), 4);
    assert!(with("launhces = 1").unwrap_err().to_string().contains("launhces"));
    assert!(with("launches = \"many\"").is_err());
}

#[test]
fn settings_without_a_verdict_are_named_with_the_smallest_that_has_one() {
    let of = |launches, max_runs| {
        let limits = Limits { max_runs, min_runs: 1, ..Limits::default() };
        Plan { launches: Some(launches), limits, ..Plan::default() }.without_verdict()
    };
    let names = |reason: Option<String>, setting: &str| reason.is_some_and(|reason| reason.contains(setting));
    assert!(names(of(2, 1000), "--launches 3 "));
    assert!(names(of(1, 5), "--max-repetitions 6"));
    assert_eq!((of(1, 6), of(3, 1), of(6, 1000)), (None, None, None));
}
