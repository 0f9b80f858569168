//! The command line.

mod compare;
mod completions;
mod conditions;
mod conform;
mod doctor;
mod figure;
mod guidelines;
mod headings;
mod kinds;
mod measure;
mod mpi;
mod mpi_args;
mod numbers;
pub mod output;
mod overview;
mod pages;
mod progress;
mod recorded;
mod repeat;
mod resume;
mod run_page;
mod selection;
mod show;
mod targets;
mod tune;
mod wrong_bytes;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::bail;
use apps::similar;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::CompleteEnv;
use ddtbench::experiments::{self, Kind};

use kinds::{EngineCases, MeasureArgs, MessageCases, OverlapCases, PartitionedCases};

pub use measure::{EarlyEnd, INTERRUPTED};

/// Measure the cost of sending non-contiguous application data with MPI: packed by hand, as a derived
/// datatype, and by ten other methods.
#[derive(Debug, Parser)]
#[command(name = "ddtbench", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: MeasureArgs<MessageCases>,
    #[command(flatten)]
    color: colorchoice_clap::Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run tests (the default command): pack by hand, or use a derived datatype?
    Run(Box<MeasureArgs<MessageCases>>),
    /// Measure messages that are sent partition by partition, between two ranks
    Partitioned(Box<MeasureArgs<PartitionedCases>>),
    /// Measure whole halo exchanges on many ranks
    Halo(Box<MeasureArgs<MessageCases>>),
    /// Measure overlap of communication and computation
    Overlap(Box<MeasureArgs<OverlapCases>>),
    /// Measure and draw the figure of a paper or of a plan file; without a name, list them
    Figure(Box<figure::FigureArgs>),
    /// Compare the pack engine with hand-written loops, memcpy and the MPI_Pack of every MPI
    Engine(Box<MeasureArgs<EngineCases>>),
    /// Find wrong results of an MPI's derived datatypes, and print a C program for each
    Conform(Box<conform::ConformArgs>),
    /// Compare MPIs, versions or settings, or recorded runs: which is slower, and where?
    Compare(Box<compare::CompareArgs>),
    /// Find datatypes that are slower than they should be, and what to write instead
    Guidelines(Box<guidelines::GuidelinesArgs>),
    /// List tests, exchanges and methods; with a name, its sets and parameters
    List(show::ListArgs),
    /// Show the memory layout of a test's message
    Layout(show::ShownLayoutArgs),
    /// Check this machine and its MPIs for problems, and suggest fixes
    Doctor(doctor::DoctorArgs),
    /// List, add, install and remove MPIs
    #[command(subcommand)]
    Mpi(mpi::MpiCommand),
    /// Print a recorded run
    Report(show::ReportArgs),
    /// Print a manual page
    Man {
        /// The command [default: ddtbench itself]
        command: Vec<String>,
    },
}

impl Cli {
    /// The command line; the program ends with help, with an error, or when it has answered a shell that completes a line.
    pub fn typed() -> Self {
        CompleteEnv::with_factory(Self::command).complete();
        let matches = Self::complete_command().try_get_matches();
        matches
            .and_then(|matches| Self::from_arg_matches(&matches))
            .unwrap_or_else(|error| refuse(&with_owners(error)))
    }

    /// The command, completed beyond clap's derive.
    fn complete_command() -> clap::Command {
        let command = conditions::with_conflicts(Self::command());
        // Kinds that are measured only with warm caches do not offer --cache, and so on. If it is given, the error explains why.
        let command = command.mut_subcommands(|command| {
            let kind = Kind::ALL.into_iter().find(|kind| kind.row().command == command.get_name());
            let Some(row) = kind.map(Kind::row) else { return command };
            let flags = [("cache", row.only_warm.is_some()), ("memory", row.only_host.is_some())];
            let hidden = flags.into_iter().filter(|(_, is_hidden)| *is_hidden);
            hidden.fold(command, |command, (flag, _)| command.mut_arg(flag, |arg| arg.hide(true)))
        });
        numbers::negative(pages::complete(command))
    }

    /// Runs the command. Errors are refusals.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.color.write_global();
        match self.command {
            None => {
                refuse_slips(&self.run.given.cases.tests.tests)?;
                return self.run.execute(Kind::PingPong);
            }
            Some(Command::Run(args)) => return args.execute(Kind::PingPong),
            Some(Command::Halo(args)) => return args.execute(Kind::Halo),
            Some(Command::Overlap(args)) => return args.execute(Kind::Overlap),
            Some(Command::Engine(args)) if args.given.cases.tune => return tune::execute(),
            Some(Command::Engine(args)) => return args.execute(Kind::Engine),
            Some(Command::Figure(args)) => return args.execute(),
            Some(Command::Partitioned(args)) => return args.execute(Kind::Partitioned),
            Some(Command::Conform(args)) => return args.execute(),
            Some(Command::Compare(args)) => return args.execute(),
            Some(Command::Guidelines(args)) => return args.execute(),
            Some(Command::Doctor(args)) => return args.execute(),
            Some(Command::List(args)) => args.execute()?,
            Some(Command::Layout(args)) => args.execute()?,
            Some(Command::Mpi(command)) => command.execute()?,
            Some(Command::Report(args)) => args.execute()?,
            Some(Command::Man { command }) => {
                output::print(&pages::manual(subcommand(Self::command(), &command)?)?)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Without a command, names are tests: refuses a name that is not a test and looks like a misspelt command.
fn refuse_slips(names: &[String]) -> anyhow::Result<()> {
    let command = Cli::command();
    let commands: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let is_test = |name: &&String| apps::find(name).is_ok();
    let of_mpi = command.find_subcommand("mpi").into_iter().flat_map(clap::Command::get_subcommands);
    if let Some(own) =
        of_mpi.map(clap::Command::get_name).find(|own| names.first().is_some_and(|name| name == own))
    {
        bail!("no command or test is called {own:?}; did you mean `ddtbench mpi {own}`?");
    }
    match names.first().filter(|name| !is_test(name)).and_then(|name| Some((name, similar(&commands, name)?)))
    {
        None => Ok(()),
        Some((name, similar)) if name == similar => {
            bail!("{name} is a command and must come before all flags: `ddtbench {name} ...`")
        }
        Some((name, similar)) => {
            bail!("no command or test is called {name:?}; did you mean `ddtbench {similar}`?")
        }
    }
}

/// Adds the commands that have the flag to the error about an unknown flag. Clap would advise to give it
/// after `--`, but there it goes to the launcher.
fn with_owners(mut error: clap::Error) -> clap::Error {
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => flag.clone(),
        _ => return error,
    };
    error.remove(ContextKind::Suggested);
    let owners = owners("", &Cli::complete_command(), flag.trim_start_matches('-'));
    let more = owners.len().saturating_sub(SHOWN_OWNERS);
    let shown: Vec<String> = owners.iter().take(SHOWN_OWNERS).map(|owner| format!("`{owner}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let name = flag.trim_start_matches('-');
    let tip = match shown.is_empty() {
        false => Some(format!("`{flag}` belongs to {}{more}", shown.join(", "))),
        true => is_parameter(name).then(|| format!("`{name}` is a parameter: `-p {name}=VALUE`")),
    };
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Whether a test, an exchange or a kind of experiments has a parameter of this name.
fn is_parameter(name: &str) -> bool {
    let of_tests = apps::all().flat_map(|test| test.parameters);
    let of_halos = apps::halo::all().flat_map(|test| test.parameters);
    let of_kinds = Kind::ALL.into_iter().flat_map(|kind| (experiments::of_kind(kind).parameters)());
    let names = of_tests.chain(of_halos).map(|own| own.name).chain(of_kinds.map(|own| own.name));
    names.into_iter().any(|own| own == name)
}

/// Commands that are named for a flag: flags of all kinds of experiments have more, and a few are enough to look one up.
const SHOWN_OWNERS: usize = 3;

/// The commands within `command` that have a long flag. `path` is the command line up to `command`.
fn owners(path: &str, command: &clap::Command, flag: &str) -> Vec<String> {
    let within = |command: &clap::Command| {
        let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
        let has = command.get_arguments().any(|arg| arg.get_long() == Some(flag));
        has.then(|| path.clone()).into_iter().chain(owners(&path, command, flag)).collect::<Vec<_>>()
    };
    command.get_subcommands().flat_map(within).collect()
}

/// Ends the program with help or with an error of the command line. Help fits the terminal already.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render().ansi().to_string();
    let _ = write!(anstream::stderr(), "{}", output::for_stderr(&text));
    std::process::exit(error.exit_code())
}

/// The subcommand at a path.
fn subcommand(mut command: clap::Command, path: &[String]) -> anyhow::Result<clap::Command> {
    command.build();
    path.iter().try_fold(command, |command, name| match command.find_subcommand(name) {
        Some(found) => Ok(found.clone()),
        None => bail!("{} has no command {name:?}", command.get_name()),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::complete_command().debug_assert();
    }

    #[test]
    fn every_command_has_a_page() {
        let path = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(subcommand(Cli::command(), &path(&["mpi", "install"])).unwrap().get_name(), "install");
        assert!(subcommand(Cli::command(), &path(&["ruin"])).unwrap_err().to_string().contains("ruin"));
    }

    fn is_refused(line: &str) -> bool {
        Cli::complete_command().try_get_matches_from(line.split(' ')).is_err()
    }

    #[test]
    fn next_to_resume_and_plan_nothing_is_said_twice() {
        for command in ["run", "halo", "overlap", "engine", "partitioned"] {
            for flag in ["-p a=1", "--launches 4", "--mpi mpich", "--warmup 3", "--out y"] {
                assert!(is_refused(&format!("ddtbench {command} --resume x {flag}")), "{command} {flag}");
            }
            assert!(is_refused(&format!("ddtbench {command} --plan x -p a=1")), "{command}");
            for flags in [
                "--resume x --details --retry-failed --anyway -v --trust --color never",
                "--plan x --mpi mpich --max-time 1 --set-plan seed=2",
            ] {
                assert!(!is_refused(&format!("ddtbench {command} {flags}")), "{command} {flags}");
            }
        }
        assert!(is_refused("ddtbench --resume x nas_lu_y"));
    }

    /// All long flags of a command and its subcommands, with `--help` and `--version`.
    fn flags(command: &clap::Command) -> BTreeSet<String> {
        let own = command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned);
        own.chain(command.get_subcommands().flat_map(flags)).collect()
    }

    #[test]
    fn flags_are_few() {
        let mut command = Cli::complete_command();
        command.build();
        let all = flags(&command);
        assert!(all.len() <= 60, "{} flags: {all:?}", all.len());
        let of_run = flags(command.find_subcommand("run").expect("the command"));
        assert!(of_run.len() <= 34, "{} flags of run: {of_run:?}", of_run.len());
        assert!(all.contains("help") && of_run.contains("set-plan"));
    }
}
