//! The best of each MPI side by side: a row per test, a column per MPI, and one geometric mean for each of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::columns::{Align, Column, Table, distinct_sets};
use super::compared::Section;
use super::{ratio, units};

/// Tests and MPIs with the fastest method of each pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The name of a column in texts: an MPI, or another side.
    pub noun: &'static str,
    /// The state of the machine in which it holds: `cores 30 ns apart`; empty if it is not known.
    pub place: String,
    pub sides: Vec<String>,
    /// A row per case.
    pub rows: Vec<MatrixRow>,
    pub means: Means,
    pub sentences: Vec<String>,
}

/// A case on all MPIs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatrixRow {
    pub test: String,
    pub set: String,
    /// The fastest method of each MPI; `None` without one.
    pub cells: Vec<Option<MatrixCell>>,
}

/// The fastest method of an MPI in a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatrixCell {
    pub method: String,
    pub time_s: f64,
    /// The ratio to the fastest MPI, with its interval; empty for that one, and without an interval.
    pub loss: String,
    /// The place of the MPI.
    pub place: Place,
}

/// The place of an MPI in a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// All others are shown to be slower.
    Fastest,
    /// Not shown to be slower than another.
    NotSlower,
    /// Shown to be slower.
    #[default]
    Slower,
    /// Not compared, or its interval includes almost any ratio.
    Unknown,
}

impl Place {
    /// The mark before the time.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Fastest => "*",
            Self::NotSlower => "~",
            Self::Slower => " ",
            Self::Unknown => "?",
        }
    }
}

/// Geometric means of the times of several cases, relative to those of the fastest MPI.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Means {
    /// That of all cases that count.
    pub all: GroupMean,
    pub tests: Vec<GroupMean>,
    /// Launches, or runs, of which each has a value.
    pub units: usize,
    /// The file with the weights of tests; empty if all tests count equally.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub weights: String,
    /// Tests that do not count, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
}

/// The geometric mean of some cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupMean {
    /// Their test; empty for the mean of all.
    pub test: String,
    /// The share of the test's weight in that of all.
    pub weight: f64,
    /// How many cases it is of.
    pub cases: usize,
    /// The mean of each MPI; none if no case has times on all MPIs.
    pub sides: Vec<SideMean>,
}

/// The geometric mean of an MPI, relative to that of the fastest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideMean {
    /// The ratio: 1 for the fastest.
    pub ratio: f64,
    /// Lower end of its 95% interval; `None` for the fastest, and with fewer than three launches.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl SideMean {
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The ratio and its interval; without one, nothing in its place.
    fn texts(&self) -> [String; 2] {
        let number = |value: f64| format!("{value:.2}");
        self.interval().map_or_else(
            || [number(self.ratio), String::new()],
            |interval| ratio::texts(self.ratio, "", interval, number),
        )
    }

    /// The ratio with its interval.
    pub fn text(&self) -> String {
        self.texts().join(" ").trim_end().to_owned()
    }
}

impl GroupMean {
    /// The fastest MPI; `None` without means.
    pub fn first(&self) -> Option<usize> {
        let ratios = self.sides.iter().enumerate();
        ratios.min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)).map(|(i, _)| i)
    }
}

impl Means {
    /// The heading: `Geometric mean of 8 tests`.
    pub fn title(&self) -> String {
        let tests = self.tests.len();
        let weights = match self.weights.as_str() {
            "" => String::new(),
            file => format!(" weighted by {file}"),
        };
        format!("Geometric mean of {tests} {}{weights}", if tests == 1 { "test" } else { "tests" })
    }
}

/// The name of the row of means.
const MEAN: &str = "geometric mean";

impl MatrixCell {
    fn time(&self) -> String {
        format!("{} {}", self.place.mark(), units::seconds(self.time_s))
    }
}

impl Matrix {
    /// The rows with only those values of a set in which rows of a test differ.
    pub fn with_distinct_sets(mut self) -> Self {
        let pairs: Vec<_> = self.rows.iter().map(|row| (row.test.clone(), row.set.clone())).collect();
        self.rows.iter_mut().zip(distinct_sets(&pairs).0).for_each(|(row, set)| row.set = set);
        self
    }

    pub fn title(&self) -> String {
        let title = format!("Time of the fastest method of each {}", self.noun);
        if self.place.is_empty() { title } else { format!("{title}, {}", self.place) }
    }

    /// The meaning of the marks before times.
    pub fn legend(&self) -> String {
        format!(
            "*: shown to be the fastest {} in the test; ~: not shown to be slower than others; ?: not known, for example after a stall.",
            self.noun
        )
    }

    /// As a section of the results, with the names of its sides.
    pub fn section(self, sides: &[String]) -> Section<'_> {
        Section {
            title: self.title(),
            sentences: self.sentences.iter().cloned().chain([self.legend()]).collect(),
            table: self.wide_table(sides, true),
            matrix: Some(self),
        }
    }

    /// As text, no line wider than a terminal of `width`: first without ratios, then with methods below their times, then with fewer
    /// MPIs next to each other.
    pub fn text(&self, width: Option<u16>) -> String {
        let fits = |text: &String| {
            width.is_none_or(|width| text.lines().all(|line| line.chars().count() <= usize::from(width)))
        };
        let wide =
            [true, false].into_iter().map(|has_ratios| self.wide_table(&self.sides, has_ratios).text(None));
        let narrow = (2..=self.sides.len()).rev().map(|sides| self.narrow_tables(sides));
        wide.chain(narrow).find(fits).unwrap_or_else(|| self.narrow_tables(1))
    }

    /// A line per case.
    fn wide_table<'a>(&self, sides: &'a [String], has_ratios: bool) -> Table<'a> {
        let columns = [Column::new("test", Align::Left, 0), Column::new("set", Align::Left, 2)];
        let cell = |cell: &Option<MatrixCell>| match cell {
            None => "  -".to_owned(),
            Some(cell) => {
                let loss = if has_ratios { cell.loss.as_str() } else { "" };
                format!("{} {}  {loss}", cell.time(), cell.method).trim_end().to_owned()
            }
        };
        let row = |row: &MatrixRow| {
            [row.test.clone(), row.set.clone()].into_iter().chain(row.cells.iter().map(cell)).collect()
        };
        let means = self.means.all.sides.iter().map(|mean| format!("  {}", mean.text()));
        let means: Vec<String> = [MEAN.to_owned(), String::new()].into_iter().chain(means).collect();
        Table {
            columns: columns.into_iter().chain(side_columns(sides)).collect(),
            rows: self.rows.iter().map(row).chain(self.has_means().then_some(means)).collect(),
        }
    }

    fn has_means(&self) -> bool {
        !self.means.all.sides.is_empty()
    }

    /// Two lines per case: times, and methods below them; in tables of so many MPIs.
    fn narrow_tables(&self, most: usize) -> String {
        let starts = (0..self.sides.len()).step_by(most.max(1));
        let tables = starts.map(|start| self.narrow_table(start, most).text(None));
        tables.collect::<Vec<_>>().join("\n")
    }

    fn narrow_table(&self, start: usize, most: usize) -> Table<'_> {
        let two = |first: &dyn Fn(usize) -> String, second: &dyn Fn(usize) -> String, names: [&str; 2]| {
            let of = |name: &str, of: &dyn Fn(usize) -> String| {
                let sides = start..(start + most).min(self.sides.len());
                std::iter::once(name.to_owned()).chain(sides.map(of)).collect::<Vec<_>>()
            };
            [of(names[0], first), of(names[1], second)]
        };
        let of_row = |row: &MatrixRow| {
            let cell = |i: usize| row.cells[i].as_ref();
            let time = |i: usize| cell(i).map_or_else(|| "  -".to_owned(), MatrixCell::time);
            let method = |i: usize| cell(i).map_or_else(String::new, |cell| format!("  {}", cell.method));
            two(&time, &method, [&row.test, &format!("  {}", row.set)])
        };
        let mean = |line: usize| move |i: usize| format!("  {}", self.means.all.sides[i].texts()[line]);
        let means = self.has_means().then(|| two(&mean(0), &mean(1), [MEAN, ""]));
        let columns = std::iter::once(Column::new("test", Align::Left, 0));
        Table {
            columns: columns.chain(side_columns(&self.sides).skip(start).take(most)).collect(),
            rows: self.rows.iter().flat_map(of_row).chain(means.into_iter().flatten()).collect(),
        }
    }
}

fn side_columns(sides: &[String]) -> impl Iterator<Item = Column<'_>> {
    sides.iter().map(|name| Column::new(name, Align::Left, 2))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A matrix of some tests on some MPIs, the last of which is the fastest.
    pub(crate) fn made(tests: usize, sides: usize) -> Matrix {
        let cell = |side: usize| {
            let is_first = side + 1 == sides;
            Some(MatrixCell {
                method: "put_manual".to_owned(),
                time_s: 12.3e-6 * (sides - side) as f64,
                loss: if is_first { String::new() } else { "2.01x [1.22, 3.33]".to_owned() },
                place: if is_first { Place::Fastest } else { Place::Slower },
            })
        };
        let mean = |side: usize| {
            let is_first = side + 1 == sides;
            let ratio = (sides - side) as f64;
            SideMean {
                ratio,
                low: (!is_first).then_some(0.9 * ratio),
                high: (!is_first).then_some(1.1 * ratio),
            }
        };
        let of = |test: &str| GroupMean {
            test: test.to_owned(),
            weight: 1.0,
            cases: 1,
            sides: (0..sides).map(mean).collect(),
        };
        let name = |test: usize| format!("test_{test}");
        Matrix {
            noun: "MPI",
            place: String::new(),
            sides: (0..sides).map(|side| format!("mpich-4.3.{side}")).collect(),
            rows: (0..tests)
                .map(|test| MatrixRow {
                    test: name(test),
                    set: "408x408".to_owned(),
                    cells: (0..sides).map(cell).collect(),
                })
                .collect(),
            means: Means {
                all: of(""),
                tests: (0..tests).map(|test| of(&name(test))).collect(),
                units: 6,
                ..Means::default()
            },
            sentences: Vec::new(),
        }
    }

    #[test]
    fn ratios_go_first_then_methods_below_times_and_then_fewer_mpis_in_a_table() {
        let matrix = made(2, 4);
        let wide = matrix.text(None);
        assert!(wide.contains("  49.2 µs put_manual  2.01x [1.22, 3.33]"), "{wide}");
        assert!(wide.contains("* 12.3 µs put_manual\n"), "{wide}");
        assert!(wide.contains("geometric mean  "), "{wide}");
        let at = |columns: u16| {
            let text = matrix.text(Some(columns));
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(columns)), "{text}");
            assert!(matrix.sides.iter().all(|side| text.contains(side)), "{text}");
            text
        };
        assert!(at(120).contains("  49.2 µs put_manual   "), "{}", at(120));
        let narrow = at(80);
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 2 + 2, "{narrow}");
        assert!(lines[1].starts_with("test_0") && lines[1].contains("* 12.3 µs"), "{narrow}");
        assert!(lines[2].starts_with("  408x408") && lines[2].contains("  put_manual"), "{narrow}");
        assert!(lines[5].contains("4.00") && lines[6].contains("[3.60, 4.40]"), "{narrow}");
        assert_eq!(at(60).matches("geometric mean").count(), 2, "{}", at(60));
    }

    #[test]
    fn a_matrix_without_means_has_no_row_for_them() {
        let matrix = Matrix { means: Means::default(), ..made(1, 3) };
        assert!(!matrix.text(None).contains(MEAN) && !matrix.text(Some(60)).contains(MEAN));
    }
}
