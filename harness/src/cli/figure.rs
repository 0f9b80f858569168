//! The command `figure`: a figure of a paper, measured by another command and drawn as in the paper.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::{Args, Parser};
use ddtbench::report::pictures::{PAPERS, PaperFigure};

use super::output::{self, say};
use super::{Cli, Command};

#[derive(Debug, Args)]
pub struct FigureArgs {
    /// The figure, as hlrs-3; without it, all are listed with the commands that measure them
    name: Option<String>,
    /// Few sizes and short times, for a first look
    #[arg(long)]
    quick: bool,
    /// Flags of the command that measures it, in the place of its own: --mpi, --out, --threads, --max-time, ...; tests come first
    #[arg(value_name = "FLAG", trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// Flags with a short form.
const SHORT: [(&str, &str); 6] = [
    ("-m", "--method"),
    ("-b", "--bytes"),
    ("-t", "--threads"),
    ("-p", "--params"),
    ("-o", "--out"),
    ("-n", "--ranks"),
];

impl FigureArgs {
    /// Measures and draws, or lists; an error is a refusal.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.name else {
            output::print(list().as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        };
        let Some(figure) = PaperFigure::find(name) else {
            let names: Vec<&str> = PAPERS.iter().map(|figure| figure.picture.name).collect();
            bail!("no figure is called {name:?}; there are {}", names.join(", "));
        };
        let mut flags = self.flags.clone();
        let before = flags.len();
        flags.retain(|flag| flag != "--quick");
        let words = words(figure, self.quick || flags.len() < before, &flags);
        say(&format!("measures: {}", shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()));
        let cli = Cli::try_parse_from(words)
            .map_err(|error| if error.use_stderr() { anyhow!(error.to_string()) } else { error.exit() })?;
        match cli.command {
            Some(Command::Run(args)) => args.execute(),
            Some(Command::Halo(args)) => args.execute(),
            Some(Command::Partitioned(args)) => args.execute(),
            _ => bail!("{name}: no command that measures"),
        }
    }
}

/// All figures with the commands that measure them.
fn list() -> String {
    let row = |figure: &PaperFigure| {
        let (name, title) = (figure.picture.name, figure.picture.title);
        format!("{name:<11} {title}\n{:<11} ddtbench {}\n", "", figure.command.join(" "))
    };
    let rows: String = PAPERS.iter().map(row).collect();
    format!("{rows}\nddtbench figure NAME [--quick] measures and draws one: an SVG and its data as CSV.\n")
}

/// What is typed for a figure: its command, with what is given in the place of flags of the same name, and of tests.
fn words(figure: &PaperFigure, quick: bool, given: &[String]) -> Vec<String> {
    let own: Vec<String> = figure.command[1..].iter().map(|&word| word.to_owned()).collect();
    let quick: Vec<String> = figure.quick.iter().filter(|_| quick).map(|&word| word.to_owned()).collect();
    let begin = ["ddtbench", figure.command[0], "--paper-figure", figure.picture.name];
    let begin = begin.map(str::to_owned).to_vec();
    [begin, instead(&instead(&own, &quick), given)].concat()
}

/// `words` without the flags that `given` has too, and without names of tests where `given` begins with one; then `given`.
fn instead(words: &[String], given: &[String]) -> Vec<String> {
    let long = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| *long).to_owned()
    };
    let flags: Vec<String> =
        given.iter().filter(|word| word.starts_with('-')).map(|word| long(word)).collect();
    let names_tests = given.first().is_some_and(|word| !word.starts_with('-'));
    let mut left = Vec::new();
    // Names of tests come before the first flag.
    let mut keep = !names_tests;
    for word in words {
        if word.starts_with('-') {
            keep = !flags.contains(&long(word));
        }
        if keep {
            left.push(word.clone());
        }
    }
    if names_tests {
        let tests = given.iter().take_while(|word| !word.starts_with('-')).count();
        return [&given[..tests], &left, &given[tests..]].concat();
    }
    [left, given.to_vec()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_figure_has_a_command_that_can_be_typed() {
        for figure in &PAPERS {
            for quick in [false, true] {
                let typed = words(figure, quick, &strings("--mpi mpich"));
                let parsed = Cli::try_parse_from(&typed);
                assert!(parsed.is_ok(), "{typed:?}: {}", parsed.unwrap_err());
                let kinds = figure.picture.kinds;
                let kind = ddtbench::experiments::Kind::find(kinds[0]).unwrap();
                assert_eq!(kind.command(), figure.command[0], "{}", figure.picture.name);
            }
        }
    }

    #[test]
    fn every_figure_is_listed() {
        let list = list();
        assert!(PAPERS.iter().all(|figure| list.contains(figure.picture.title)), "{list}");
    }

    #[test]
    fn what_is_given_takes_the_place_of_the_figures_own() {
        let own = strings("wrf_x_vec wrf_y_vec --preset quick --method a,b");
        assert_eq!(instead(&own, &strings("-m c")), strings("wrf_x_vec wrf_y_vec --preset quick -m c"));
        assert_eq!(
            instead(&own, &strings("--preset=full")),
            strings("wrf_x_vec wrf_y_vec --method a,b --preset=full")
        );
        assert_eq!(instead(&own, &strings("milc_su3_zd -m c")), strings("milc_su3_zd --preset quick -m c"));
        assert_eq!(instead(&own, &[]), own);
    }

    #[test]
    fn a_figure_is_a_command_of_its_own() {
        let cli =
            Cli::try_parse_from(["ddtbench", "figure", "hlrs-3", "--quick", "--mpi", "mpich", "--out", "x"]);
        assert!(matches!(cli.unwrap().command, Some(Command::Figure(FigureArgs { quick: true, .. }))));
        assert!(Cli::try_parse_from(["ddtbench", "figure"]).is_ok());
    }
}
