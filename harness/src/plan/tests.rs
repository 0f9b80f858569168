use apps::Preset;

use super::*;
use crate::experiments::pingpong::Selection;
use crate::experiments::planned::Selected;
use crate::model::CUSTOM;

fn selection(tests: &[&str]) -> Selection {
    Selection {
        tests: tests.iter().map(|&test| test.to_owned()).collect(),
        preset: Preset::Quick,
        sets: Vec::new(),
        params: Vec::new(),
    }
}

fn checked(selection: &Selection) -> Result<CheckedPlan, PlanError> {
    let mut plan = Plan::default();
    plan.cases = selection.cases(plan.setup())?.cases;
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
fn quick_has_one_case_per_test() {
    assert_eq!(plan(&selection(&[])).unwrap().cases.len(), apps::TESTS.len());
}

#[test]
fn a_plan_survives_its_file() {
    for preset in [Preset::Quick, Preset::Default, Preset::Full] {
        let plan = plan(&Selection { preset, ..selection(&[]) }).unwrap();
        assert_eq!(read(&plan.to_toml()).unwrap(), plan);
    }
}

#[test]
fn single_values_make_a_set_of_their_own() {
    let chosen = Selection { params: vec!["n=1000".to_owned()], ..selection(&["fft2d"]) };
    let checked = checked(&chosen).unwrap();
    assert_eq!(checked.case(0, Cache::Warm).params, "n=1000");
    let plan = checked.plan;
    assert_eq!(plan.cases[0].set.as_deref(), Some(CUSTOM));
    assert_eq!(read(&plan.to_toml()).unwrap(), plan);
}

#[test]
fn several_values_make_a_case_each() {
    let params = ["ny=8,16", "nx=4"].iter().flat_map(|list| list.split(',')).map(str::to_owned).collect();
    let checked = checked(&Selection { params, ..selection(&["nas_lu_y"]) }).unwrap();
    let all: Vec<_> = (0..checked.cases.len()).map(|i| checked.case(i, Cache::Warm).params).collect();
    assert_eq!(all, ["nx=4 ny=8", "nx=4 ny=16"]);
}

#[test]
fn a_written_plan_may_be_short() {
    let text = "schema = 3\nformats = [\"ddtbench\"]\n[[cases]]\ntest = \"fft2d\"\nparams = { n = 256 }\n";
    let plan = read(text).unwrap();
    assert_eq!(plan.formats, ["ddtbench"]);
    assert_eq!(plan.cases[0].set.as_deref(), Some("256"));
    assert_eq!((plan.ranks, plan.methods.len()), (Some(2), Kind::default().all_methods().len()));
}

#[test]
fn one_mpi_and_one_cache_mode_need_no_list() {
    let plan = read("schema = 3\nmpi = \"mpich\"\ncache = \"cold\"\n[[cases]]\ntest = \"fft2d\"\n").unwrap();
    assert_eq!(
        (plan.mpis.as_slice(), plan.caches.as_slice()),
        (&["mpich".to_owned()][..], &[Cache::Cold][..])
    );
    let several =
        "schema = 3\nmpis = [\"a\", \"b\"]\ncaches = [\"warm\", \"cold\"]\n[[cases]]\ntest = \"fft2d\"\n";
    let plan = read(several).unwrap();
    assert_eq!((plan.mpis.len(), plan.caches.as_slice()), (2, &[Cache::Warm, Cache::Cold][..]));
    assert_eq!(read(&plan.to_toml()).unwrap(), plan);
}

#[test]
fn sets_that_do_not_fit_the_ranks_are_left_out_with_a_note() {
    let six = Plan { ranks: Some(6), ..Plan::default() };
    let selected = Selection { preset: Preset::Default, ..selection(&["fft2d"]) }.cases(six.setup()).unwrap();
    assert_eq!(selected.cases.len(), 2, "{:?}", selected.cases);
    assert!(selected.notes[0].contains("fft2d 256"), "{:?}", selected.notes);
    // One that was asked for by name is refused.
    let named = Selection { sets: vec!["256".to_owned()], ..selection(&["fft2d"]) };
    assert!(named.cases(six.setup()).unwrap_err().to_string().contains("multiple of the 6 ranks"));
}

#[test]
fn mistakes_are_named() {
    let cases = "[[cases]]\ntest = \"fft2d\"\n";
    for (text, words) in [
        ("schema = 4\n", &["schema = 4"][..]),
        ("schema = 1\n", &["schema = 1", "cannot be resumed", "reference_untouched"]),
        ("schema = 2\n", &["schema = 2", "cannot be resumed"]),
        ("schema = 3\nrank = 4\n", &["my.toml", "line 2", "rank"]),
        ("schema = 3\nranks = 3\n", &["ranks = 3", "even"]),
        ("schema = 3\nranks = 0\n", &["ranks = 0", "even"]),
        ("schema = 3\nranks = -2\n", &["my.toml", "line 2"]),
        ("schema = 3\nmethods = [\"ddd\"]\n", &["ddd", "mpi_pack"]),
        ("schema = 3\nlimits = { max_time_s = 0.0 }\n", &["max_time_s"]),
        ("schema = 3\nlimits = { timeout_s = -1.0 }\n", &["timeout_s"]),
        ("schema = 3\nlimits = { max_runs = 3 }\n", &["max_runs = 3", "min_runs"]),
        ("schema = 3\nlimits = { precision_percent = nan }\n", &["precision_percent"]),
        ("schema = 3\n[[cases]]\ntest = \"fft2\"\n", &["case 1", "fft2d"]),
        ("schema = 3\n[[cases]]\ntest = \"fft2d\"\n", &["case 2", "same as case 1"]),
        ("schema = 3\n[[cases]]\ntest = \"fft2d\"\nparams = { n = 5 }\n", &["case 1", "n = 5", "multiple"]),
        ("schema = 3\nlaunches = 0\n", &["launches = 0", "from 1 to"]),
        ("schema = 3\ncaches = []\n", &["caches = []", "warm or cold"]),
        ("schema = 3\ncaches = [\"cold\", \"cold\"]\n", &["caches = cold", "twice"]),
        ("schema = 3\nformats = [\"xml\"]\n", &["formats = xml", "ddtbench"]),
        ("schema = 3\nexperiment = \"halo\"\nformats = [\"ddtbench\"]\n", &["halo", "no text formats"]),
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
        Selection { sets, ..selection(tests) }.cases(Setup { ranks: 2, seed: 1 })
    };
    let names = |selected: Selected| -> Vec<(String, Option<String>)> {
        selected.cases.into_iter().map(|case| (case.test, case.set)).collect()
    };
    let two = [("nas_lu_y", "408x408"), ("nas_lu_y", "1020x1020")];
    let two = two.map(|(test, set)| (test.to_owned(), Some(set.to_owned())));
    assert_eq!(names(sets(&["nas_lu_y"], &["408x408", "1020x1020"]).unwrap()), two);
    // Of no test in particular: a set counts where it is known, and must be known somewhere.
    let found = names(sets(&[], &["408x408", "256"]).unwrap());
    let of: Vec<&str> = found.iter().map(|(test, _)| test.as_str()).collect();
    assert_eq!(of, ["nas_lu_x", "nas_lu_y", "fft2d"]);
    assert!(sets(&[], &["408x408", "nosuch"]).unwrap_err().to_string().contains("nosuch"));
    assert!(sets(&["nas_lu_y"], &["408x408", "256"]).unwrap_err().to_string().contains("256"));
}

#[test]
fn selections_that_cannot_be() {
    let of = |selection: Selection| plan(&selection).unwrap_err().to_string();
    assert!(of(selection(&["wrf_x_vek"])).contains("did you mean \"wrf_x_vec\"?"));
    assert!(of(Selection { sets: vec!["nosuch".to_owned()], ..selection(&[]) }).contains("nosuch"));
    assert!(of(Selection { sets: vec!["nosuch".to_owned()], ..selection(&["fft2d"]) }).contains("256"));
    assert!(of(Selection { params: vec!["n=4".to_owned()], ..selection(&[]) }).contains("TEST"));
    assert!(of(Selection { params: vec!["n".to_owned()], ..selection(&["fft2d"]) }).contains("NAME=VALUE"));
    assert!(
        of(Selection { params: vec!["m=4".to_owned()], ..selection(&["fft2d"]) }).contains("no parameter")
    );
}
