//! The limits of a method as flags of both programs, a row each.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use crate::limits::Limits;

/// A flag that sets a limit.
struct LimitFlag {
    long: &'static str,
    /// The unit of its value.
    value: &'static str,
    about: &'static str,
    assign: fn(&mut Limits, &str) -> Result<(), String>,
    text: fn(&Limits) -> String,
}

const FLAGS: [LimitFlag; 5] = [
    LimitFlag {
        long: "warmup",
        value: "N",
        about: "Warm-up repetitions, which do not count",
        assign: |limits, text| whole(&mut limits.warmup, text),
        text: |limits| limits.warmup.to_string(),
    },
    LimitFlag {
        long: "min-runs",
        value: "N",
        about: "Minimum repetitions per method, if --max-time allows",
        assign: |limits, text| whole(&mut limits.min_runs, text),
        text: |limits| limits.min_runs.to_string(),
    },
    LimitFlag {
        long: "max-runs",
        value: "N",
        about: "Maximum repetitions per method",
        assign: |limits, text| whole(&mut limits.max_runs, text),
        text: |limits| limits.max_runs.to_string(),
    },
    LimitFlag {
        long: "max-time",
        value: "SECONDS",
        about: "Time budget per method, summed over launches. Counts warm-up and data checks, not set-up. All methods of a case \
                stop together. Without this flag larger presets have more time, and ten rounds are run even if that takes longer",
        assign: |limits, text| {
            limits.min_rounds = 0;
            number(&mut limits.max_time_s, text)
        },
        text: |limits| limits.max_time_s.to_string(),
    },
    LimitFlag {
        long: "precision",
        value: "PERCENT",
        about: "A method is done when the 95% interval of its median is at most this wide to either side",
        assign: |limits, text| number(&mut limits.precision_percent, text),
        text: |limits| limits.precision_percent.to_string(),
    },
];

fn whole(field: &mut u32, text: &str) -> Result<(), String> {
    *field = text.parse().map_err(|_| format!("must be a whole number from 0 to {}", u32::MAX))?;
    Ok(())
}

fn number(field: &mut f64, text: &str) -> Result<(), String> {
    *field = text.parse().map_err(|_| "must be a number, for example 0.5".to_owned())?;
    Ok(())
}

/// The limits that were given on a command line.
#[derive(Clone, Debug, Default)]
pub struct LimitArgs(Vec<(usize, String)>);

impl LimitArgs {
    /// Replaces limits by those given.
    pub fn apply(&self, limits: &mut Limits) {
        for (flag, text) in &self.0 {
            (FLAGS[*flag].assign)(limits, text).expect("checked when it was read");
        }
    }

    /// One of the flags given.
    pub fn given(&self) -> Option<String> {
        self.0.first().map(|(flag, _)| format!("--{}", FLAGS[*flag].long))
    }

    /// Whether a flag was given.
    pub fn has(&self, long: &str) -> bool {
        self.0.iter().any(|(flag, _)| FLAGS[*flag].long == long)
    }

    /// The command line of these limits.
    pub fn of(limits: &Limits) -> Vec<String> {
        FLAGS.iter().flat_map(|flag| [format!("--{}", flag.long), (flag.text)(limits)]).collect()
    }
}

impl Args for LimitArgs {
    fn augment_args(command: Command) -> Command {
        let usual = Limits::default();
        command.args(FLAGS.iter().map(|flag| {
            let check = |text: &str| (flag.assign)(&mut Limits::default(), text).map(|()| text.to_owned());
            let help = format!("{} [default: {}]", flag.about, (flag.text)(&usual));
            Arg::new(flag.long).long(flag.long).value_name(flag.value).value_parser(check).help(help)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |(i, flag): (usize, &LimitFlag)| Some((i, matches.get_one::<String>(flag.long)?.clone()));
        Ok(Self(FLAGS.iter().enumerate().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[String]) -> Result<LimitArgs, clap::Error> {
        let words = ["limits".to_owned()].into_iter().chain(words.iter().cloned());
        let matches = LimitArgs::augment_args(Command::new("limits")).try_get_matches_from(words)?;
        LimitArgs::from_arg_matches(&matches)
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        let limits = Limits { warmup: 3, max_time_s: 0.25, max_runs: 7, ..Limits::default() };
        let mut again = Limits::default();
        read(&LimitArgs::of(&limits)).unwrap().apply(&mut again);
        assert_eq!(again, limits);
        let mut untouched = limits;
        read(&[]).unwrap().apply(&mut untouched);
        assert_eq!(untouched, limits);
    }

    #[test]
    fn wrong_limits_are_refused_with_what_would_be_right() {
        for (flag, text, right) in [
            ("--warmup", "4294967296", "from 0 to 4294967295"),
            ("--min-runs", "many", "whole number"),
            ("--max-time", "soon", "must be a number"),
        ] {
            let error = read(&[flag.to_owned(), text.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(flag) && error.contains(right), "{error}");
        }
    }
}
