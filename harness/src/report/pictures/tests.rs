use super::*;
use crate::model::{Case, Figure, MethodInfo, Outcome, PairScope, Phase, Quantity, info};
use crate::report::made::{self, record};

/// Pictures over swept parameters.
mod sweeps;

static METHODS: [MethodInfo; 6] = [
    info("reference", "").contiguous(),
    info("put_reference", "").contiguous(),
    info("manual", ""),
    info("ddt", ""),
    info("ddt_to_packed", "").partial(),
    info("put_ddt", "").against("put_reference"),
];

static FORM: TableFormat = TableFormat::new(
    &|name| METHODS.iter().find(|method| method.name == name),
    Phase::RoundTrip,
    "reference",
);

fn case(experiment: Kind, mpi: &str, params: &str) -> Case {
    Case { experiment, ..made::case("nas_lu_y", mpi, params) }
}

fn with_overhead(case: &Case, method: &str, value: f64, interval: Option<(f64, f64)>) -> Record {
    let against = if method.starts_with("put") { "put_reference" } else { "reference" };
    let mut figure = Figure::plain(Quantity::OverheadReference, value).against(against);
    (figure.low, figure.high) = interval.unzip();
    Record { figures: vec![figure], ..record(case, method, 1e-5) }
}

pub(super) fn results<'a>(over: &'a [Record], launches: &'a [Record]) -> Results<'a> {
    Results {
        form: &FORM,
        over,
        all: over,
        launches,
        accounts: &[],
        figure: None,
        changes: &[],
        has_titles: true,
    }
}

fn drawn(name: &str, over: &[Record]) -> Drawn {
    Picture::find(name).unwrap().draw(&results(over, &[]), &[]).unwrap_or_else(|| panic!("no {name}"))
}

fn marks_of(name: &str, results: &Results<'_>) -> Vec<Datum> {
    Picture::find(name).unwrap().marks(results)
}

/// Identifies a mark, with its value.
fn marks(data: &[Datum]) -> Vec<(&str, &str, f64)> {
    data.iter().map(|datum| (datum.case.mpi.as_str(), datum.method.as_str(), datum.value)).collect()
}

#[test]
fn bars_of_overhead_are_the_figures_and_of_what_goes_from_arrays_to_arrays() {
    let case = case(Kind::PingPong, "mpich", "nx=1");
    let over = [
        record(&case, "reference", 5e-6),
        with_overhead(&case, "manual", 0.53, Some((0.5, 0.56))),
        with_overhead(&case, "ddt", -0.2, None),
        with_overhead(&case, "ddt_to_packed", 0.9, None),
        with_overhead(&case, "put_ddt", 0.7, None),
    ];
    let data = marks_of("overhead", &results(&over, &[]));
    assert_eq!(marks(&data), [("mpich", "manual", 0.53), ("mpich", "ddt", -0.2)]);
    assert_eq!(data.iter().map(|datum| datum.interval).collect::<Vec<_>>(), [Some((0.5, 0.56)), None]);
    assert_eq!(marks(&marks_of("overhead_put", &results(&over, &[]))), [("mpich", "put_ddt", 0.7)]);
    let caption = drawn("overhead", &over).caption;
    assert!(caption.contains("Largest: 53%, manual of nas_lu_y on mpich. Smallest: -20%, ddt"), "{caption}");
}

#[test]
fn no_whisker_is_drawn_without_an_interval() {
    let case = case(Kind::PingPong, "mpich", "nx=1");
    // Lines with the width of whiskers; grid lines have another width.
    let count = |svg: &str| {
        svg.lines().filter(|l| l.starts_with("<polyline") && l.contains("stroke-width=\"0.9\"")).count()
    };
    let lines = |interval| count(&drawn("overhead", &[with_overhead(&case, "manual", 0.5, interval)]).svg);
    // One line and two caps.
    assert_eq!(lines(Some((0.45, 0.55))), lines(None) + 3);
    let plain = |over: Record| Record { median_low_s: None, median_high_s: None, ..over };
    let sweep = |change: fn(Record) -> Record| {
        let over: Vec<Record> = [(100, 1e-6), (200, 2e-6)]
            .map(|(n, t)| Record {
                bytes: n,
                ..record(&self::case(Kind::PingPong, "m", &format!("ny={n}")), "ddt", t)
            })
            .map(change)
            .to_vec();
        count(&drawn("time_over_size", &over).svg)
    };
    assert_eq!(sweep(|over| over), sweep(plain) + 2 * 3);
}

#[test]
fn equal_cases_of_two_mpis_stand_side_by_side_and_are_never_one() {
    let (a, b) = (case(Kind::PingPong, "mpich", "nx=1"), case(Kind::PingPong, "openmpi", "nx=1"));
    let over = [with_overhead(&a, "ddt", 0.25, None), with_overhead(&b, "ddt", 0.75, None)];
    let picture = drawn("overhead", &over);
    let text = String::from_utf8(picture.csv).unwrap();
    assert_eq!(text.lines().count(), 3, "a row each: {text}");
    assert!(picture.svg.contains(">mpich<") && picture.svg.contains(">openmpi<"));
    // One test with one name at the left, and a bar in each of two frames.
    assert_eq!(picture.svg.matches(">nas_lu_y<").count(), 1);
    let colour = format!("fill=\"{}\"", canvas::COLOURS[0]);
    let bars: Vec<&str> =
        picture.svg.lines().filter(|l| l.starts_with("<rect") && l.contains(&colour)).collect();
    let number = |bar: &str, name: &str| -> f64 {
        let from = bar.split(&format!(" {name}=\"")).nth(1).unwrap();
        from.split('"').next().unwrap().parse().unwrap()
    };
    let [first, second] = bars[..] else { panic!("{bars:?}") };
    assert_eq!(number(first, "y"), number(second, "y"));
    assert!(number(first, "x") + number(first, "width") < number(second, "x"));
    assert!((number(second, "width") / number(first, "width") - 3.0).abs() < 0.01, "one axis");
}

#[test]
fn phases_double_what_is_packed_explicitly_and_nothing_else() {
    let case = case(Kind::PingPong, "mpich", "nx=1");
    let part = |method: &str, phase, t| Record { phase, ..record(&case, method, t) };
    let over = [
        record(&case, "reference", 5e-6),
        record(&case, "manual", 12e-6),
        part("manual", Phase::Pack, 2e-6),
        part("manual", Phase::Communicate, 9e-6),
        part("manual", Phase::Net, 6e-6),
        part("manual", Phase::Unpack, 1e-6),
        record(&case, "ddt", 20e-6),
        part("ddt", Phase::Create, 3e-6),
        part("ddt", Phase::Communicate, 20e-6),
    ];
    let data = marks_of("phases", &results(&over, &[]));
    let parts: Vec<_> = data.iter().map(|d| (d.method.as_str(), d.quantity.as_str(), d.value)).collect();
    let expected = [
        ("reference", "round_trip", 5e-6),
        ("manual", "pack_doubled", 4e-6),
        ("manual", "net", 6e-6),
        ("manual", "unpack_doubled", 2e-6),
        ("ddt", "create", 3e-6),
        ("ddt", "communicate", 20e-6),
    ];
    assert_eq!(parts, expected);
    let picture = drawn("phases", &over);
    assert!(picture.caption.contains("doubled") && picture.svg.contains("pack, doubled"));
}

#[test]
fn a_bar_longer_than_its_axis_shows_its_length() {
    let case = case(Kind::Halo, "mpich", "nx=1");
    let times = [1e-6, 1.1e-6, 1.2e-6, 1.3e-6, 500e-6];
    let names = ["reference", "manual", "ddt", "ddt_to_packed", "put_ddt"];
    let over: Vec<Record> = names.iter().zip(times).map(|(name, t)| record(&case, name, t)).collect();
    let with = drawn("exchange", &over).svg;
    assert!(with.contains(">500 µs &gt;<"), "{with}");
    assert!(!drawn("exchange", &over[..4]).svg.contains("&gt;"));
}

#[test]
fn a_bandwidth_has_the_interval_of_its_time_unless_it_is_a_sum_over_pairs() {
    let at = |n: u64| {
        let figures = vec![Figure::plain(Quantity::Bandwidth, 1e9)];
        let case = case(Kind::PingPong, "m", &format!("ny={n}"));
        Record { bytes: n, figures, ..record(&case, "ddt", 1e-6) }
    };
    let mut over = vec![at(80), at(160)];
    let interval = |over: &[Record]| marks_of("bandwidth_over_size", &results(over, &[]))[0].interval;
    let (low, high) = interval(&over).unwrap();
    assert!((low - 1e9 / 1.1).abs() < 1.0 && (high - 1e9 / 0.9).abs() < 1.0, "{low} {high}");
    over.push(Record { pair: PairScope::One(0), ..at(80) });
    assert_eq!(interval(&over), None);
}

#[test]
fn launches_are_points_beside_what_they_come_to() {
    let case = case(Kind::PingPong, "mpich", "nx=1");
    let launch = |launch, t| Record { launch: Some(launch), ..record(&case, "ddt", t) };
    let launches =
        [launch(0, 1e-6), launch(1, 3e-6), Record { launch: Some(0), ..record(&case, "manual", 9e-6) }];
    let over = [record(&case, "ddt", 2e-6), record(&case, "manual", 9e-6)];
    let data = marks_of("launches", &results(&over, &launches));
    let points: Vec<_> = data.iter().map(|d| (d.method.as_str(), d.launch, d.value, d.interval)).collect();
    let expected = [
        ("ddt", None, 2e-6, Some((0.9 * 2e-6, 1.1 * 2e-6))),
        ("ddt", Some(0), 1e-6, None),
        ("ddt", Some(1), 3e-6, None),
    ];
    assert_eq!(points, expected, "one launch is not a distribution");
    let picture = Picture::find("launches").unwrap().draw(&results(&over, &launches), &[]).unwrap();
    assert!(
        picture.caption.contains("ddt of nas_lu_y on mpich: 1.00 µs to 3.00 µs, 3.00 times"),
        "{}",
        picture.caption
    );
}

#[test]
fn each_state_of_the_machine_has_its_launches_and_the_heading_names_all() {
    let case = case(Kind::PingPong, "mpich", "nx=1");
    let of = |launch, number: usize, t| Record {
        launch,
        launches: 3 - 2 * number,
        state: Some(number),
        state_latency_s: Some([26e-9, 170e-9][number]),
        ..record(&case, "ddt", t)
    };
    // Near: 1.0, 1.1 and 1.2 µs. Far: 2.5 µs.
    let all = [of(None, 0, 1.1e-6), of(None, 1, 2.5e-6)];
    let near = [1.0e-6, 1.1e-6, 1.2e-6].iter().enumerate().map(|(launch, t)| of(Some(launch), 0, *t));
    let launches: Vec<Record> = near.chain([of(Some(3), 1, 2.5e-6)]).collect();
    let results = Results { all: &all, ..results(&all[..1], &launches) };
    let data = marks_of("launches", &results);
    let far = |datum: &&Datum| datum.case.mpi == "mpich, cores 170 ns apart";
    assert_eq!((data.len(), data.iter().filter(far).count()), (6, 2), "{data:?}");
    let svg = |name: &str, results: &Results<'_>| Picture::find(name).unwrap().draw(results, &[]).unwrap();
    let picture = svg("launches", &results);
    let expected = "ddt of nas_lu_y on mpich, cores 26 ns apart: 1.00 µs to 1.20 µs, 1.20 times";
    assert!(picture.caption.contains(expected), "{}", picture.caption);
    assert!(picture.svg.contains("cores 26 ns apart in 3 launches, 170 ns in 1;"), "{}", picture.svg);
    let change = Datum { value: 1.3, state_latency_s: Some(170e-9), ..data[1].clone() };
    let changes = svg("change", &Results { changes: &[change], ..results });
    assert!(changes.svg.contains("cores 26 ns apart in 3 launches, 170 ns in 1;"), "{}", changes.svg);
}

#[test]
fn the_engine_is_what_packing_and_unpacking_are_held_against() {
    let case = case(Kind::Engine, "mpich", "nx=1");
    let over = |phase, value| {
        let figures = vec![Figure::with_interval(Quantity::TimeOver, value, (0.5, 4.0)).against("engine")];
        Record { phase, figures, ..record(&case, "manual", 1e-6) }
    };
    let over = [over(Phase::Pack, 2.0), over(Phase::Unpack, 0.75), over(Phase::Create, 9.0)];
    let of = |data: Vec<Datum>| data.into_iter().map(|d| (d.quantity, d.value)).collect::<Vec<_>>();
    assert_eq!(of(marks_of("pack_over_engine", &results(&over, &[]))), [("pack_time_over".to_owned(), 2.0)]);
    assert_eq!(
        of(marks_of("unpack_over_engine", &results(&over, &[]))),
        [("unpack_time_over".to_owned(), 0.75)]
    );
}

#[test]
fn what_failed_is_no_mark_and_is_named() {
    let (a, b) = (case(Kind::PingPong, "mpich", "nx=1"), case(Kind::PingPong, "openmpi", "nx=1"));
    let failed = Record {
        outcome: Outcome::WrongData { detail: String::new() },
        ..with_overhead(&b, "ddt", 0.5, None)
    };
    let over = [with_overhead(&a, "ddt", 0.25, None), with_overhead(&b, "manual", 0.5, None), failed];
    assert_eq!(
        marks(&marks_of("overhead", &results(&over, &[]))),
        [("mpich", "ddt", 0.25), ("openmpi", "manual", 0.5)]
    );
    let picture = drawn("overhead", &over);
    assert!(picture.caption.contains("ddt on openmpi (wrong data)"), "{}", picture.caption);
    assert!(picture.svg.contains(">wrong data<"));
}

#[test]
fn pictures_have_names_of_their_own_and_are_of_their_kinds() {
    for (i, picture) in PICTURES.iter().enumerate() {
        assert!(PICTURES[..i].iter().all(|other| other.name != picture.name), "{}", picture.name);
        assert!(picture.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", picture.name);
    }
    let case = case(Kind::Engine, "mpich", "nx=1");
    let of_engine = all(&results(&[with_overhead(&case, "ddt", 0.5, None)], &[]));
    assert!(of_engine.iter().all(|drawn| drawn.name != "overhead"), "the engine has no overhead");
    assert_eq!(all(&results(&[], &[])), []);
}

#[test]
fn methods_of_one_colour_differ_in_their_points() {
    let case = case(Kind::Partitioned, "mpich", "nx=1");
    let mut over: Vec<Record> = (0..30).map(|i| record(&case, &format!("m{i}"), 1.0)).collect();
    over.extend(["reference", "put_reference"].map(|name| record(&case, name, 1.0)));
    let looks = sheet::Looks::of(&results(&over, &[]), &[Datum::default()]);
    let all: Vec<sheet::Look> = over.iter().map(|record| looks.get(&record.method)).collect();
    for (i, look) in all.iter().enumerate() {
        assert!(!all[..i].contains(look), "{i}");
    }
}

#[test]
fn a_page_gives_pictures_its_own_colours() {
    let style = page_style();
    assert!(style.contains("figure svg [fill=\"#1C2330\"] { fill: var(--ink); }"), "{style}");
    assert!(style.contains("figure svg [stroke=\"#D9DEE7\"] { stroke: var(--line); }"), "{style}");
}

#[test]
fn changes_are_points_that_name_what_they_are_compared_with() {
    let case = case(Kind::PingPong, "new", "nx=1");
    let over = [record(&case, "ddt", 1e-5)];
    let change = |method: &str, value: f64, verdict: &str| Datum {
        case: case.clone().into(),
        method: method.into(),
        series: verdict.into(),
        against: "old".into(),
        value,
        interval: Some((0.9 * value, 1.1 * value)),
        ..Datum::default()
    };
    let draw = |changes: &[Datum]| {
        let results = Results { changes, ..results(&over, &[]) };
        Picture::find("change").unwrap().draw(&results, &[])
    };
    assert!(draw(&[]).is_none(), "a run that was not compared has none");
    let few = [change("ddt", 2.0, "slower"), change("manual", 1.0, "same")];
    let drawn = draw(&few).unwrap();
    assert!(drawn.svg.contains("base: old") && drawn.svg.contains("slower"), "{}", drawn.svg);
    assert!(
        drawn.caption.contains("2 rows: 1 slower, 1 same. Largest: 2.00, ddt of nas_lu_y on new."),
        "{}",
        drawn.caption
    );
    // If there are many, rows without a change are left out.
    let many: Vec<Datum> = (0..60).map(|i| change(&format!("m{i}"), 1.0, "same")).chain(few).collect();
    assert!(draw(&many).unwrap().caption.contains("1 rows: 1 slower."));
}

#[test]
fn a_test_has_a_point_for_each_state_with_the_verdict_of_its_interval() {
    let case = case(Kind::PingPong, "mpich", "nx=1");
    let ddt = |state: usize, value, interval| {
        let over = Figure::with_interval(Quantity::TimeOver, value, interval).against("manual");
        let (state_latency_s, figures) = (Some([30e-9, 195e-9][state]), vec![over]);
        Record { state: Some(state), state_latency_s, figures, ..record(&case, "ddt", 1e-5) }
    };
    let all = [ddt(0, 2.0, (1.9, 2.1)), ddt(1, 0.99, (0.9, 1.1))];
    let data = marks_of("datatype_or_loops", &Results { all: &all, ..results(&all[..1], &[]) });
    let shown: Vec<_> = data.iter().map(|datum| (datum.series.as_str(), datum.y.as_deref())).collect();
    assert_eq!(shown, [("slower", Some("cores 30 ns apart")), ("undecided", Some("cores 195 ns apart"))]);
    let svg = drawn("datatype_or_loops", &all).svg;
    let count = |text: &str| svg.matches(&format!(">{text}<")).count();
    assert_eq!(["nas_lu_y", "ddt", "pack by hand", "cores 195 ns apart"].map(count), [1, 0, 1, 1], "{svg}");
    let many: Vec<Record> = (0..49)
        .map(|nx| record_of(&self::case(Kind::PingPong, "mpich", &format!("nx={nx}")), &all[0]))
        .collect();
    assert!(marks_of("datatype_or_loops", &results(&many, &[])).is_empty(), "lines over a sweep are clearer");
}

fn record_of(case: &Case, like: &Record) -> Record {
    Record { case: case.clone().into(), ..like.clone() }
}
