//! Help and manual pages. `--help` shows the usual flags and examples; `--help-all` all flags, parameters,
//! exit codes and pages of the documentation. The texts are in `pages.toml`.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

use clap::{Arg, ArgAction, Command};
use common::conformance::{OPERATIONS, Operation};
use ddtbench::experiments::{self, Kind};
use ddtbench::report::columns::wrapped;
use serde::Deserialize;

/// A thing that can be typed or found, and its description.
type PageRow = (String, String);

#[derive(Deserialize)]
struct Pages {
    exit_codes: Vec<PageRow>,
    environment: Vec<PageRow>,
    files: Vec<PageRow>,
    /// By command, that of `ddtbench` itself among them.
    commands: BTreeMap<String, CommandPage>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CommandPage {
    examples: Vec<PageRow>,
    /// Pages of the documentation, with the questions that they answer.
    pages: Vec<PageRow>,
    /// Exit codes with other texts, or that only this command has; those without a text do not occur.
    exit_codes: Vec<PageRow>,
}

static PAGES: LazyLock<Pages> =
    LazyLock::new(|| toml::from_str(include_str!("pages.toml")).expect("it is part of the program"));

/// Flags that few users need: only `--help-all` shows them.
const RARE: &str = "sets variants launcher launcher_args cache warmup min_runs max_runs precision set_plan trust verbose \
     dry_run plan_file retry_failed repeat pause anyway undecided_is_ok color";

/// The command line with its help.
pub fn complete(command: Command) -> Command {
    with_help("", command)
}

/// `path` is the command line up to the command.
fn with_help(path: &str, command: Command) -> Command {
    let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
    let is_rare = |arg: &Arg| RARE.split_whitespace().any(|name| name == arg.get_id());
    let hint = format!("All flags: {path} --help-all\n");
    let name = path.strip_prefix("ddtbench ").unwrap_or(&path);
    let (examples, reference) = PAGES.commands.get(name).map(|page| page.texts(name)).unwrap_or_default();
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help("Print this help");
    let all = Arg::new("help_all").long("help-all").action(ArgAction::HelpLong);
    command
        .disable_help_flag(true)
        .next_help_heading(None::<&'static str>)
        .args([help, all.help("Print all flags, and exit codes")])
        .max_term_width(WIDTH)
        .after_help(joined(&[hint, examples.clone()]))
        .after_long_help(joined(&[reference, examples]))
        .mut_args(|arg| if is_rare(&arg) { arg.hide_short_help(true) } else { arg })
        .mut_subcommands(|command| with_help(&path, command))
}

impl CommandPage {
    fn all_exit_codes(&self) -> Vec<PageRow> {
        let of_all = PAGES.exit_codes.iter().chain(&self.exit_codes).cloned();
        let codes: BTreeMap<u8, String> =
            of_all.map(|(code, about)| (code.parse().expect("it is a number"), about)).collect();
        let occur = codes.into_iter().filter(|(_, about)| !about.is_empty());
        occur.map(|(code, about)| (code.to_string(), about)).collect()
    }

    /// The examples; then parameters, exit codes and pages of the documentation.
    fn texts(&self, name: &str) -> (String, String) {
        let codes = lines("Exit codes", &self.all_exit_codes());
        let operations = if name == "conform" { operations() } else { String::new() };
        let reference = joined(&[parameters(name), operations, codes, lines("Documentation", &self.pages)]);
        (lines("Examples", &self.examples), reference)
    }
}

/// Texts with an empty line between them.
fn joined(texts: &[String]) -> String {
    texts.iter().filter(|text| !text.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The parameters of all cases of the command's kind.
fn parameters(name: &str) -> String {
    let kind = Kind::ALL.into_iter().find(|kind| kind.row().command == name);
    let own = kind.map(|kind| (experiments::of_kind(kind).parameters)()).unwrap_or_default();
    let rows: Vec<PageRow> = own.iter().map(|own| (own.name.to_owned(), own.text())).collect();
    lines("Parameters (-p NAME=VALUE)", &rows)
}

/// The operations on datatypes, with what they compare.
fn operations() -> String {
    let row = |own: &Operation| {
        let forms = OPERATIONS.iter().filter(|other| other.section() == own && *other != own);
        let forms: Vec<_> = forms.map(|form| &form.name[own.name.len()..]).collect();
        let text = if forms.is_empty() { String::new() } else { format!(" (also {})", forms.join(", ")) };
        (own.name.to_owned(), format!("{}{text}", own.asks))
    };
    let own = OPERATIONS.iter().filter(|operation| operation.section() == *operation);
    let rows: Vec<PageRow> = own.map(row).collect();
    lines("Operations (--only NAME; with the ends in parentheses its forms)", &rows)
}

/// Columns of help.
const WIDTH: usize = 80;

/// A title, and indented lines of two columns; empty without rows.
fn lines(title: &str, rows: &[PageRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let widest = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let fit = rows.iter().all(|(_, about)| widest + 4 + about.len() <= WIDTH);
    // Long descriptions go below the first column, unless that is narrow.
    let has_column = fit || widest <= WIDTH / 4;
    let line = |(what, about): &PageRow| match has_column {
        true => wrapped(&format!("  {what:<widest$}  "), about, WIDTH, widest + 4),
        false => format!("  {what}\n") + &wrapped("      ", about, WIDTH, 6),
    };
    format!("{title}:\n{}", rows.iter().map(line).collect::<String>())
}

/// A manual page: the content of clap, and further sections.
pub fn manual(command: Command) -> anyhow::Result<Vec<u8>> {
    let own = PAGES.commands.get(command.get_name()).unwrap_or(&PAGES.commands["ddtbench"]);
    let mut text = Vec::new();
    // Here, examples and exit codes have their own sections.
    let plain = command.after_help(None).after_long_help(None);
    clap_mangen::Man::new(plain).render(&mut text)?;
    for (title, rows) in [
        ("EXAMPLES", &own.examples),
        ("EXIT STATUS", &own.all_exit_codes()),
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

/// Escapes text for roff.
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
            let path: Vec<&str> = if is_of_all { Vec::new() } else { name.split(' ').collect() };
            let all = Cli::command();
            let found = path.iter().try_fold(&all, |command, name| command.find_subcommand(name));
            assert!(found.is_some(), "{name}");
            for (line, _) in examples {
                let words = shlex::split(line).unwrap();
                assert!(Cli::try_parse_from(&words).is_ok(), "{line}");
                assert!(
                    words[1..].iter().zip(&path).all(|(word, name)| word == name),
                    "{line} is not an example of {name}"
                );
            }
            assert!(lines("", examples).lines().all(|line| line.len() <= 80), "{name}");
        }
    }

    /// The help of a command, short or long, as printed to a pipe.
    fn help(words: &[&str]) -> String {
        let typed = [&["ddtbench"], words].concat();
        let error = Cli::complete_command().try_get_matches_from(typed).expect_err("help ends the program");
        error.render().to_string()
    }

    #[test]
    fn help_is_short_and_narrow() {
        let short = help(&["run", "--help"]);
        assert!(short.starts_with("Run tests"), "{short}");
        assert_eq!(short, help(&["run", "-h"]));
        let (flags, end) =
            short.split_once("All flags: ddtbench run --help-all\n\nExamples:\n").expect("a hint");
        assert!(end.starts_with("  ddtbench run nas_lu_y"), "{short}");
        let of_run = flags.lines().filter(|line| line.trim_start().starts_with('-'));
        assert!(of_run.count() <= 15, "{short}");
        assert!(!flags.contains("--precision"), "{short}");
        for command in Cli::command().get_subcommands().map(|command| command.get_name().to_owned()) {
            for flag in ["--help", "--help-all"] {
                let text = help(&[&command, flag]);
                assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{command}: {text}");
            }
        }
    }

    #[test]
    fn all_help_has_all_flags_exit_codes_and_ends_with_examples() {
        let all = help(&["run", "--help-all"]);
        let places: Vec<_> =
            ["--precision", "Exit codes:\n  0 ", "Documentation:\n  docs/my-array.md", "Examples:\n"]
                .map(|text| all.find(text).unwrap_or_else(|| panic!("{text}: {all}")))
                .to_vec();
        assert!(places.is_sorted(), "{all}");
        let of_conform = help(&["conform", "--help-all"]);
        assert!(of_conform.contains("Exit codes:\n  0    no new findings"), "{of_conform}");
        assert!(!help(&["mpi", "list", "-h"]).contains("Examples"), "it is not `ddtbench list`");
    }

    #[test]
    fn every_command_names_a_page_that_exists() {
        for command in Cli::command().get_subcommands().map(|command| command.get_name().to_owned()) {
            let has_page = command != "man";
            let help = help(&[&command, "--help-all"]);
            assert_eq!(help.contains("Documentation:\n  docs/"), has_page, "{command}: {help}");
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
