//! From lists of values to cases.

use std::collections::HashSet;

use super::{PARAMETERS, Setting, TEST};
use crate::experiments::parameter::{Flag, Sweep, place};
use crate::experiments::planned::{PlannedCase, Text};
use crate::model::CUSTOM;
use apps::bytes;

/// What stands for a product of two parameters: flags of a sweep alone.
pub const PRODUCTS: &[Flag] = &[
    Flag::new("theta", "N", "", "partitions of each thread, instead of all together")
        .instead_of("partitions"),
    Flag::new(
        "partition_bytes",
        "BYTES",
        "",
        "bytes of each partition; with --bytes, instead of their number",
    )
    .long("partition-bytes"),
];

/// All that say how many partitions there are.
const COUNTS: [&str; 3] = ["partitions", "theta", "partition_bytes"];

/// The parameters that run faster than all others, the fastest last.
const FASTEST: [&str; 6] = ["threads", "theta", "partitions", "receive", "partition_bytes", "bytes"];

/// Names and values that one case is given.
type Given = Vec<(&'static str, String)>;

/// The cases of a sweep: the product of all lists. A case that comes twice is kept once.
///
/// # Errors
/// A value that cannot be, and what would be right.
pub fn cases(sweep: &Sweep) -> Result<Vec<PlannedCase>, String> {
    let (mut cases, mut known) = (Vec::new(), HashSet::new());
    let rank = |name: &str| (FASTEST.iter().position(|fast| *fast == name), place(PARAMETERS, name));
    for given in sweep.product(rank) {
        let case = case(given)?;
        if known.insert(case.clone()) {
            cases.push(case);
        }
    }
    Ok(cases)
}

/// A grid, with the lists that are given in the place of its own.
pub(super) fn over(grid: Sweep, given: &Sweep) -> Sweep {
    let says_count = given.names().any(|name| COUNTS.contains(&name));
    let grid = if says_count { grid.without(&COUNTS) } else { grid };
    grid.with(given)
}

/// A case of the parameters that a setting has, after those that stand for a product of two.
fn case(mut given: Given) -> Result<PlannedCase, String> {
    let mut take = |name: &str| {
        let at = given.iter().position(|(known, _)| *known == name)?;
        Some(given.remove(at).1)
    };
    let number = |name: &str, text: &str| {
        let example = if name.contains("bytes") { "64KiB" } else { "32" };
        let wrong =
            || format!("{name} = {text}: must be a whole number of at least 1, for example {example}");
        bytes(text).filter(|&n| n > 0).ok_or_else(wrong)
    };
    let (theta, partition_bytes) = (take("theta"), take("partition_bytes"));
    let product = |a: u64, b: u64| {
        a.checked_mul(b).ok_or_else(|| format!("{a} times {b} is too large")).map(|n| n.to_string())
    };
    let known = |given: &Given, name: &str, default: u64| match given.iter().find(|(known, _)| *known == name)
    {
        Some((_, text)) => number(name, text),
        None => Ok(default),
    };
    if let Some(theta) = theta {
        let threads = known(&given, "threads", 1)?;
        given.push(("partitions", product(number("theta", &theta)?, threads)?));
    }
    if let (Some(size), Some((_, all))) = (&partition_bytes, given.iter().find(|(name, _)| *name == "bytes"))
    {
        let (size, all) = (number("partition_bytes", size)?, number("bytes", all)?);
        given.push(("partitions", (all / size).max(1).to_string()));
    } else if let Some(size) = partition_bytes {
        let partitions = known(&given, "partitions", Setting::default().partitions as u64)?;
        given.push(("bytes", product(number("partition_bytes", &size)?, partitions)?));
    }
    let setting = Setting::parse(given.iter().map(|(name, value)| (*name, value.as_str())))?;
    let params = setting.pairs().into_iter().map(|(name, value)| (name.to_owned(), Text(value))).collect();
    Ok(PlannedCase { test: TEST.to_owned(), set: Some(CUSTOM.to_owned()), params, methods: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::parameter::words;

    fn value<'a>(case: &'a PlannedCase, name: &str) -> &'a str {
        &case.params[name].0
    }

    #[test]
    fn a_sweep_is_the_product_of_its_lists() {
        let sweep = Sweep::of([
            ("threads", words("1 2")),
            ("theta", words("4 32")),
            ("partition_bytes", words("8 1KiB")),
        ]);
        let all = cases(&sweep).unwrap();
        assert_eq!(all.len(), 8);
        let last = all.last().unwrap();
        assert_eq!((value(last, "partitions"), value(last, "bytes")), ("64", "65536"));
        assert_eq!(cases(&Sweep::default()).unwrap().len(), 1);
    }

    #[test]
    fn a_message_of_a_size_can_be_cut_into_partitions_of_a_size() {
        let sweep = Sweep::of([("bytes", words("8MiB")), ("partition_bytes", words("1MiB 64KiB"))]);
        let cases = cases(&sweep).unwrap();
        let partitions: Vec<&str> = cases.iter().map(|case| value(case, "partitions")).collect();
        assert_eq!(partitions, ["8", "128"]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (name, sweep) in [
            ("theta", Sweep::of([("theta", words("0"))])),
            ("order", Sweep::of([("order", words("sideways"))])),
            ("partition_bytes", Sweep::of([("partition_bytes", words("x"))])),
        ] {
            assert!(cases(&sweep).unwrap_err().contains(name), "{name}");
        }
    }
}
