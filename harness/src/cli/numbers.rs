//! Numbers of the command line: `-1` and `-5s` are values as others are, and a wrong one is refused with what would be right.

use clap::{Arg, Command};
use ddtbench::plan::LONGEST_S;
use ddtbench::report::units::read_seconds;

/// The command, and those within it, in which a number after an option may be negative: it is refused by what it is for.
pub(super) fn negative(command: Command) -> Command {
    let option = |arg: Arg| {
        let takes_values = arg.get_action().takes_values() && !arg.is_positional();
        // A number with a unit is not one that clap knows.
        let has_unit = arg
            .get_value_names()
            .is_some_and(|names| names.iter().any(|name| ["TIME", "PERCENT"].contains(&name.as_str())));
        arg.allow_negative_numbers(takes_values).allow_hyphen_values(takes_values && has_unit)
    };
    command.mut_args(option).mut_subcommands(negative)
}

/// Reads a time in seconds, with or without a unit.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match read_seconds(text) {
        Some(seconds) if seconds > LONGEST_S => Err(format!("must be at most {LONGEST_S} s")),
        Some(seconds) if seconds > 0.0 => Ok(seconds),
        _ => Err("must be a time above 0, for example 10, 90s or 10m".to_owned()),
    }
}

/// Reads a number of things, from 1 to `most`.
pub(super) fn count(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    move |text| {
        let count = text.parse().ok().filter(|count| (1..=most).contains(count));
        count.ok_or_else(|| format!("must be a whole number from 1 to {most}"))
    }
}
