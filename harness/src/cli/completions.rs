//! The command `completions`: a shell asks the program itself what can be typed, so that it knows the MPIs, run folders and baselines
//! that there are at that moment.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Command;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use common::conformance;
use ddtbench::experiments::overlap::operations::{EXCHANGE, OPERATIONS};
use ddtbench::experiments::{self, Kind};
use ddtbench::mpi::Project;
use ddtbench::plan::figures;

use super::recorded::runs_within;

/// The name that is completed.
const PROGRAM: &str = "ddtbench";

/// The variable with which a shell asks.
const VARIABLE: &str = "DDTBENCH_COMPLETE";

/// The script with which a shell asks the program.
pub fn script(shell: Shell) -> anyhow::Result<Vec<u8>> {
    let (shell, program) = (shell.to_string(), std::env::current_exe()?);
    let shells = Shells::builtins();
    let shell = shells.completer(&shell).ok_or_else(|| anyhow!("{shell} is not a shell with completions"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, &program.to_string_lossy(), &mut script)?;
    Ok(script)
}

/// Answers a shell that asks, and ends the program; does nothing if none does.
pub fn answer(command: impl Fn() -> Command) {
    let typed = Typed { here: PathBuf::new(), words: std::env::args().collect() };
    let command = move || completed(command(), &typed);
    CompleteEnv::with_factory(command).var(VARIABLE).bin(PROGRAM).complete();
}

/// The folder in which a command line is typed, and its words.
struct Typed {
    here: PathBuf,
    words: Vec<String>,
}

/// Values that are looked up when a shell asks for them.
type Values = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// The possible values of an argument: names, and if none begins as typed, a folder.
struct Known {
    names: Vec<Values>,
    or_folder: bool,
}

impl ValueCompleter for Known {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let typed = current.to_string_lossy();
        let names = self.names.iter().flat_map(|names| names()).filter(|name| name.starts_with(&*typed));
        let names: Vec<CompletionCandidate> = names.map(CompletionCandidate::new).collect();
        if names.is_empty() && self.or_folder { PathCompleter::dir().complete(current) } else { names }
    }
}

/// The command line with the values that shells complete; runs and baselines are those in its folder.
fn completed(command: Command, typed: &Typed) -> Command {
    let command = with_values(command, "run", typed);
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |sub| {
            let sub = with_values(sub, &name, typed);
            sub.mut_subcommands(|within| with_values(within, &name, typed))
        })
    })
}

/// A command, or one within it, with the values of its arguments.
fn with_values(command: Command, name: &str, typed: &Typed) -> Command {
    let kind = Kind::ALL.into_iter().find(|kind| kind.row().command == name);
    let ids: Vec<String> = command.get_arguments().map(|own| own.get_id().to_string()).collect();
    let known = ids.into_iter().filter_map(|id| Some((values(name, kind, &id, typed)?, id)));
    known.fold(command, |command, (known, id)| {
        let completer = ArgValueCompleter::new(known);
        // `mut_arg` would move it behind the others, and positional arguments have their places by that.
        command.mut_args(|own| if own.get_id() == id.as_str() { own.add(completer.clone()) } else { own })
    })
}

/// The possible values of an argument; `None` if the parser knows them, or if they are not known.
fn values(command: &str, kind: Option<Kind>, argument: &str, typed: &Typed) -> Option<Known> {
    let here = &typed.here;
    let fixed = |names: Vec<String>| -> Values { Box::new(move || names.clone()) };
    let names = |names: Vec<String>| Known { names: vec![fixed(names)], or_folder: false };
    let runs = || -> Values {
        let here = here.to_owned();
        Box::new(move || runs(&here))
    };
    let with_runs = |of: Vec<String>| Known { names: vec![fixed(of), runs()], or_folder: true };
    Some(match (command, argument) {
        ("compare", "tests") => with_runs(tests()),
        ("report", "dirs_and_tests") => Known { names: vec![runs(), fixed(tests())], or_folder: true },
        ("figure", "name") => names(figures()),
        ("list", "name") => names([tests(), halos(), methods(), figures()].concat()),
        ("baseline", "name") => {
            let here = here.to_owned();
            Known { names: vec![Box::new(move || baselines(&here))], or_folder: false }
        }
        ("halo", "tests") => names(halos()),
        ("overlap", "tests") => names(overlapping()),
        ("conform", "only") => names(conformance::OPERATIONS.iter().map(|own| own.name.to_owned()).collect()),
        (_, "tests" | "test") => names(tests()),
        (_, "mpi") => Known { names: vec![Box::new(mpis)], or_folder: false },
        (_, "sets") => names(sets(command, &typed.words)),
        (_, "params") => names(parameters(command, kind, &typed.words)),
        (_, "methods") => {
            let of_kind = |kind: Kind| kind.methods().iter().map(|method| method.name.to_owned()).collect();
            names(kind.map_or_else(methods, of_kind))
        }
        (_, "resume") => with_runs(Vec::new()),
        _ => return None,
    })
}

fn tests() -> Vec<String> {
    apps::all().map(|test| test.name.to_owned()).collect()
}

fn halos() -> Vec<String> {
    apps::halo::all().map(|halo| halo.name.to_owned()).collect()
}

fn figures() -> Vec<String> {
    figures::FIGURES.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// The methods of all kinds.
fn methods() -> Vec<String> {
    let all: BTreeSet<&str> =
        Kind::ALL.into_iter().flat_map(|kind| kind.methods()).map(|method| method.name).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn mpis() -> Vec<String> {
    let found = Project::locate().and_then(|project| project.installations(&mut |_| {}));
    found.unwrap_or_default().into_iter().map(|mpi| mpi.name).collect()
}

/// Words that belong to a test or an exchange: those of the ones that are typed, otherwise those of all that the command has.
fn of_typed<'a>(
    command: &str,
    words: &[String],
    all: [Vec<(&'a str, Vec<&'a str>)>; 2],
) -> BTreeSet<&'a str> {
    let [tests, halos] = all;
    let all = match command {
        "halo" => halos,
        "overlap" => [tests, halos].concat(),
        _ => tests,
    };
    let is_typed = |name: &str| {
        words.iter().any(|word| word.strip_prefix(EXCHANGE).unwrap_or(word).eq_ignore_ascii_case(name))
    };
    let any_is_typed = all.iter().any(|(name, _)| is_typed(name));
    let chosen = all.into_iter().filter(|(name, _)| is_typed(name) || !any_is_typed);
    chosen.flat_map(|(_, words)| words).collect()
}

fn sets(command: &str, words: &[String]) -> Vec<String> {
    let tests = apps::all().map(|test| (test.name, test.sets.iter().map(|set| set.name).collect()));
    let halos = apps::halo::all().map(|halo| (halo.name, halo.sets.iter().map(|set| set.name).collect()));
    let sets = of_typed(command, words, [tests.collect(), halos.collect()]);
    sets.into_iter().map(str::to_owned).collect()
}

/// The names of parameters, each up to its value.
fn parameters(command: &str, kind: Option<Kind>, words: &[String]) -> Vec<String> {
    let tests = apps::all().map(|test| (test.name, test.parameters.iter().map(|own| own.name).collect()));
    let halos =
        apps::halo::all().map(|halo| (halo.name, halo.parameters.iter().map(|own| own.name).collect()));
    let mut all = of_typed(command, words, [tests.collect(), halos.collect()]);
    let kinds = kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
    all.extend(kinds.into_iter().flat_map(|kind| (experiments::of(kind).parameters)()).map(|info| info.name));
    all.into_iter().map(|name| format!("{name}=")).collect()
}

/// The tests, exchanges and operations of `overlap`.
fn overlapping() -> Vec<String> {
    let operations = OPERATIONS.iter().map(|operation| operation.name.to_owned());
    let tests = apps::all().map(|test| test.name.to_owned());
    operations.chain(tests).chain(apps::halo::all().map(|halo| format!("{EXCHANGE}{}", halo.name))).collect()
}

/// The folders of runs in `results`, the newest last, as they are typed in `here`.
fn runs(here: &Path) -> Vec<String> {
    let runs = runs_within(&here.join("results")).unwrap_or_default();
    let typed = |run: &PathBuf| run.strip_prefix(here).unwrap_or(run).display().to_string();
    runs.iter().map(typed).collect()
}

/// The baselines in the default folder.
fn baselines(here: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(here.join("baselines")).into_iter().flatten().flatten();
    let names: BTreeSet<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.into_iter().filter(|name| !name.starts_with('.')).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::{CommandFactory, ValueEnum};
    use clap_complete::engine::complete;
    use ddtbench::folder::LAUNCHES;

    use super::*;
    use crate::cli::Cli;

    /// The values that are offered for the last word.
    fn offered(here: &Path, line: &str) -> Vec<String> {
        let words: Vec<_> = line.split(' ').map(Into::into).collect();
        let last = words.len() - 1;
        let typed = Typed { here: here.to_owned(), words: line.split(' ').map(str::to_owned).collect() };
        let found = complete(&mut completed(Cli::command(), &typed), words, last, Some(here)).unwrap();
        found.iter().map(|found| found.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn values_that_are_known_are_offered() {
        let here = tempfile::tempdir().unwrap();
        for run in ["results/2026-11-24-mpich", "results/2026-11-25-mpich"] {
            fs::create_dir_all(here.path().join(run)).unwrap();
            fs::write(here.path().join(run).join(LAUNCHES), "").unwrap();
        }
        fs::create_dir_all(here.path().join("results/notes")).unwrap();
        fs::create_dir_all(here.path().join("baselines/main")).unwrap();
        let runs = ["results/2026-11-24-mpich", "results/2026-11-25-mpich"];
        for (line, expected) in [
            ("ddtbench report res", &runs[..]),
            ("ddtbench report results/2026-11-25", &runs[1..]),
            ("ddtbench report results/2026-11-25-mpich nas_lu_", &["nas_lu_x", "nas_lu_y"]),
            ("ddtbench compare results/", &runs),
            ("ddtbench run --resume r", &runs),
            ("ddtbench baseline check ", &["main"]),
            ("ddtbench figure hlrs-", &["hlrs-3", "hlrs-4", "hlrs-5", "hlrs-6"]),
            ("ddtbench run nas_lu_y -m ddt,packed_to_d", &["ddt,packed_to_ddt"]),
            ("ddtbench run -p receive_st", &["receive_start="]),
            ("ddtbench run nas_lu_y -p ", &["nx=", "ny="]),
            ("ddtbench halo nas_lu -p nz", &[]),
            ("ddtbench --set 408x", &["408x408"]),
            ("ddtbench run wrf_x_vec --set 408x", &[]),
            ("ddtbench halo nas_", &["nas_mg", "nas_lu"]),
            ("ddtbench overlap iredu", &["ireduce"]),
        ] {
            let offered = offered(here.path(), line);
            let offered: Vec<&str> =
                offered.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
            assert_eq!(offered, expected, "{line}");
        }
    }

    #[test]
    fn every_shell_asks_the_program() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell).unwrap()).unwrap();
            assert!(script.contains(VARIABLE), "{shell}: {script}");
        }
    }
}
