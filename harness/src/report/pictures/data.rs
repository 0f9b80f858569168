//! What a picture shows, before it is drawn: a row per mark, which is also its CSV.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::model::{Case, Figure, Record};

/// A mark of a picture: a bar, a part of one, or a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Datum {
    /// What was measured.
    pub case: Case,
    /// By which method.
    pub method: String,
    /// In which launch; `None`: over all of them.
    pub launch: Option<usize>,
    /// What the value is: a figure, a phase, or what is made of one.
    pub quantity: String,
    /// What it is held against; empty where nothing is.
    pub against: String,
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// The panel of a picture over an axis; empty in other pictures.
    pub panel: String,
    /// What the horizontal axis of a line is; empty in other pictures.
    pub x_name: String,
    /// The place on it.
    pub x: Option<f64>,
    /// The value.
    pub value: f64,
    /// Both ends of its 95% interval, where it has one.
    pub interval: Option<(f64, f64)>,
    /// The unit of these.
    pub unit: &'static str,
}

/// The columns behind those of the case.
#[derive(Serialize)]
struct Rest<'a> {
    method: &'a str,
    launch: Option<usize>,
    quantity: &'a str,
    against: &'a str,
    bytes: u64,
    panel: &'a str,
    x_name: &'a str,
    x: Option<f64>,
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    unit: &'a str,
}

impl Datum {
    /// What all marks of a record share.
    pub fn of(record: &Record, quantity: &str, value: f64, unit: &'static str) -> Self {
        Self {
            case: record.case.clone(),
            method: record.method.clone(),
            launch: record.launch,
            quantity: quantity.to_owned(),
            bytes: record.bytes,
            value,
            unit,
            ..Self::default()
        }
    }

    /// A figure of a record; `None` without a value.
    pub fn figure(record: &Record, figure: &Figure) -> Option<Self> {
        let datum = Self::of(record, &name(figure.quantity), figure.value?, figure.quantity.unit());
        Some(Self { against: figure.against.clone(), interval: figure.interval(), ..datum })
    }

    /// The median of a record; `None` without one.
    pub fn median(record: &Record) -> Option<Self> {
        let datum = Self::of(record, record.phase.name(), record.median_s?, "s");
        Some(Self { interval: record.median_low_s.zip(record.median_high_s), ..datum })
    }

    fn rest(&self) -> Rest<'_> {
        Rest {
            method: &self.method,
            launch: self.launch,
            quantity: &self.quantity,
            against: &self.against,
            bytes: self.bytes,
            panel: &self.panel,
            x_name: &self.x_name,
            x: self.x,
            value: self.value,
            low: self.interval.map(|(low, _)| low),
            high: self.interval.map(|(_, high)| high),
            unit: self.unit,
        }
    }
}

/// The name of a quantity in results.
fn name(quantity: impl Serialize) -> String {
    serde_json::to_value(quantity).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The data of a picture as CSV: a row per mark, the case's columns first, as in all files of a run.
pub fn csv(data: &[Datum]) -> Vec<u8> {
    let columns = |row: serde_json::Value| -> Vec<String> {
        row.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    };
    let plain = "plain fields always fit into memory";
    let case = serde_json::to_value(Case::default()).expect(plain);
    let rest = serde_json::to_value(Datum::default().rest()).expect(plain);
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record([columns(case), columns(rest)].concat()).expect(plain);
    for datum in data {
        writer.serialize((&datum.case, datum.rest())).expect(plain);
    }
    writer.into_inner().expect("writing to memory does not fail")
}

/// What stands side by side: MPIs, and the conditions under which they ran. Cases of two sides are never drawn as one.
pub fn side(case: &Case) -> Case {
    let cleared = Case { experiment: String::new(), test: String::new(), ..case.clone() };
    Case { set: String::new(), params: String::new(), ..cleared }
}

/// What stands below each other: tests with their values, whoever ran them.
pub fn work(case: &Case) -> [&str; 4] {
    [&case.experiment, &case.test, &case.set, &case.params].map(String::as_str)
}

/// Whether a case is of a side.
pub fn on_side(case: &Case, side: &Case) -> bool {
    fn names(case: &Case) -> [&str; 5] {
        [&case.run, &case.mpi, &case.mpi_version, &case.mpi_variant, &case.transport].map(String::as_str)
    }
    (case.ranks, case.hosts, case.cache) == (side.ranks, side.hosts, side.cache) && names(case) == names(side)
}

/// Values in the order in which they come first.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for value in values {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    known
}

/// The sides with their names: the MPI, and besides what tells apart those of one MPI.
pub fn sides<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Vec<(Case, String)> {
    let sides = distinct(cases.into_iter().map(side));
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
        let told = parts.iter().filter(|part| differ(part)).map(|part| part(side));
        let words: Vec<String> = std::iter::once(side.mpi_label()).chain(told).collect();
        words.join(", ")
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

/// The name of a case's work among others: the test, and where there are several of it, its set, or the values in which they
/// differ.
pub fn work_name(case: &Case, all: &[&Case]) -> String {
    let of_test: Vec<&Case> = all.iter().copied().filter(|other| other.test == case.test).collect();
    let differing = varied(&of_test);
    if differing.is_empty() {
        return case.test.clone();
    }
    if case.set != crate::model::CUSTOM && !case.set.is_empty() {
        return format!("{} {}", case.test, case.set);
    }
    let told = params(case).into_iter().filter(|(name, _)| differing.contains(name));
    let told: Vec<String> = told.map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", case.test, told.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Quantity;
    use crate::model::conditions::Cache;

    fn case(test: &str, mpi: &str, params: &str) -> Case {
        Case {
            experiment: "pingpong".into(),
            test: test.into(),
            set: "custom".into(),
            params: params.into(),
            mpi: mpi.into(),
            ranks: 2,
            ..Case::default()
        }
    }

    #[test]
    fn sides_are_named_by_their_mpi_and_by_what_tells_them_apart_alone() {
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
        assert_eq!(work_name(&a, &[&a, &b, &other]), "t ny=2");
        assert_eq!(work_name(&other, &[&a, &b, &other]), "u");
        let named = Case { set: "s".into(), ..a.clone() };
        assert_eq!(work_name(&named, &[&named, &b]), "t s");
    }

    #[test]
    fn a_row_has_the_cases_columns_and_empty_cells_for_what_is_missing() {
        let record =
            Record { case: case("t", "mpich", "n=1"), method: "ddt".into(), bytes: 8, ..Record::default() };
        let figure = Figure::with_interval(Quantity::Gain, 1.5, (1.25, 2.0)).against("manual");
        let with = Datum::figure(&record, &figure).unwrap();
        let text = String::from_utf8(csv(&[with.clone(), Datum { interval: None, ..with }])).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("run,experiment,test,set,params,mpi,"), "{text}");
        assert!(
            lines[0].ends_with("method,launch,quantity,against,bytes,panel,x_name,x,value,low,high,unit"),
            "{text}"
        );
        assert!(lines[1].ends_with("warm,ddt,,gain,manual,8,,,,1.5,1.25,2.0,ratio"), "{text}");
        assert!(lines[2].ends_with(",1.5,,,ratio"), "{text}");
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
    }
}
