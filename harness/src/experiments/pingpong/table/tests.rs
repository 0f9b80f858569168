//! Texts of made-up ping-pongs: `tests/texts.txt` has the answer and the tables with all details for each of them.

use super::*;
use crate::experiments::{self, Kind};
use crate::model::conditions::Cache;
use crate::model::{Case, Figure, Outcome, PairScope, Quantity, SCHEMA};
use crate::report::columns::{text_width, wrapped};
use crate::report::compared::Compared;
use crate::report::html::html;
use crate::report::made::expect_texts;

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

fn round_trip(method: &str, median: f64) -> Record {
    record(method, Phase::RoundTrip, median)
}

fn table(records: &[Record], width: Option<u16>) -> String {
    experiments::of_kind(Kind::PingPong).table(records, width)
}

/// Without the codes of its colours.
fn answer(records: &[Record], width: Option<u16>) -> String {
    let text = experiments::of_kind(Kind::PingPong).answer(records, width, None);
    anstream::adapter::strip_str(&text).to_string()
}

/// A change of records.
type Change = fn(&mut Vec<Record>);

fn changed(mut records: Vec<Record>, change: Change) -> Vec<Record> {
    change(&mut records);
    records
}

fn figure(record: &mut Record, quantity: Quantity) -> &mut Figure {
    record.figures.iter_mut().find(|figure| figure.quantity == quantity).unwrap()
}

fn ratio_to(quantity: Quantity, against: &str, (value, low, high): (f64, f64, f64)) -> Figure {
    let figure = Figure::with_interval(quantity, value, (low, high)).against(against);
    Figure { unsteady: Some(false), ..figure }
}

fn overhead(value: f64, interval: (f64, f64)) -> Figure {
    Figure::with_interval(Quantity::OverheadReference, value, interval).against("reference")
}

/// A method whose time is so many times that of the fastest and of `manual`.
fn over(method: &str, median: f64, fastest: &str, ratio: (f64, f64, f64)) -> Record {
    let over = |quantity, against| ratio_to(quantity, against, ratio);
    Record {
        fastest: Some(fastest.into()),
        figures: vec![over(Quantity::TimeOverFastest, fastest), over(Quantity::TimeOver, "manual")],
        unsteady: Some(false),
        ..round_trip(method, median)
    }
}

/// `manual`, the fastest, and others.
fn against_manual<const N: usize>(others: [Record; N]) -> Vec<Record> {
    let manual = Record { fastest: Some("manual".into()), ..round_trip("manual", 80e-6) };
    std::iter::once(manual).chain(others).collect()
}

/// A case with everything that a case can have: times, failures, pairs.
fn sample() -> Vec<Record> {
    let mut manual = round_trip("manual", 80e-6);
    manual.figures = vec![
        overhead(0.47, (0.45, 0.49)),
        Figure::with_interval(Quantity::OverheadPack, 0.46, (0.44, 0.48)),
        Figure::plain(Quantity::Bandwidth, 2.57e9),
    ];
    (manual.blocks_other_state, manual.repeat_low_s, manual.repeat_high_s) = (3, Some(70e-6), Some(95e-6));
    (manual.fastest, manual.unsteady) = (Some("manual".into()), Some(true));
    let mut ddt = over("ddt", 160e-6, "manual", (2.0, 1.91, 2.1));
    (ddt.outcome, ddt.batch) = (Outcome::TimeLimit, 4);
    let mut put = round_trip("put_ddt", 1.0);
    (put.median_s, put.outcome) = (None, Outcome::WrongData { detail: "rank 1, byte 8".to_owned() });
    let pair = |pair, t| Record { pair: PairScope::One(pair), ..round_trip("manual", t) };
    vec![
        round_trip("reference", 54.6e-6),
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

/// Only these methods.
fn sample_of(methods: &[&str]) -> Vec<Record> {
    sample().into_iter().filter(|record| methods.contains(&&*record.method)).collect()
}

fn oversubscribed(threads: usize, are_disturbed: bool) -> Vec<Record> {
    let with = |mut record: Record| {
        (record.runnable_threads, record.cores) = (Some(threads), Some(2));
        record.blocks_disturbed = if are_disturbed { record.blocks } else { 0 };
        record
    };
    sample().into_iter().map(with).collect()
}

/// A method with a few repetitions that take much of its time.
fn with_tail(method: &str, slow_time: f64) -> Record {
    Record {
        n: 3000,
        slow_samples: Some(0.005),
        slow_time: Some(slow_time),
        mean_s: Some(1.4e-6),
        max_s: Some(5e-3),
        ..round_trip(method, 1e-6)
    }
}

/// A layout, which has no loop by hand.
fn layout() -> Vec<Record> {
    let ratio = (1.9, 1.85, 1.95);
    let mut ddt = over("ddt", 190e-6, "loop", ratio);
    ddt.figures[1] = ratio_to(Quantity::TimeOver, "loop", ratio);
    let of_loop = Record { fastest: Some("loop".into()), ..round_trip("loop", 100e-6) };
    let mut records = vec![round_trip("reference", 54.6e-6), of_loop, ddt];
    for record in &mut records {
        let case = record.case_mut();
        (case.test, case.set) = ("layout".into(), "my_face".into());
    }
    records
}

/// A method that is faster than the loops and than `ddt`, all with overheads.
fn put() -> Vec<Record> {
    let mut put = Record { fastest: Some("put_manual".into()), ..round_trip("put_manual", 9.12e-6) };
    put.figures = vec![overhead(0.5, (0.4, 0.6))];
    let mut manual = over("manual", 17.2e-6, "put_manual", (1.9, 1.8, 2.0));
    manual.figures.push(overhead(0.4, (0.3, 0.5)));
    let mut ddt = over("ddt", 521e-6, "put_manual", (57.0, 50.0, 60.0));
    ddt.figures[1] = ratio_to(Quantity::TimeOver, "manual", (30.3, 30.2, 30.5));
    vec![put, manual, ddt]
}

/// Twenty tests in two states of the machine. The last one did not meet the first state.
fn many() -> Vec<Record> {
    let in_state = |state: usize, test: usize, winner: bool| {
        let ratio = if winner { (2.0, 1.9, 2.1) } else { (1.0, 0.9, 1.1) };
        let mut methods = against_manual([over("ddt", 160e-6, "manual", ratio), round_trip("own", 90e-6)]);
        methods[1].figures.push(ratio_to(Quantity::TimeOver, "own", ratio));
        for method in &mut methods {
            method.case_mut().test = format!("specfem_{test:03}");
            (method.state, method.launches) = (Some(state), 3);
            method.state_latency_s = Some([30e-9, 195e-9][state]);
        }
        methods
    };
    let near = (0..19).flat_map(|test| in_state(0, test, true));
    near.chain((0..20).flat_map(|test| in_state(1, test, test % 2 == 0))).collect()
}

/// `ddt` of a test, in a state with its core-to-core latency in seconds, in so many launches.
fn in_state(test: &str, state: Option<(usize, f64)>, launches: usize) -> Record {
    let mut record = round_trip("ddt", 1e-6);
    record.case_mut().test = test.to_owned();
    let (state, state_latency_s) = state.unzip();
    Record { state, state_latency_s, launches, ..record }
}

#[test]
fn answers_and_tables_of_made_up_ping_pongs() {
    let (near, far) = (Some((0, 30e-9)), Some((1, 180e-9)));
    let mut of_two_hosts = in_state("a", Some((0, 1.26e-6)), 6);
    of_two_hosts.case_mut().hosts = 2;
    let mixed = Record { mixed_states: true, ..in_state("a", None, 1) };
    let cold = |mut record: Record| {
        record.case_mut().cache = Cache::Cold;
        record
    };
    let late = with_tail("ddt", 0.5);
    let gap = over("ddt", 800e-6, "manual", (10.0, 9.5, 10.4));
    let perhaps_larger = over("engine", 1e-3, "manual", (12.0, 1.9, 40.0));
    let without_interval = vec![Figure::plain(Quantity::OverheadReference, 0.97)];
    let packed = ["manual", "ddt_to_packed"]
        .map(|name| Record { fastest: Some("manual".into()), ..round_trip(name, 1e-6) });
    let mut texts: Vec<(&str, String)> = Vec::new();
    let mut add = |title: &'static str, width: Option<u16>, records: Vec<Record>| {
        let (answer, table) = (answer(&records, width), table(&records, width));
        let most = width.map_or(usize::MAX, usize::from);
        let is_within = |line: &str| line.chars().count() <= most;
        assert!(answer.lines().chain(table.lines()).all(is_within), "{most}: {answer}{table}");
        // The legend is the same for all.
        let table = table.replace(&wrapped("", LEGEND, text_width(width), 0), "");
        texts.push((title, format!("{answer}--- details\n{table}")));
    };
    add("all that a case can have", None, sample());
    add("all of it on a narrow terminal", Some(80), sample());
    let others = sample().into_iter().filter(|record| record.method != "put_ddt").map(cold);
    add("the cache's second mode", None, sample().into_iter().chain(others).collect());
    for width in [60, 80, 100, 120, 160] {
        add("times, best and verdict at every width, overheads are hidden first", Some(width), put());
    }
    add("a line per test of two states", Some(80), many());
    add(
        "a gap that is large even at the near end of its interval",
        None,
        against_manual([gap, perhaps_larger]),
    );
    add("slow repetitions", None, vec![late.clone()]);
    let three = vec![with_tail("reference", 0.3), late.clone(), with_tail("manual", 0.2)];
    add("slow repetitions of several methods", None, three);
    add("slow repetitions that take little time", None, vec![with_tail("ddt", 0.09)]);
    add("few slow repetitions", None, vec![Record { n: 400, ..late.clone() }]);
    let outcome = Outcome::WrongData { detail: String::new() };
    add("slow repetitions of a method with wrong data", None, vec![Record { outcome, ..late }]);
    add("a verdict needs another method", None, sample_of(&["reference", "manual"]));
    add("a verdict needs two more methods", None, sample_of(&["reference"]));
    add("a method that failed is not asked for", None, sample_of(&["put_ddt"]));
    let manual = Record { figures: without_interval, ..round_trip("manual", 8e-5) };
    add("an overhead without an interval", None, vec![manual]);
    add("a layout has the plain loop", None, layout());
    let contiguous = layout().into_iter().map(|record| Record { segments: 1, ..record });
    add("a contiguous layout", None, contiguous.collect());
    add("the reference of a layout", None, layout()[..1].to_vec());
    add("more threads than cores", Some(110), oversubscribed(4, false));
    add("as many threads as cores", Some(110), oversubscribed(2, false));
    add("more threads than cores, which disturb each other", None, oversubscribed(4, true));
    add("a disturbed machine", None, oversubscribed(2, true));
    let of_hosts: Change = |records| {
        records[0].add(Some(Figure::plain(Quantity::ClockError, 1.5e-6)));
        records[2].add(Some(Figure::plain(Quantity::ClockError, 0.2e-6)));
    };
    add("clocks of several hosts: the worse one counts", None, changed(sample(), of_hosts));
    let below: Change = |records| {
        *figure(&mut records[2], Quantity::OverheadReference) = overhead(-0.9, (-1.1, -0.7));
        for record in records.iter_mut() {
            (record.launches, record.state, record.state_latency_s) = (4, Some(0), Some(30e-9));
        }
        let mut far = Record { launches: 1, median_low_s: None, ..records[2].clone() };
        (far.state, far.state_latency_s, far.figures) = (Some(1), Some(180e-9), Vec::new());
        records.push(far);
    };
    add("an overhead below 0, in a state of most launches", None, changed(sample(), below));
    let crashed: Change = |records| {
        let crashed = Outcome::Crashed { detail: "no such file".to_owned() };
        records[2..5].iter_mut().for_each(|record| record.outcome = crashed.clone());
    };
    add("one cause of several failures", None, changed(sample(), crashed));
    add("a method that leaves its bytes packed is not the fastest", None, packed.to_vec());
    add("one state", None, vec![in_state("a", near, 5)]);
    let states = [in_state("a", near, 5), in_state("a", far, 1), in_state("b", Some((0, 32e-9)), 6)];
    add("states have their launches if there were others", None, states.to_vec());
    let [a, mut b, _] = states;
    b.case_mut().mpi = "openmpi".to_owned();
    let more = Record { launches: 5, state: Some(0), state_latency_s: Some(30e-9), ..b.clone() };
    add("too few launches have their MPI if there are several", None, vec![a, more, b]);
    add("a state of two hosts", None, vec![of_two_hosts]);
    add("an unknown state", None, vec![in_state("a", None, 6)]);
    add("a launch that changed its state", None, vec![in_state("a", near, 5), mixed]);
    for launches in [[3, 3], [5, 2], [1, 2], [1, 1]] {
        let both = vec![in_state("a", near, launches[0]), in_state("a", far, launches[1])];
        add("states with few launches are in the answer only if they are the most common ones", None, both);
    }
    add("no records", None, Vec::new());
    expect_texts("experiments/pingpong/table/tests/texts.txt", texts);
}

#[test]
fn the_thread_level_is_in_the_heading_of_what_more_than_two_ranks_do() {
    let heading = |kind| {
        let mut records = sample();
        for record in &mut records {
            record.case_mut().experiment = kind;
            record.thread_level = Some("MPI_THREAD_MULTIPLE".to_owned());
        }
        experiments::of_kind(kind).answer(&records, None, None).contains("2 ranks, warm, MPI_THREAD_MULTIPLE")
    };
    assert_eq!((heading(Kind::Halo), heading(Kind::PingPong)), (true, false));
}
