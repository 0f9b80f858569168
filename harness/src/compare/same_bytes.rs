//! Cases of one run that send the same bytes in the same order, with different datatypes: which one is faster?

use apps::{Arrays, Context, Exchange, LAYOUT, MicroApp, Side as End, WireOrder};
use datatypes::Layout;
use indexmap::IndexMap;

use super::{Side, Subject};
use crate::experiments::planned::PlannedCase;
use crate::experiments::{Kind, pingpong};
use crate::model::Record;
use crate::report::compared::{Compared, Section};
use crate::report::verdict::{Against, Claim, Verdict};
use crate::stats::difference::{Difference, FEWEST};

/// Methods whose time may depend on the description.
const METHODS: [&str; 2] = ["ddt", "mpi_pack"];

/// Probability that any of the intervals of a run misses.
const ALPHA: f64 = 0.05;

/// Compares the cases of a run with the same bytes, from the launches of each MPI. `cases` have their values as in results.
pub fn same_bytes(cases: &[(&PlannedCase, &str)], context: Context, records: &[Record]) -> Compared<'static> {
    let sides = Side::of_mpis(records);
    let of_side = |side: &'_ Side| groups(side, cases, context);
    let groups: Vec<(&Side, Vec<Subject>)> =
        sides.iter().flat_map(|side| of_side(side).into_iter().map(move |group| (side, group))).collect();
    // Any two of a group may turn out to be the fastest and another one.
    let pairs: usize = groups.iter().map(|(_, group)| group.len() * (group.len() - 1) / 2).sum();
    let alpha = ALPHA / pairs.max(1) as f64;
    let sentences = groups.iter().flat_map(|(side, group)| sentences(side, group, alpha));
    let (open, mut sentences): (Vec<String>, Vec<String>) =
        sentences.partition(|sentence| sentence.contains(Verdict::Undecided.name()));
    match &open[..] {
        [_, _, ..] => sentences.push(format!("{} pairs of tests are undecided.", open.len())),
        one => sentences.extend_from_slice(one),
    }
    let title = "Same bytes, other datatypes".to_owned();
    let section = Section { title, sentences, ..Section::default() };
    let sections = if section.sentences.is_empty() { Vec::new() } else { vec![section] };
    Compared { sections, ..Compared::default() }
}

/// Groups of at least two cases with the same bytes, method, number of ranks and cache mode.
fn groups(side: &Side, cases: &[(&PlannedCase, &str)], context: Context) -> Vec<Vec<Subject>> {
    let mut alike: IndexMap<_, Vec<&Subject>> = IndexMap::new();
    let is_typed =
        |subject: &&Subject| subject.experiment == Kind::PingPong && METHODS.contains(&&*subject.method);
    for subject in side.subjects().filter(is_typed) {
        let bytes = side.values(subject).filter(|values| values.failure.is_none()).map(|values| values.bytes);
        let Some(bytes) = bytes else { continue };
        alike.entry((&subject.method, subject.ranks, subject.conditions(), bytes)).or_default().push(subject);
    }
    let message = |subject: &Subject| {
        let mut known = cases.iter();
        let case = known.find(|(case, params)| case.test == subject.test && **params == *subject.params)?;
        pingpong::message(case.0, context).ok()
    };
    let mut groups: Vec<Vec<Subject>> = Vec::new();
    // Building large messages takes long, so only those that may have the same bytes are built.
    for subjects in alike.into_values().filter(|subjects| subjects.len() > 1) {
        let mut kinds: Vec<(MicroApp, Vec<Subject>)> = Vec::new();
        for subject in subjects {
            let Some(app) = message(subject) else { continue };
            match kinds.iter_mut().find(|(known, _)| have_same_bytes(known, &app)) {
                Some((_, group)) => group.push(subject.clone()),
                None => kinds.push((app, vec![subject.clone()])),
            }
        }
        groups.extend(kinds.into_iter().map(|(_, group)| group).filter(|group| group.len() > 1));
    }
    groups
}

/// Whether both ends of two messages have the same type map, at any position.
fn have_same_bytes(one: &MicroApp, other: &MicroApp) -> bool {
    let are_pairs = one.exchange == Exchange::Pairs && other.exchange == Exchange::Pairs;
    let layout = |app: &MicroApp, end: End| {
        app.message(end, WireOrder::Ddt).datatype(&Arrays::displacements_of(&app.arrays)).1
    };
    are_pairs
        && [End::Send, End::Receive].into_iter().all(|end| same_map(&layout(one, end), &layout(other, end)))
}

fn same_map(one: &Layout, other: &Layout) -> bool {
    fn places(layout: &Layout) -> impl Iterator<Item = (i64, u64)> {
        let start = layout.segments().next().map_or(0, |segment| segment.offset);
        layout.segments().map(move |segment| (segment.offset - start, segment.bytes))
    }
    one.size() == other.size()
        && places(one).eq(places(other))
        && one.signature().eq(other.signature())
        // An MPI with other bounds has other bytes.
        && [one, other].into_iter().all(Layout::has_same_places_everywhere)
}

/// The fastest of a group, and its gain relative to each other one.
fn sentences(side: &Side, group: &[Subject], alpha: f64) -> Vec<String> {
    let times = |subject: &Subject| side.values(subject).map(|values| &values.times);
    let mean = |subject: &Subject| {
        let times = times(subject)?;
        Some(times.values().sum::<f64>() / times.len() as f64)
    };
    let by_mean =
        |a: &&Subject, b: &&Subject| mean(a).partial_cmp(&mean(b)).unwrap_or(std::cmp::Ordering::Equal);
    let Some(fastest) = group.iter().min_by(by_mean) else { return Vec::new() };
    let of = |other: &Subject| {
        let (fast, slow) = (times(fastest)?, times(other)?);
        let ratios: Vec<f64> =
            slow.iter().filter_map(|(launch, time)| Some(time - fast.get(launch)?)).collect();
        let (fastest, slower) = (name(fastest), name(other));
        let claim = match Difference::of_pairs(&ratios) {
            Some(difference) => {
                let (low, high) = difference.interval(alpha);
                let (value, low, high) = (difference.value.exp(), low.exp(), high.exp());
                Claim::from_ratio(Against { name: &slower, value, low, high, unsteady: false }, &fastest)
            }
            None => Claim::undecided(vec![&fastest, &slower], &format!("a verdict needs {FEWEST} launches")),
        };
        Some(format!("{}, {}, {}: {}.", side.name, other.conditions().text(), other.method, claim.text()))
    };
    group.iter().filter(|other| *other != fastest).filter_map(of).collect()
}

/// Test and set; a layout is identified by its text.
pub(super) fn name(subject: &Subject) -> String {
    match subject.test == LAYOUT.name {
        true => subject.sizes().to_owned(),
        false => format!("{} {}", subject.test, subject.sizes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::record;
    use crate::experiments::layout_file;

    /// Sentences on layouts with these times of a datatype, in launches with common variation.
    fn found(layouts: &[(&str, f64)], launches: usize) -> Vec<String> {
        let cases: Vec<(PlannedCase, String, f64)> = layouts
            .iter()
            .map(|(layout, time)| {
                let planned = layout_file::case(layout, &datatypes::Definitions::default()).unwrap();
                let params =
                    planned.given().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
                (planned, params.join(" "), *time)
            })
            .collect();
        let mut records = Vec::new();
        for (planned, params, time) in &cases {
            for launch in 0..launches {
                let drift = 1.0 + 0.3 * (launch % 2) as f64 + 0.002 * (launch % 3) as f64 * time;
                let mut record = record("a", launch, "ddt", time * drift);
                record.bytes = 64;
                let case = record.case_mut();
                (case.test, case.params, case.set) =
                    (LAYOUT.name.to_owned(), params.clone(), planned.set.clone().unwrap());
                records.push(record);
            }
        }
        let cases: Vec<(&PlannedCase, &str)> =
            cases.iter().map(|(case, params, _)| (case, &**params)).collect();
        let compared = same_bytes(&cases, Context::default(), &records);
        compared.sections.into_iter().flat_map(|section| section.sentences).collect()
    }

    const VECTOR: &str = "vector(8, 1, 4, double)";
    const BOX: &str = "subarray([8, 4], [8, 1], [0, 1], c, double)";

    #[test]
    fn layouts_with_the_same_bytes_are_compared_launch_by_launch() {
        let verdict = found(&[(VECTOR, 8.0), (BOX, 1.0), ("vector(8, 1, 5, double)", 2.0)], 6);
        let [verdict] = &verdict[..] else { panic!("{verdict:?}") };
        assert!(verdict.contains("ddt: subarray([8,4],[8,1],[0,1],c,double) is 8.1"), "{verdict}");
        assert!(verdict.ends_with("times as fast as vector(8,1,4,double)."), "{verdict}");
        let even = found(&[(VECTOR, 1.0), (BOX, 1.001)], 6);
        assert!(even[0].contains("undecided between "), "{even:?}");
        let few = found(&[(VECTOR, 8.0), (BOX, 1.0)], 2);
        assert!(few[0].contains("a verdict needs 3 launches"), "{few:?}");
    }

    #[test]
    fn other_types_other_places_and_another_order_are_other_bytes() {
        let floats = "vector(8, 2, 8, float)";
        let backwards = "hvector(8, 1, -32, double) @ 224";
        assert_eq!(found(&[(VECTOR, 1.0), (floats, 2.0), (backwards, 3.0)], 6), [""; 0]);
    }
}
