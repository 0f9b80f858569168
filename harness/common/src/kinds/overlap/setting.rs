//! The parameters of a case that are not values of a micro-app: the duration of both parts, and how they are run.

use datatypes::Element;

use crate::model::conditions::Configuration;
use crate::parameter::{Parameter, always, given, threads, unusual};
use crate::units::read_time_s;

/// The parameters of a case that are not values of the application.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapSetting {
    /// The requested time of the communication by itself, in microseconds: its number of bytes is chosen accordingly.
    pub communication_us: Option<f64>,
    /// The requested time of the computation by itself, in microseconds: its matrices are chosen accordingly.
    pub computation_us: Option<f64>,
    /// Bytes of the operation.
    pub bytes: Option<u64>,
    /// The type of the numbers that an operation adds.
    pub element: Element,
    /// Rows of the matrices that each thread multiplies.
    pub matrix_order: Option<u64>,
    /// The share of the computation that needs the received data, in percent; for an exchange.
    pub rim_percent: Option<f64>,
    /// Threads of each rank that compute.
    pub threads: usize,
    /// Microseconds between two calls of `MPI_Test` within the computation; 0 for no calls.
    pub test_every_us: f64,
    /// The source of communication progress.
    pub configuration: Configuration,
}

impl Default for OverlapSetting {
    fn default() -> Self {
        Self {
            communication_us: None,
            computation_us: None,
            bytes: None,
            element: Element::Double,
            matrix_order: None,
            rim_percent: None,
            threads: 1,
            test_every_us: 0.0,
            configuration: Configuration::Basic,
        }
    }
}

/// Supported types of sums: C's real numbers, of either precision.
const SUMMED: [Element; 2] = [Element::Double, Element::Float];
/// Maximum bytes of an operation: MPI counts them in a C `int`.
pub const MOST_BYTES: u64 = i32::MAX as u64;
/// Maximum rows of matrices: three of them have 10 GB, and a product takes a minute or more.
pub const MOST_ROWS: u64 = 20_000;
/// The shortest time that can be requested, in microseconds: shorter times would mostly be those of the clock and the barrier.
pub const LEAST_US: f64 = 1.0;
/// The longest time that can be requested, in microseconds: after a hundred seconds the rank program would be considered hanging.
const MOST_US: f64 = 1e8;

/// The default rim of an exchange, in percent: the outermost layer of a cube of 60 x 60 x 60 points has 9.7.
pub const RIM_PERCENT: f64 = 10.0;
/// The largest rim: some computation must remain to overlap with.
const MOST_RIM_PERCENT: f64 = 90.0;

/// All parameters, in the order in which they are shown.
pub const PARAMETERS: &[Parameter<OverlapSetting>] = &[
    parameter!("communication_us", communication_us: "TIME" = "", least_us, given;
        "time of the communication only, such as 500us, 4ms or 1s: its bytes are found; only for operations"),
    parameter!("computation_us", computation_us: "TIME" = "", least_us, given;
        "time of the computation only: the size of its matrices is found [default: as long as the \
         communication]"),
    parameter!("bytes", bytes: "BYTES" = "", operation_bytes, given;
        "bytes of the operation, such as 64KiB, instead of its time"),
    parameter!("element", element: "TYPE" = "double", summed,
        |element: &Element| (*element != Element::Double).then(|| element.to_string());
        "numbers that ireduce and iallreduce add up: double or float"),
    parameter!("matrix_order", matrix_order: "ROWS" = "", rows, given;
        "rows of the square matrices that each thread multiplies, instead of the time"),
    parameter!("rim_percent", rim_percent: "PERCENT" = "", percent, given;
        "share of the computation that waits for the message, such as 10%; only for halos [default: 10%]"),
    parameter!("threads", threads: "N" = "1", threads, always; "threads of each rank that compute, each on a core"),
    parameter!("test_every_us", test_every_us: "TIME" = "0", |text| time_us(text, 0.0), unusual;
        "interval of calling MPI_Test during the computation, such as 10us; 0: never"),
    parameter!("configuration", configuration: "HOW" = "basic", str::parse::<Configuration>, unusual;
        "progress of communication: basic, the MPI's default; progress, asynchronous progress; dedicated, the same \
         with a reserved core"),
];

fn least_us(text: &str) -> Result<f64, String> {
    time_us(text, LEAST_US)
}

fn operation_bytes(text: &str) -> Result<u64, String> {
    let bytes = apps::bytes(text).filter(|bytes| (1..=MOST_BYTES).contains(bytes));
    bytes.ok_or_else(|| format!("must be bytes, such as 65536 or 64KiB, from 1 to {MOST_BYTES}"))
}

fn summed(text: &str) -> Result<Element, String> {
    let element = SUMMED.into_iter().find(|element| element.name() == text);
    element.ok_or_else(|| "must be double or float".to_owned())
}

fn rows(text: &str) -> Result<u64, String> {
    let rows = text.parse().ok().filter(|rows| (1..=MOST_ROWS).contains(rows));
    rows.ok_or_else(|| format!("must be a whole number from 1 to {MOST_ROWS}"))
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=MOST_RIM_PERCENT).contains(percent));
    percent.ok_or_else(|| format!("must be a share from 0% to {MOST_RIM_PERCENT}%"))
}

/// Microseconds from a text such as `500us`, `4ms`, `1s` or `500`.
fn time_us(text: &str, least: f64) -> Result<f64, String> {
    // In picoseconds they are whole numbers, so that 3us is not 2.9999999999999996.
    let with_unit = || Some((read_time_s(text)? * 1e12).round() / 1e6);
    let time = text.parse().ok().or_else(with_unit).filter(|time| (least..=MOST_US).contains(time));
    time.ok_or_else(|| format!("must be a time, such as 500us, 4ms or 1s, from {least}us to 100s"))
}

impl OverlapSetting {
    /// The share of the computation that needs the received data, from 0 to 1.
    pub fn rim_share(&self) -> f64 {
        self.rim_percent.unwrap_or(0.0) / 100.0
    }

    /// Cores that a rank needs.
    pub fn cores(&self) -> usize {
        self.threads + usize::from(self.configuration == Configuration::Dedicated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let us = |text| time_us(text, 1.0).ok();
        assert_eq!(
            [us("500"), us("500us"), us("4ms"), us("1s")],
            [Some(500.0), Some(500.0), Some(4e3), Some(1e6)]
        );
        assert_eq!([us("0.5"), us("1h"), us("-3ms"), us("nan"), us("101s")], [None; 5]);
        assert_eq!(time_us("0", 0.0), Ok(0.0));
    }
}
