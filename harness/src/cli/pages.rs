//! What surrounds the flags: examples before them in help, exit codes and pages of the documentation after them, and more sections
//! in manual pages. The texts are in `pages.toml`.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

use clap::Command;
use ddtbench::experiments::{self, Kind};
use ddtbench::report::columns::wrapped;
use serde::Deserialize;

/// What can be typed or found, and what it does.
type Row = (String, String);

/// All texts.
#[derive(Deserialize)]
struct Pages {
    exit_codes: Vec<Row>,
    environment: Vec<Row>,
    files: Vec<Row>,
    /// By command, that of `ddtbench` itself among them.
    commands: BTreeMap<String, CommandPage>,
}

/// The texts of a command.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CommandPage {
    /// Command lines.
    examples: Vec<Row>,
    /// Pages of the documentation, with the questions that they answer.
    pages: Vec<Row>,
    /// What stands in place of the exit codes.
    note: String,
}

static PAGES: LazyLock<Pages> =
    LazyLock::new(|| toml::from_str(include_str!("pages.toml")).expect("it is part of the program"));

/// The command line with examples before its flags, and exit codes and pages of the documentation behind them.
pub fn complete(command: Command) -> Command {
    let complete = |command: Command, name: &String| command.mut_subcommand(name, with_page);
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.iter().fold(with_page(command), complete)
}

fn with_page(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let Some(CommandPage { examples, pages, note }) = PAGES.commands.get(&name) else { return command };
    let pages = lines("Read on", pages);
    if examples.is_empty() {
        return command.after_help(pages.trim_end().to_owned());
    }
    let codes = if note.is_empty() { lines("Exit codes", &PAGES.exit_codes) } else { format!("{note}\n") };
    let after = format!("{}{codes}\n{pages}", parameters(&name));
    command
        .before_help(lines("Examples", examples).trim_end().to_owned())
        .after_help(after.trim_end().to_owned())
}

/// The parameters that all cases of the command's kind have.
fn parameters(name: &str) -> String {
    let kind = Kind::ALL.into_iter().find(|kind| kind.row().command == name);
    let own = kind.map(|kind| (experiments::of(kind).parameters)()).unwrap_or_default();
    let rows: Vec<Row> = own.iter().map(|own| (own.name.to_owned(), own.text())).collect();
    if rows.is_empty() { String::new() } else { lines("Parameters (-p NAME=VALUE)", &rows) + "\n" }
}

/// A title, and indented lines of two columns.
fn lines(title: &str, rows: &[Row]) -> String {
    const WIDTH: usize = 80;
    let widest = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let fit = rows.iter().all(|(_, about)| widest + 4 + about.len() <= WIDTH);
    // What the rows of a table say goes below them where one of them is too long for a line, unless a column is left for it.
    let has_column = fit || widest <= WIDTH / 4;
    let line = |(what, about): &Row| match has_column {
        true => wrapped(&format!("  {what:<widest$}  "), about, WIDTH, widest + 4),
        false => format!("  {what}\n") + &wrapped("      ", about, WIDTH, 6),
    };
    format!("{title}:\n{}", rows.iter().map(line).collect::<String>())
}

/// A manual page: what clap knows, and sections that it does not.
pub fn manual(command: Command) -> anyhow::Result<Vec<u8>> {
    let own = PAGES.commands.get(command.get_name()).unwrap_or(&PAGES.commands["ddtbench"]);
    let mut text = Vec::new();
    // Examples and exit codes have sections of their own here.
    let plain = command.before_help(None).after_help(None);
    clap_mangen::Man::new(plain).render(&mut text)?;
    for (title, rows) in [
        ("EXAMPLES", &own.examples),
        ("EXIT STATUS", &PAGES.exit_codes),
        ("ENVIRONMENT", &PAGES.environment),
        ("FILES", &PAGES.files),
        ("SEE ALSO", &own.pages),
    ]
    .into_iter()
    .filter(|(_, rows)| !rows.is_empty())
    {
        writeln!(text, ".SH {title}")?;
        for (what, about) in rows {
            writeln!(text, ".TP\n\\fB{}\\fR\n{}", escaped(what), escaped(about))?;
        }
    }
    Ok(text)
}

/// Text as roff takes it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_example_can_be_typed_and_is_narrow() {
        for (name, CommandPage { examples, .. }) in &PAGES.commands {
            let is_of_all = name == "ddtbench";
            assert!(is_of_all || Cli::command().find_subcommand(name).is_some(), "{name}");
            for (line, _) in examples {
                let words = shlex::split(line).unwrap();
                assert!(Cli::try_parse_from(&words).is_ok(), "{line}");
                assert!(is_of_all || words[1] == *name, "{line} is no example of {name}");
            }
            assert!(lines("", examples).lines().all(|line| line.len() <= 80), "{name}");
        }
    }

    #[test]
    fn help_begins_with_examples_and_ends_with_exit_codes() {
        let mut command = complete(Cli::command());
        let help = command.render_long_help().to_string();
        assert!(help.starts_with("Examples:\n  ddtbench nas_lu_y"), "{help}");
        let (_, end) = help.split_once("--resume goes on\n").expect("exit codes");
        assert!(end.trim_start().starts_with("Read on:\n  docs/my-array.md"), "{help}");
    }

    #[test]
    fn every_command_names_a_page_that_there_is() {
        for command in Cli::command().get_subcommands().map(|command| command.get_name().to_owned()) {
            let has_page = !["completions", "man"].contains(&command.as_str());
            let mut complete = complete(Cli::command());
            let help =
                complete.find_subcommand_mut(&command).expect("it is one").render_long_help().to_string();
            assert_eq!(help.contains("Read on:\n  docs/"), has_page, "{command}: {help}");
        }
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (page, _) in PAGES.commands.values().flat_map(|command| &command.pages) {
            assert!(root.join(page).exists(), "{page}");
        }
    }

    #[test]
    fn a_manual_page_has_the_usual_sections() {
        let page = String::from_utf8(manual(Cli::command()).unwrap()).unwrap();
        for section in ["SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]
        {
            assert_eq!(page.matches(&format!(".SH {section}\n")).count(), 1, "{section}");
        }
        assert!(page.contains("stopped by Ctrl\\-C"), "{page}");
    }
}
