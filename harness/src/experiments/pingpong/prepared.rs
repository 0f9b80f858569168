//! A micro-app's message, ready to be measured.

use apps::{Context, MicroApp, Test, Values, WireOrder};

use super::facts;
use super::methods::{METHODS, can, in_parts};
use crate::experiments::Prepared;
use crate::experiments::planned::{PlannedCase, check_lengths};
use common::memory;

const NO_LOOPS: &str =
    "there are no loops written by hand for it; its methods are loop, mpi_pack, engine, ddt and others";
const NOT_PARTED: &str =
    "its datatype repeats nothing, has one run or more than 4096 of them, or it is an all-to-all";

/// The case with all values of its test, for these methods.
///
/// # Errors
/// An unknown test, set or parameter, or a value that cannot be.
pub fn prepare(case: &PlannedCase, methods: &[String], context: Context) -> Result<Prepared, String> {
    let (test, values, app) = build(case, context)?;
    // Whether a message can be parted is found out for methods in parts only, since layouts may be large.
    let is_not_parted =
        |name: &str| in_parts().any(|(known, parting)| known == name && parting.places(&app).is_none());
    let (mut lacking, mut own_buffers) = (Vec::new(), 0);
    for method in METHODS.iter().filter(|method| methods.iter().any(|name| name == method.name)) {
        own_buffers += method.own_buffers;
        if !can(&app, method) {
            lacking.push((method.name.to_owned(), NO_LOOPS));
        } else if is_not_parted(method.name) {
            lacking.push((method.name.to_owned(), NOT_PARTED));
        }
    }
    let rank_bytes = || memory::rank_bytes(&app)?.checked_add(app.message_bytes().checked_mul(own_buffers)?);
    let planned =
        PlannedCase { methods: case.methods.clone(), ..PlannedCase::of(test, case.set.as_deref(), &values) };
    let (params, rank_bytes) = (values.to_string(), rank_bytes());
    let message = move || facts(&test.build(&values, context).expect("was built before"), WireOrder::Manual);
    Ok(Prepared {
        lacking: lacking.into_iter().collect(),
        ..Prepared::new(planned, params, message, rank_bytes)
    })
}

/// Whether the hand-written loop and the datatype of a case pack in different orders.
///
/// # Errors
/// As [`prepare`].
pub fn orders_differ(case: &PlannedCase, context: Context) -> Result<bool, String> {
    Ok(build(case, context)?.2.send.orders_differ())
}

/// The test, its values and what it sends.
fn build(case: &PlannedCase, context: Context) -> Result<(&'static Test, Values, MicroApp), String> {
    let test = apps::find(&case.test).map_err(|error| error.to_string())?;
    let set = case.named_set().unwrap_or(test.quick_set().name);
    let mut values = test.set(set).map_err(|error| error.to_string())?;
    for (name, text) in case.given() {
        values.assign(name, text).map_err(|error| error.to_string())?;
    }
    check_lengths(&values)?;
    let app = test.build(&values, context).map_err(|error| error.to_string())?;
    Ok((test, values, app))
}
