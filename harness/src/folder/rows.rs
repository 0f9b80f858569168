//! Reads rows of tables, by the names of their columns.

use std::sync::Arc;

use csv::StringRecord;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cells::columns;
use crate::model::{Case, Figure, Outcome, PairScope, Phase, Record, SCHEMA};

/// The columns of a table by their names. Consecutive rows of the same case share it, so that it is parsed once.
pub struct TableColumns {
    headers: StringRecord,
    of_case: Vec<usize>,
    last: Option<(StringRecord, Arc<Case>)>,
}

impl TableColumns {
    /// The columns of these headers.
    pub fn new(headers: StringRecord) -> Self {
        let names = columns(&Case::default());
        let is_of_case = |(_, name): &(usize, &str)| names.iter().any(|known| known == name);
        let of_case = headers.iter().enumerate().filter(is_of_case).map(|(i, _)| i).collect();
        Self { headers, of_case, last: None }
    }

    /// Refuses a row of another schema before reading its other columns, which may be missing or have another meaning.
    fn check_schema(&self, cells: &StringRecord) -> Result<(), csv::Error> {
        let place = self.headers.iter().position(|name| name == "schema");
        match place.and_then(|place| cells.get(place)) {
            Some(schema) if schema == SCHEMA.to_string() => Ok(()),
            found => {
                let found = found.unwrap_or("none");
                Err(broken(
                    cells,
                    &format!("its schema is {found}; this version of ddtbench reads schema {SCHEMA}"),
                ))
            }
        }
    }

    fn part<T: DeserializeOwned>(&self, cells: &StringRecord) -> Result<T, csv::Error> {
        cells.deserialize(Some(&self.headers))
    }

    fn case(&mut self, cells: &StringRecord) -> Result<Arc<Case>, csv::Error> {
        if let Some((last, case)) = &self.last
            && self.of_case.iter().all(|&i| cells.get(i) == last.get(i))
        {
            return Ok(Arc::clone(case));
        }
        let case: Arc<Case> = Arc::new(self.part(cells)?);
        check_names(&case, cells)?;
        self.last = Some((cells.clone(), Arc::clone(&case)));
        Ok(case)
    }
}

/// Refuses invalid names: a table would take them for two rows.
fn check_names(case: &Case, cells: &StringRecord) -> Result<(), csv::Error> {
    let Case { run, test, set, mpi, mpi_version, mpi_variant, transport, .. } = case;
    let is_wrong = |name: &&&String| name.contains(['\n', '\r', '\t']);
    match [run, test, set, mpi, mpi_version, mpi_variant, transport].iter().find(is_wrong) {
        None => Ok(()),
        Some(name) => {
            Err(broken(cells, &format!("{name:?} is not a name of a test, a set, an MPI or a run")))
        }
    }
}

/// A row that can be read by the names of its columns.
pub trait FromCells: Sized {
    /// Reads the cells under these headers.
    ///
    /// # Errors
    /// If a cell is invalid or a column is missing.
    fn read(cells: &StringRecord, columns: &mut TableColumns) -> Result<Self, csv::Error>;
}

impl FromCells for Record {
    fn read(cells: &StringRecord, columns: &mut TableColumns) -> Result<Self, csv::Error> {
        columns.check_schema(cells)?;
        let record =
            Self { case: columns.case(cells)?, outcome: outcome(cells, columns)?, ..columns.part(cells)? };
        let Record { median_s, median_low_s, median_high_s, mean_s, min_s, p90_s, p99_s, .. } = record;
        let times = [median_s, median_low_s, median_high_s, mean_s, min_s, p90_s, p99_s];
        sound(times, cells)?;
        // A phase may be shorter than the resolution of the clock. The headline phase is repeated until it is longer.
        let is_whole = record.phase == record.case.experiment.headline();
        let is_time = |time: &f64| (0.0..LONGEST_S).contains(time) && !(is_whole && *time < SHORTEST_S);
        // The interval of a few times that differ much is wide, so its ends may be impossible times.
        let measured =
            [median_s, mean_s, min_s, p90_s, p99_s].into_iter().flatten().find(|time| !is_time(time));
        let is_end = |end: &f64| (0.0..1e6 * LONGEST_S).contains(end);
        let ends = [median_low_s, median_high_s].into_iter().flatten().find(|end| !is_end(end));
        if let Some(time) = measured.or(ends) {
            return Err(broken(cells, &format!("{time:e} s cannot be a measured time")));
        }
        for [(low, smaller), (high, larger)] in [
            [("median_low_s", median_low_s), ("median_s", median_s)],
            [("median_s", median_s), ("median_high_s", median_high_s)],
            [("p90_s", p90_s), ("p99_s", p99_s)],
        ] {
            if let (Some(smaller), Some(larger)) = (smaller, larger)
                && smaller > larger
            {
                return Err(broken(cells, &format!("{low} is {smaller:e}, above {high}, {larger:e}")));
            }
        }
        Ok(record)
    }
}

fn outcome(cells: &StringRecord, columns: &TableColumns) -> Result<Outcome, csv::Error> {
    #[derive(Deserialize)]
    struct Ending<'a> {
        outcome: &'a str,
        detail: &'a str,
    }
    let Ending { outcome, detail } = cells.deserialize(Some(&columns.headers))?;
    let found = Outcome::from_label(outcome).map(|outcome| outcome.with_detail(detail.to_owned()));
    found.ok_or_else(|| broken(cells, &format!("{outcome:?} is not an outcome")))
}

pub struct NumberedCase {
    pub case: Arc<Case>,
    /// Its number, from 0.
    pub number: usize,
}

/// The column after those of the case.
#[derive(Deserialize)]
struct NumberColumn {
    number: usize,
}

impl FromCells for NumberedCase {
    fn read(cells: &StringRecord, columns: &mut TableColumns) -> Result<Self, csv::Error> {
        let NumberColumn { number } = columns.part(cells)?;
        Ok(Self { case: columns.case(cells)?, number })
    }
}

/// Longer than any run: about four months.
const LONGEST_S: f64 = 1e7;

/// Shorter than a cycle of any processor.
const SHORTEST_S: f64 = 1e-12;

/// Refuses values that cannot be measured and must come from damage.
fn sound<const N: usize>(values: [Option<f64>; N], cells: &StringRecord) -> Result<(), csv::Error> {
    match values.into_iter().flatten().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(broken(cells, &format!("{value} is not a valid figure"))),
    }
}

/// An error in a row, with its line.
fn broken(cells: &StringRecord, reason: &str) -> csv::Error {
    let line = cells.position().map_or(0, csv::Position::line);
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("line {line}: {reason}")).into()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FigureRow {
    pub case: Arc<Case>,
    /// The record within the case.
    pub of: RecordOfCase,
    pub figure: Figure,
}

/// Identifies a record within its case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordOfCase {
    pub method: String,
    /// The launch; `None` for values over all launches.
    pub launch: Option<usize>,
    /// The timed part of the method.
    pub phase: Phase,
    /// The pair of ranks, or all of them.
    pub pair: PairScope,
}

impl FigureRow {
    /// All figures of records, each with its record.
    pub fn all(records: &[Record]) -> impl Iterator<Item = Self> + '_ {
        records.iter().flat_map(|record| {
            let Record { case, method, launch, phase, pair, .. } = record;
            let of = RecordOfCase { method: method.clone(), launch: *launch, phase: *phase, pair: *pair };
            let row =
                move |figure: &Figure| Self { case: case.clone(), of: of.clone(), figure: figure.clone() };
            record.figures.iter().map(row)
        })
    }
}

impl FromCells for FigureRow {
    fn read(cells: &StringRecord, columns: &mut TableColumns) -> Result<Self, csv::Error> {
        let figure: Figure = columns.part(cells)?;
        sound([figure.value, figure.low, figure.high], cells)?;
        Ok(Self { case: columns.case(cells)?, of: columns.part(cells)?, figure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{active, header, rows};
    use crate::model::Quantity;

    fn record() -> Record {
        Record {
            // Names that look like numbers must stay names.
            case: Case { test: "5".to_owned(), mpi_version: "5.10".to_owned(), ranks: 2, ..Case::default() }
                .into(),
            method: "ddt".to_owned(),
            launch: Some(3),
            median_s: Some(1.25e-6),
            outcome: Outcome::Crashed { detail: "signal 11".to_owned() },
            schema: SCHEMA,
            ..Record::default()
        }
    }

    fn read<T: FromCells + Serialize>(all: &[T]) -> Result<Vec<T>, String> {
        let bytes = [header(&columns(&all[0])), rows(all)].concat();
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let mut columns = TableColumns::new(reader.headers().unwrap().clone());
        let read = reader.records().map(|cells| T::read(&active(cells.unwrap()), &mut columns));
        read.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn the_columns_of_the_key_come_first() {
        let columns = columns(&record());
        assert_eq!(columns[..5], ["run", "experiment", "test", "set", "params"]);
        assert_eq!(columns[11..17], ["cache", "memory", "device", "method", "launch", "phase"]);
        assert!(!columns.contains(&"figures".to_owned()));
    }

    #[test]
    fn rows_share_a_case_where_all_of_it_is_the_same() {
        let case = (*record().case).clone();
        for column in columns(&case) {
            let mut other = serde_json::to_value(&case).unwrap();
            other[&column] = match &*column {
                "experiment" => "halo".into(),
                "cache" => "cold".into(),
                "memory" => "device".into(),
                "ranks" | "hosts" => 4.into(),
                _ => "other".into(),
            };
            let other: Case = serde_json::from_value(other).unwrap();
            let of = |case: &Case| Record { case: Arc::new(case.clone()), ..record() };
            let all = vec![of(&case), of(&case), of(&other), of(&case)];
            let read = read(&all).unwrap();
            assert_eq!(read, all);
            let is_shared = |i: usize| Arc::ptr_eq(&read[i - 1].case, &read[i].case);
            assert_eq!([1, 2, 3].map(is_shared), [true, false, false], "{other:?}");
        }
    }

    #[test]
    fn what_no_measurement_gives_is_refused_by_its_line() {
        let read = |record: Record| read(&[record]);
        let of = |value, phase| Record { median_s: Some(value), phase, ..record() };
        let (whole, part) = (Phase::RoundTrip, Phase::Create);
        for value in [f64::NAN, f64::INFINITY] {
            let error = read(of(value, part)).unwrap_err();
            assert!(error.contains("line 2") && error.contains("not a valid figure"), "{error}");
        }
        for (value, phase) in [(1e300, whole), (1e300, part), (-1e-6, part), (0.0, whole), (1e-300, whole)] {
            let error = read(of(value, phase)).unwrap_err();
            assert!(error.contains("line 2") && error.contains("cannot be a measured time"), "{error}");
        }
        for name in ["a\tb", "a\nb"] {
            let case = Case { mpi: name.to_owned(), ..(*record().case).clone() };
            let error = read(Record { case: case.into(), ..record() }).unwrap_err();
            assert!(error.contains("is not a name"), "{error}");
        }
        assert!(read(of(0.0, part)).is_ok() && read(of(1e-9, whole)).is_ok());
        assert!(read(Record { median_high_s: Some(1e9), ..of(1e-6, whole) }).is_ok(), "of two times");
        assert!(read(Record { median_high_s: Some(1e300), ..record() }).is_err());
        assert!(read(Record { min_s: Some(0.0), ..of(1e-9, whole) }).is_err(), "no repetition takes no time");
        assert!(read(Record { p99_s: Some(1e300), ..record() }).is_err());
        let error = read(Record { median_low_s: Some(2e-6), ..record() }).unwrap_err();
        assert!(error.contains("line 2: median_low_s is 2e-6, above median_s, 1.25e-6"), "{error}");
        assert!(read(Record { median_high_s: Some(1e-6), ..record() }).is_err());
        assert!(read(Record { p90_s: Some(2e-6), p99_s: Some(1e-6), ..record() }).is_err());
        assert!(read(Record { median_low_s: Some(1e-6), median_high_s: Some(2e-6), ..record() }).is_ok());
    }

    #[test]
    fn a_row_of_another_schema_is_refused() {
        let other = SCHEMA + 1;
        let error = read(&[Record { schema: other, ..record() }]).unwrap_err();
        let expected =
            format!("line 2: its schema is {other}; this version of ddtbench reads schema {SCHEMA}");
        assert_eq!(error, expected);
    }

    #[test]
    fn rows_read_back_as_they_were() {
        let case = Case { params: "=1+1".to_owned(), mpi_variant: "-x".to_owned(), ..Case::default() };
        let formula = Record { case: case.into(), method: "@m".to_owned(), ..record() };
        let all = vec![record(), Record { launch: None, median_s: None, ..record() }, formula];
        assert_eq!(read(&all).unwrap(), all);
        let figures = vec![Figure::with_interval(Quantity::Gain, 1.5, (1.25, 2.0)).against("manual")];
        let of: Vec<_> = FigureRow::all(&[Record { figures, ..record() }]).collect();
        let columns = columns(&of[0]);
        assert_eq!(columns[14..20], ["method", "launch", "phase", "pair", "figure", "value"]);
        assert_eq!(read(&of).unwrap(), of);
    }
}
