//! Prepares a micro-app's message for measuring.

use std::cell::LazyCell;

use apps::{Context, MicroApp, Test, Values, WireOrder};

use super::descriptions::descriptions;
use super::facts;
use super::methods::{METHODS, buffers, can, description, has_messages};
use crate::experiments::Prepared;
use crate::experiments::planned::PlannedCase;
use crate::model::MethodInfo;
use common::memory;

const NO_LOOPS: &str = "it has no hand-written loop; use loop instead";
const ONE_TYPE: &str = "its values have several types, so packed bytes cannot be received as values";
const NO_OTHER: &str = "another method has the same description, or there is none";

/// The case with all values of its test, for these methods.
///
/// # Errors
/// If a test, set or parameter is unknown, or a value is invalid.
pub fn prepare(case: &PlannedCase, methods: &[String], context: Context) -> Result<Prepared, String> {
    let (test, values, app) = build(case, context)?;
    // Layouts may be large: their divisions and descriptions are computed only for methods that need them.
    let described = LazyCell::new(|| descriptions(&app));
    let reason_for_lack = |method: &MethodInfo| match description(method.name) {
        _ if !can(&app, method) => Some(if method.by_hand { NO_LOOPS } else { ONE_TYPE }),
        Some(way) => (!described.iter().any(|known| known.way == way)).then_some(NO_OTHER),
        None => has_messages(&app, method.name).err(),
    };
    let (mut lacking, mut own_buffers) = (Vec::new(), 0);
    for method in METHODS.iter().filter(|method| methods.iter().any(|name| name == method.name)) {
        own_buffers += method.own_buffers;
        lacking.extend(reason_for_lack(method).map(|reason| (method.name.to_owned(), reason)));
    }
    let rank_bytes = || {
        memory::rank_bytes(&app, buffers(methods))?.checked_add(app.message_bytes().checked_mul(own_buffers)?)
    };
    let planned = PlannedCase {
        methods: case.methods.clone(),
        ..PlannedCase::from_test(test, case.set.as_deref(), &values)
    };
    let (params, rank_bytes) = (values.to_string(), rank_bytes());
    let message = move || facts(&test.build(&values, context).expect("was built before"), WireOrder::Manual);
    Ok(Prepared {
        lacking: lacking.into_iter().collect(),
        ..Prepared::new(planned, params, message, rank_bytes)
    })
}

/// The message of a case.
///
/// # Errors
/// If it cannot be built.
pub fn message(case: &PlannedCase, context: Context) -> Result<MicroApp, String> {
    Ok(build(case, context)?.2)
}

/// Whether the hand-written loop and the datatype of a case pack in different orders.
///
/// # Errors
/// As [`prepare`].
pub fn orders_differ(case: &PlannedCase, context: Context) -> Result<bool, String> {
    Ok(build(case, context)?.2.send.orders_differ())
}

fn build(case: &PlannedCase, context: Context) -> Result<(&'static Test, Values, MicroApp), String> {
    let test = apps::find(&case.test).map_err(|error| error.to_string())?;
    let set = case.named_set().unwrap_or(test.quick_set().name);
    let mut values = test.set(set).map_err(|error| error.to_string())?;
    for (name, text) in case.given() {
        values.assign(name, text).map_err(|error| error.to_string())?;
    }
    let app = test.build(&values, context).map_err(|error| error.to_string())?;
    Ok((test, values, app))
}
