//! Numbers of the command line: what is none, or too large, is told with what would be right, and `-1` is a value as others are.

use std::any::TypeId;
use std::fmt::Display;
use std::str::FromStr;

use clap::{Arg, Command};

/// The command, and those within it, with numbers that are told so.
pub(super) fn plain(command: Command) -> Command {
    command.mut_args(number).mut_subcommands(plain)
}

fn number(arg: Arg) -> Arg {
    let takes_values = arg.get_action().takes_values() && !arg.is_positional();
    let is = |id: TypeId| arg.get_value_parser().type_id() == id;
    let (u32s, u64s, usizes, floats) = (
        is(TypeId::of::<u32>()),
        is(TypeId::of::<u64>()),
        is(TypeId::of::<usize>()),
        is(TypeId::of::<f64>()),
    );
    match () {
        () if !takes_values => arg,
        () if u32s => arg.value_parser(|text: &str| whole(text, u32::MAX)),
        () if u64s => arg.value_parser(|text: &str| whole(text, u64::MAX)),
        () if usizes => arg.value_parser(|text: &str| whole(text, usize::MAX)),
        () if floats => arg.value_parser(|text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| "it must be a number, as 0.5".to_owned())
        }),
        () => arg,
    }
    .allow_negative_numbers(takes_values)
}

fn whole<N: FromStr + Display>(text: &str, most: N) -> Result<N, String> {
    text.parse().map_err(|_| format!("it must be a whole number from 0 to {most}"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    fn refusal(words: &[&str]) -> String {
        let words = [&["ddtbench", "run"], words].concat();
        plain(Cli::command()).try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_number_is_told_with_what_would_be_right() {
        for (words, right) in [
            (&["--seed", "-1"], "from 0 to 18446744073709551615"),
            (&["-n", "-2"], "from 0 to"),
            (&["--warmup", "4294967296"], "from 0 to 4294967295"),
            (&["--max-time", "soon"], "must be a number"),
            (&["--max-time", "inf"], "must be a number"),
        ] {
            let told = refusal(words);
            assert!(told.contains(words[1]) && told.contains(right) && !told.contains("--  "), "{told}");
            assert!(!told.contains("use '-- "), "{told}");
        }
        let negative = ["ddtbench", "run", "--max-time", "-1"];
        assert!(plain(Cli::command()).try_get_matches_from(negative).is_ok(), "the plan says what is wrong");
        assert!(Cli::try_parse_from(["ddtbench", "run", "--seed", "1"]).is_ok());
    }
}
