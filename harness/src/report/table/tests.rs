use super::*;
use crate::record::Phase;

fn record(method: &str, phase: Phase, median: f64) -> Record {
    Record {
        test: "wrf_x_vec".into(),
        set: "4x4".into(),
        params: "ims=4 ime=27".into(),
        mpi: "mpich".into(),
        ranks: 2,
        cache: "warm".into(),
        method: method.into(),
        phase,
        pair: "all".into(),
        bytes: 102_648,
        segments: 8554,
        n: 100,
        blocks: 10,
        batch: 1,
        median_s: Some(median),
        median_low_s: Some(median * 0.99),
        median_high_s: Some(median * 1.012),
        outcome: "converged".into(),
        ..Record::default()
    }
}

/// A case with what a case can have: times, failures, pairs.
pub fn sample() -> Vec<Record> {
    let mut manual = record("manual", Phase::RoundTrip, 80e-6);
    (manual.overhead_reference, manual.overhead_pack) = (Some(0.47), Some(0.4));
    (manual.overhead_reference_low, manual.overhead_reference_high) = (Some(0.45), Some(0.49));
    (manual.bandwidth_bytes_per_s, manual.blocks_other_state) = (Some(2.57e9), 3);
    let mut ddt = record("ddt", Phase::RoundTrip, 160e-6);
    (ddt.outcome, ddt.batch) = ("time limit".into(), 4);
    let mut put = record("put_ddt", Phase::RoundTrip, 1.0);
    (put.median_s, put.outcome, put.detail) = (None, "wrong data".into(), Some("rank 1, byte 8".into()));
    let pair = |pair: &str, t| Record { pair: pair.into(), ..record("manual", Phase::RoundTrip, t) };
    vec![
        record("reference", Phase::RoundTrip, 54.6e-6),
        record("manual", Phase::Pack, 10e-6),
        manual,
        ddt,
        put,
        pair("0", 79e-6),
        pair("1", 82e-6),
        pair("2", 80e-6),
    ]
}

#[test]
fn rows_comparison_and_notes() {
    let text = table(&sample(), Some(110));
    let expected = "\
wrf_x_vec  4x4  102.6 kB in 8554 segments  (ims=4 ime=27)
  method     round trip     ±  create     pack  comm  unpack  ovh [95%]     pack%       rate  note
  reference     54.6 µs ±1.2%
  manual        80.0 µs ±1.2%          10.0 µs                47% [45, 49]    40%  2.57 GB/s
  ddt            160 µs ±1.2%                                                                 time limit
  put_ddt                                                                                     wrong data

Fastest from arrays to arrays (a difference is shown only where 95% intervals part)
  test       set  fastest            manual or ddt
  wrf_x_vec  4x4  manual, 2.00x ddt  manual, 2.00x ddt

Notes
  wrf_x_vec  4x4: put_ddt wrong data: rank 1, byte 8
  wrf_x_vec  4x4: round trips of the fastest and the slowest pair: manual 79.0 µs to 82.0 µs
  wrf_x_vec  4x4: blocks left out, the machine was in another state: manual 3 of 13
  wrf_x_vec  4x4: samples are means of a batch: ddt 4
";
    let (legend, rest) = text.split_once("\n\n").unwrap();
    assert!(legend.ends_with("All: mpich, 2 ranks, warm"), "{legend}");
    assert_eq!(rest, expected, "\n{rest}");
    assert!(text.lines().all(|line| line.chars().count() <= 110));
}

#[test]
fn more_threads_than_cores_are_said_where_the_place_is_and_once_by_themselves() {
    let with = |load: Option<(usize, usize)>| {
        let mut records = sample();
        for record in &mut records {
            (record.runnable_threads, record.cores) = (load.map(|load| load.0), load.map(|load| load.1));
        }
        table(&records, Some(110))
    };
    let text = with(Some((4, 2)));
    assert!(
        text.contains("All: mpich, 2 ranks, warm, 4 runnable threads on 2 cores\nOversubscribed: "),
        "{text}"
    );
    assert_eq!(text.matches("Oversubscribed").count(), 1);
    for load in [Some((2, 2)), None] {
        assert_eq!(with(load), table(&sample(), Some(110)));
    }
}

#[test]
fn one_cause_of_several_failures_is_told_once() {
    let mut records = sample();
    for record in &mut records[2..5] {
        (record.outcome, record.detail) = ("crashed".into(), Some("no such file".into()));
    }
    let text = table(&records, None);
    assert!(text.contains("4x4: manual, ddt, put_ddt crashed: no such file\n"), "{text}");
}

#[test]
fn methods_that_leave_bytes_packed_are_not_the_fastest() {
    let records =
        [("manual", 80e-6), ("ddt_to_packed", 1e-6)].map(|(name, t)| record(name, Phase::RoundTrip, t));
    assert!(table(&records, None).contains("manual alone was measured"));
}

#[test]
fn overlapping_intervals_show_no_difference() {
    let records = [record("manual", Phase::RoundTrip, 80e-6), record("ddt", Phase::RoundTrip, 80.5e-6)];
    let text = table(&records, None);
    assert!(text.contains("one of manual, ddt  no difference shown\n"), "{text}");
}

#[test]
fn nothing_is_said_of_no_records() {
    assert_eq!(table(&[], None), "No records.\n");
}
