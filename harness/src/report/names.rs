//! What stands side by side in a picture, and what below each other, with their names.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};

use crate::model::conditions::Cache;
use crate::model::{CUSTOM, Case};

/// What stands below each other: tests with their values, whoever ran them.
pub fn work(case: &Case) -> [&str; 4] {
    [case.experiment.name(), &case.test, &case.set, &case.params]
}

/// What tells sides apart.
pub fn conditions(case: &Case) -> ([&str; 5], usize, usize, Cache) {
    let names = [&case.run, &case.mpi, &case.mpi_version, &case.mpi_variant, &case.transport];
    (names.map(String::as_str), case.ranks, case.hosts, case.cache)
}

/// Whether a case is of a side.
pub fn on_side(case: &Case, side: &Case) -> bool {
    conditions(case) == conditions(side)
}

/// Values in the order in which they come first.
pub fn distinct<T: Eq + Hash>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().collect::<IndexSet<T>>().into_iter().collect()
}

/// Values in groups of one key, in the order in which keys come first.
pub fn grouped<T, K: Eq + Hash>(
    values: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> IndexMap<K, Vec<T>> {
    let mut groups: IndexMap<K, Vec<T>> = IndexMap::new();
    values.into_iter().for_each(|value| groups.entry(key(&value)).or_default().push(value));
    groups
}

/// What stands side by side, each by one of its cases, with names: the MPI, and besides what tells apart those of one MPI.
pub fn sides<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Vec<(Case, String)> {
    let conditions_of = |case: &'a Case| (conditions(case), case);
    let sides: Vec<Case> =
        cases.into_iter().map(conditions_of).collect::<IndexMap<_, _>>().into_values().cloned().collect();
    let parts: [fn(&Case) -> String; 6] = [
        |side| side.mpi_version.clone(),
        |side| format!("{} ranks", side.ranks),
        |side| side.cache.name().to_owned(),
        |side| format!("{} hosts", side.hosts),
        |side| side.transport.clone(),
        |side| side.run.clone(),
    ];
    let name = |side: &Case| {
        let alike = || sides.iter().filter(|other| other.mpi_label() == side.mpi_label());
        let differ = |part: &fn(&Case) -> String| alike().map(part).collect::<BTreeSet<String>>().len() > 1;
        let differing = parts.iter().filter(|part| differ(part)).map(|part| part(side));
        let parts: Vec<String> = std::iter::once(side.mpi_label()).chain(differing).collect();
        parts.join(", ")
    };
    sides.iter().map(|side| (side.clone(), name(side))).collect()
}

/// The parameters of a case.
pub fn params(case: &Case) -> Vec<(&str, &str)> {
    case.params.split_whitespace().filter_map(|pair| pair.split_once('=')).collect()
}

/// A parameter that is a number.
pub fn number(case: &Case, name: &str) -> Option<f64> {
    let (_, value) = params(case).into_iter().find(|(known, _)| *known == name)?;
    value.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The parameters in which cases differ, one that some lack among them.
pub fn varied<'a>(cases: &[&'a Case]) -> Vec<&'a str> {
    let names = distinct(cases.iter().flat_map(|case| params(case)).map(|(name, _)| name));
    let values = |name: &str| {
        let of = |case: &&Case| {
            params(case).into_iter().find(|(known, _)| *known == name).map(|(_, v)| v.to_owned())
        };
        cases.iter().map(of).collect::<BTreeSet<_>>()
    };
    names.into_iter().filter(|name| values(name).len() > 1).collect()
}

/// The names of works among each other: the test, and where there are several of it, its set; where one of these has no set, or
/// there are several of its own, the values in which they differ.
pub struct WorkNames<'a> {
    of_test: HashMap<&'a str, OfTest<'a>>,
}

/// How the works of a test are told apart.
enum OfTest<'a> {
    /// There is one.
    Alone,
    /// By values: of these parameters.
    Values(Vec<&'a str>),
    /// By their sets, and within a set by these parameters.
    Sets(HashMap<&'a str, Vec<&'a str>>),
}

impl<'a> WorkNames<'a> {
    /// Of all cases that stand beside each other.
    pub fn of(all: &[&'a Case]) -> Self {
        let of_test = |cases: Vec<&'a Case>| {
            let differing = varied(&cases);
            if differing.is_empty() {
                return OfTest::Alone;
            }
            if cases.iter().any(|case| case.set == CUSTOM || case.set.is_empty()) {
                return OfTest::Values(differing);
            }
            let sets = grouped(cases, |case| case.set.as_str());
            OfTest::Sets(sets.into_iter().map(|(set, of)| (set, distinguishing(&of))).collect())
        };
        let tests = grouped(all.iter().copied(), |case| case.test.as_str());
        Self { of_test: tests.into_iter().map(|(test, cases)| (test, of_test(cases))).collect() }
    }

    /// That of one of these cases.
    pub fn name(&self, case: &Case) -> String {
        let Case { test, set, .. } = case;
        match self.of_test.get(test.as_str()) {
            None | Some(OfTest::Alone) => test.clone(),
            Some(OfTest::Values(names)) => format!("{test} {}", values_of(case, names)),
            Some(OfTest::Sets(names)) => {
                let values = names.get(set.as_str()).map_or_else(String::new, |names| values_of(case, names));
                format!("{test} {set} {values}").trim_end().to_owned()
            }
        }
    }
}

/// The parameters that tell cases of one set apart: one, where that is enough. Sizes that were found for a time follow it, and are
/// not told beside it.
fn distinguishing<'a>(of_set: &[&'a Case]) -> Vec<&'a str> {
    let differing = varied(of_set);
    let works =
        |names: &[&str]| of_set.iter().map(|case| values_of(case, names)).collect::<BTreeSet<_>>().len();
    let all = works(&differing);
    let enough = differing.iter().find(|name| works(&[name]) == all);
    enough.map_or_else(|| differing.clone(), |name| vec![*name])
}

/// Some parameters of a case with their values.
fn values_of(case: &Case, names: &[&str]) -> String {
    let values = params(case).into_iter().filter(|(name, _)| names.contains(name));
    values.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made::case;

    #[test]
    fn sides_are_named_by_their_mpi_and_by_their_differences_only() {
        let (a, b) = (case("t", "mpich", "n=1"), case("t", "openmpi", "n=1"));
        let names =
            |cases: &[&Case]| sides(cases.iter().copied()).into_iter().map(|side| side.1).collect::<Vec<_>>();
        assert_eq!(names(&[&a, &b, &case("u", "mpich", "n=2")]), ["mpich", "openmpi"]);
        let cold = Case { cache: Cache::Cold, ..a.clone() };
        assert_eq!(names(&[&a, &cold, &b]), ["mpich, warm", "mpich, cold", "openmpi"]);
        let (one, two) = (Case { run: "r1".into(), ..a.clone() }, Case { run: "r2".into(), ..a });
        assert_eq!(names(&[&one, &two]), ["mpich, r1", "mpich, r2"], "runs are never one");
    }

    #[test]
    fn work_is_named_by_what_differs() {
        let (a, b) = (case("t", "m", "nx=1 ny=2"), case("t", "m", "nx=1 ny=4"));
        let other = case("u", "m", "n=9");
        assert_eq!(WorkNames::of(&[&a, &b, &other]).name(&a), "t ny=2");
        assert_eq!(WorkNames::of(&[&a, &b, &other]).name(&other), "u");
        let named = Case { set: "s".into(), ..a.clone() };
        assert_eq!(WorkNames::of(&[&named, &b]).name(&named), "t ny=2", "beside one without a name");
        let other_set = Case { set: "o".into(), ..b.clone() };
        assert_eq!(WorkNames::of(&[&named, &other_set]).name(&named), "t s");
        // Several of one set.
        let of_set = |params: &str| Case { set: "s".into(), ..case("t", "m", params) };
        let (a, b) = (of_set("nx=1 time_us=5 size=7"), of_set("nx=1 time_us=9 size=8"));
        assert_eq!(WorkNames::of(&[&a, &b]).name(&a), "t s time_us=5");
        let (c, d) = (of_set("nx=1 time_us=5 size=8"), of_set("nx=1 time_us=9 size=9"));
        assert_eq!(
            WorkNames::of(&[&a, &c, &d]).name(&c),
            "t s size=8",
            "the one parameter that tells all apart"
        );
    }
}
