//! The files of a run's folder, read without the code that wrote them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use ddtbench::experiments::Kind;

/// A row of a table: column and value. Clones share them.
#[derive(Clone, Debug)]
pub struct Row(Arc<BTreeMap<String, String>>);

impl Row {
    #[track_caller]
    pub fn get(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column `{column}`"))
    }

    /// A figure; `None` if the row has none.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.parse().ok()
    }

    /// The value in a column as a number; `None` for an empty cell.
    #[track_caller]
    pub fn number(&self, column: &str) -> Option<f64> {
        let text = self.get(column);
        (!text.is_empty())
            .then(|| text.parse().unwrap_or_else(|_| panic!("{column} = {text} is not a number")))
    }

    /// Whether these columns have these values.
    pub fn is(&self, values: &[(&str, &str)]) -> bool {
        values.iter().all(|(column, value)| self.get(column) == *value)
    }

    /// Whether its case has all of these words: the name of its test, and parameters.
    pub fn is_of(&self, case: &str) -> bool {
        let (test, params) = (self.get("test"), self.get("params"));
        case.split(' ')
            .all(|word| word.is_empty() || word == test || params.split(' ').any(|param| param == word))
    }

    /// Whether its method has a time, or on a simulated device a number of copies.
    pub fn has_figures(&self) -> bool {
        let is_simulated = self.get("memory") == "simulated" && self.figure("device_copies").is_some();
        self.is_measured() && (is_simulated || self.number("median_s") > Some(0.0))
    }

    /// Whether its method has an outcome with figures.
    pub fn is_measured(&self) -> bool {
        ["converged", "time limit", "run limit", "launch limit"].contains(&self.get("outcome"))
    }
}

#[track_caller]
pub fn rows(file: &Path) -> Vec<Row> {
    let mut reader =
        csv::Reader::from_path(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    reader.deserialize().map(|row| Row(Arc::new(row.expect("the file is whole")))).collect()
}

/// The rows of a gzipped CSV file, joined with the run's cases by their numbers.
#[track_caller]
pub fn samples(dir: &Path) -> Vec<Row> {
    let cases = rows(&dir.join("cases.csv"));
    let file = std::fs::File::open(dir.join("samples.csv.gz")).expect("a run has samples");
    let mut reader = csv::Reader::from_reader(flate2::read::MultiGzDecoder::new(file));
    let rows = reader.deserialize().map(|row| Row(Arc::new(row.expect("the file is whole"))));
    rows.map(|mut row| {
        let case = &cases[row.number("case").expect("a number") as usize];
        let columns = case.0.iter().map(|(column, value)| (column.clone(), value.clone()));
        Arc::make_mut(&mut row.0).extend(columns);
        row
    })
    .collect()
}

/// The text of the file that records which results a run has kept; empty before its first case has ended.
pub fn kept(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("launches.csv")).unwrap_or_default()
}

/// Fails unless rows differ in these columns.
#[track_caller]
pub fn expect_once<'a>(rows: impl IntoIterator<Item = &'a Row>, columns: &[&str]) {
    let mut seen = BTreeSet::new();
    for row in rows {
        let place: Vec<_> = columns.iter().map(|column| row.get(column).to_owned()).collect();
        assert!(seen.insert(place), "{columns:?} are there twice: {row:?}");
    }
}

/// The columns that identify a row of launches and its figures.
fn place(row: &Row) -> Vec<String> {
    let columns = ["test", "params", "mpi", "mpi_variant", "cache", "method", "launch", "phase", "pair"];
    columns.map(|column| row.get(column).to_owned()).to_vec()
}

/// All rows of a run. Figures are columns, with the suffixes `_low` and `_high` for their ends, and `_against` for
/// the value that they are compared with; the time relative to another method is `over_METHOD`.
#[derive(Clone, Debug)]
pub struct Summary(pub Vec<Row>);

impl Summary {
    /// Results of the run in `dir`; empty before its first case has ended.
    #[track_caller]
    pub fn read(dir: &Path) -> Self {
        if !dir.join("launches.csv").exists() {
            return Self(Vec::new());
        }
        let mut all = rows(&dir.join("launches.csv"));
        let places: BTreeMap<_, _> = all.iter().enumerate().map(|(i, row)| (place(row), i)).collect();
        for figure in rows(&dir.join("launch_figures.csv")) {
            let name = match figure.get("figure") {
                "time_over" => format!("over_{}", figure.get("against")),
                name => name.to_owned(),
            };
            let row = Arc::make_mut(&mut all[places[&place(&figure)]].0);
            row.insert(name.clone(), figure.get("value").to_owned());
            for end in ["low", "high", "against"] {
                row.insert(format!("{name}_{end}"), figure.get(end).to_owned());
            }
        }
        Self(all)
    }

    /// The rows of a test: checks with much work per test then search only these rows.
    pub fn of_test(&self, test: &str) -> Self {
        Self(self.0.iter().filter(|row| row.get("test") == test).cloned().collect())
    }

    pub fn with(&self, values: &[(&str, &str)]) -> Vec<&Row> {
        self.0.iter().filter(|row| row.is(values)).collect()
    }

    /// The tests in which a one-sided method crashed on Open MPI, each once.
    pub fn crashed_by_puts(&self) -> BTreeSet<String> {
        let is_one_sided =
            |row: &Row| ["put_", "rma_"].iter().any(|start| row.get("method").starts_with(start));
        let crashed = self.0.iter().filter(|row| row.is(&[("mpi", "openmpi"), ("outcome", "crashed")]));
        crashed.filter(|row| is_one_sided(row)).map(|row| row.get("test").to_owned()).collect()
    }

    /// These rows, with the rows of some tests replaced by those of `other`.
    pub fn replaced_by(&self, other: &Self, tests: &BTreeSet<String>) -> Self {
        let rows = |of: &Self, are_replaced: bool| {
            let is_meant = |row: &&Row| tests.contains(row.get("test")) == are_replaced;
            of.0.iter().filter(is_meant).cloned().collect::<Vec<_>>()
        };
        Self([rows(self, false), rows(other, true)].concat())
    }

    /// The rows that report how methods ended: those of the phase by which a method is judged, over all pairs.
    #[track_caller]
    pub fn ends(&self) -> Vec<&Row> {
        let is_end = |row: &&Row| {
            let kind = Kind::find(row.get("experiment")).expect("a kind of experiments");
            row.is(&[("phase", kind.headline().name()), ("pair", "all")])
        };
        self.0.iter().filter(is_end).collect()
    }

    /// The outcome of a method in the one case with all of these words: the name of its test, and recorded parameters.
    #[track_caller]
    pub fn end(&self, case: &str, method: &str) -> &Row {
        let ends = self.ends().into_iter().filter(|row| row.is(&[("method", method)]));
        let found: Vec<_> = ends.filter(|row| row.is_of(case)).collect();
        assert_eq!(found.len(), 1, "ends of {method} in {case:?}: {found:?} of {:?}", self.0);
        found[0]
    }

    /// Fails unless these methods have figures in a case.
    #[track_caller]
    pub fn expect_measured(&self, case: &str, methods: &[impl AsRef<str>]) {
        for method in methods {
            let row = self.end(case, method.as_ref());
            assert!(row.has_figures(), "{row:?}");
        }
    }

    /// Fails unless there are `cases` cases, in each of which exactly these methods have figures.
    #[track_caller]
    pub fn expect_all(&self, cases: usize, methods: &[impl AsRef<str>]) {
        let ends = self.ends();
        expect_once(ends.iter().copied(), &["test", "params", "method"]);
        assert_eq!(ends.len(), cases * methods.len(), "{ends:?}");
        for method in methods {
            let found = ends.iter().filter(|row| row.get("method") == method.as_ref()).count();
            assert_eq!(found, cases, "{}: {ends:?}", method.as_ref());
        }
        assert!(ends.iter().all(|row| row.has_figures()), "{ends:?}");
    }

    /// Fails unless a method had this outcome, without figures of any phase and with all `words` in its detail.
    #[track_caller]
    pub fn expect_failed(&self, case: &str, method: &str, outcome: &str, words: &[&str]) {
        let row = self.end(case, method);
        assert!(row.is(&[("outcome", outcome), ("median_s", "")]), "{row:?}");
        for word in words {
            assert!(row.get("detail").contains(word), "`{word}` is not in the detail of {row:?}");
        }
        let of_case = self.0.iter().filter(|row| row.is(&[("method", method)]) && row.is_of(case));
        assert_eq!(of_case.count(), 1, "phases of {row:?}");
    }
}
