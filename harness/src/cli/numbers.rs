//! Numbers of the command line: `-1` is a value as others are, and what is none is told with what would be right.

use clap::{Arg, Command};

/// The command, and those within it, in which a number after an option may be negative: it is refused by what it is for.
pub(super) fn negative(command: Command) -> Command {
    let option = |arg: Arg| {
        let takes_values = arg.get_action().takes_values() && !arg.is_positional();
        arg.allow_negative_numbers(takes_values)
    };
    command.mut_args(option).mut_subcommands(negative)
}

/// What is told of a number, where the words are those of Rust's library.
pub(super) fn told(text: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        ("invalid digit found in string", "it must be a whole number, 0 or more"),
        ("number too large to fit in target type", "it must be a whole number, at most 18446744073709551615"),
        ("cannot parse integer from empty string", "it must be a whole number"),
        ("invalid float literal", "it must be a number, as 0.5"),
        ("cannot parse float from empty string", "it must be a number, as 0.5"),
    ];
    WORDS.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn refusal(words: &[&str]) -> String {
        let words = [&["ddtbench", "run"], words].concat();
        told(&negative(Cli::command()).try_get_matches_from(words).unwrap_err().to_string())
    }

    #[test]
    fn what_is_no_number_is_told_with_what_would_be_right() {
        for (words, right) in [
            (["--seed", "-1"], "whole number, 0 or more"),
            (["-n", "-2"], "whole number, 0 or more"),
            (["--seed", "99999999999999999999"], "at most 18446744073709551615"),
            (["--launches", ""], "a whole number"),
            (["--warmup", "4294967296"], "4294967295"),
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
