//! Numbers of the command line: `-1` is a value as others are, and what is none is refused with what would be right.

use clap::{Arg, Command};

/// The command, and those within it, in which a number after an option may be negative: it is refused by what it is for.
pub(super) fn negative(command: Command) -> Command {
    let option = |arg: Arg| {
        let takes_values = arg.get_action().takes_values() && !arg.is_positional();
        arg.allow_negative_numbers(takes_values)
    };
    command.mut_args(option).mut_subcommands(negative)
}

/// Reads a number of things, from 1 to `most`.
pub(super) fn count(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    move |text| {
        let count = text.parse().ok().filter(|count| (1..=most).contains(count));
        count.ok_or_else(|| format!("must be a whole number from 1 to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn refusal(flag: &str, text: &str) -> String {
        let words = ["ddtbench", "run", flag, text];
        negative(Cli::command()).try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_number_is_refused_with_what_would_be_right() {
        for (flag, text, right) in [
            ("-n", "-2", "whole number from 1 to"),
            ("--launches", "", "whole number from 1 to 10000"),
            ("--launches", "99999999999999999999", "from 1 to 10000"),
            ("--warmup", "-1", "from 0 to 4294967295"),
            ("--max-runs", "99999999999999999999", "from 0 to 4294967295"),
            ("--max-time", "soon", "must be a number"),
            ("--max-time", "", "must be a number"),
        ] {
            let message = refusal(flag, text);
            assert!(message.contains(text) && message.contains(right), "{message}");
            assert!(!message.contains("use '-- "), "{message}");
        }
        let negative_time = ["ddtbench", "run", "--max-time", "-1"];
        assert!(
            negative(Cli::command()).try_get_matches_from(negative_time).is_ok(),
            "its limit is the plan's"
        );
    }
}
