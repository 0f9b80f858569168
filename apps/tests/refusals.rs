//! Values that an application could not have are refused, with the parameter and what would be right.

use std::collections::HashSet;

use apps::{Context, ParameterError, Preset, TESTS, Test};

/// The test's quick set with one value changed, built for `ranks`.
fn error_of(name: &str, changes: &[(&str, &str)], ranks: usize) -> Option<ParameterError> {
    let test: &Test = apps::find(name).unwrap();
    let mut values = test.set(test.quick_set().name).unwrap();
    for (parameter, text) in changes {
        if let Err(error) = values.assign(test, parameter, text) {
            return Some(error);
        }
    }
    test.build(&values, Context { ranks, ..Context::default() }).err()
}

#[track_caller]
fn refuses(name: &str, changes: &[(&str, &str)], message: &str) {
    let error = error_of(name, changes, 2).unwrap_or_else(|| panic!("{name} {changes:?} is accepted"));
    assert_eq!(error.to_string(), message);
}

#[test]
fn nothing_is_counted_in_negative_numbers_or_zero() {
    for test in TESTS {
        for parameter in test.parameters {
            let bound = test.name.starts_with("wrf") && parameter.name != "limit";
            if bound || parameter.name == "element" {
                continue;
            }
            let zero_is_a_message = parameter.name == "bytes";
            for value in if zero_is_a_message { &["-1"][..] } else { &["-1", "0"] } {
                let error = error_of(test.name, &[(parameter.name, value)], 2);
                let text =
                    error.unwrap_or_else(|| panic!("{} {}={value}", test.name, parameter.name)).to_string();
                assert!(
                    text.starts_with(&format!("parameter {} = {value}: must be ", parameter.name)),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn a_value_must_be_one_of_its_kind() {
    refuses("nas_lu_x", &[("nx", "many")], "parameter nx = many: must be a whole number");
    refuses(
        "nas_lu_x",
        &[("nx", "99999999999999999999")],
        "parameter nx = 99999999999999999999: must be a whole number",
    );
    let text = error_of("strided", &[("element", "word")], 2).unwrap().to_string();
    assert!(text.starts_with("parameter element = word: must be one of byte, char, "), "{text}");
    let text = error_of("nas_lu_x", &[("d1", "3")], 2).unwrap().to_string();
    assert!(text.starts_with("nas_lu_x has no parameter \"d1\""), "{text}");
}

#[test]
fn wrf_sends_what_is_in_memory() {
    refuses("wrf_x_vec", &[("is", "3")], "parameter is = 3: must be from 4 to 27");
    refuses("wrf_x_vec", &[("ie", "28")], "parameter ie = 28: must be from 18 to 27");
    refuses("wrf_x_vec", &[("is", "21")], "parameter ie = 20: must be from 21 to 27");
    refuses("wrf_y_sa", &[("je", "48")], "parameter je = 48: must be from 21 to 47");
    refuses("wrf_y_sa", &[("js", "24")], "parameter je = 23: must be from 24 to 47");
    refuses("wrf_y_sa", &[("ims", "28")], "parameter ime = 27: must be from 28 to 2147483647");
    refuses("wrf_y_sa", &[("kme", "0")], "parameter kme = 0: must be from 1 to 2147483647");
    assert!(error_of("wrf_x_vec", &[("ims", "-4"), ("is", "-4"), ("limit", "1")], 2).is_none());
}

#[test]
fn milc_halves_y_and_z() {
    refuses("milc_su3_zd", &[("ly", "15")], "parameter ly = 15: must be even: half of it is sent");
    refuses("milc_su3_zd", &[("lz", "7")], "parameter lz = 7: must be even: half of it is sent");
    assert!(error_of("milc_su3_zd", &[("lx", "15"), ("lt", "3")], 2).is_none());
}

#[test]
fn nas_mg_has_an_interior() {
    refuses("nas_mg_x", &[("d1", "2")], "parameter d1 = 2: must be from 3 to 2147483647");
    assert!(error_of("nas_mg_y", &[("d1", "3"), ("d2", "3"), ("d3", "3")], 2).is_none());
}

#[test]
fn fft2d_divides_the_matrix_among_the_ranks() {
    let error = |n, ranks| error_of("fft2d", &[("n", n)], ranks).map(|error| error.to_string());
    assert_eq!(
        error("256", 3).unwrap(),
        "parameter n = 256: must be a multiple of the 3 ranks; the nearest are 255 and 258"
    );
    assert_eq!(
        error("2", 3).unwrap(),
        "parameter n = 2: must be a multiple of the 3 ranks; the nearest is 3"
    );
    assert_eq!(error("255", 3), None);
    assert_eq!(error("4", 4), None);
}

#[test]
fn lists_are_no_longer_than_their_arrays() {
    refuses("lammps_full", &[("icount", "3535")], "parameter icount = 3535: must be from 1 to 3534");
    refuses("specfem3d_oc", &[("dim1", "3224")], "parameter icount = 3225: must be from 1 to 3224");
    refuses(
        "specfem3d_cm",
        &[("icount_ic", "22478")],
        "parameter icount_ic = 22478: must be from 1 to 22477",
    );
    assert!(error_of("lammps_atomic", &[("dim1", "243")], 2).is_none());
}

#[test]
fn blocks_do_not_overlap() {
    refuses(
        "strided",
        &[("blocklength", "4"), ("stride", "3")],
        "parameter stride = 3: must be from 4 to 2147483647",
    );
    refuses(
        "scattered",
        &[("places", "16383")],
        "parameter places = 16383: must be from 16384 to 2147483647",
    );
}

#[test]
fn absurd_sizes_are_refused_or_built_without_their_memory() {
    let most = i32::MAX.to_string();
    for test in TESTS {
        let integers = test.parameters.iter().filter(|p| p.name != "element");
        let all: Vec<_> = integers.map(|p| (p.name, most.as_str())).collect();
        // Whatever the answer: no overflow, no list drawn, no array allocated.
        let _ = error_of(test.name, &all, 1);
    }
    let too_large = error_of("nas_mg_x", &[("d1", &most), ("d2", &most), ("d3", &most)], 2).unwrap();
    assert!(matches!(too_large, ParameterError::TooLarge { test: "nas_mg_x", .. }), "{too_large}");
    assert!(error_of("contiguous", &[("bytes", &i64::MAX.to_string())], 2).is_some());
    assert!(error_of("specfem3d_oc", &[("dim1", &most), ("icount", &most)], 2).is_none());
}

#[test]
fn tests_sets_and_parameters_are_named_once() {
    let unique = |names: Vec<&str>| names.iter().collect::<HashSet<_>>().len() == names.len();
    assert!(unique(TESTS.iter().map(|test| test.name).collect()));
    for test in TESTS {
        assert!(unique(test.parameters.iter().map(|parameter| parameter.name).collect()), "{}", test.name);
        assert!(unique(test.sets.iter().map(|set| set.name).collect()), "{}", test.name);
        assert!(test.sets.iter().all(|set| set.values.len() == test.parameters.len()), "{}", test.name);
        assert_eq!(test.sets_of(Preset::Quick).count(), 1, "{}: quick sets", test.name);
    }
    assert_eq!(TESTS.len(), 19);
}
