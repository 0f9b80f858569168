//! Arrivals as text.

use std::fmt;
use std::str::FromStr;

use super::Arrival;
use crate::fine_grained::emulation::MOST_S;
use crate::units::read_time_s;

/// The largest lateness of a thread, as a share of the computing time; a larger number is a typing error.
const MOST_SHARE: f64 = 1000.0;

/// Units of time, the longest first, and how many of each make a second.
const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)];

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Laggard { fraction } => write!(f, "laggard:{fraction}"),
            Self::Uniform { fraction } => write!(f, "uniform:{fraction}"),
            Self::Normal { sigma_s } => write!(f, "normal:{}", duration(*sigma_s)),
            Self::Kde { source, bandwidth_s: None } => write!(f, "kde:{source}"),
            Self::Kde { source, bandwidth_s: Some(bandwidth_s) } => {
                write!(f, "kde:{source}@{}", duration(*bandwidth_s))
            }
            Self::Delay { gamma_us_per_mb } => write!(f, "delay:{gamma_us_per_mb}"),
        }
    }
}

/// `none`; `laggard:0.04` or `laggard:4%`; `uniform:0.1` or `uniform:10%`; `normal:2us`; `kde:NAME` or
/// `kde:PATH`, either optionally followed by `@5us`; `delay:100`, in microseconds per MB.
impl FromStr for Arrival {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let value_like = |example: &str| {
            let error = || format!("arrival {text:?}: {name} needs a value, as in {name}:{example}");
            value.filter(|value| !value.is_empty()).ok_or_else(error)
        };
        let arrival = match name {
            "none" if value.is_none() => Self::None,
            "none" => return Err(format!("arrival {text:?}: none takes no value")),
            "laggard" => Self::Laggard { fraction: share(text, value_like("4%")?)? },
            "uniform" => Self::Uniform { fraction: share(text, value_like("10%")?)? },
            "normal" => Self::Normal { sigma_s: time_s(text, value_like("2us")?)? },
            "kde" => kde(text, value_like("sparse")?)?,
            "delay" => {
                let value = value_like("100")?;
                let gamma_us_per_mb = value.parse().map_err(|_| {
                    format!(
                        "arrival {text:?}: {value:?} must be a number of microseconds per MB of a partition, such as 100"
                    )
                })?;
                Self::Delay { gamma_us_per_mb }
            }
            _ => {
                return Err(format!(
                    "unknown arrival {text:?}; known: none, laggard:SHARE, uniform:SHARE, normal:TIME, \
                     kde:NAME, kde:PATH, kde:NAME@BANDWIDTH and delay:US_PER_MB"
                ));
            }
        };
        // The error shows the text as it was typed: the digits of a number that is far too large would not help.
        arrival.right().map_or(Ok(arrival), |right| Err(format!("arrival {text:?}: {right}")))
    }
}

impl Arrival {
    /// Refuses numbers that cannot produce times.
    pub fn check(&self) -> Result<(), String> {
        self.right().map_or(Ok(()), |right| Err(format!("arrival \"{self}\": {right}")))
    }

    /// A description of valid values if a number is invalid.
    fn right(&self) -> Option<&'static str> {
        let is_time = |time_s: f64| (0.0..=MOST_S).contains(&time_s);
        let (is_right, right) = match *self {
            Self::None | Self::Kde { bandwidth_s: None, .. } => return None,
            Self::Laggard { fraction } => {
                ((0.0..=MOST_SHARE).contains(&fraction), "its share is from 0 to 1000")
            }
            Self::Uniform { fraction } => {
                ((0.0..=1.0).contains(&fraction), "its share is between 0 and 1, or times would be negative")
            }
            Self::Normal { sigma_s } => (is_time(sigma_s), "its deviation is from 0 to 3600 s"),
            Self::Kde { bandwidth_s: Some(bandwidth_s), .. } => {
                (is_time(bandwidth_s), "its bandwidth is from 0 to 3600 s")
            }
            Self::Delay { gamma_us_per_mb } => {
                (is_time(gamma_us_per_mb / 1e6), "its delay is from 0 to 3600000000 us per MB, an hour")
            }
        };
        (!is_right).then_some(right)
    }
}

/// A share, possibly given as a percentage.
fn share(text: &str, value: &str) -> Result<f64, String> {
    let number = match value.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => value.parse(),
    };
    number.map_err(|_| {
        format!("arrival {text:?}: {value:?} must be a share of the computing time, such as 0.04 or 4%")
    })
}

/// A time with its unit, in seconds.
fn time_s(text: &str, value: &str) -> Result<f64, String> {
    read_time_s(value).ok_or_else(|| {
        format!("arrival {text:?}: {value:?} must be a time with a unit, such as 200ns, 2us or 1.5ms")
    })
}

/// A time in the longest unit of which it has at least one, with enough digits to be read back as the same number.
fn duration(time_s: f64) -> String {
    let of = |&(unit, per_second): &(&str, f64)| {
        // The product may be wrong in its last digit, for example 2.0000000000000004 us.
        let number = [(time_s * per_second * 1e6).round() / 1e6, time_s * per_second]
            .into_iter()
            .find(|number| number / per_second == time_s)?;
        (number >= 1.0).then(|| format!("{number}{unit}"))
    };
    UNITS.iter().find_map(of).unwrap_or_else(|| format!("{time_s}s"))
}

/// The text after `kde:`: a trace, and after the last `@` a bandwidth.
fn kde(text: &str, value: &str) -> Result<Arrival, String> {
    let Some((source, bandwidth)) = value.rsplit_once('@') else {
        return Ok(Arrival::Kde { source: value.to_owned(), bandwidth_s: None });
    };
    if source.is_empty() {
        return Err(format!("arrival {text:?}: before @ stands a trace, as in kde:sparse@5us"));
    }
    let bandwidth_s = time_s(text, bandwidth).map_err(|error| {
        format!("{error}; behind the last @ stands the bandwidth, also where a file's name has one")
    })?;
    Ok(Arrival::Kde { source: source.to_owned(), bandwidth_s: Some(bandwidth_s) })
}
