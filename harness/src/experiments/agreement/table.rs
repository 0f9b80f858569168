//! Our ping-pong beside that of the Intel MPI Benchmarks, as text.

use super::Agreement;
use crate::report::columns::{Align, Column, fitted, wrapped};
use crate::report::table::text_width;
use crate::report::units;
use crate::stats;

const COLUMNS: [Column; 6] = [
    Column::new("message", Align::Right, 0),
    Column::new("IMB mean", Align::Right, 2),
    Column::new("our mean", Align::Right, 2),
    Column::new("our median", Align::Right, 2).rank(1),
    Column::new("ours/IMB", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
];

const LEGEND: &str = "One way, medians over launches that took turns. ours/IMB: the median of the launches' ratios of means, \
    with its 95% interval, which needs six launches.";

/// The table, and a sentence that says what it means.
pub fn table(agreements: &[Agreement], width: Option<u16>) -> String {
    let (room, width) = (width, text_width(width));
    let median = |times: &[f64]| stats::median(&stats::sorted(times.iter().copied()));
    let time = |times: &[f64]| median(times).map_or_else(String::new, units::seconds);
    let mut rows = vec![COLUMNS.map(|column| column.name.to_owned()).to_vec()];
    let [mut differ, mut open] = [Vec::new(), Vec::new()];
    for agreement in agreements {
        let ratio = agreement.ratio().filter(|ratio| ratio.interval.is_some());
        let interval = ratio.and_then(|ratio| ratio.interval);
        rows.push(vec![
            units::bytes(agreement.bytes),
            time(&agreement.imb_s),
            time(&agreement.mean_s),
            time(&agreement.median_s),
            ratio.map_or_else(String::new, |ratio| format!("{:.2}", ratio.value)),
            interval.map_or_else(String::new, |(low, high)| format!("[{low:.2}, {high:.2}]")),
        ]);
        match interval {
            Some((low, high)) if low > 1.0 + TOLERANCE || high < 1.0 - TOLERANCE => &mut differ,
            Some((low, high)) if low >= 1.0 - WIDE && high <= 1.0 + WIDE => continue,
            _ => &mut open,
        }
        .push(units::bytes(agreement.bytes));
    }
    let lines = fitted(&COLUMNS, &rows, room.map(usize::from), 2).text(room);
    let mut verdict = Vec::new();
    if !differ.is_empty() {
        verdict.push(format!(
            "They differ for {}: the interval lies wholly beyond 10% of 1. Look for what is not the same: binding, the \
             library that each found (ldd), other work on the machine.",
            differ.join(", ")
        ));
    }
    if !open.is_empty() {
        verdict.push(format!(
            "Not known for {}: too few launches, or a machine too busy for them (--launches).",
            open.join(", ")
        ));
    }
    if verdict.is_empty() {
        verdict.push("They agree: every interval lies within 25% of 1.".to_owned());
    }
    let verdict = verdict.join(" ");
    format!("{}\n{lines}\n{}", wrapped("", LEGEND, width, 0), wrapped("", &verdict, width, 0))
}

/// What two programs that do the same may differ by: other buffers, another loop.
const TOLERANCE: f64 = 0.1;

/// An interval that reaches further than this says too little.
const WIDE: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(bytes: u64, ratio: f64, launches: usize) -> Agreement {
        let of = |time_s: f64| vec![time_s; launches];
        Agreement { bytes, imb_s: of(1e-6), mean_s: of(ratio * 1e-6), median_s: of(0.9e-6) }
    }

    #[test]
    fn the_answer_stands_below_the_table() {
        let text = table(&[agreement(8, 1.05, 6), agreement(1024, 0.98, 6)], Some(80));
        assert!(text.contains("1.05 [1.05, 1.05]") && text.contains("They agree"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let narrow = table(&[agreement(8, 1.05, 6)], Some(60));
        assert!(narrow.contains("Left out, for want of room: our median."), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
        let text = table(&[agreement(8, 1.2, 6), agreement(1024, 0.98, 6)], Some(80));
        assert!(text.contains("They differ for 8 B:"), "{text}");
        let few = table(&[agreement(8, 1.05, 3)], Some(80));
        assert!(few.contains("Not known for 8 B"), "{few}");
        let row = few.lines().find(|line| line.contains("900 ns")).unwrap();
        assert!(row.trim_end().ends_with("900 ns"), "no ratio without its interval: {row}");
        let mut wide = agreement(8, 1.0, 6);
        wide.mean_s[..3].fill(2e-6);
        assert!(
            table(&[wide], Some(80)).contains("Not known for 8 B"),
            "an interval from 1 to 2 tells nothing"
        );
    }
}
