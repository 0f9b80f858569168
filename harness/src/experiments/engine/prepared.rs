//! Prepares a test for comparing its packing.

use clap::ValueEnum;

use super::{ORDER, PackingOrder, RANKS, grid, methods};
use crate::experiments::pingpong;
use crate::experiments::planned::PlannedCase;
use crate::experiments::{Context, Prepared};

/// The message of a test, and the order of its packed bytes.
///
/// # Errors
/// As for a ping-pong, and if the order is unknown.
pub fn prepare(case: &PlannedCase, methods: &[String], setup: Context) -> Result<Prepared, String> {
    let mut test = case.clone();
    let is_own = test.params.get(ORDER).is_some_and(|text| super::is_of_a_test(text));
    let order = if is_own { None } else { test.params.remove(ORDER) };
    let order = match &order {
        None => PackingOrder::default(),
        Some(text) => PackingOrder::from_str(text, false)
            .map_err(|_| format!("{ORDER} = {text}: must be manual or ddt"))?,
    };
    let is_of_grid = case.set.as_deref() == Some(grid::SET);
    test.set = test.set.filter(|_| !is_of_grid);
    // Only the layout of an all-to-all depends on the number of ranks.
    let setup = Context { ranks: RANKS, ..setup };
    let orders_differ = pingpong::orders_differ(&test, setup)?;
    if order == PackingOrder::Ddt && !orders_differ {
        return Err(format!("{ORDER} = ddt: remove it, loop and datatype pack in the same order"));
    }
    let mut prepared = pingpong::prepare(&test, methods, setup)?;
    prepared.arguments.extend(["--order".to_owned(), order.name().to_owned()]);
    if orders_differ {
        prepared.planned.params.insert(ORDER.to_owned(), order.name().to_owned());
        prepared.params += &format!(" {ORDER}={}", order.name());
    }
    if is_of_grid {
        prepared.planned.set = Some(grid::SET.to_owned());
    }
    for name in methods {
        if !methods::in_order(order, orders_differ).any(|method| method.name == name) {
            prepared.lacking.entry(name.clone()).or_default();
        }
    }
    // Twice the memory of a rank, for the plain copies: they copy the message, and at most as many lines as
    // the arrays and the packed buffer have.
    prepared.rank_bytes = prepared.rank_bytes.and_then(|bytes| bytes.checked_mul(2));
    Ok(prepared)
}
