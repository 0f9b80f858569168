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
    let cases = "[[cases]]\ntest = \"fft2d\"\n";
    for (text, words) in [
        ("schema = 1\nranks = -2\n", &["my.toml", "line 2"][..]),
        ("schema = 1\n[[cases]]\ntest = \"fft2d\"\n", &["case 2", "same as case 1"]),
        ("schema = 1\n[[cases]]\ntest = \"fft2d\"\nparams = { n = 5 }\n", &["case 1", "n = 5", "multiple"]),
        ("schema = 1\nlaunches = 0\n", &["launches = 0", "from 1 to"]),
        ("schema = 1\ncaches = []\n", &["caches = []", "warm and cold"]),
        ("schema = 1\ncaches = [\"cold\", \"cold\"]\n", &["caches = cold", "twice"]),
        ("schema = 1\nformats = [\"xml\"]\n", &["formats = xml", "ddtbench"]),
        ("schema = 1\nexperiment = \"halo\"\nformats = [\"ddtbench\"]\n", &["halo", "no text formats"]),
        ("schema = [\n", &["my.toml"]),
    ] {
        let error = read(&format!("{text}{cases}")).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{text}: {error}");
        }
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
    for (sweep, words) in [
        ("test = \"fft2\"", &["fft2d"][..]),
        ("test = \"fft2d\"\nm = 4", &["no parameter"]),
        ("test = \"fft2d\"\npreset = \"huge\"", &["my.toml", "quick, default or full"]),
        ("test = \"fft2d\"\nn = true", &["my.toml"]),
    ] {
        let error = read(&format!("schema = 1\n[[sweep]]\n{sweep}\n")).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{sweep}: {error}");
    }
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
fn a_figure_is_of_pictures_that_there_are() {
    let figure = |name: &str, picture: &str| {
        let text = "schema = 1\n[[cases]]\ntest = \"fft2d\"\n";
        read(&format!("{text}[figure]\nname = {name:?}\ntitle = \"T\"\npictures = [{picture:?}]\n"))
    };
    assert!(figure("mine", "phases").is_ok());
    for (name, picture, word) in [
        ("mine", "speedup_over_bytes", "overhead_over_size"),
        ("a/b", "phases", "letters"),
        ("phases", "phases", "letters"),
    ] {
        let error = figure(name, picture).unwrap_err().to_string();
        assert!(error.contains("figure: ") && error.contains(word), "{error}");
    }
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
