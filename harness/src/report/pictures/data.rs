//! The data of a picture: a row per mark, which is also its CSV.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Value, to_value};

use crate::cells;
use crate::model::{Case, Figure, FigureUnit, Record};

/// A mark of a picture: a bar, a part of one, or a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Datum {
    /// The case, as separate columns.
    #[serde(skip)]
    pub case: Arc<Case>,
    pub method: String,
    /// Distinguishes its line from others of the method; empty if not needed.
    pub series: String,
    /// The launch; `None` for values over all launches.
    pub launch: Option<usize>,
    /// The name of the value: a figure, a phase, or a derived quantity.
    pub quantity: String,
    /// The method that it is relative to; empty if it is absolute.
    pub against: String,
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// The panel of a picture with lines or cells; empty in other pictures.
    pub panel: String,
    /// The name of the horizontal axis of a line or a heat map; empty in other pictures.
    pub x_name: String,
    /// The place on it, a number or a word.
    pub x: Option<String>,
    /// The name of the vertical axis of a heat map, or of what distinguishes points of a row; empty in other pictures.
    pub y_name: String,
    /// The place on it.
    pub y: Option<String>,
    /// Core-to-core latency in seconds: the state of the machine in which the value was measured. Missing if it is not known.
    pub state_latency_s: Option<f64>,
    pub value: f64,
    /// Both ends of its 95% interval, if it has one.
    #[serde(rename = "low,high", serialize_with = "ends")]
    pub interval: Option<(f64, f64)>,
    pub unit: FigureUnit,
}

impl Datum {
    /// The common part of all marks of a record.
    pub fn new(record: &Record, quantity: &str, value: f64, unit: FigureUnit) -> Self {
        Self {
            case: record.case.clone(),
            method: record.method.clone(),
            launch: record.launch,
            quantity: quantity.to_owned(),
            bytes: record.bytes,
            state_latency_s: record.state_latency_s,
            value,
            unit,
            ..Self::default()
        }
    }

    /// A figure of a record; `None` without a value.
    pub fn figure(record: &Record, figure: &Figure) -> Option<Self> {
        let datum = Self::new(record, &name(figure.quantity), figure.value?, figure.quantity.unit());
        Some(Self { against: figure.against.clone(), interval: figure.interval(), ..datum })
    }

    /// The median of a record; `None` without one.
    pub fn median(record: &Record) -> Option<Self> {
        let datum = Self::new(record, record.phase.name(), record.median_s?, FigureUnit::S);
        Some(Self { interval: record.median_low_s.zip(record.median_high_s), ..datum })
    }

    /// Case and method: parts and launches of one method in one case share them.
    pub fn case_and_method(&self) -> (&Case, &str) {
        (&self.case, &self.method)
    }

    /// The name of its line: the method, and what distinguishes it from others of that method.
    pub fn line(&self) -> String {
        if self.series.is_empty() { self.method.clone() } else { format!("{}, {}", self.method, self.series) }
    }

    /// Its place on the horizontal axis, if that is a number.
    pub fn x_number(&self) -> Option<f64> {
        number(self.x.as_ref()?)
    }
}

pub fn number(place: &str) -> Option<f64> {
    place.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Two columns, empty without an interval.
fn ends<S: Serializer>(interval: &Option<(f64, f64)>, to: S) -> Result<S::Ok, S::Error> {
    interval.unzip().serialize(to)
}

fn name(quantity: impl Serialize) -> String {
    to_value(quantity).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The data of a picture as CSV: a row per mark, starting with the columns of the case, as in all files of a run.
pub fn csv(data: &[Datum]) -> Vec<u8> {
    let columns = |row: serde_json::Result<Value>| match row.expect("plain data") {
        Value::Object(fields) => fields.keys().flat_map(|name| name.split(',')).map(str::to_owned).collect(),
        _ => Vec::<String>::new(),
    };
    let (case, rest) = (to_value(Case::default()), to_value(Datum::default()));
    let header = cells::header(&[columns(case), columns(rest)].concat());
    [header, cells::rows(data.iter().map(|datum| (&datum.case, datum)))].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Quantity;

    #[test]
    fn a_row_has_the_cases_columns_and_empty_cells_for_what_is_missing() {
        let record = Record {
            case: Case { test: "t".into(), mpi: "mpich".into(), params: "n=1".into(), ..Case::default() }
                .into(),
            method: "ddt".into(),
            bytes: 8,
            ..Record::default()
        };
        let figure = Figure::with_interval(Quantity::Gain, 1.5, (1.25, 2.0)).against("manual");
        let with = Datum::figure(&record, &figure).unwrap();
        let text = String::from_utf8(csv(&[with.clone(), Datum { interval: None, ..with }])).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("run,experiment,test,set,params,mpi,"), "{text}");
        assert!(
            lines[0].ends_with(
                "method,series,launch,quantity,against,bytes,panel,x_name,x,y_name,y,state_latency_s,value,low,high,unit"
            ),
            "{text}"
        );
        assert!(lines[1].ends_with("warm,host,,ddt,,,gain,manual,8,,,,,,,1.5,1.25,2.0,ratio"), "{text}");
        assert!(lines[2].ends_with(",1.5,,,ratio"), "{text}");
        let cell = Datum { x: Some("2".into()), y: Some("x+".into()), ..Datum::default() };
        assert!(String::from_utf8(csv(&[cell])).unwrap().contains(",,2,,x+,,0.0,"));
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
    }
}
