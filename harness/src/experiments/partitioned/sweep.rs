//! From lists of values to cases.

use std::collections::HashSet;

use super::setting::bytes;
use super::{Setting, TEST};
use crate::experiments::planned::{PlannedCase, Text};
use crate::model::CUSTOM;

/// Values of each parameter; one of each is a case. Where a list is empty, the parameter has its default.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// Bytes of the message.
    pub bytes: Vec<String>,
    /// Partitions.
    pub partitions: Vec<String>,
    /// Partitions per thread, instead of their number.
    pub theta: Vec<String>,
    /// Bytes per partition, instead of the message's.
    pub partition_bytes: Vec<String>,
    /// Partitions of the receiver.
    pub receive: Vec<String>,
    /// Threads.
    pub threads: Vec<String>,
    /// Orders.
    pub order: Vec<String>,
    /// Arrival times.
    pub arrival: Vec<String>,
    /// Computing times.
    pub compute_us: Vec<String>,
    /// How computing passes.
    pub emulate: Vec<String>,
    /// Bandwidth for the model.
    pub beta: Vec<String>,
    /// Virtual interfaces of MPICH.
    pub vcis: Vec<String>,
    /// Whether both ranks send: 1 or 2.
    pub ways: Vec<String>,
}

/// Words as a list of values.
pub(super) fn list(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// Names and values that one case is given.
type Given = Vec<(&'static str, String)>;

impl Sweep {
    /// The cases: the product of all lists, the last list running fastest. A case that comes twice is kept once.
    ///
    /// # Errors
    /// A value that cannot be, and what would be right.
    pub fn cases(&self) -> Result<Vec<PlannedCase>, String> {
        let lists: [(&'static str, &Vec<String>); 13] = [
            ("order", &self.order),
            ("arrival", &self.arrival),
            ("compute_us", &self.compute_us),
            ("emulate", &self.emulate),
            ("beta", &self.beta),
            ("vcis", &self.vcis),
            ("ways", &self.ways),
            ("threads", &self.threads),
            ("theta", &self.theta),
            ("partitions", &self.partitions),
            ("receive", &self.receive),
            ("partition_bytes", &self.partition_bytes),
            ("bytes", &self.bytes),
        ];
        let mut all: Vec<Given> = vec![Vec::new()];
        for (name, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
            let with = |given: &Given, value: &String| [given.clone(), vec![(name, value.clone())]].concat();
            all = all.iter().flat_map(|given| values.iter().map(move |value| with(given, value))).collect();
        }
        let (mut cases, mut known) = (Vec::new(), HashSet::new());
        for given in all {
            let case = case(given)?;
            if known.insert(case.clone()) {
                cases.push(case);
            }
        }
        Ok(cases)
    }
}

/// A case of the parameters that a setting has, after those that stand for a product of two.
fn case(mut given: Given) -> Result<PlannedCase, String> {
    let mut take = |name: &str| {
        let at = given.iter().position(|(known, _)| *known == name)?;
        Some(given.remove(at).1)
    };
    let number = |name: &str, text: &str| {
        let wrong =
            || format!("{name} = {text}: must be a whole number of at least 1, for example 64KiB or 32");
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

impl Sweep {
    /// This one, with the lists that the other has.
    pub(super) fn with(mut self, other: &Self) -> Self {
        // All three say how many partitions there are.
        if [&other.partitions, &other.theta, &other.partition_bytes].iter().any(|list| !list.is_empty()) {
            for list in [&mut self.partitions, &mut self.theta, &mut self.partition_bytes] {
                list.clear();
            }
        }
        let pairs = [
            (&mut self.bytes, &other.bytes),
            (&mut self.partitions, &other.partitions),
            (&mut self.theta, &other.theta),
            (&mut self.partition_bytes, &other.partition_bytes),
            (&mut self.receive, &other.receive),
            (&mut self.threads, &other.threads),
            (&mut self.order, &other.order),
            (&mut self.arrival, &other.arrival),
            (&mut self.compute_us, &other.compute_us),
            (&mut self.emulate, &other.emulate),
            (&mut self.beta, &other.beta),
            (&mut self.vcis, &other.vcis),
            (&mut self.ways, &other.ways),
        ];
        for (mine, theirs) in pairs {
            if !theirs.is_empty() {
                mine.clone_from(theirs);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(case: &'a PlannedCase, name: &str) -> &'a str {
        &case.params[name].0
    }

    #[test]
    fn a_sweep_is_the_product_of_its_lists() {
        let sweep = Sweep {
            threads: list("1 2"),
            theta: list("4 32"),
            partition_bytes: list("8 1KiB"),
            ..Sweep::default()
        };
        let cases = sweep.cases().unwrap();
        assert_eq!(cases.len(), 8);
        let last = cases.last().unwrap();
        assert_eq!((value(last, "partitions"), value(last, "bytes")), ("64", "65536"));
        assert_eq!(Sweep::default().cases().unwrap().len(), 1);
    }

    #[test]
    fn a_message_of_a_size_can_be_cut_into_partitions_of_a_size() {
        let sweep = Sweep { bytes: list("8MiB"), partition_bytes: list("1MiB 64KiB"), ..Sweep::default() };
        let cases = sweep.cases().unwrap();
        let partitions: Vec<&str> = cases.iter().map(|case| value(case, "partitions")).collect();
        assert_eq!(partitions, ["8", "128"]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (name, sweep) in [
            ("theta", Sweep { theta: list("0"), ..Sweep::default() }),
            ("order", Sweep { order: list("sideways"), ..Sweep::default() }),
            ("partition_bytes", Sweep { partition_bytes: list("x"), ..Sweep::default() }),
        ] {
            assert!(sweep.cases().unwrap_err().contains(name), "{name}");
        }
    }
}
