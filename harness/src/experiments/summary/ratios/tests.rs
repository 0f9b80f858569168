use crate::experiments::Kind;
use crate::experiments::summary::tests::{located, result};
use crate::model::{Measured, Outcome, Phase, Quantity, Record};
use crate::report::made;

/// A method that takes `time` in each round.
fn measured(method: &str, rounds: usize, time: impl Fn(usize) -> f64) -> Measured {
    made::measured(method, (0..rounds).map(|round| made::block([(Phase::RoundTrip, vec![time(round); 3])])))
}

fn records(methods: Vec<Measured>) -> Vec<Record> {
    crate::experiments::summary::records(Kind::PingPong, &result(methods))
}

fn of<'a>(records: &'a [Record], method: &str) -> &'a Record {
    records.iter().find(|record| record.method == method && record.phase == Phase::RoundTrip).unwrap()
}

/// A machine whose state changes in every other round.
fn slowness(round: usize) -> f64 {
    [1.0, 3.0][round % 2]
}

#[test]
fn each_method_has_its_ratios_to_the_loops_and_to_the_fastest() {
    let records = records(vec![
        measured("reference", 12, |round| 0.25 * slowness(round)),
        measured("manual", 12, |round| 2.0 * slowness(round)),
        measured("manual_tuned", 12, |round| 1.5 * slowness(round)),
        measured("ddt", 12, slowness),
    ]);
    let (ddt, manual) = (of(&records, "ddt"), of(&records, "manual"));
    let over = |record: &Record, method| {
        record
            .over(method)
            .map(|over| (over.value.unwrap(), over.interval().unwrap(), over.unsteady.unwrap()))
    };
    let exactly = |ratio: f64| Some((ratio, (ratio, ratio), false));
    assert_eq!(over(ddt, "manual"), exactly(0.5));
    assert_eq!(over(ddt, "manual_tuned"), exactly(1.0 / 1.5));
    assert_eq!((over(manual, "manual"), over(manual, "manual_tuned")), (None, exactly(2.0 / 1.5)));
    assert_eq!((ddt.fastest.as_deref(), ddt.value(Quantity::TimeOverFastest)), (Some("ddt"), None));
    assert_eq!((manual.value(Quantity::TimeOverFastest), manual.unsteady), (Some(2.0), Some(false)));
    // A method that leaves its bytes packed is compared, but cannot be the fastest.
    assert_eq!(of(&records, "reference").value(Quantity::TimeOverFastest), Some(0.25));
}

#[test]
fn fewer_than_six_rounds_have_no_ratio() {
    let records = records(vec![measured("manual", 5, |_| 2.0), measured("ddt", 5, |_| 1.0)]);
    let manual = of(&records, "manual");
    assert_eq!(located(manual, Quantity::TimeOverFastest), [None; 3]);
    assert_eq!((manual.unsteady, of(&records, "ddt").over("manual")), (None, None));
}

#[test]
fn a_method_that_is_absent_or_failed_is_nobodys_base() {
    let failed = Measured {
        outcome: Outcome::WrongData { detail: "rank 0".into() },
        ..measured("manual", 12, |_| 1.0)
    };
    let records = records(vec![failed, measured("ddt", 12, |_| 1.0), measured("engine", 12, |_| 2.0)]);
    assert_eq!(of(&records, "ddt").over("manual"), None);
    assert_eq!(of(&records, "manual").fastest, None);
    assert_eq!(of(&records, "engine").value(Quantity::TimeOverFastest), Some(2.0));
}

#[test]
fn a_ratio_that_moves_is_unsteady_where_the_times_are_not_and_the_other_way_round() {
    let wander = |round: usize| if round < 10 { 1.0 } else { 2.0 };
    let noise = |round: usize| 1.0 + 0.01 * (round * 7 % 5) as f64;
    let records = records(vec![
        measured("manual", 20, |round| wander(round) * noise(round)),
        measured("ddt", 20, |round| 4.0 * wander(round)),
        measured("engine", 20, |_| 9.0),
    ]);
    let unsteady = |record: &Record| [record.unsteady, record.over("manual").and_then(|over| over.unsteady)];
    assert_eq!(unsteady(of(&records, "ddt")), [Some(true), Some(false)]);
    assert_eq!(unsteady(of(&records, "engine")), [Some(false), Some(true)]);
}

#[test]
fn the_fastest_is_that_of_the_rounds_that_both_have() {
    // `ddt` was measured only while the machine was fast, and `manual` was faster then.
    let records = records(vec![
        measured("manual", 30, |round| if round < 10 { 0.9 } else { 5.0 }),
        measured("ddt", 10, |_| 1.0),
    ]);
    assert_eq!(of(&records, "ddt").fastest.as_deref(), Some("manual"));
    assert_eq!(of(&records, "ddt").value(Quantity::TimeOverFastest), Some(1.0 / 0.9));
}
