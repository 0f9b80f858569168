//! Comparisons of recorded launches in two states of the machine: a change in one state is found only there.

use std::collections::BTreeMap;

use ddtbench::compare::{
    Comparer, ComparisonRow, ComparisonUnit, Comparisons, GateDecision, Settings, Side, Verdict,
};
use ddtbench::experiments::Kind;
use ddtbench::model::{Case, Record};

use crate::recorded::{IN_TURN, Launch};

/// The tests of the recording, on the MPI whose launches vary less.
const TESTS: [&str; 3] = ["nas_lu_y", "milc_su3_zd", "nas_mg_x"];
const MPI: &str = "openmpi";

/// Recorded launches of a test, near ones and far ones.
fn launches(test: &str) -> [Vec<Launch>; 2] {
    let latency_s = |launch: &Launch| {
        let of_test = launch.iter().filter(|((of, _, _), _)| of == test);
        let known: Vec<f64> = of_test.filter_map(|(_, recorded)| recorded.state_latency_s).collect();
        (known.iter().copied().fold(f64::INFINITY, f64::min), known.iter().copied().fold(0.0, f64::max))
    };
    let all = IN_TURN.read().remove(MPI).unwrap();
    // In some launches the machine changed its state between two methods.
    let near = all.iter().filter(|launch| latency_s(launch).1 < 60e-9).cloned().collect();
    [near, all.iter().filter(|launch| latency_s(launch).0 > 100e-9).cloned().collect()]
}

/// A side with these launches. Datatypes take `far_only` times as long in far ones.
fn side(test: &str, near: &[Launch], far: &[Launch], far_only: f64) -> Side {
    let kind = Kind::default();
    let case = Case { experiment: kind, test: test.to_owned(), hosts: 1, ranks: 2, ..Case::default() };
    let all = near.iter().map(|launch| (launch, 1.0)).chain(far.iter().map(|launch| (launch, far_only)));
    let records = all.enumerate().flat_map(|(number, (launch, factor))| {
        let of_test = launch.iter().filter(|((of, _, phase), _)| of == test && phase != "pack");
        let case = case.clone();
        of_test.map(move |((_, method, _), recorded)| Record {
            case: case.clone().into(),
            method: method.clone(),
            launch: Some(number),
            phase: kind.headline(),
            median_s: Some(recorded.median_s * if method == "ddt" { factor } else { 1.0 }),
            state_latency_s: recorded.state_latency_s,
            state_copy_bytes_per_s: recorded.state_copy_bytes_per_s,
            ..Record::default()
        })
    });
    Side::from_records("side", &records.collect::<Vec<_>>(), ComparisonUnit::Launch)
}

/// The comparison of the even launches with the odd ones, `far` of each in the far state.
fn compare(test: &str, far: usize, far_only: f64) -> Comparisons {
    let [near, all_far] = launches(test);
    let every_second = |launches: &[Launch], first: usize, most: usize| {
        launches.iter().skip(first).step_by(2).take(most).cloned().collect::<Vec<_>>()
    };
    let sides = [0, 1].map(|first| {
        let factor = if first == 1 { far_only } else { 1.0 };
        side(test, &every_second(&near, first, 13), &every_second(&all_far, first, far), factor)
    });
    let rows = Comparer::new(Settings::default()).interim_test(&sides[0], &sides[1], &|_| Some(1.0));
    Comparisons::from_sides(Settings::default(), &sides, vec![rows])
}

fn row<'a>(comparisons: &'a Comparisons, method: &str) -> &'a ComparisonRow {
    let rows = &comparisons.comparisons[0].rows;
    rows.iter().find(|row| row.subject.method == method).unwrap()
}

#[test]
fn a_change_in_far_launches_only_is_found_there_whatever_the_number_of_launches() {
    for test in TESTS {
        let far = launches(test)[1].len() / 2;
        assert!(far >= 6, "the recording has far launches: {far}");
        let mut ratios: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        for far in [far, far - 1] {
            let comparisons = compare(test, far, 1.3);
            let row = row(&comparisons, "ddt");
            let [near, distant] = &row.changes[..] else { panic!("{row:?}") };
            assert!(near.latency_s.unwrap() < 50e-9 && distant.latency_s.unwrap() > 140e-9, "{row:?}");
            let ratio = |change: &ddtbench::compare::StateChange| change.time.as_ref().unwrap().ratio;
            assert!((ratio(near) - 1.0).abs() < 0.03, "{row:?}");
            assert!((ratio(distant) / 1.3 - 1.0).abs() < 0.06, "{row:?}");
            assert_eq!((distant.verdict, row.verdict), (Verdict::Slower, Verdict::Slower), "{row:?}");
            assert!(!near.verdict.is_change(), "{row:?}");
            ratios.insert(far, [ratio(near), ratio(distant)]);
            assert_eq!(comparisons.gate(), GateDecision::Shut);
            let decision = comparisons.decision();
            assert!(decision.contains("with cores 1") && decision.starts_with("1 of 4 rows"), "{decision}");
        }
        let [one, other] = [ratios[&far], ratios[&(far - 1)]];
        assert!(
            one.iter().zip(other).all(|(a, b)| (a / b - 1.0).abs() < 0.03),
            "one launch moves little: {ratios:?}"
        );
    }
}
