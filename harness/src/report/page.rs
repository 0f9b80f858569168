//! One A4 sheet: which MPI is fastest, in which test, by how much, on which machine, and the command that measures it again.
//!
//! The lengths of texts decide what the sheet has room for, before anything is drawn: the same on every machine. Rows become
//! smaller down to a limit; then the table has a mean per test instead of a row per case, and then only the mean of all.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::account::Account;
use super::html::render;
use super::matrix::{GroupMean, Matrix, MatrixCell, MatrixRow, Place, SideMean};
use super::units;

const TEMPLATE: &str = include_str!("page.html");

/// The content of a sheet.
pub struct Sheet<'a> {
    /// The kind of experiments.
    pub kind: &'a str,
    /// The MPIs and tests.
    pub matrix: &'a Matrix,
    /// A bar per MPI as SVG, without its title.
    pub chart: Option<&'a str>,
    /// When, where and by what command.
    pub accounts: &'a [Account],
    /// MPIs with their versions, ranks, transport.
    pub place: String,
    /// The basis of intervals.
    pub launches: Option<String>,
    /// Warnings that qualify the times.
    pub warnings: Vec<String>,
    /// The folders of the results.
    pub folders: String,
}

/// Blank at each edge of the paper, in millimetres: what printers leave.
const MARGIN_MM: f64 = 10.0;
/// The short and the long side of A4, in millimetres.
const A4_MM: [f64; 2] = [210.0, 297.0];
/// Height of a line of text.
const LINE_MM: f64 = 3.8;
/// Height of a heading above a section, with the blank before it.
const HEADING_MM: f64 = 6.5;
/// Height of the title.
const TITLE_MM: f64 = 6.0;
/// The usual height of a row, and the smallest that can be read.
const ROWS_MM: [f64; 2] = [5.2, 3.2];
/// The height of a row of two lines.
const TWO_LINES_MM: f64 = 8.0;
/// The usual size of a table's letters, and the smallest that can be read, in points.
const SIZES_PT: [f64; 2] = [8.5, 6.0];
/// Letters of 1 point are at most so wide in the mean, in millimetres: those of DejaVu Sans, which is wider than Helvetica.
const LETTER_MM: f64 = 0.62 * 25.4 / 72.0;
/// Size of other text in points.
const TEXT_PT: f64 = 8.5;
/// Blank between two columns.
const COLUMN_MM: f64 = 2.0;
/// Width of the chart.
const CHART_MM: f64 = 130.0;

#[derive(Serialize)]
struct Row {
    cells: Vec<Cell>,
    is_mean: bool,
}

#[derive(Serialize)]
struct Cell {
    text: String,
    /// A second line; empty in rows of one line.
    below: String,
    is_first: bool,
}

impl Cell {
    fn plain(text: String) -> Self {
        Self { text, below: String::new(), is_first: false }
    }
}

/// The position of the ratio to the fastest MPI, with its interval, in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ratios {
    SameLine,
    NextLine,
    Omitted,
}

/// The form of a table that fits across the paper.
struct Across {
    paper_mm: [f64; 2],
    ratios: Ratios,
    /// The MPIs that have a column.
    sides: Vec<usize>,
    size_pt: f64,
}

/// The sheet as a page of HTML that needs no other file.
pub fn page(sheet: &Sheet<'_>) -> String {
    let Sheet { kind, matrix, chart, accounts, place, launches, warnings, folders } = sheet;
    let mut across = Across::of(matrix);
    let dates =
        accounts.iter().map(|account| format!("{}, {}: {}", account.date, account.host, account.machine));
    let head: Vec<String> = dates.chain([place.clone()]).collect();
    let commands = accounts.iter().map(|account| format!("Command: {}", account.command));
    let settings = accounts.iter().flat_map(|account| account.settings.clone());
    let set = settings.collect::<Vec<_>>().join("; ");
    let set = Some(format!("Settings: {set}.")).filter(|_| !set.is_empty());
    let results =
        format!("All methods, times and intervals: ddtbench report {folders} --details, or its report.html.");
    let setting: Vec<String> = commands.chain(set).chain(launches.clone()).chain([results]).collect();

    let (svg, chart_mm) = chart.and_then(sized).unzip();
    let width_mm = across.paper_mm[0] - 2.0 * MARGIN_MM;
    let height = |texts: &[String]| texts.iter().map(|text| lines(text, width_mm)).sum::<f64>() * LINE_MM;
    // The marks below the table, and a line about the omitted rows.
    let notes_mm = 2.0 * LINE_MM;
    let others_mm = TITLE_MM
        + [&head, warnings, &matrix.sentences, &setting].into_iter().map(|texts| height(texts)).sum::<f64>()
        + 2.0 * HEADING_MM
        + chart_mm.map_or(0.0, |[_, height]| height)
        + notes_mm;
    let room_mm = across.paper_mm[1] - 2.0 * MARGIN_MM - others_mm;
    // The header is a row, too.
    let height_mm = |rows: usize| room_mm / (rows + 1) as f64;
    let (mut rows, mut left_out) = across.rows(matrix, room_mm);
    let (least_mm, most_mm) = match across.ratios {
        Ratios::Omitted if height_mm(rows.len()) >= TWO_LINES_MM && left_out.is_none() => {
            across.ratios = Ratios::NextLine;
            (rows, left_out) = across.rows(matrix, room_mm);
            (TWO_LINES_MM, TWO_LINES_MM)
        }
        _ => (ROWS_MM[1], ROWS_MM[0]),
    };
    let row_mm = height_mm(rows.len()).clamp(least_mm, most_mm);
    let lines_of_row = if across.ratios == Ratios::NextLine { 2.0 } else { 1.0 };
    let size_pt = across.size_pt.min(row_mm / lines_of_row * 0.8 / 25.4 * 72.0);
    let mut notes = vec![format!("{} Times are medians over launches.", matrix.legend())];
    notes.extend(left_out.map(|what| format!("{what}: ddtbench report {folders}.")));
    let names = across.sides.iter().map(|side| matrix.sides[*side].clone());
    let columns: Vec<String> = ["test".to_owned(), String::new()].into_iter().chain(names).collect();
    let [paper_width, paper_height] = across.paper_mm;
    let title = format!("Which MPI is fastest? ({kind}, {} cases)", matrix.rows.len());
    let [chart_width, chart_height] = chart_mm.unwrap_or_default();
    render(
        TEMPLATE,
        context! {
            title,
            paper => context! { width => paper_width, height => paper_height, margin => MARGIN_MM },
            line => LINE_MM,
            size => size_pt,
            row => row_mm,
            chart => context! { width => chart_width, height => chart_height },
            svg,
            head,
            warnings => warnings.clone(),
            found => matrix.sentences.clone(),
            heading => matrix.title(),
            columns,
            rows => Value::from(Serde(&rows)),
            notes,
            setting,
        },
    )
}

/// Lines that a text takes.
fn lines(text: &str, width_mm: f64) -> f64 {
    (text.chars().count() as f64 * LETTER_MM * TEXT_PT / width_mm).ceil()
}

/// A picture, and its width and height on the sheet in millimetres.
fn sized(svg: &str) -> Option<(&str, [f64; 2])> {
    let number = |name: &str| {
        let (_, rest) = svg.split_once(&format!(" {name}=\""))?;
        rest.split_once('"')?.0.parse::<f64>().ok()
    };
    let (width, height) = (number("width")?, number("height")?);
    Some((svg, [CHART_MM, CHART_MM * height / width]))
}

impl Across {
    /// The widest form that fits: ratios with intervals if there is room, else a sheet in landscape format, else only the fastest
    /// MPIs.
    fn of(matrix: &Matrix) -> Self {
        let [short, long] = A4_MM;
        let portrait = [short, long];
        let landscape = [long, short];
        let all: Vec<usize> = (0..matrix.sides.len()).collect();
        let forms = [(portrait, Ratios::SameLine), (portrait, Ratios::Omitted), (landscape, Ratios::Omitted)];
        let of = |(paper_mm, ratios): ([f64; 2], Ratios), sides: &[usize]| {
            let letters = letters(matrix, sides, ratios == Ratios::SameLine);
            let room_mm = paper_mm[0] - 2.0 * MARGIN_MM - COLUMN_MM * (sides.len() + 2) as f64;
            let size_pt = (room_mm / (letters as f64 * LETTER_MM)).min(SIZES_PT[0]);
            Self { paper_mm, ratios, sides: sides.to_vec(), size_pt }
        };
        let can_be_read = |across: &Self| across.size_pt >= SIZES_PT[1];
        if let Some(across) = forms.map(|form| of(form, &all)).into_iter().find(can_be_read) {
            return across;
        }
        // The fastest by their means, in the order of the columns.
        let mut by_mean = all;
        let ratio = |side: &usize| matrix.means.all.sides.get(*side).map_or(f64::INFINITY, |mean| mean.ratio);
        by_mean.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let first = |count: usize| {
            let mut sides = by_mean[..count].to_vec();
            sides.sort_unstable();
            of((landscape, Ratios::Omitted), &sides)
        };
        (2..by_mean.len()).rev().map(first).find(can_be_read).unwrap_or_else(|| first(1))
    }

    /// The rows for which `room_mm` is enough, and a sentence about the others.
    fn rows(&self, matrix: &Matrix, room_mm: f64) -> (Vec<Row>, Option<String>) {
        let mean = |name: &str, mean: &GroupMean, is_mean: bool| {
            let of = |side: &usize| {
                let SideMean { ratio, .. } = mean.sides[*side];
                Cell { is_first: ratio <= 1.0, ..Cell::plain(mean.sides[*side].text()) }
            };
            let names = [name.to_owned(), String::new()].map(Cell::plain).into_iter();
            let cells = names.chain(self.sides.iter().filter(|_| !mean.sides.is_empty()).map(of)).collect();
            Row { cells, is_mean }
        };
        let case = |row: &MatrixRow| {
            let of = |side: &usize| match &row.cells[*side] {
                Some(found) => Cell {
                    text: text(found, self.ratios == Ratios::SameLine),
                    below: if self.ratios == Ratios::NextLine { found.loss.clone() } else { String::new() },
                    is_first: found.place == Place::Fastest,
                },
                None => Cell::plain("-".to_owned()),
            };
            let names = [row.test.clone(), row.set.clone()].map(Cell::plain).into_iter();
            Row { cells: names.chain(self.sides.iter().map(of)).collect(), is_mean: false }
        };
        let all =
            (!matrix.means.all.sides.is_empty()).then(|| mean("geometric mean", &matrix.means.all, true));
        let most = (room_mm / ROWS_MM[1]) as usize;
        // With the header.
        let others = 1 + usize::from(all.is_some());
        let sides = matrix.sides.len() - self.sides.len();
        let sides = (sides > 0).then(|| format!("{sides} slower MPIs"));
        let (rows, hidden): (Vec<Row>, Option<String>) = if matrix.rows.len() + others <= most {
            (matrix.rows.iter().map(case).collect(), None)
        } else {
            let hidden = format!("{} rows of cases", matrix.rows.len());
            let tests = &matrix.means.tests;
            let name = |test: &GroupMean| match test.cases {
                1 => test.test.clone(),
                cases => format!("{}, mean of {cases}", test.test),
            };
            let shown: Vec<Row> = tests.iter().map(|test| mean(&name(test), test, false)).collect();
            if shown.len() + others <= most {
                (shown, Some(format!("{hidden} (shown: means, relative to the fastest MPI)")))
            } else {
                (Vec::new(), Some(format!("{hidden} and {} tests", tests.len())))
            }
        };
        let hidden = hidden.into_iter().chain(sides).collect::<Vec<_>>().join(", ");
        (
            rows.into_iter().chain(all).collect(),
            Some(format!("Not on this sheet: {hidden}")).filter(|_| !hidden.is_empty()),
        )
    }
}

fn text(cell: &MatrixCell, has_ratio: bool) -> String {
    let ratio = if has_ratio { cell.loss.as_str() } else { "" };
    format!("{}{} {} {ratio}", cell.place.mark(), units::seconds(cell.time_s), cell.method).trim().to_owned()
}

/// Letters of the widest texts of all columns.
fn letters(matrix: &Matrix, sides: &[usize], has_ratios: bool) -> usize {
    let count = |text: &str| text.chars().count();
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = widest(&mut matrix.rows.iter().map(|row| count(&row.test))).max("geometric mean".len());
    let sets = widest(&mut matrix.rows.iter().map(|row| count(&row.set)));
    let of_side = |side: &usize| {
        let cells = matrix.rows.iter().filter_map(|row| row.cells[*side].as_ref());
        let mean = matrix.means.all.sides.get(*side).map_or(0, |mean| count(&mean.text()));
        widest(&mut cells.map(|cell| count(&text(cell, has_ratios))))
            .max(count(&matrix.sides[*side]))
            .max(mean)
    };
    names + sets + sides.iter().map(of_side).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::matrix::tests::made;

    fn sheet(tests: usize, sides: usize) -> String {
        let matrix = made(tests, sides);
        let account = Account {
            date: "2026-11-25 18:00".into(),
            host: "node".into(),
            machine: "a processor, 64 hardware threads".into(),
            command: "ddtbench compare --mpi mpich,openmpi".into(),
            settings: vec!["mpich: mpiexec FI_PROVIDER=tcp".into()],
            ..Account::default()
        };
        page(&Sheet {
            kind: "pingpong",
            matrix: &matrix,
            chart: Some("<svg width=\"540\" height=\"135\" viewBox=\"0 0 5400 1350\"></svg>"),
            accounts: &[account],
            place: "2 ranks, shm".into(),
            launches: None,
            warnings: Vec::new(),
            folders: "results/x".into(),
        })
    }

    #[test]
    fn a_sheet_has_times_machine_settings_and_command() {
        let page = sheet(3, 3);
        for part in [
            "<h1>Which MPI is fastest? (pingpong, 3 cases)</h1>",
            "<td class=\"first\">*12.3 µs put_manual</td>",
            "<td>36.9 µs put_manual 2.01x [1.22, 3.33]</td>",
            "<td>3.00 [2.70, 3.30]</td>",
            "2026-11-25 18:00, node: a processor, 64 hardware threads",
            "Command: ddtbench compare --mpi mpich,openmpi",
            "Settings: mpich: mpiexec FI_PROVIDER=tcp.",
            "@page { size: 210.0mm 297.0mm;",
            "height: 32.5mm; }",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("Not on this sheet"), "{page}");
    }

    #[test]
    fn rows_become_smaller_and_then_means_of_tests_and_then_only_the_mean() {
        let rows = |page: &str| page.matches("<tr").count();
        let height = |page: &str| {
            let (_, rest) = page.split_once("padding: 0 1mm; height: ").unwrap();
            rest.split_once("mm").unwrap().0.parse::<f64>().unwrap()
        };
        let (few, more) = (sheet(10, 3), sheet(45, 3));
        assert_eq!((rows(&few), height(&few)), (12, 5.2));
        assert!(rows(&more) == 47 && height(&more) < 5.0, "{more}");
        // Many sets of few tests.
        let mut matrix = made(100, 3);
        matrix.rows.iter_mut().enumerate().for_each(|(i, row)| row.test = format!("test_{}", i % 4));
        matrix.means.tests.truncate(4);
        matrix.means.tests.iter_mut().for_each(|test| test.cases = 25);
        let (rows_of_tests, left_out) = Across::of(&matrix).rows(&matrix, 150.0);
        assert_eq!(rows_of_tests.len(), 5);
        assert_eq!(rows_of_tests[0].cells[0].text, "test_0, mean of 25");
        assert_eq!(rows_of_tests[0].cells[2].text, "3.00 [2.70, 3.30]");
        assert_eq!(
            left_out.as_deref(),
            Some("Not on this sheet: 100 rows of cases (shown: means, relative to the fastest MPI)")
        );
        let many = sheet(400, 3);
        assert_eq!(rows(&many), 2, "{many}");
        assert!(
            many.contains(
                "Not on this sheet: 400 rows of cases and 400 tests: ddtbench report results&#x2f;x."
            ),
            "{many}"
        );
    }

    #[test]
    fn with_more_mpis_intervals_go_first_then_the_sheet_is_turned_and_the_slowest_go() {
        let of = |sides: usize| Across::of(&made(3, sides));
        assert_eq!((of(3).ratios, of(4).ratios), (Ratios::SameLine, Ratios::Omitted));
        let below = "49.2 µs put_manual<br>2.01x [1.22, 3.33]";
        assert!(sheet(3, 4).contains(below) && !sheet(40, 4).contains(below), "{}", sheet(3, 4));
        assert_eq!((of(4).paper_mm, of(7).paper_mm), ([210.0, 297.0], [297.0, 210.0]));
        let many = of(20);
        // In `made` the last is the fastest.
        assert!(many.sides.len() >= 8 && many.sides.last() == Some(&19) && many.size_pt >= 6.0);
        let page = sheet(3, 20);
        assert!(page.contains(&format!("{} slower MPIs", 20 - many.sides.len())), "{page}");
    }
}
