//! Named sets of exchanges, and the numbers of ranks that they can have.

use std::collections::HashSet;

use ddtbench_apps::Preset;
use ddtbench_apps::halo::{self, HaloContext};

#[test]
fn every_set_can_be_had_and_is_named_once() {
    let unique = |names: Vec<&str>| names.iter().collect::<HashSet<_>>().len() == names.len();
    assert!(unique(halo::all().map(|test| test.name).collect()));
    for test in halo::all() {
        assert!(unique(test.sets.iter().map(|set| set.name).collect()), "{}", test.name);
        assert_eq!(test.sets_of(Preset::Quick).count(), 1, "{}: quick sets", test.name);
        for set in test.sets {
            assert_eq!(set.values.split(' ').count(), test.parameters.len(), "{} {}", test.name, set.name);
            for ranks in [2, 8] {
                let context = HaloContext { ranks, periodic: true, seed: 1 };
                if let Err(error) = test.build(&test.set(set.name).unwrap(), context) {
                    panic!("{} {} on {ranks} ranks: {error}", test.name, set.name);
                }
            }
        }
    }
}

#[test]
fn ranks_that_do_not_fit_are_refused_with_the_nearest_that_do() {
    let refusal = |name: &str, ranks| {
        let test = halo::find(name).unwrap();
        let context = HaloContext { ranks, periodic: true, seed: 1 };
        test.build(&test.set(test.quick_set().name).unwrap(), context).err().map(|error| error.to_string())
    };
    assert_eq!(refusal("nas_mg", 3).unwrap(), "nas_mg on 3 ranks: the nearest that work are 2 and 4");
    assert_eq!(refusal("nas_mg", 100).unwrap(), "nas_mg on 100 ranks: the nearest that work are 64 and 128");
    assert_eq!(refusal("fft2d", 3).unwrap(), "fft2d on 3 ranks: the nearest that work are 2 and 4");
    assert_eq!(refusal("fft2d", 513).unwrap(), "fft2d on 513 ranks: the nearest that works is 512");
    for test in halo::all() {
        let none = format!("{} on 0 ranks: the nearest that works is 1", test.name);
        assert_eq!(refusal(test.name, 0), Some(none));
    }
    for name in [
        "wrf_vec",
        "wrf_sa",
        "milc",
        "nas_lu",
        "specfem3d_mt",
        "specfem3d_oc",
        "lammps_full",
        "stencil7",
        "stencil27",
    ] {
        assert_eq!(refusal(name, 7), None);
    }
}
