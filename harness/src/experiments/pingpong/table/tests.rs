use super::*;
use crate::experiments::{self, Kind};
use crate::model::conditions::Cache;
use crate::model::{Case, Figure, Outcome, PairScope, Quantity, SCHEMA};
use crate::report::compared::Compared;
use crate::report::html::html;

mod page;
mod verdicts;

fn record(method: &str, phase: Phase, median: f64) -> Record {
    Record {
        case: Case {
            test: "wrf_x_vec".into(),
            set: "4x4".into(),
            params: "ims=4 ime=27".into(),
            mpi: "mpich".into(),
            ranks: 2,
            ..Case::default()
        }
        .into(),
        method: method.into(),
        phase,
        bytes: 102_648,
        segments: 8554,
        n: 100,
        blocks: 10,
        batch: 1,
        median_s: Some(median),
        median_low_s: Some(median * 0.99),
        median_high_s: Some(median * 1.012),
        schema: SCHEMA,
        ..Record::default()
    }
}

fn table(records: &[Record], width: Option<u16>) -> String {
    experiments::of_kind(Kind::PingPong).table(records, width)
}

/// The text with each verdict in one line.
fn unbroken(records: &[Record]) -> String {
    table(records, None).replace("\n    ", " ")
}

fn figure(record: &mut Record, quantity: Quantity) -> &mut Figure {
    record.figures.iter_mut().find(|figure| figure.quantity == quantity).unwrap()
}

fn ratio_to(quantity: Quantity, against: &str, (value, low, high): (f64, f64, f64)) -> Figure {
    let figure = Figure::with_interval(quantity, value, (low, high)).against(against);
    Figure { unsteady: Some(false), ..figure }
}

/// A method whose time is so many times that of the fastest and of `manual`.
fn over(method: &str, median: f64, fastest: &str, ratio: (f64, f64, f64)) -> Record {
    let over = |quantity, against| ratio_to(quantity, against, ratio);
    Record {
        fastest: Some(fastest.into()),
        figures: vec![over(Quantity::TimeOverFastest, fastest), over(Quantity::TimeOver, "manual")],
        unsteady: Some(false),
        ..record(method, Phase::RoundTrip, median)
    }
}

/// `manual`, the fastest, and others.
fn against_manual<const N: usize>(others: [Record; N]) -> Vec<Record> {
    let manual = Record { fastest: Some("manual".into()), ..record("manual", Phase::RoundTrip, 80e-6) };
    std::iter::once(manual).chain(others).collect()
}

/// A case with everything that a case can have: times, failures, pairs.
fn sample() -> Vec<Record> {
    let mut manual = record("manual", Phase::RoundTrip, 80e-6);
    manual.figures = vec![
        Figure::with_interval(Quantity::OverheadReference, 0.47, (0.45, 0.49)).against("reference"),
        Figure::with_interval(Quantity::OverheadPack, 0.46, (0.44, 0.48)),
        Figure::plain(Quantity::Bandwidth, 2.57e9),
    ];
    (manual.blocks_other_state, manual.repeat_low_s, manual.repeat_high_s) = (3, Some(70e-6), Some(95e-6));
    (manual.fastest, manual.unsteady) = (Some("manual".into()), Some(true));
    let mut ddt = over("ddt", 160e-6, "manual", (2.0, 1.91, 2.1));
    (ddt.outcome, ddt.batch) = (Outcome::TimeLimit, 4);
    let mut put = record("put_ddt", Phase::RoundTrip, 1.0);
    (put.median_s, put.outcome) = (None, Outcome::WrongData { detail: "rank 1, byte 8".to_owned() });
    let pair = |pair, t| Record { pair: PairScope::One(pair), ..record("manual", Phase::RoundTrip, t) };
    vec![
        record("reference", Phase::RoundTrip, 54.6e-6),
        record("manual", Phase::Pack, 10e-6),
        manual,
        ddt,
        put,
        pair(0, 79e-6),
        pair(1, 82e-6),
        pair(2, 80e-6),
        record("manual", Phase::PeerPack, 9e-6),
        record("manual", Phase::PeerUnpack, 6e-6),
        record("manual", Phase::Net, 47e-6),
    ]
}

#[test]
fn rows_comparison_and_notes() {
    let text = table(&sample(), None);
    let expected = "\
wrf_x_vec  4x4  102.6 kB in 8554 segments  (ims=4 ime=27)
  method     round trip     ±         another run     pack     peer      net  ovh [95%]     pack% [95%]          rate  note
  reference     54.6 µs ±1.2%
  manual        80.0 µs ±1.2%  70.0 µs to 95.0 µs  10.0 µs  15.0 µs  47.0 µs  47% [45, 49]    46% [44, 48]  2.57 GB/s  unsteady
  ddt            160 µs ±1.2%                                                                                          time limit
  put_ddt                                                                                                              wrong data
  Fastest method: manual is 2.00 [1.91, 2.10] times as fast as ddt

Notes
  wrf_x_vec  4x4: put_ddt wrong data: rank 1, byte 8
  wrf_x_vec  4x4: round trips of the fastest and the slowest pair: manual 79.0 µs to 82.0 µs
  wrf_x_vec  4x4: blocks left out because the machine was in another state: manual 3 of 13
  wrf_x_vec  4x4: samples are means of a batch: ddt 4
";
    let (legend, rest) = text.split_once("\n\n").unwrap();
    assert!(legend.contains("\nAll: mpich, 2 ranks, warm\nOne launch of each method: "), "{legend}");
    assert_eq!(rest, expected, "\n{rest}");
    assert!(legend.lines().all(|line| line.chars().count() <= 120));
}

#[test]
fn how_far_off_clocks_of_several_hosts_are_is_a_note() {
    let mut records = sample();
    assert!(!table(&records, None).contains("clocks"));
    records[0].add(Some(Figure::plain(Quantity::ClockError, 1.5e-6)));
    records[2].add(Some(Figure::plain(Quantity::ClockError, 0.2e-6)));
    let text = table(&records, None);
    assert!(text.contains("1.50 µs at the end"), "the worse counts: {text}");
    assert_eq!(text.matches("clocks differ").count(), 1, "{text}");
}

#[test]
fn nothing_is_wider_than_the_terminal_and_what_is_left_out_is_named() {
    for shown in [
        table(&sample(), Some(80)),
        plain(&experiments::of_kind(Kind::PingPong).answer(&sample(), Some(80), None)),
    ] {
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        assert!(shown.contains("\nHidden columns (terminal too narrow): "), "{shown}");
    }
    assert!(!table(&sample(), None).contains("Hidden"));
}

/// Text without the codes of its colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn the_answer_is_a_line_per_case_and_sentences() {
    let mut cold = sample();
    cold.iter_mut().for_each(|record| record.case_mut().cache = Cache::Cold);
    cold.retain(|record| record.method != "put_ddt");
    let records = [sample(), cold].concat();
    let text = plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None));
    let (first, rest) = text.split_once("\n\n").unwrap();
    let decision = "mpich: pack by hand in 2 of 2 (manual up to 2.00 [1.91, 2.10] times as fast as ddt).\n";
    assert!(first.starts_with(decision), "{first}");
    let expected = "\
mpich, 2 ranks, warm
test       set     bytes  segments   manual     ddt  best    verdict                                           ovh manual [95%]
wrf_x_vec  4x4  102.6 kB      8554  80.0 µs  160 µs  manual  manual is 2.00 [1.91, 2.10] times as fast as ddt         47% [45, 49]

mpich, 2 ranks, cold
test       set     bytes  segments   manual     ddt  best    verdict                                           ovh manual [95%]
wrf_x_vec  4x4  102.6 kB      8554  80.0 µs  160 µs  manual  manual is 2.00 [1.91, 2.10] times as fast as ddt         47% [45, 49]

No large gaps: no method is shown to be 2 times slower than the fastest.
wrf_x_vec 4x4, mpich: put_ddt wrong data: rank 1, byte 8
";
    assert_eq!(rest, expected, "\n{rest}");
}

#[test]
fn what_takes_twice_as_long_for_certain_stands_out_and_a_single_case_has_its_verdict() {
    let slow = over("ddt", 800e-6, "manual", (10.0, 9.5, 10.4));
    let slower = Record { method: "engine".into(), ..over("ddt", 1e-3, "manual", (12.0, 1.9, 40.0)) };
    let text =
        plain(&experiments::of_kind(Kind::PingPong).answer(&against_manual([slow, slower]), None, None));
    let start =
        "mpich: pack by hand: saves 720 µs of 800 µs (manual is 10.0 [9.5, 10.4] times as fast as ddt).\n";
    assert!(text.starts_with(start), "{text}");
    let end = "\
Largest gap: ddt of wrf_x_vec 4x4 takes 10.0 [9.5, 10.4] times as long as manual.
";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn a_test_has_one_line_on_a_terminal_of_80_columns_whatever_was_measured() {
    let in_state = |state: usize, test: usize, winner: bool| {
        let ratio = if winner { (2.0, 1.9, 2.1) } else { (1.0, 0.9, 1.1) };
        let mut methods =
            against_manual([over("ddt", 160e-6, "manual", ratio), record("own", Phase::RoundTrip, 90e-6)]);
        methods[1].figures.push(ratio_to(Quantity::TimeOver, "own", ratio));
        for method in &mut methods {
            method.case_mut().test = format!("specfem_{test:03}");
            (method.state, method.launches) = (Some(state), 3);
            method.state_latency_s = Some([30e-9, 195e-9][state]);
        }
        methods
    };
    // The last test did not meet the first state.
    let near = (0..19).flat_map(|test| in_state(0, test, true));
    let far = (0..20).flat_map(|test| in_state(1, test, test % 2 == 0));
    let records: Vec<Record> = near.chain(far).collect();
    let text = plain(&experiments::of_kind(Kind::PingPong).answer(&records, Some(80), None));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines =
        |start: &str| text.lines().filter(|line| line.starts_with(start)).map(words).collect::<Vec<_>>();
    assert!(
        matches!(&lines("test ")[..], [header] if header.ends_with(" own manual ddt at 195 ns at 30 ns")),
        "{text}"
    );
    let rows = lines("specfem_");
    assert_eq!(rows.len(), 20, "{text}");
    let ends = ["µs own 2.00x own 2.00x", "µs undecided own 2.00x", "µs undecided"];
    let all_end = [&rows[0], &rows[1], &rows[19]].iter().zip(ends).all(|(row, end)| row.ends_with(end));
    assert!(all_end, "{text}");
    assert!(text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn slow_repetitions_that_take_much_of_the_time_are_reported_and_others_are_not() {
    let with_tail = |method: &str, slow_time| Record {
        n: 3000,
        slow_samples: Some(0.005),
        slow_time: Some(slow_time),
        mean_s: Some(1.4e-6),
        max_s: Some(5e-3),
        ..record(method, Phase::RoundTrip, 1e-6)
    };
    let of = |records: &[Record]| {
        let text = plain(&experiments::of_kind(Kind::PingPong).answer(records, None, None));
        text.replace("\n  ", " ").lines().find(|line| line.starts_with("Slow")).map(str::to_owned)
    };
    let late = with_tail("ddt", 0.5);
    assert_eq!(
        of(std::slice::from_ref(&late)).unwrap(),
        "Slow at times: ddt of wrf_x_vec 4x4: 1 in 200 repetitions takes 199 times as long as the others, 50% of the time."
    );
    let more = of(&[with_tail("reference", 0.3), late.clone(), with_tail("manual", 0.2)]).unwrap();
    assert!(
        more.contains("ddt of")
            && more.ends_with(
                " 2 other methods spend at least 10% of their time in slow repetitions, contiguous messages too."
            ),
        "{more}"
    );
    let few = Record { n: 400, ..late.clone() };
    let wrong = Record { outcome: Outcome::WrongData { detail: String::new() }, ..late.clone() };
    for quiet in [with_tail("ddt", 0.09), few, wrong, record("ddt", Phase::RoundTrip, 1e-6)] {
        assert_eq!(of(&[quiet]), None);
    }
    let details = table(&[late], None);
    assert!(
        details
            .contains("mean, if it differs from the median by more than 10%: ddt 1.40 µs (longest 5.00 ms)"),
        "{details}"
    );
}

#[test]
fn a_verdict_that_the_means_contradict_is_marked_in_the_line_and_in_the_table() {
    let mut records = against_manual([over("ddt", 160e-6, "manual", (2.0, 1.9, 2.1))]);
    records[1].figures.push(ratio_to(Quantity::MeanOver, "manual", (0.1, 0.09, 0.12)));
    let text = plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None));
    assert!(text.contains("manual by the median, ddt by the mean"), "{text}");
    let both = "manual is 2.00 [1.90, 2.10] times as fast as ddt, but by the mean ddt is 10.0 [8.3, 11.1] times as fast as manual";
    assert!(unbroken(&records).contains(both), "{}", unbroken(&records));
}

#[test]
fn a_single_method_has_its_overhead_and_what_a_verdict_needs() {
    let of = |methods: &[&str]| {
        let has = |record: &Record| methods.contains(&&*record.method);
        let records: Vec<_> = sample().into_iter().filter(has).collect();
        let text = plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None));
        text.replace("\n  ", " ")
    };
    let expected = "mpich: 47% [45, 49] of the time of manual is pack overhead in wrf_x_vec 4x4; for a verdict, measure ddt too: \
                    -m reference,manual,ddt.\n";
    let first = |methods: &[&str]| of(methods).lines().next().unwrap().to_owned() + "\n";
    assert_eq!(first(&["reference", "manual"]), expected);
    let expected = "mpich: only reference was measured; for a verdict, measure manual and ddt too: -m reference,manual,ddt.\n";
    assert_eq!(first(&["reference"]), expected);
    // Methods that failed are not suggested.
    let text = of(&["put_ddt"]);
    assert!(!text.contains("for a verdict") && text.contains("put_ddt wrong data"), "{text}");
}

#[test]
fn methods_for_contiguous_data_have_their_times_if_no_other_was_measured() {
    let records = [Record { median_s: Some(54.6e-6), ..record("reference", Phase::RoundTrip, 54.6e-6) }];
    let text = plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None));
    let row = text.lines().find(|line| line.starts_with("wrf_x_vec")).unwrap();
    assert!(row.contains("54.6 µs") && row.contains("only reference was measured"), "{text}");
}

#[test]
fn a_layout_is_judged_by_the_plain_loop_and_called_by_its_name() {
    let mut records = vec![
        record("reference", Phase::RoundTrip, 54.6e-6),
        Record { fastest: Some("loop".into()), ..record("loop", Phase::RoundTrip, 100e-6) },
        Record {
            fastest: Some("loop".into()),
            figures: vec![
                ratio_to(Quantity::TimeOverFastest, "loop", (1.9, 1.85, 1.95)),
                ratio_to(Quantity::TimeOver, "loop", (1.9, 1.85, 1.95)),
            ],
            unsteady: Some(false),
            ..record("ddt", Phase::RoundTrip, 190e-6)
        },
    ];
    for record in &mut records {
        let case = record.case_mut();
        (case.test, case.set) = ("layout".into(), "my_face".into());
    }
    let text = plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None));
    assert!(text.contains("layout  my_face  102.6 kB"), "{text}");
    assert!(text.contains("mpich: pack by a loop: saves 90.0 µs of 190 µs (loop is 1.90"), "{text}");
    let alone = plain(&experiments::of_kind(Kind::PingPong).answer(&records[..1], None, None));
    assert!(
        alone.replace("\n  ", " ").contains("measure loop and ddt too: -m reference,loop,ddt.\n"),
        "{alone}"
    );
}

#[test]
fn times_best_and_verdict_are_shown_at_every_width_and_overheads_are_hidden_first() {
    let put = Record {
        fastest: Some("put_manual".into()),
        figures: vec![
            Figure::with_interval(Quantity::OverheadReference, 0.5, (0.4, 0.6)).against("reference"),
        ],
        ..record("put_manual", Phase::RoundTrip, 9.12e-6)
    };
    let mut manual = over("manual", 17.2e-6, "put_manual", (1.9, 1.8, 2.0));
    manual
        .figures
        .push(Figure::with_interval(Quantity::OverheadReference, 0.4, (0.3, 0.5)).against("reference"));
    let mut ddt = over("ddt", 521e-6, "put_manual", (57.0, 50.0, 60.0));
    ddt.figures.push(ratio_to(Quantity::TimeOver, "manual", (30.3, 30.2, 30.5)));
    ddt.figures.remove(1);
    let records = [put, manual, ddt];
    let shown = |width| plain(&experiments::of_kind(Kind::PingPong).answer(&records, width, None));
    for width in [60, 80, 100, 120, 160] {
        let text = shown(Some(width));
        let all = ["17.2 µs", "521 µs", "put_manual 9.12 µs", "[30.2, 30.5]"];
        assert!(all.iter().all(|part| text.contains(part)), "{width}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{width}: {text}");
        assert_eq!(text.contains("ovh: pack overhead"), text.contains("  ovh manual"), "{width}: {text}");
    }
    let narrow = shown(Some(80));
    assert!(narrow.contains("put_manual 9.12 µs  manual 30.3x [30.2, 30.5]\n"), "{narrow}");
    assert!(
        narrow.contains("\nHidden columns (terminal too narrow): bytes, segments, set, ovh manual.\n"),
        "{narrow}"
    );
    assert!(
        shown(None).contains("manual is 30.3 [30.2, 30.5] times as fast as ddt         40% [30, 50]\n"),
        "{}",
        shown(None)
    );
}

#[test]
fn more_threads_than_cores_are_shown_with_the_place_and_once_by_themselves() {
    let with = |load: Option<(usize, usize)>| {
        let mut records = sample();
        for record in &mut records {
            (record.runnable_threads, record.cores) = (load.map(|load| load.0), load.map(|load| load.1));
        }
        table(&records, Some(110))
    };
    let text = with(Some((4, 2)));
    assert!(
        text.contains("All: mpich, 2 ranks, warm, 4 runnable threads on 2 cores\n")
            && text.contains("\nOversubscribed: "),
        "{text}"
    );
    assert_eq!(text.matches("Oversubscribed").count(), 1);
    for load in [Some((2, 2)), None] {
        assert_eq!(with(load), table(&sample(), Some(110)));
    }
}

#[test]
fn a_disturbed_machine_is_reported_if_ranks_have_their_own_cores() {
    let with = |threads| {
        let mut records = sample();
        for record in &mut records {
            (record.runnable_threads, record.cores) = (Some(threads), Some(2));
            record.blocks_disturbed = record.blocks;
        }
        [
            table(&records, Some(110)),
            plain(&experiments::of_kind(Kind::PingPong).answer(&records, None, None)),
        ]
    };
    let [table, answer] = with(2);
    assert_eq!(table.matches("Disturbed: in 100% of the blocks").count(), 1, "{table}");
    assert!(
        answer.lines().nth(1).unwrap().starts_with("Disturbed: in 100% of the blocks"),
        "what casts doubt on all comes next to the decision: {answer}"
    );
    assert!(!with(4).concat().contains("Disturbed"), "ranks take the cores from each other");
}

#[test]
fn an_overhead_below_0_is_explained_and_a_state_is_in_the_heading() {
    let mut records = sample();
    let answer = |records: &[Record]| {
        plain(&experiments::of_kind(Kind::PingPong).answer(records, None, None)).replace('\n', " ")
    };
    assert!(!answer(&records).contains("below 0%"));
    let overhead = figure(&mut records[2], Quantity::OverheadReference);
    (overhead.value, overhead.low, overhead.high) = (Some(-0.9), Some(-1.1), Some(-0.7));
    records.iter_mut().for_each(|record| {
        (record.launches, record.state, record.state_latency_s) = (4, Some(0), Some(30e-9));
    });
    let far = Record {
        launches: 1,
        state: Some(1),
        state_latency_s: Some(180e-9),
        median_low_s: None,
        figures: Vec::new(),
        ..records[2].clone()
    };
    records.push(far);
    let text = answer(&records);
    assert_eq!(text.matches("An overhead below 0%: ").count(), 1, "{text}");
    assert!(text.contains("  mpich, 2 ranks, warm; cores 30 ns apart in 4 of 5 launches test"), "{text}");
    let few = "Too few launches for an interval: cores 180 ns apart in 1 of 5 launches (--details: times).";
    assert!(text.contains(few), "{text}");
}

#[test]
fn the_thread_level_is_in_the_heading_of_what_more_than_two_ranks_do() {
    let heading = |kind| {
        let mut records = sample();
        for record in &mut records {
            record.case_mut().experiment = kind;
            record.thread_level = Some("MPI_THREAD_MULTIPLE".to_owned());
        }
        plain(&experiments::of_kind(kind).answer(&records, None, None))
            .contains("2 ranks, warm, MPI_THREAD_MULTIPLE")
    };
    assert_eq!((heading(Kind::Halo), heading(Kind::PingPong)), (true, false));
}

#[test]
fn one_cause_of_several_failures_is_shown_once() {
    let mut records = sample();
    for record in &mut records[2..5] {
        record.outcome = Outcome::Crashed { detail: "no such file".to_owned() };
    }
    let text = table(&records, None);
    assert!(text.contains("4x4: manual, ddt, put_ddt crashed: no such file\n"), "{text}");
}

#[test]
fn methods_that_leave_bytes_packed_are_not_the_fastest() {
    let mut records =
        [("manual", 80e-6), ("ddt_to_packed", 1e-6)].map(|(name, t)| record(name, Phase::RoundTrip, t));
    records.iter_mut().for_each(|record| record.fastest = Some("manual".into()));
    assert!(table(&records, None).contains("only manual was measured"));
}
