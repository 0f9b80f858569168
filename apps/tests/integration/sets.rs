//! Named sets of both lists of tests, the numbers of ranks that exchanges can have, and numbers of any size.

use std::collections::HashSet;

use ddtbench_apps::halo::{self, HaloContext};
use ddtbench_apps::{Context, ParameterError, ParameterType, Preset, Test, Values};

use crate::{exchange, values};

/// An exchange of a test, if it is possible on this number of ranks.
type Build<M> = fn(&Test<M>, &Values, usize) -> Result<(), ParameterError>;

const MESSAGE: Build<fn(&Values, Context) -> ddtbench_apps::Built> =
    |test, values, ranks| test.build(values, Context { ranks, ..Context::default() }).map(drop);

const EXCHANGE: Build<fn(&Values, HaloContext) -> halo::HaloBuilt> =
    |test, values, ranks| test.build(values, HaloContext::periodic(ranks)).map(drop);

fn sets_can_be_had_and_are_named_once<'a, M: 'a>(
    all: impl Iterator<Item = &'a Test<M>> + Clone,
    build: Build<M>,
) {
    let unique = |names: Vec<&str>| names.iter().collect::<HashSet<_>>().len() == names.len();
    assert!(unique(all.clone().map(|test| test.name).collect()));
    for test in all {
        assert!(unique(test.parameters.iter().map(|parameter| parameter.name).collect()), "{}", test.name);
        assert!(unique(test.sets.iter().map(|set| set.name).collect()), "{}", test.name);
        assert_eq!(test.sets_of(Preset::Quick).count(), 1, "{}: quick sets", test.name);
        for set in test.sets {
            assert_eq!(set.values.split(' ').count(), test.parameters.len(), "{} {}", test.name, set.name);
            for ranks in [2, 8] {
                let built = build(test, &test.set(set.name).unwrap(), ranks);
                built.unwrap_or_else(|error| panic!("{} {} on {ranks} ranks: {error}", test.name, set.name));
            }
        }
    }
}

#[test]
fn every_set_can_be_had_and_is_named_once() {
    sets_can_be_had_and_are_named_once(ddtbench_apps::all(), MESSAGE);
    sets_can_be_had_and_are_named_once(halo::all(), EXCHANGE);
}

fn numbers_of_any_size_are_refused_or_built<'a, M: 'a>(
    all: impl Iterator<Item = &'a Test<M>>,
    build: Build<M>,
) {
    let most = i32::MAX.to_string();
    for test in all {
        let integers = || test.parameters.iter().filter(|p| p.value_type == ParameterType::Integer);
        let all: Vec<_> = integers().map(|parameter| (parameter.name, most.as_str())).collect();
        // Every answer comes without overflow, and no list is drawn and no array allocated for it.
        let _ = build(test, &values(test, &all).unwrap(), 8);
        // WRF's parameters are bounds, which may be negative.
        let is_number = |name: &str| !(test.parameters[0].name == "ims" && name != "limit");
        for parameter in integers().filter(|parameter| is_number(parameter.name)) {
            let zero_is_a_message = test.name == "contiguous";
            for value in if zero_is_a_message { &["-1"][..] } else { &["-1", "0"] } {
                let built =
                    values(test, &[(parameter.name, value)]).and_then(|values| build(test, &values, 1));
                let text = built.expect_err(test.name).to_string();
                let start = format!("parameter {} = {value}: must be ", parameter.name);
                assert!(text.starts_with(&start), "{}: {text}", test.name);
            }
        }
    }
}

#[test]
fn nothing_is_counted_in_negative_numbers_or_zero_and_absurd_sizes_need_no_memory() {
    numbers_of_any_size_are_refused_or_built(ddtbench_apps::all(), MESSAGE);
    numbers_of_any_size_are_refused_or_built(halo::all(), EXCHANGE);
}

#[test]
fn other_exchanges_can_have_any_number_of_ranks_but_none() {
    for test in halo::all() {
        let refusal = |ranks| {
            let refused = exchange(test.name, &[], HaloContext::periodic(ranks)).err();
            refused.map(|error| error.to_string())
        };
        let none = format!("{} on 0 ranks: the nearest that works is 1", test.name);
        assert_eq!(refusal(0), Some(none));
        assert_eq!(refusal(7).is_some(), ["nas_mg", "fft2d"].contains(&test.name), "{}", test.name);
    }
}
