//! Which comparisons are made: of each test with its values, and for those that pack in two orders one of each.

use clap::ValueEnum;

use super::{ORDER, PackingOrder, RANKS};
use crate::experiments::Setup;
use crate::experiments::pingpong::PreparedMessage;
use crate::experiments::planned::{PlannedCase, Text};

/// The orders among single values as typed, `order=manual,ddt`, and the other values, a test's own `order` among them; both
/// orders where none is.
///
/// # Errors
/// An order that there is not.
pub fn orders(typed: Vec<String>) -> Result<(Vec<PackingOrder>, Vec<String>), String> {
    let (mut orders, mut others, mut is_order) = (Vec::new(), Vec::new(), false);
    for text in typed {
        let value = match text.split_once('=') {
            Some((name, value)) => {
                is_order = name.trim() == ORDER;
                value.trim()
            }
            None => text.trim(),
        };
        if is_order && !super::is_of_a_test(value) {
            let wrong = |_| format!("{ORDER} = {value}: must be manual or ddt");
            orders.push(PackingOrder::from_str(value, false).map_err(wrong)?);
        } else {
            others.push(text);
        }
    }
    if orders.is_empty() {
        orders = vec![PackingOrder::Manual, PackingOrder::Ddt];
    }
    Ok((orders, others))
}

/// The comparisons of tests with their values, and for those that pack in two orders one of each of `orders`.
///
/// # Errors
/// What is wrong with a test's values, by its name.
pub fn cases(
    tests: Vec<PlannedCase>,
    orders: &[PackingOrder],
    seed: u64,
) -> Result<Vec<PlannedCase>, String> {
    let mut cases = Vec::new();
    for case in tests {
        let message =
            PreparedMessage::of(&PlannedCase { set: None, ..case.clone() }, Setup { ranks: RANKS, seed })
                .map_err(|reason| format!("{}: {reason}", case.test))?;
        if !message.orders_differ {
            cases.push(case);
            continue;
        }
        cases.extend(orders.iter().map(|order| {
            let mut case = case.clone();
            case.params.insert(ORDER.to_owned(), Text(order.name().to_owned()));
            case
        }));
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_parameter_as_others() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let both = vec![PackingOrder::Manual, PackingOrder::Ddt];
        assert_eq!(orders(words(&["n=8", "16"])), Ok((both.clone(), words(&["n=8", "16"]))));
        assert_eq!(orders(words(&["order=ddt", "n=8"])), Ok((vec![PackingOrder::Ddt], words(&["n=8"]))));
        assert_eq!(orders(words(&["order=manual", "ddt"])), Ok((both.clone(), Vec::new())));
        assert_eq!(orders(words(&["order=c", "n=8"])), Ok((both, words(&["order=c", "n=8"]))));
        assert!(orders(words(&["order=mine"])).unwrap_err().contains("manual or ddt"));
    }
}
