//! The limits of a method as flags of both programs.

use std::fmt::Display;

use clap::Args;

use crate::limits::Limits;
use crate::units::read_seconds as seconds;

/// The limits given on a command line.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    #[arg(long, value_name = "N", value_parser = whole, help = help("Warm-up repetitions, which do not count", |usual| usual.warmup))]
    warmup: Option<u32>,
    #[arg(long = "min-repetitions", value_name = "N", value_parser = whole, help = help("Minimum repetitions per method, if --max-time allows", |usual| usual.min_runs))]
    min_runs: Option<u32>,
    #[arg(long = "max-repetitions", value_name = "N", value_parser = whole, help = help("Maximum repetitions per method", |usual| usual.max_runs))]
    max_runs: Option<u32>,
    #[arg(long, value_name = "TIME", value_parser = time, help = help(MAX_TIME, |usual| usual.max_time_s))]
    pub max_time: Option<f64>,
    #[arg(long, value_name = "PERCENT", value_parser = number, help = help(PRECISION, |usual| usual.precision_percent))]
    precision: Option<f64>,
}

/// The flags, in the order of the fields.
const FLAGS: [&str; 5] = ["--warmup", "--min-repetitions", "--max-repetitions", "--max-time", "--precision"];

const MAX_TIME: &str = "Time budget per method, summed over launches. Counts warm-up and data checks, not set-up. All methods of a case \
                        stop together. Without this flag larger presets have more time, and at least six rounds per launch are run, even if that takes longer";
const PRECISION: &str =
    "A method is done when the 95% interval of its median is at most this wide to either side";

fn help<T: Display>(about: &str, usual: fn(Limits) -> T) -> String {
    format!("{about} [default: {}]", usual(Limits::default()))
}

fn whole(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("must be a whole number from 0 to {}", u32::MAX))
}

fn number(text: &str) -> Result<f64, &'static str> {
    text.parse().map_err(|_| "must be a number, for example 0.5")
}

/// Reads a time in seconds.
fn time(text: &str) -> Result<f64, &'static str> {
    seconds(text).ok_or("must be a time, for example 0.5, 90s or 10m")
}

impl LimitArgs {
    /// Replaces limits by those given.
    pub fn apply(&self, limits: &mut Limits) {
        limits.warmup = self.warmup.unwrap_or(limits.warmup);
        limits.min_runs = self.min_runs.unwrap_or(limits.min_runs);
        limits.max_runs = self.max_runs.unwrap_or(limits.max_runs);
        if let Some(max_time_s) = self.max_time {
            (limits.max_time_s, limits.min_rounds) = (max_time_s, 0);
        }
        limits.precision_percent = self.precision.unwrap_or(limits.precision_percent);
    }

    /// Name of one of the flags given.
    pub fn given(&self) -> Option<&'static str> {
        let Self { warmup, min_runs, max_runs, max_time, precision } = self;
        let whole = [warmup, min_runs, max_runs].map(Option::is_some);
        let are_given = whole.into_iter().chain([max_time, precision].map(Option::is_some));
        FLAGS.into_iter().zip(are_given).find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Command-line arguments that give these limits.
    pub fn from_limits(limits: &Limits) -> Vec<String> {
        let Limits { warmup, min_runs, max_runs, max_time_s, precision_percent, .. } = limits;
        let values: [&dyn Display; 5] = [warmup, min_runs, max_runs, max_time_s, precision_percent];
        FLAGS.into_iter().zip(values).flat_map(|(flag, value)| [flag.to_owned(), value.to_string()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn read(words: &[String]) -> LimitArgs {
        let words = ["limits".to_owned()].into_iter().chain(words.iter().cloned());
        let matches = LimitArgs::augment_args(Command::new("limits")).get_matches_from(words);
        LimitArgs::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        let limits = Limits { warmup: 3, max_time_s: 0.25, max_runs: 7, ..Limits::default() };
        let mut again = Limits::default();
        read(&LimitArgs::from_limits(&limits)).apply(&mut again);
        assert_eq!(again, limits);
        let mut untouched = limits;
        read(&[]).apply(&mut untouched);
        assert_eq!(untouched, limits);
    }
}
