//! Numbers of the command line: `-1` is a value as others are, and what is none is told with what would be right.

use std::ffi::OsString;

use clap::builder::RangedU64ValueParser;
use clap::error::ContextKind;
use clap::{Arg, Command, Error};

/// The command, and those within it, in which a number after an option may be negative: it is refused by what it is for.
pub(super) fn negative(command: Command) -> Command {
    let option = |arg: Arg| {
        let takes_values = arg.get_action().takes_values() && !arg.is_positional();
        arg.allow_negative_numbers(takes_values)
    };
    command.mut_args(option).mut_subcommands(negative)
}

/// A number of things from 1 to `most`.
pub(super) fn count(most: usize) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most as u64)
}

/// What is told of what was typed wrong: of a number in other words than Rust's library has, and with what would be right.
pub(super) fn told(error: &Error, command: Command, words: &[OsString]) -> String {
    const TOO_LARGE: &str = "number too large to fit in target type";
    const WORDS: [(&str, &str); 5] = [
        ("invalid digit found in string", "it must be a whole number, 0 or more"),
        (TOO_LARGE, "it must be a whole number, at most 18446744073709551615"),
        ("cannot parse integer from empty string", "it must be a whole number"),
        ("invalid float literal", "it must be a number, as 0.5"),
        ("cannot parse float from empty string", "it must be a number, as 0.5"),
    ];
    let text = error.render().ansi().to_string();
    if text.contains(TOO_LARGE)
        && let Some(with_limit) = with_limit(error, command, words)
    {
        return with_limit;
    }
    WORDS.iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours))
}

/// What is told of a number that no type of numbers holds: what would be told of one that some hold, with the limit in it.
fn with_limit(error: &Error, command: Command, words: &[OsString]) -> Option<String> {
    let typed = error.get(ContextKind::InvalidValue)?.to_string();
    let held = i64::MAX.to_string();
    let words = words.iter().map(|word| word.to_string_lossy().replace(&typed, &held));
    let held_error = command.try_get_matches_from(words).err()?;
    let same = held_error.kind() == error.kind()
        && held_error.get(ContextKind::InvalidArg) == error.get(ContextKind::InvalidArg);
    let error = Some(held_error).filter(|_| same)?;
    Some(error.render().ansi().to_string().replace(&held, &typed))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn refusal(words: &[&str]) -> String {
        let words: Vec<OsString> =
            [&["ddtbench", "run"], words].concat().iter().map(OsString::from).collect();
        let command = negative(Cli::command());
        let text = told(&command.clone().try_get_matches_from(&words).unwrap_err(), command, &words);
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn what_is_no_number_is_told_with_what_would_be_right() {
        for (words, right) in [
            (["--seed", "-1"], "whole number, 0 or more"),
            (["-n", "-2"], "whole number, 0 or more"),
            (["--seed", "99999999999999999999"], "at most 18446744073709551615"),
            (["--launches", ""], "a whole number"),
            (["--warmup", "4294967296"], "0..=4294967295"),
            (["--warmup", "18446744073709551615"], "0..=4294967295"),
            (["--max-runs", "99999999999999999999"], "0..=4294967295"),
            (["--launches", "99999999999999999999"], "1..=10000"),
            (["--max-time", "soon"], "must be a number"),
            (["--max-time", ""], "must be a number"),
        ] {
            let told = refusal(&words);
            assert!(told.contains(words[1]) && told.contains(right), "{told}");
            assert!(!told.contains("use '-- "), "{told}");
        }
        let negative_time = ["ddtbench", "run", "--max-time", "-1"];
        assert!(
            negative(Cli::command()).try_get_matches_from(negative_time).is_ok(),
            "its limit is the plan's"
        );
    }
}
