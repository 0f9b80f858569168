//! Numbers on the command line. `-1` and `-5s` are values like others, and errors name the valid ones.

use clap::{Arg, Command};
use ddtbench::plan::LONGEST_S;
use ddtbench::report::units::read_seconds;

/// Lets options take negative numbers, so that their own check refuses these with its reason. Applies to subcommands too.
pub(super) fn negative(command: Command) -> Command {
    let option = |arg: Arg| {
        let takes_values = arg.get_action().takes_values() && !arg.is_positional();
        // clap does not recognise a number with a unit.
        let has_unit = arg
            .get_value_names()
            .is_some_and(|names| names.iter().any(|name| ["TIME", "PERCENT"].contains(&name.as_str())));
        arg.allow_negative_numbers(takes_values).allow_hyphen_values(takes_values && has_unit)
    };
    command.mut_args(option).mut_subcommands(negative)
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match read_seconds(text) {
        Some(seconds) if seconds > LONGEST_S => Err(format!("must be at most {LONGEST_S} s")),
        Some(seconds) if seconds > 0.0 => Ok(seconds),
        _ => Err("must be a time above 0, for example 10, 90s or 10m".to_owned()),
    }
}

pub(super) fn count(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    move |text| {
        let count = text.parse().ok().filter(|count| (1..=most).contains(count));
        let advice = if text == "p" { "; for -np 4 write -n 4" } else { "" };
        count.ok_or_else(|| format!("must be a whole number from 1 to {most}{advice}"))
    }
}
