//! The command `completions`: scripts for shell completion.

use std::collections::BTreeSet;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;
use ddtbench::experiments::overlap::operations::{EXCHANGE, OPERATIONS};
use ddtbench::experiments::{self, Kind};
use ddtbench::plan::figures;

const PROGRAM: &str = "ddtbench";

/// The script for a shell, with the names of tests, sets, methods and these MPIs.
pub fn script(shell: Shell, command: Command, mpis: &[String]) -> Vec<u8> {
    let mut command = completed(command, mpis);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, PROGRAM, &mut script);
    if shell == Shell::Fish {
        script.extend(names_for_fish(&command).into_bytes());
    }
    script
}

/// `clap_complete` lacks positional names for fish.
fn names_for_fish(command: &Command) -> String {
    let of = |command: &Command, condition: &str| {
        let names = command.get_positionals().flat_map(Arg::get_possible_values);
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!("complete -c {PROGRAM} -n \"{condition}\" -a \"{}\"\n", names.join(" ")),
        }
    };
    let within = |sub: &Command| of(sub, &format!("__fish_ddtbench_using_subcommand {}", sub.get_name()));
    of(command, "__fish_ddtbench_needs_command") + &command.get_subcommands().map(within).collect::<String>()
}

/// The command line with tests, methods and MPIs as possible values: `ddtbench` itself takes free text, which shells cannot
/// complete.
fn completed(command: Command, mpis: &[String]) -> Command {
    let tests: Vec<&str> = apps::all().map(|test| test.name).collect();
    let halos: Vec<&str> = apps::halo::all().map(|halo| halo.name).collect();
    let command = known(command, "tests", &tests);
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |sub| {
            let sub = match name.as_str() {
                "halo" => known(sub, "tests", &halos),
                "overlap" => known(sub, "tests", &overlapping()),
                "figure" => {
                    known(sub, "name", &figures::FIGURES.iter().map(|(name, _)| *name).collect::<Vec<_>>())
                }
                _ => known(sub, "tests", &tests),
            };
            let sub = known(known(sub, "test", &tests), "mpi", mpis);
            let kind = Kind::ALL.into_iter().find(|kind| kind.row().command == name);
            let methods = |kind: Kind| kind.methods().iter().map(|method| method.name).collect::<Vec<_>>();
            let sets: BTreeSet<&str> = apps::all()
                .flat_map(|test| test.sets)
                .chain(apps::halo::all().flat_map(|halo| halo.sets))
                .map(|set| set.name)
                .collect();
            let sets: Vec<&str> = sets.into_iter().collect();
            let sub = known(known(sub, "sets", &sets), "params", &parameters());
            let sub = with_baselines(sub);
            kind.map_or(sub.clone(), |kind| known(sub, "methods", &methods(kind)))
        })
    })
}

/// The names of all parameters, each with `=`.
fn parameters() -> Vec<String> {
    let of_tests = apps::all().flat_map(|test| test.parameters).map(|parameter| parameter.name);
    let of_halos = apps::halo::all().flat_map(|halo| halo.parameters).map(|parameter| parameter.name);
    let of_kinds = Kind::ALL.into_iter().flat_map(|kind| (experiments::of(kind).parameters)());
    let all: BTreeSet<&str> = of_tests.chain(of_halos).chain(of_kinds.map(|info| info.name)).collect();
    all.into_iter().map(|name| format!("{name}=")).collect()
}

fn with_baselines(command: Command) -> Command {
    let folders = std::fs::read_dir("baselines").into_iter().flatten().flatten();
    let names: BTreeSet<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let names: Vec<String> = names.into_iter().filter(|name| !name.starts_with('.')).collect();
    if command.get_name() != "baseline" || names.is_empty() {
        return command;
    }
    command.mut_subcommands(|sub| known(sub, "name", &names))
}

/// Operations, tests and exchanges that can overlap a computation.
fn overlapping() -> Vec<String> {
    let operations = OPERATIONS.iter().map(|operation| operation.name.to_owned());
    let tests = apps::all().map(|test| test.name.to_owned());
    operations.chain(tests).chain(apps::halo::all().map(|halo| format!("{EXCHANGE}{}", halo.name))).collect()
}

/// Adds possible values to an argument of the command, if it has that argument.
fn known<N: AsRef<str>>(command: Command, argument: &str, names: &[N]) -> Command {
    if !command.get_arguments().any(|own| own.get_id() == argument) {
        return command;
    }
    // clap wants names for ever. The program ends after it has printed the script.
    let names: Vec<&'static str> = names.iter().map(|name| &*name.as_ref().to_owned().leak()).collect();
    // `mut_arg` would move the argument to the end, but the order of positional arguments counts.
    let parser = PossibleValuesParser::new(names);
    command.mut_args(|own| if own.get_id() == argument { own.value_parser(parser.clone()) } else { own })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, ValueEnum};

    use super::*;
    use crate::cli::Cli;

    /// Some shells look up the conflicts of flags, which fails if a conflict names a missing flag.
    #[test]
    fn every_shell_knows_tests_methods_and_mpis() {
        for shell in Shell::value_variants() {
            let script = script(*shell, Cli::command(), &["mpich".to_owned()]);
            let script = String::from_utf8(script).unwrap();
            // These two complete only commands and flags.
            if matches!(shell, Shell::Elvish | Shell::PowerShell) {
                assert!(script.contains("--preset"), "{shell}");
                continue;
            }
            for name in [
                "nas_lu_y",
                "packed_to_ddt",
                "nas_mg",
                "mpich",
                "ireduce",
                "408x408",
                "receive_start=",
                "hlrs-3",
            ] {
                assert!(script.contains(name), "{name} for {shell}");
            }
        }
    }
}
