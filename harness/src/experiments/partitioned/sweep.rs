//! Cases from lists of values.

use super::{PARAMETERS, Setting, TEST};
use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::selection::Selection;
use crate::model::CUSTOM;
use apps::bytes;
use common::parameter::{ParameterInfo, place, usual};

/// Names for the product of two parameters, only in selections.
pub const PRODUCTS: &[ParameterInfo] = &[
    ParameterInfo::new("theta", "N", "", "partitions per thread, instead of their total number"),
    ParameterInfo::new(
        "partition_bytes",
        "BYTES",
        "",
        "bytes of each partition; with `bytes`, instead of the number of partitions",
    ),
];

/// Parameters that change faster than all others, the fastest last.
const FASTEST: [&str; 6] = ["threads", "theta", "partitions", "receive", "partition_bytes", "bytes"];

/// The given names and values of one case.
type GivenValues<'a> = Vec<(&'a str, String)>;

/// The cases of a selection, without duplicates.
///
/// # Errors
/// If it has a test, a set or a layout, or a value is invalid.
pub fn cases(selection: &Selection) -> Result<Selected, String> {
    let Selection { tests, sets, layouts, .. } = selection;
    if let Some(other) = tests.iter().filter(|test| *test != TEST).chain(sets).chain(layouts).next() {
        return Err(format!(
            "{other:?}: partitioned experiments have no tests, sets or layouts, only values"
        ));
    }
    let mut selected = Selected::default();
    let rank = |name: &str| (FASTEST.iter().position(|fast| *fast == name), place(PARAMETERS, name));
    for given in selection.lists.product(rank)? {
        selected.add(case(given)?);
    }
    Ok(selected)
}

/// A case with the parameters of a setting, computed from products.
fn case(mut given: GivenValues<'_>) -> Result<PlannedCase, String> {
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
    let has = |name: &str| given.iter().any(|(known, _)| *known == name);
    let counts = [has("partitions"), theta.is_some(), partition_bytes.is_some() && has("bytes")];
    if counts.into_iter().filter(|is_given| *is_given).count() > 1 {
        return Err("the number of partitions is given twice, by two of partitions, theta, and partition_bytes with bytes: \
                    leave one out"
            .to_owned());
    }
    let product = |a: u64, b: u64| {
        a.checked_mul(b).ok_or_else(|| format!("{a} times {b} is too large")).map(|n| n.to_string())
    };
    let known = |given: &GivenValues<'_>, name: &str, default: u64| match given
        .iter()
        .find(|(known, _)| *known == name)
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
        let partitions = known(&given, "partitions", usual(PARAMETERS).partitions as u64)?;
        given.push(("bytes", product(number("partition_bytes", &size)?, partitions)?));
    }
    let setting = Setting::parse(given.iter().map(|(name, value)| (*name, value.as_str())))?;
    let case = PlannedCase { test: TEST.to_owned(), set: Some(CUSTOM.to_owned()), ..PlannedCase::default() };
    Ok(case.with(setting.pairs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::selection::Lists;

    fn cases(typed: &[&str]) -> Vec<PlannedCase> {
        let typed: Vec<String> = typed.iter().map(|&text| text.to_owned()).collect();
        let lists = Lists::typed(&typed, "bytes=1").unwrap();
        super::cases(&Selection { lists, ..Selection::default() }).unwrap().cases
    }

    fn value<'a>(case: &'a PlannedCase, name: &str) -> &'a str {
        &case.params[name]
    }

    #[test]
    fn a_sweep_is_the_product_of_its_lists() {
        let all = cases(&["threads=1", "2", "theta=4", "32", "partition_bytes=8", "1KiB"]);
        assert_eq!(all.len(), 8);
        let last = all.last().unwrap();
        assert_eq!((value(last, "partitions"), value(last, "bytes")), ("64", "65536"));
        assert_eq!(cases(&[]).len(), 1);
    }
}
