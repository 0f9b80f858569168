//! Which comparisons are made: of each test with its values, and for those that pack in two orders one of each.

use super::{ORDER, Order, RANKS};
use crate::experiments::Setup;
use crate::experiments::pingpong::Message;
use crate::experiments::planned::{PlannedCase, Text};

/// The comparisons of tests with their values.
///
/// # Errors
/// What is wrong with a test's values, by its name.
pub fn cases(tests: Vec<PlannedCase>, seed: u64) -> Result<Vec<PlannedCase>, String> {
    let mut cases = Vec::new();
    for case in tests {
        let message = Message::of(&PlannedCase { set: None, ..case.clone() }, Setup { ranks: RANKS, seed })
            .map_err(|reason| format!("{}: {reason}", case.test))?;
        if !message.orders_differ {
            cases.push(case);
            continue;
        }
        cases.extend([Order::Manual, Order::Ddt].map(|order| {
            let mut case = case.clone();
            case.params.insert(ORDER.to_owned(), Text(order.name().to_owned()));
            case
        }));
    }
    Ok(cases)
}
