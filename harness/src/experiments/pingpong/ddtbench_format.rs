//! The text output of the original suite, so that its scripts still work.
//!
//! Nine right-aligned columns. Times are in microseconds with three decimals: the original formats four into
//! a buffer that is one character too short, which cuts the last. Tests and methods that the original does
//! not have are left out, and methods without usable times.

use apps::TESTS;

use super::methods::METHODS;
use crate::experiments::TextFormat;
use crate::model::event::Block;
use crate::model::{Phase, Record};

pub const FORMAT: TextFormat = TextFormat { name: "ddtbench", file: "ddtbench.out", header, lines };

/// The test of the original whose name contains the number of ranks: `FFT2`.
const ALL_TO_ALL: &str = "FFT";

/// The first line of the file.
fn header() -> String {
    let names = "testname packMethod bytes id time papi_evt1_type papi_evt1_val papi_evt2_type papi_evt2_val";
    line(names.split(' '))
}

/// The lines of a method, in the order of timing. Empty if the original does not have the test or the method.
fn lines(record: &Record, blocks: &[Block]) -> String {
    let case = &record.case;
    let test = TESTS.iter().find(|test| test.name == case.test).and_then(|test| test.original_name);
    let method = METHODS.iter().find(|method| method.name == record.method);
    let (Some(original), Some(method)) = (test, method.and_then(|method| method.original_name)) else {
        return String::new();
    };
    if !record.outcome.counts() {
        return String::new();
    }
    let test = match original {
        ALL_TO_ALL => format!("{original}{}", case.ranks),
        _ => original.to_owned(),
    };
    let bytes = record.bytes.to_string();
    let mut text = String::new();
    for block in blocks.iter().filter(|block| block.pair == 0) {
        for (epoch, seconds) in epochs(block) {
            let time = microseconds(seconds);
            text += &line([&*test, method, &*bytes, epoch, &*time, "NA", "NA", "NA", "NA"]);
        }
    }
    text
}

/// The epochs of a block with their times, in their order.
fn epochs(block: &Block) -> Vec<(&'static str, f64)> {
    let once = |phase: Phase| phase.samples(block).first().copied();
    let mut all: Vec<_> = once(Phase::Create).map(|s| ("ddt_create_overhead", s)).into_iter().collect();
    // The original times all repetitions in parts, so this uses repetitions that are timed in parts.
    let parts = Phase::InParts.samples(block).len();
    let repetitions = if parts > 0 { parts } else { block.times.repetitions() };
    for i in 0..repetitions {
        let of = |phase: Phase| phase.samples(block).get(i).copied();
        let (pack, unpack) = (of(Phase::Pack), of(Phase::Unpack));
        // A batch is timed as a whole: everything except packing is communication.
        let rest = || of(Phase::RoundTrip).map(|s| s - pack.unwrap_or(0.0) - unpack.unwrap_or(0.0));
        all.extend(pack.map(|s| ("pack", s)));
        all.extend(of(Phase::Communicate).or_else(rest).map(|s| ("communication", s)));
        all.extend(unpack.map(|s| ("unpack", s)));
    }
    all.extend(once(Phase::Free).map(|s| ("ddt_free_overhead", s)));
    all
}

/// Microseconds as the original prints them: with four decimals, the last one cut off.
fn microseconds(seconds: f64) -> String {
    let mut text = format!("{:.4}", seconds * 1e6);
    text.pop();
    text
}

fn line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let widths = [30, 30, 15, 20, 20, 20, 20, 20, 20];
    cells.into_iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use crate::model::{Case, Outcome, Times};

    use super::*;

    fn record(test: &str, method: &str) -> Record {
        let case = Case { test: test.into(), ranks: 2, ..Case::default() };
        Record { case: case.into(), method: method.into(), bytes: 1000, ..Record::default() }
    }

    /// The first five columns of each line; checks the widths.
    fn fields(text: &str) -> Vec<String> {
        let five = |line: &str| line.split_whitespace().take(5).collect::<Vec<_>>().join(" ");
        text.lines().inspect(|line| assert_eq!(line.len(), 195)).map(five).collect()
    }

    #[test]
    fn columns_have_the_widths_of_the_original() {
        let expected = concat!(
            "                      testname                    packMethod          bytes                  id                time      ",
            "papi_evt1_type       papi_evt1_val      papi_evt2_type       papi_evt2_val\n"
        );
        assert_eq!(header(), expected);
    }

    #[test]
    fn a_block_is_written_in_the_order_in_which_it_happened() {
        let all = vec![
            (Phase::Create, vec![1e-6]),
            (Phase::Free, vec![2e-6]),
            (Phase::Pack, vec![3e-6, 4e-6]),
            (Phase::Communicate, vec![50.12349e-6, 51e-6]),
            (Phase::Unpack, vec![5e-6, 6e-6]),
            (Phase::RoundTrip, vec![59e-6, 62e-6]),
        ];
        // Only repetitions that are timed in parts are written.
        let in_parts = vec![
            (Phase::Pack, vec![3e-6]),
            (Phase::Communicate, vec![50e-6]),
            (Phase::Unpack, vec![5e-6]),
            (Phase::InParts, vec![58e-6]),
            (Phase::RoundTrip, vec![57e-6, 59e-6]),
        ];
        // Without samples of communication, it is the rest of the round trip.
        let batch =
            vec![(Phase::Pack, vec![1e-6]), (Phase::Unpack, vec![2e-6]), (Phase::RoundTrip, vec![10e-6])];
        for (test, method, batch, times, start, expected) in [
            (
                "wrf_x_vec",
                "mpi_pack",
                1,
                all,
                "WRF_x_vec mpi_pack_ddt",
                "ddt_create_overhead 1.000, pack 3.000, communication 50.123, unpack 5.000, pack 4.000, \
                 communication 51.000, unpack 6.000, ddt_free_overhead 2.000",
            ),
            (
                "wrf_x_vec",
                "manual",
                1,
                in_parts,
                "WRF_x_vec manual",
                "pack 3.000, communication 50.000, unpack 5.000",
            ),
            ("fft2d", "manual", 8, batch, "FFT2 manual", "pack 1.000, communication 7.000, unpack 2.000"),
        ] {
            let mut block = Block { batch, ..Block::default() };
            times.into_iter().for_each(|(phase, samples)| block.times[phase] = samples);
            let other_pair = Block { pair: 1, ..block.clone() };
            let expected: Vec<_> = expected.split(", ").map(|time| format!("{start} 1000 {time}")).collect();
            assert_eq!(fields(&lines(&record(test, method), &[block, other_pair])), expected);
        }
    }

    #[test]
    fn what_the_original_lacks_or_what_failed_is_left_out() {
        let block = Block { times: Times::from([(Phase::RoundTrip, vec![1e-6])]), ..Block::default() };
        let wrong = Outcome::WrongData { detail: "x".into() };
        let wrong = Record { outcome: wrong, ..record("wrf_x_vec", "manual") };
        for record in [record("wrf_x_vec", "put_ddt"), wrong, record("strided", "manual")] {
            assert_eq!(lines(&record, std::slice::from_ref(&block)), "", "{record:?}");
        }
        assert_ne!(lines(&record("wrf_x_vec", "manual"), &[block]), "");
    }
}
