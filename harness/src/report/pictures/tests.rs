use serde_json::{from_value, json};

use super::*;
use crate::model::{Case, Figure, FigureUnit, MethodInfo, Phase, Quantity, info};
use crate::report::made::{self, expect_texts, record, sections, set};

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

/// The records of a row of `made.txt`, or the changes.
fn made(kind: Kind, row: &str) -> (Vec<Record>, Vec<Datum>) {
    let mut words = row.split(' ');
    let (method, time) = (words.next().unwrap(), words.next().unwrap());
    let mut made = record(&case(kind, "mpich", "nx=1"), method, time.parse().unwrap());
    let (mut change, mut copies): (Option<(&str, f64)>, usize) = (None, 1);
    for (key, text) in words.map(|word| word.split_once('=').unwrap()) {
        match key {
            "copies" => copies = text.parse().unwrap(),
            "change" => {
                change = text.split_once(':').map(|(verdict, ratio)| (verdict, ratio.parse().unwrap()))
            }
            _ => set(&mut made, key, text),
        }
    }
    let copy = |nx: usize| {
        let mut copy = made.clone();
        copy.case_mut().params = format!("nx={nx}");
        copy
    };
    let records = if copies == 1 { vec![made] } else { (0..copies).map(copy).collect() };
    let Some((verdict, ratio)) = change else { return (records, Vec::new()) };
    let change = |record: &Record| Datum {
        series: verdict.into(),
        against: "old".into(),
        interval: Some((0.9 * ratio, 1.1 * ratio)),
        ..Datum::new(record, "change", ratio, FigureUnit::default())
    };
    (Vec::new(), records.iter().map(change).collect())
}

/// The marks, the texts and the caption of a picture, and the number of lines with the width of whiskers.
fn described(picture: &Picture, results: &Results<'_>) -> String {
    let mark = |mark: &Datum| {
        let parts = [&mark.case.mpi, &mark.method, &mark.series, &mark.quantity, &mark.against, &mark.panel];
        let mut line = parts
            .iter()
            .filter(|part| !part.is_empty())
            .map(|part| part.as_str())
            .collect::<Vec<_>>()
            .join("; ");
        line += &mark.launch.map(|launch| format!("; launch {launch}")).unwrap_or_default();
        for (name, place) in [(&mark.x_name, &mark.x), (&mark.y_name, &mark.y)] {
            line += &place.as_ref().map(|place| format!("; {name} {place}")).unwrap_or_default();
        }
        line += &format!(": {}", round(mark.value));
        line + &mark
            .interval
            .map(|(low, high)| format!(" [{}, {}]", round(low), round(high)))
            .unwrap_or_default()
            + "\n"
    };
    let marks: String = picture.marks(results).iter().map(mark).collect();
    let Some(drawn) = picture.draw(results, &[]) else { return "none".to_owned() };
    let lines = || drawn.svg.lines();
    let texts = lines().filter(|line| line.starts_with("<text"));
    let texts: Vec<&str> = texts.map(|line| line.split(['<', '>']).nth(2).unwrap()).collect();
    let whiskers =
        lines().filter(|line| line.starts_with("<polyline") && line.contains("stroke-width=\"0.9\"")).count();
    format!("{marks}{}\n{whiskers} lines of whiskers; texts: {}", drawn.caption, texts.join(" | "))
}

/// Without the last digits, which differ by rounding.
fn round(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap()
}

#[test]
fn pictures_of_made_up_runs() {
    let texts = sections(include_str!("tests/made.txt")).flat_map(|[title, kind, rows]| {
        let (kind, names) = kind.split_once(" | ").unwrap();
        let made = rows.lines().map(|row| made(from_value(json!(kind)).unwrap(), row));
        let (records, changes): (Vec<_>, Vec<_>) = made.unzip();
        let (launches, all): (Vec<_>, Vec<_>) =
            records.concat().into_iter().partition(|record| record.launch.is_some());
        let over: Vec<Record> = all.iter().filter(|record| record.state.unwrap_or(0) == 0).cloned().collect();
        let results = Results { all: &all, changes: &changes.concat(), ..results(&over, &launches) };
        let named = names
            .split(' ')
            .map(|name| format!("{name}: {}", described(Picture::find(name).unwrap(), &results)));
        [(title, named.collect::<Vec<_>>().join("\n"))]
    });
    expect_texts("report/pictures/tests/drawn.txt", texts);
}

#[test]
fn the_answer_of_each_mpi_has_its_own_limit_of_cases() {
    let row = |mpi| format!("ddt 1e-5 copies=30 mpi={mpi} time_over=2[1.9,2.1]/manual");
    let both = ["mpich", "openmpi"].map(|mpi| made(Kind::PingPong, &row(mpi)).0).concat();
    assert_eq!(Picture::find("datatype_or_loops").unwrap().marks(&results(&both, &[])).len(), 60);
}

#[test]
fn equal_cases_of_two_mpis_stand_side_by_side_and_are_never_one() {
    let (a, b) = (case(Kind::PingPong, "mpich", "nx=1"), case(Kind::PingPong, "openmpi", "nx=1"));
    let over = [(&a, 0.25), (&b, 0.75)].map(|(case, overhead)| Record {
        figures: vec![Figure::plain(Quantity::OverheadReference, overhead).against("reference")],
        ..record(case, "ddt", 1e-5)
    });
    let picture = Picture::find("overhead").unwrap().draw(&results(&over, &[]), &[]).unwrap();
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
fn pictures_have_names_of_their_own() {
    for (i, picture) in PICTURES.iter().enumerate() {
        assert!(PICTURES[..i].iter().all(|other| other.name != picture.name), "{}", picture.name);
        assert!(picture.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", picture.name);
    }
    assert_eq!(all(&results(&[], &[])), []);
}

#[test]
fn methods_of_one_colour_differ_in_their_points() {
    let case = case(Kind::Partitioned, "mpich", "nx=1");
    let mut over: Vec<Record> = (0..30).map(|i| record(&case, &format!("m{i}"), 1.0)).collect();
    over.extend(["reference", "put_reference"].map(|name| record(&case, name, 1.0)));
    let looks = sheet::Looks::new(&results(&over, &[]), &[Datum::default()]);
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
