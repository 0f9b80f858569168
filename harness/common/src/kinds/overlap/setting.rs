//! What a case says besides the values of a micro-app: how long both parts are to take, and how they are run.

use clap::ValueEnum;
use datatypes::Element;

use crate::model::conditions::Configuration;
use crate::parameter::{self, Parameter, ParameterInfo, set, threads};

/// What a case says besides the application's values.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapSetting {
    /// Time that the communication is to take by itself, in microseconds: its bytes are chosen for that.
    pub communication_us: Option<f64>,
    /// Time that the computation is to take by itself, in microseconds: its matrices are chosen for that.
    pub computation_us: Option<f64>,
    /// Bytes of the operation.
    pub bytes: Option<u64>,
    /// The type of the numbers that an operation adds up.
    pub element: Element,
    /// Rows of the matrices that each thread multiplies.
    pub matrix_order: Option<u64>,
    /// The share of the computation that needs what arrives, in percent; of an exchange.
    pub rim_percent: Option<f64>,
    /// Threads of each rank that compute.
    pub threads: usize,
    /// Microseconds between two calls of `MPI_Test` within the computation; 0: none.
    pub test_every_us: f64,
    /// What brings communication forward.
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

/// What sums can be of: a real number of C, of either precision.
const SUMMED: [Element; 2] = [Element::Double, Element::Float];
/// Bytes of an operation at most: MPI counts them in a C `int`.
pub const MOST_BYTES: u64 = i32::MAX as u64;
/// Rows of matrices at most: three of them have 10 GB, and a product takes a minute or more.
pub const MOST_ROWS: u64 = 20_000;
/// The shortest time that can be asked for, in microseconds: shorter ones are the clock's and the barrier's.
pub const LEAST_US: f64 = 1.0;
/// The longest, in microseconds: a hundred seconds, above which the rank program would be taken for hanging.
const MOST_US: f64 = 1e8;

/// The rim of an exchange where none is given, in percent: of a cube of 60 points each way the outermost layer has 9.7.
pub const RIM_PERCENT: f64 = 10.0;
/// The largest rim: something must be left to hide behind.
const MOST_RIM_PERCENT: f64 = 90.0;

/// All parameters, in the order in which they are shown.
pub const PARAMETERS: &[Parameter<OverlapSetting>] = &[
    Parameter {
        info: ParameterInfo::new(
            "communication_us",
            "TIME",
            "",
            "time of the communication by itself, as 500us, 4ms or 1s: bytes that take so long are found; of an operation only",
        ),
        assign: |s, text| set(&mut s.communication_us, time_us(text, LEAST_US).map(Some)),
        text: |s| s.communication_us.map(|time| time.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "computation_us",
            "TIME",
            "",
            "time of the computation by itself: matrices whose product takes so long are found [default: as long as the \
             communication]",
        ),
        assign: |s, text| set(&mut s.computation_us, time_us(text, LEAST_US).map(Some)),
        text: |s| s.computation_us.map(|time| time.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "bytes",
            "BYTES",
            "",
            "bytes of the operation, as 64KiB, in place of its time",
        ),
        assign: |s, text| {
            let bytes = apps::bytes(text).filter(|bytes| (1..=MOST_BYTES).contains(bytes));
            let right = || format!("must be bytes, as 65536 or 64KiB, from 1 to {MOST_BYTES}");
            set(&mut s.bytes, bytes.ok_or_else(right).map(Some))
        },
        text: |s| s.bytes.map(|bytes| bytes.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "element",
            "TYPE",
            "double",
            "numbers that ireduce and iallreduce add up: double or float",
        ),
        assign: |s, text| {
            let element = SUMMED.into_iter().find(|element| element.name() == text);
            set(&mut s.element, element.ok_or_else(|| "must be double or float".to_owned()))
        },
        text: |s| (s.element != Element::Double).then(|| s.element.name().to_owned()),
    },
    Parameter {
        info: ParameterInfo::new(
            "matrix_order",
            "ROWS",
            "",
            "rows of the square matrices that each thread multiplies, in place of the time",
        ),
        assign: |s, text| {
            let rows = text.parse().ok().filter(|rows| (1..=MOST_ROWS).contains(rows));
            set(
                &mut s.matrix_order,
                rows.ok_or_else(|| format!("must be a whole number from 1 to {MOST_ROWS}")).map(Some),
            )
        },
        text: |s| s.matrix_order.map(|rows| rows.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "rim_percent",
            "PERCENT",
            "",
            "share of the computation that waits for what arrives, as 10%; of a halo only [default: 10%]",
        ),
        assign: |s, text| {
            let percent = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
            let percent = percent.filter(|percent| (0.0..=MOST_RIM_PERCENT).contains(percent));
            let right = || format!("must be a share from 0% to {MOST_RIM_PERCENT}%");
            set(&mut s.rim_percent, percent.ok_or_else(right).map(Some))
        },
        text: |s| s.rim_percent.map(|percent| percent.to_string()),
    },
    Parameter {
        info: ParameterInfo::new("threads", "N", "1", "threads of each rank that compute, each on a core"),
        assign: |s, text| set(&mut s.threads, threads(text)),
        text: |s| Some(s.threads.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "test_every_us",
            "TIME",
            "0",
            "the computation calls MPI_Test every so often, as 10us; 0 is never",
        ),
        assign: |s, text| set(&mut s.test_every_us, time_us(text, 0.0)),
        text: |s| (s.test_every_us > 0.0).then(|| s.test_every_us.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "configuration",
            "HOW",
            "basic",
            "what brings communication forward: basic, the MPI as it is; progress, its asynchronous progress; dedicated, the same \
             with a core left free for it",
        ),
        assign: |s, text| {
            let how = <Configuration as ValueEnum>::from_str(text, false);
            set(&mut s.configuration, how.map_err(|_| "must be basic, progress or dedicated".to_owned()))
        },
        text: |s| (s.configuration != Configuration::Basic).then(|| s.configuration.name().to_owned()),
    },
];

/// Microseconds of a text as `500us`, `4ms`, `1s` or `500`.
fn time_us(text: &str, least: f64) -> Result<f64, String> {
    let units = [("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("s", 1e6)];
    let with_unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (number, factor) = with_unit.unwrap_or((text, &1.0));
    let time = number.trim().parse::<f64>().ok().map(|number| number * factor);
    let time = time.filter(|time| (least..=MOST_US).contains(time));
    time.ok_or_else(|| format!("must be a time, as 500us, 4ms or 1s, from {least}us to 100s"))
}

impl OverlapSetting {
    /// The setting of its own parameters by name; those that are not given have their defaults.
    ///
    /// # Errors
    /// An unknown name, or a value that cannot be, and what would be right.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        parameter::parse(PARAMETERS, given)
    }

    /// All parameters that differ from the default, and the threads.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        parameter::pairs(PARAMETERS, self)
    }

    /// The share of the computation that needs what arrives, from 0 to 1.
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
    fn defaults_are_those_that_are_listed() {
        parameter::expect_sound(PARAMETERS);
    }

    #[test]
    fn times_have_units() {
        let us = |text| time_us(text, 1.0).ok();
        assert_eq!(
            [us("500"), us("500us"), us("4ms"), us("1s")],
            [Some(500.0), Some(500.0), Some(4e3), Some(1e6)]
        );
        assert_eq!([us("0.5"), us("1h"), us("-3ms"), us("nan"), us("101s")], [None; 5]);
        assert_eq!(time_us("0", 0.0), Ok(0.0));
        let again =
            OverlapSetting::parse([("communication_us", "4ms"), ("threads", "2"), ("test_every_us", "10us")])
                .unwrap();
        let pairs = again.pairs();
        let pairs = pairs.iter().map(|(name, value)| (*name, value.as_str()));
        assert_eq!(OverlapSetting::parse(pairs), Ok(again));
    }
}
