//! What surrounds the flags: examples before them in help, exit codes and pages of the documentation after them, and more sections
//! in manual pages.

use std::io::Write;

use clap::Command;
use ddtbench::experiments::{self, Kind};
use ddtbench::report::columns::wrapped;

/// A command line, and what it does.
type Example = (&'static str, &'static str);

/// Examples by command; those of no command are of ddtbench itself.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            ("ddtbench nas_lu_y", "pack by hand or use a datatype: one test, on one MPI"),
            ("ddtbench --mpi mpich,openmpi", "all tests on two MPIs, side by side"),
            ("ddtbench nas_lu_y -p ny=200,400,800 -m reference,manual,ddt", "three methods over a size"),
            ("ddtbench compare --mpi mpich-4.3.2,mpich nas_lu_y", "has a version made something slower?"),
            ("ddtbench list", "what there is to measure"),
        ],
    ),
    (
        "run",
        &[
            ("ddtbench run nas_lu_y milc_su3_zd", "two tests by all methods"),
            ("ddtbench run --preset default --mpi mpich,openmpi", "the original's sizes on two MPIs"),
            ("ddtbench run nas_lu_y -p nx=20,ny=100,200", "two cases: 20 x 100 and 20 x 200 points"),
            ("ddtbench run --layout 'vector(408, 5, 2050, double)'", "any layout, or a file with one"),
            ("ddtbench run wrf_x_vec --set-plan limits.timeout_s=20", "any key of the plan"),
            ("ddtbench run --resume results/2026-01-01-120000-mpich", "goes on with a run"),
        ],
    ),
    ("halo", &[("ddtbench halo nas_mg -n 8", "an exchange between 8 ranks by all methods")]),
    (
        "overlap",
        &[
            ("ddtbench overlap", "four operations beside a computation, 500 us and 2 ms each"),
            ("ddtbench overlap nas_lu_y -m manual,ddt", "what of a message hides, packed or as a datatype"),
            ("ddtbench overlap halo:wrf_vec -n 4", "start the halo, compute, wait"),
            (
                "ddtbench overlap ibcast -p configuration=basic,progress,communication_us=1ms",
                "with asynchronous progress",
            ),
        ],
    ),
    (
        "figure",
        &[
            ("ddtbench figure", "lists the figures"),
            ("ddtbench figure hlrs-3 --quick", "a first look"),
            ("ddtbench figure hlrs-4 --mpi mpich,openmpi -p threads=1,8", "on two MPIs, with other threads"),
            ("ddtbench figure my.toml", "a plan file of your own (ddtbench list hlrs-3 > my.toml)"),
        ],
    ),
    (
        "engine",
        &[
            ("ddtbench engine", "the pack engine beside loops and the MPI_Pack of every MPI"),
            ("ddtbench engine nas_lu_y --cache warm,cold", "one test, with warm and with cold caches"),
            ("ddtbench engine --layout face.toml", "the layout in a file"),
        ],
    ),
    (
        "partitioned",
        &[(
            "ddtbench partitioned -p bytes=1MiB,partitions=8",
            "a message that 8 parts make up, by all mechanisms",
        )],
    ),
    (
        "conform",
        &[(
            "ddtbench conform partitioned --mpi mpich,openmpi",
            "checks partitioned communication of two MPIs",
        )],
    ),
    (
        "compare",
        &[
            (
                "ddtbench compare --mpi mpich-4.3.2,mpich nas_lu_y",
                "measures both in turn until it is decided",
            ),
            ("ddtbench compare --mpi mpich,mpich nas_lu_y", "an MPI with itself: nothing may be found"),
            (
                "ddtbench compare --mpi mpich --variant nocma:MPIR_CVAR_CH4_CMA_ENABLE=0",
                "an MPI with other settings",
            ),
            ("ddtbench compare --mpi mpich,openmpi --plan halo.toml --time 20m", "what a plan says"),
            ("ddtbench compare results/before results/after", "compares runs that were recorded"),
        ],
    ),
    (
        "report",
        &[
            ("ddtbench report results/before --details", "all methods of a run"),
            ("ddtbench report results/before --format csv", "its times as one table"),
            ("ddtbench report results/before --figure phases", "one picture, as SVG"),
        ],
    ),
    (
        "doctor",
        &[
            ("ddtbench doctor", "this machine and all of its MPIs"),
            ("ddtbench doctor --mpi mpich --launcher srun", "one, as it is started within a job"),
        ],
    ),
    (
        "list",
        &[
            ("ddtbench list nas_lu_y", "the sets and parameters of a test"),
            ("ddtbench list --format json", "everything, for a program"),
        ],
    ),
    (
        "layout",
        &[
            ("ddtbench layout nas_lu_y", "how the bytes of a test lie, as a tree"),
            ("ddtbench layout nas_lu_y --format segments", "every segment as CSV"),
            ("ddtbench layout 'vector(3, 1, 4, double)'", "any layout"),
            ("ddtbench layout nas_lu_y --format text", "as text, which --layout takes"),
        ],
    ),
];

/// Pages of the documentation by command, with the questions that they answer; those of no command are of ddtbench itself.
const PAGES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            ("docs/my-array.md", "which test is like my array?"),
            ("docs/methods.md", "which method should I use?"),
            ("docs/meaning.md", "what do the figures mean?"),
            ("docs/compare.md", "which side is slower?"),
            ("docs/results.md", "what is in the folder of a run?"),
            ("docs/cluster.md", "how do I run it on a cluster?"),
            ("docs/papers.md", "which papers is this from?"),
        ],
    ),
    (
        "run",
        &[
            ("docs/my-array.md", "which test is like my array?"),
            ("docs/methods.md", "which method should I use?"),
            ("docs/meaning.md", "what do the figures mean?"),
            ("docs/commands.md", "tests, parameters, time, plans"),
            ("docs/cluster.md", "how do I run it on a cluster?"),
        ],
    ),
    ("halo", &[("docs/halo.md", "what does a whole exchange cost?")]),
    ("overlap", &[("docs/overlap.md", "does communication go on while the application computes?")]),
    ("figure", &[("docs/papers.md", "which papers, and what differs here?")]),
    ("engine", &[("docs/engine.md", "how good is the pack engine?")]),
    ("partitioned", &[("docs/partitioned.md", "does it pay to send a message part by part?")]),
    ("conform", &[("docs/partitioned.md", "can partitioned communication be trusted?")]),
    ("compare", &[("docs/compare.md", "which side is slower?")]),
    ("baseline", &[("docs/compare.md", "which side is slower?")]),
    ("guidelines", &[("docs/guidelines.md", "what may be expected of a datatype?")]),
    ("report", &[("docs/results.md", "what is in the folder of a run?")]),
    ("list", &[("docs/tests.md", "what there is to measure")]),
    ("layout", &[("docs/my-array.md", "any layout, as text or in a file")]),
    ("doctor", &[("docs/doctor.md", "is this machine fit for measuring?")]),
    ("mpi", &[("docs/mpis.md", "which MPIs are used, and how is one added?")]),
];

/// What the exit codes mean.
const EXIT_CODES: [(&str, &str); 5] = [
    ("0", "all was measured; of a gate (compare, baseline check, guidelines), nothing is slower"),
    ("1", "a method failed or nothing could be measured; of a gate, something is slower"),
    ("2", "refused: a flag, a file or a folder cannot be used, and nothing was written"),
    ("3", "of a gate, something is undecided"),
    ("130", "stopped by Ctrl-C; --resume goes on"),
];

const ENVIRONMENT: [(&str, &str); 6] = [
    ("MPICC", "the compiler wrapper of the MPI that is taken where none is named"),
    ("DDTBENCH_ROOT", "where the project lies, if the program was moved away from it"),
    ("DDTBENCH_STATE", "where installed MPIs and rank programs are kept"),
    ("NO_COLOR", "no colours, as --color never"),
    ("LIBCLANG_PATH", "the libclang that builds the rank program, instead of one that is installed"),
    ("PMIX_SECURITY_MODE", "set to native under srun --mpi=pmix, unless it is set"),
];

const FILES: [(&str, &str); 5] = [
    ("mpis.toml", "MPIs that were added, and variants of MPIs"),
    (".ddtbench/", "MPIs that were installed"),
    ("~/.local/state/ddtbench/", "both, where the project cannot be written to"),
    ("target/rank/", "the rank programs, one for each MPI"),
    ("results/DATE-TIME-WHAT/", "a run: plan, samples, summary, page"),
];

fn of_command(table: &[(&str, &'static [Example])], name: &str) -> Option<&'static [Example]> {
    table.iter().find(|(command, _)| *command == name).map(|(_, rows)| *rows)
}

/// The command line with examples before its flags, and exit codes and pages of the documentation behind them.
pub fn complete(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = with_examples(command, "");
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(&name, |sub| with_examples(sub, &name)))
}

fn with_examples(command: Command, name: &str) -> Command {
    let pages = of_command(PAGES, name).map(|pages| lines("Read on", pages)).unwrap_or_default();
    match of_command(EXAMPLES, name) {
        Some(examples) => {
            let codes = lines("Exit codes", &EXIT_CODES);
            command
                .before_help(lines("Examples", examples).trim_end().to_owned())
                .after_help(format!("{}{codes}\n{pages}", parameters(name)).trim_end().to_owned())
        }
        None => {
            let own = command.get_after_help().map(|own| format!("{own}\n\n")).unwrap_or_default();
            command.after_help(format!("{own}{pages}").trim_end().to_owned())
        }
    }
}

/// The parameters that all cases of the command's kind have.
fn parameters(name: &str) -> String {
    let kind = Kind::ALL.into_iter().find(|kind| kind.row().command == name);
    let own = kind.map(|kind| experiments::of(kind).parameters()).unwrap_or_default();
    let rows: Vec<(&str, String)> = own.iter().map(|own| (own.name, own.text())).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(name, about)| (*name, about.as_str())).collect();
    if rows.is_empty() { String::new() } else { lines("Parameters (-p NAME=VALUE)", &rows) + "\n" }
}

/// A title, and indented lines of two columns.
fn lines(title: &str, rows: &[(&str, &str)]) -> String {
    const WIDTH: usize = 80;
    let widest = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let fit = rows.iter().all(|(_, about)| widest + 4 + about.len() <= WIDTH);
    // What the rows of a table say goes below them where one of them is too long for a line, unless a column is left for it.
    let has_column = fit || widest <= WIDTH / 4;
    let line = |(what, about): &(&str, &str)| match has_column {
        true => wrapped(&format!("  {what:<widest$}  "), about, WIDTH, widest + 4),
        false => format!("  {what}\n") + &wrapped("      ", about, WIDTH, 6),
    };
    format!("{title}:\n{}", rows.iter().map(line).collect::<String>())
}

/// A manual page: what clap knows, and sections that it does not.
pub fn manual(command: Command) -> anyhow::Result<Vec<u8>> {
    let rows =
        |table| of_command(table, command.get_name()).or_else(|| of_command(table, "")).unwrap_or_default();
    let (examples, pages) = (rows(EXAMPLES), rows(PAGES));
    let mut text = Vec::new();
    // Examples and exit codes have sections of their own here.
    let plain = command.before_help(None).after_help(None);
    clap_mangen::Man::new(plain).render(&mut text)?;
    for (title, rows) in [
        ("EXAMPLES", examples),
        ("EXIT STATUS", &EXIT_CODES),
        ("ENVIRONMENT", &ENVIRONMENT),
        ("FILES", &FILES),
        ("SEE ALSO", pages),
    ] {
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
        for (name, examples) in EXAMPLES {
            assert!(name.is_empty() || Cli::command().find_subcommand(name).is_some(), "{name}");
            for (line, _) in *examples {
                let words = shlex::split(line).unwrap();
                assert!(Cli::try_parse_from(&words).is_ok(), "{line}");
                assert!(name.is_empty() || words[1] == *name, "{line} is no example of {name}");
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
        for (page, _) in PAGES.iter().flat_map(|(_, pages)| *pages) {
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
