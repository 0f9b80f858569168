//! The comparisons: of each test with its values, and for tests that pack in two orders one per order.

use clap::ValueEnum;

use super::{ORDER, PackingOrder, RANKS, grid};
use crate::experiments::Context;
use crate::experiments::pingpong;
use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::selection::{Lists, Selection};

/// The comparisons of a selection, in which `grid` is the synthetic grid. For tests that pack in two orders:
/// one per order in the list `order`, or for both.
///
/// # Errors
/// If an order is unknown, or a test's values are invalid.
pub fn cases(selection: &Selection, seed: u64) -> Result<Selected, String> {
    let (orders, lists) = orders(&selection.lists)?;
    let setup = Context { ranks: RANKS, seed };
    let (of_grid, tests): (Vec<String>, Vec<String>) =
        selection.tests.iter().cloned().partition(|test| test == grid::SET);
    let is_grid_only = !of_grid.is_empty() && tests.is_empty() && selection.layouts.is_empty();
    let selected = match is_grid_only {
        true => Selected::default(),
        false => pingpong::cases(&Selection { lists, tests, ..selection.clone() }, setup)?,
    };
    let mut all = Selected { notes: selected.notes, ..Selected::default() };
    for case in selected.cases {
        let unnamed = PlannedCase { set: None, ..case.clone() };
        let orders_differ = pingpong::orders_differ(&unnamed, setup);
        if !orders_differ.map_err(|reason| format!("{}: {reason}", case.test))? {
            all.add(case);
            continue;
        }
        for order in &orders {
            let mut case = case.clone();
            case.params.insert(ORDER.to_owned(), order.name().to_owned());
            all.add(case);
        }
    }
    if !of_grid.is_empty() {
        grid::cases().into_iter().for_each(|case| all.add(case));
    }
    Ok(all)
}

/// Separates the orders from other lists of values, such as a test's own `order`. Both orders if none is given.
///
/// # Errors
/// If an order is unknown.
pub fn orders(lists: &Lists) -> Result<(Vec<PackingOrder>, Lists), String> {
    let both = vec![PackingOrder::Manual, PackingOrder::Ddt];
    let Some(values) = lists.get(ORDER) else { return Ok((both, lists.clone())) };
    let (of_a_test, packing): (Vec<String>, Vec<String>) =
        values.into_iter().partition(|value| super::is_of_a_test(value));
    let order = |value: &String| {
        let wrong = |_| format!("{ORDER} = {value}: must be manual or ddt");
        PackingOrder::from_str(value, false).map_err(wrong)
    };
    let packing: Vec<PackingOrder> = packing.iter().map(order).collect::<Result<_, _>>()?;
    let mut others = lists.clone();
    others.set(ORDER, of_a_test);
    Ok((if packing.is_empty() { both } else { packing }, others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_parameter_as_others() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let lists = |typed: &[&str]| Lists::typed(&words(typed), "n=8").unwrap();
        let made = |typed: &[&str]| orders(&lists(typed));
        let both = vec![PackingOrder::Manual, PackingOrder::Ddt];
        assert_eq!(made(&["n=8", "16"]), Ok((both.clone(), lists(&["n=8", "16"]))));
        assert_eq!(made(&["order=ddt", "n=8"]), Ok((vec![PackingOrder::Ddt], lists(&["n=8"]))));
        assert_eq!(made(&["order=manual", "ddt"]), Ok((both.clone(), Lists::default())));
        assert_eq!(made(&["order=c", "n=8"]), Ok((both, lists(&["order=c", "n=8"]))));
        assert!(made(&["order=mine"]).unwrap_err().contains("manual or ddt"));
    }
}
