//! The answer of overlap: a map of each grid, and a line per case of its diagonal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{Color, RgbColor, Style};

use crate::model::{Quantity, Record};
use crate::report::answer;
use crate::report::case::CaseView;
use crate::report::columns::wrapped;
use crate::report::table::{TableFormat, text_width};
use crate::report::units;

/// Times of either axis, in microseconds.
const AXES: [&str; 2] = ["communication_us", "computation_us"];

/// The value of a parameter that is a number.
fn number(record: &Record, name: &str) -> Option<f64> {
    let values = record.case.params.split(' ').filter_map(|pair| pair.split_once('='));
    values.filter(|(known, _)| *known == name).find_map(|(_, value)| value.parse().ok())
}

/// Where a case lies in its grid: communication and computation in nanoseconds.
fn place(record: &Record) -> Option<(u64, u64)> {
    let [communication, computation] =
        AXES.map(|axis| number(record, axis).map(|us| (us * 1e3).round() as u64));
    communication.zip(computation)
}

/// Whether a case lies on the diagonal of a grid, or in none.
fn is_diagonal(record: &Record) -> bool {
    place(record).is_none_or(|(communication, computation)| communication == computation)
}

/// The maps, and the answer of the diagonal's cases; nothing is wider than a terminal of `width`. With codes for colours.
pub(super) fn answer(form: &'static TableFormat, records: &[Record], width: Option<u16>) -> String {
    let maps = maps(form, records);
    if maps.is_empty() {
        return answer::answer(form, records, width);
    }
    let diagonal: Vec<Record> = records.iter().filter(|record| is_diagonal(record)).cloned().collect();
    let text = answer::answer(form, &diagonal, width);
    let (room, width) = (width.map(usize::from), text_width(width));
    let maps: String = maps.iter().map(|map| map.text(room, width)).collect();
    format!("{}{maps}\n{text}", wrapped("", LEGEND, width, 0))
}

const LEGEND: &str = "Overhead ratio over the times of both parts: 0 is perfect overlap, 1 is one after the other, more is worse than that.";

/// The overhead ratios of one method over a grid.
struct Map {
    title: String,
    cells: BTreeMap<(u64, u64), Option<f64>>,
}

/// A map for each test, method and place that was measured over a grid of two times or more each way.
fn maps(form: &'static TableFormat, records: &[Record]) -> Vec<Map> {
    let mut maps: Vec<Map> = Vec::new();
    for case in CaseView::all(form, records) {
        let Some(place) = place(case.first()) else { continue };
        for record in case.methods() {
            let title =
                format!("{}, {}: {}{}", record.case.test, record.method, case.conditions(), others(record));
            let value = record.value(Quantity::OverheadRatio);
            match maps.iter_mut().find(|map| map.title == title) {
                Some(map) => drop(map.cells.insert(place, value)),
                None => maps.push(Map { title, cells: BTreeMap::from([(place, value)]) }),
            }
        }
    }
    maps.retain(|map| {
        let [communication, computation] = map.axes();
        communication.len() > 1 && computation.len() > 1
    });
    maps
}

/// Parameters that make a grid of its own.
fn others(record: &Record) -> String {
    // Found for the times of the axes, or beside the MPI already.
    const TOLD: [&str; 5] = ["communication_us", "computation_us", "bytes", "matrix_order", "configuration"];
    let is_other =
        |pair: &&str| !TOLD.contains(&pair.split('=').next().unwrap_or_default()) && *pair != "threads=1";
    record.case.params.split(' ').filter(is_other).map(|pair| format!(", {pair}")).collect()
}

impl Map {
    /// The times of both axes, rising.
    fn axes(&self) -> [Vec<u64>; 2] {
        let mut axes: [Vec<u64>; 2] = [
            self.cells.keys().map(|place| place.0).collect(),
            self.cells.keys().map(|place| place.1).collect(),
        ];
        for axis in &mut axes {
            axis.sort_unstable();
            axis.dedup();
        }
        axes
    }

    /// With its title, in a terminal of `room` columns, if it is one; sentences are at most `width` wide. What has no room beside the
    /// rest stands below it.
    fn text(&self, room: Option<usize>, width: usize) -> String {
        /// Columns of a cell: a time as `4.00 ms`.
        const CELL: usize = 8;
        let [communication, computation] = self.axes();
        let time = |ns: u64| units::seconds(ns as f64 * 1e-9);
        let mut text = format!("\n{}", wrapped("", &self.title, width, 2));
        // One column is the computation's; before each stands a blank.
        let most = room.map_or(usize::MAX, |room| (room.saturating_sub(CELL) / (CELL + 1)).max(1));
        for communication in communication.chunks(most) {
            let _ = write!(text, "{:>CELL$} communication\n{:>CELL$}", "", "comput.");
            communication.iter().for_each(|&ns| text += &format!(" {:>CELL$}", time(ns)));
            text.push('\n');
            // The longest computation on top, as in the paper's maps.
            for &row in computation.iter().rev() {
                let _ = write!(text, "{:>CELL$}", time(row));
                for &column in communication {
                    let cell = match self.cells.get(&(column, row)).copied().flatten() {
                        Some(ratio) => format!("{}{ratio:>CELL$.2}{:#}", style(ratio), style(ratio)),
                        None => format!("{:>CELL$}", "-"),
                    };
                    let _ = write!(text, " {cell}");
                }
                text.push('\n');
            }
        }
        text + &wrapped("", &self.begins(), width, 2)
    }

    /// Where overlap begins: how many cells have some, and which of them is the shortest.
    fn begins(&self) -> String {
        let known = self.cells.iter().filter_map(|(place, ratio)| Some((place, (*ratio)?)));
        let (mut with, mut all) = (Vec::new(), 0);
        for (place, ratio) in known {
            all += 1;
            if ratio < HALF {
                with.push(place);
            }
        }
        let Some(first) = with.iter().min_by_key(|place| place.0.max(place.1)) else {
            return format!("Nowhere does half of the shorter part hide ({all} cells).");
        };
        let time = |ns: u64| units::seconds(ns as f64 * 1e-9);
        format!(
            "Half of the shorter part or more hides in {} of {all} cells, from {} of communication and {} of computation on.",
            with.len(),
            time(first.0),
            time(first.1)
        )
    }
}

/// The overhead ratio below which half of the shorter part hides.
const HALF: f64 = 0.5;

/// The colours of the paper's maps: green at 0, yellow at 1, red from 2 on, blue below 0; black text on all of them.
fn style(ratio: f64) -> Style {
    let mix = |from: [u8; 3], to: [u8; 3], share: f64| {
        let part =
            |i: usize| (f64::from(from[i]) + (f64::from(to[i]) - f64::from(from[i])) * share).round() as u8;
        RgbColor(part(0), part(1), part(2))
    };
    const BLUE: [u8; 3] = [120, 170, 255];
    const GREEN: [u8; 3] = [110, 200, 120];
    const YELLOW: [u8; 3] = [250, 225, 90];
    const RED: [u8; 3] = [240, 120, 90];
    let colour = match ratio {
        ratio if ratio < 0.0 => mix(GREEN, BLUE, (-ratio).min(1.0)),
        ratio if ratio < 1.0 => mix(GREEN, YELLOW, ratio),
        ratio => mix(YELLOW, RED, (ratio - 1.0).min(1.0)),
    };
    Style::new().bg_color(Some(Color::Rgb(colour))).fg_color(Some(Color::Rgb(RgbColor(0, 0, 0))))
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;
    use crate::experiments;
    use crate::experiments::Kind;
    use crate::model::{Case, Figure};

    fn record(communication_us: u64, computation_us: u64, ratio: f64) -> Record {
        let params = format!(
            "communication_us={communication_us} computation_us={computation_us} bytes=9 matrix_order=9 threads=1"
        );
        let figure = Figure::with_interval(Quantity::OverheadRatio, ratio, (ratio - 0.1, ratio + 0.1));
        Record {
            case: Case {
                experiment: "overlap".to_owned(),
                test: "ibcast".to_owned(),
                params,
                mpi: "mpich".to_owned(),
                ranks: 2,
                ..Case::default()
            }
            .into(),
            method: "nonblocking".to_owned(),
            phase: Kind::Overlap.headline(),
            median_s: Some(1e-3),
            figures: vec![figure],
            ..Record::default()
        }
    }

    #[test]
    fn a_grid_is_a_map_with_the_longest_computation_on_top() {
        let records = [
            record(1000, 1000, 1.02),
            record(4000, 1000, 0.3),
            record(1000, 4000, -0.1),
            record(4000, 4000, 0.4),
        ];
        let text =
            strip_str(&answer(experiments::of(Kind::Overlap).table_format(), &records, Some(80))).to_string();
        let rows: Vec<&str> =
            text.lines().filter(|line| line.contains("ms ") && line.contains('.')).collect();
        assert!(rows.iter().any(|row| row.contains("4.00 ms    -0.10     0.40")), "{text}");
        assert!(text.contains("hides in 3 of 4 cells"), "{text}");
        // The lines below are the diagonal's.
        assert_eq!(text.lines().filter(|line| line.starts_with("ibcast  ")).count(), 2, "{text}");
    }

    #[test]
    fn a_grid_is_no_wider_than_the_terminal() {
        let times: Vec<u64> = (0..12).map(|power| 500 << power).collect();
        let of_column =
            |&column: &u64| times.iter().map(move |&row| record(column, row, 0.1)).collect::<Vec<_>>();
        let records: Vec<Record> = times.iter().flat_map(of_column).collect();
        for width in [80, 40] {
            let text =
                strip_str(&answer(experiments::of(Kind::Overlap).table_format(), &records, Some(width)))
                    .to_string();
            let maps = text.split("Half of").next().unwrap();
            assert!(maps.lines().all(|line| line.chars().count() <= usize::from(width).max(60)), "{text}");
            // Each column is there once, in as many parts as there must be.
            let cells = maps.lines().map(|line| line.matches("0.10").count()).sum::<usize>();
            assert_eq!(cells, 144, "{text}");
        }
        let whole =
            strip_str(&answer(experiments::of(Kind::Overlap).table_format(), &records, None)).to_string();
        assert!(whole.lines().any(|line| line.matches("0.10").count() == 12), "{whole}");
    }

    #[test]
    fn a_case_by_itself_is_a_line() {
        let text = strip_str(&answer(
            experiments::of(Kind::Overlap).table_format(),
            &[record(1000, 1000, 1.0)],
            Some(80),
        ))
        .to_string();
        assert!(!text.contains("comput.") && text.contains("ibcast"), "{text}");
    }
}
