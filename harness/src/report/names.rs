//! The arrangement of cases in a picture, side by side or below each other, and their names.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};

use crate::model::conditions::Conditions;
use crate::model::{CUSTOM, Case};

/// Identifies a row of pictures: a test with its values, on any side.
pub fn work(case: &Case) -> [&str; 4] {
    [case.experiment.name(), &case.test, &case.set, &case.params]
}

/// Identifies a side.
pub fn conditions(case: &Case) -> ([&str; 6], usize, usize, Conditions) {
    let names = [&case.run, &case.mpi, &case.mpi_version, &case.mpi_variant, &case.transport, &case.device];
    (names.map(String::as_str), case.ranks, case.hosts, case.conditions())
}

/// Whether a case is on a side.
pub fn on_side(case: &Case, side: &Case) -> bool {
    conditions(case) == conditions(side)
}

/// The distinct values, in the order of their first occurrence.
pub fn distinct<T: Eq + Hash>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().collect::<IndexSet<T>>().into_iter().collect()
}

/// Values grouped by key, in the order in which the keys first occur.
pub fn grouped<T, K: Eq + Hash>(
    values: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> IndexMap<K, Vec<T>> {
    let mut groups: IndexMap<K, Vec<T>> = IndexMap::new();
    values.into_iter().for_each(|value| groups.entry(key(&value)).or_default().push(value));
    groups
}

/// The sides, each as one of its cases, with names: the MPI, and what distinguishes the sides of one MPI.
pub fn sides<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Vec<(Case, String)> {
    let conditions_of = |case: &'a Case| (conditions(case), case);
    let sides: Vec<Case> =
        cases.into_iter().map(conditions_of).collect::<IndexMap<_, _>>().into_values().cloned().collect();
    let parts: [fn(&Case) -> String; 7] = [
        |side| side.mpi_version.clone(),
        |side| format!("{} ranks", side.ranks),
        |side| side.conditions().text(),
        |side| format!("{} hosts", side.hosts),
        |side| side.transport.clone(),
        |side| side.device.clone(),
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

pub fn params(case: &Case) -> Vec<(&str, &str)> {
    case.params.split_whitespace().filter_map(|pair| pair.split_once('=')).collect()
}

/// A numeric parameter.
pub fn number(case: &Case, name: &str) -> Option<f64> {
    let (_, value) = params(case).into_iter().find(|(known, _)| *known == name)?;
    value.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The parameters in which cases differ, including those that some cases lack.
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

/// Names for tests that are shown together: the test; if there are several cases of it, the set; if a set is
/// missing or has several cases, the values in which they differ.
pub fn work_names<'a>(all: &[&'a Case]) -> HashMap<[&'a str; 4], String> {
    let mut names = HashMap::new();
    for of_test in grouped(all.iter().copied(), |case| case.test.as_str()).into_values() {
        let differing = varied(&of_test);
        let have_sets = of_test.iter().all(|case| case.set != CUSTOM && !case.set.is_empty());
        if !have_sets || differing.is_empty() {
            let name = |case: &Case| format!("{} {}", case.test, values_of(case, &differing));
            names.extend(of_test.iter().map(|case| (work(case), name(case).trim_end().to_owned())));
            continue;
        }
        for (set, of_set) in grouped(of_test, |case| case.set.as_str()) {
            let own = distinguishing(&of_set);
            let name = |case: &Case| format!("{} {set} {}", case.test, values_of(case, &own));
            names.extend(of_set.iter().map(|case| (work(case), name(case).trim_end().to_owned())));
        }
    }
    names
}

/// The parameters that distinguish the cases of a set: only one, if that is enough. Sizes that were found for
/// a time depend on it, and are not shown in addition.
fn distinguishing<'a>(of_set: &[&'a Case]) -> Vec<&'a str> {
    let differing = varied(of_set);
    let works =
        |names: &[&str]| of_set.iter().map(|case| values_of(case, names)).collect::<BTreeSet<_>>().len();
    let all = works(&differing);
    let enough = differing.iter().find(|name| works(&[name]) == all);
    enough.map_or_else(|| differing.clone(), |name| vec![*name])
}

fn values_of(case: &Case, names: &[&str]) -> String {
    let values = params(case).into_iter().filter(|(name, _)| names.contains(name));
    values.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::conditions::Cache;
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
        assert_eq!(work_names(&[&a, &b, &other])[&work(&a)], "t ny=2");
        assert_eq!(work_names(&[&a, &b, &other])[&work(&other)], "u");
        let named = Case { set: "s".into(), ..a.clone() };
        assert_eq!(work_names(&[&named, &b])[&work(&named)], "t ny=2", "together with one without a name");
        let other_set = Case { set: "o".into(), ..b.clone() };
        assert_eq!(work_names(&[&named, &other_set])[&work(&named)], "t s");
        // Several cases of one set.
        let of_set = |params: &str| Case { set: "s".into(), ..case("t", "m", params) };
        let (a, b) = (of_set("nx=1 time_us=5 size=7"), of_set("nx=1 time_us=9 size=8"));
        assert_eq!(work_names(&[&a, &b])[&work(&a)], "t s time_us=5");
        let (c, d) = (of_set("nx=1 time_us=5 size=8"), of_set("nx=1 time_us=9 size=9"));
        assert_eq!(
            work_names(&[&a, &c, &d])[&work(&c)],
            "t s size=8",
            "the one parameter that distinguishes all of them"
        );
    }
}
