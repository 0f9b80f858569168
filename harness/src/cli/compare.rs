//! The command `compare`: two MPIs, versions or settings in turn until every row is decided, or runs that were recorded.

mod live;
mod recorded;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use ddtbench::compare::{Comparisons, Gate, Settings};

use super::output;
use super::run::RunArgs;

/// Exit code of a gate where nothing is slower, and something undecided.
const UNDECIDED: u8 = 3;

/// Columns of text where there is no terminal.
const WIDTH: usize = 120;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ddtbench compare --mpi mpich-4.3.2,mpich             what the second has made slower, and what faster
  ddtbench compare --mpi mpich,mpich nas_lu_y          a thing with itself: nothing must be found
  ddtbench compare --mpi mpich --variant nocma:MPIR_CVAR_CH4_CMA_ENABLE=0
  ddtbench compare --mpi mpich,openmpi --plan halo.toml --time 20m
  ddtbench compare results/base results/new --gate     runs that were recorded; a folder may hold several of them

Exit codes: 0; with --gate 1 if something is slower or broken, 3 if something is undecided; 2 if something was refused.")]
pub struct CompareArgs {
    /// Changes below this are none
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    threshold: f64,
    /// The method that others are held against [default: manual, where that has not itself changed]
    #[arg(long, value_name = "METHOD")]
    control: Option<String>,
    /// Time after which nothing more is measured, as 90s or 10m
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    time: f64,
    /// Exit code 1 if something is slower or broken, 3 if something is undecided
    #[arg(long)]
    gate: bool,
    /// With --gate: exit code 0 if something is undecided
    #[arg(long, requires = "gate")]
    undecided_is_ok: bool,
    /// Compare folders although conditions differ
    #[arg(long)]
    anyway: bool,
    /// How the comparison is printed
    #[arg(long = "as", value_enum, value_name = "FORM", default_value = "text")]
    form: Form,
    /// What is measured: TEST is a test, or without --mpi, --variant and --plan the folder of a run
    #[command(flatten)]
    run: RunArgs,
}

/// A form of a comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Markdown,
    Json,
    Junit,
    Tsv,
}

impl CompareArgs {
    /// Compares; an error is a refusal.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        if self.run.conditions.resume.is_some() {
            bail!("a comparison cannot be resumed: ddtbench compare DIR shows what one has measured");
        }
        let comparisons = match self.is_live() {
            true => match live::compare(&self)? {
                Ok(comparisons) => comparisons,
                Err(code) => return Ok(code),
            },
            false => {
                let folders: Vec<PathBuf> = self.run.chosen.tests.iter().map(PathBuf::from).collect();
                ensure!(
                    !folders.is_empty(),
                    "what is compared? Name MPIs, as --mpi mpich,openmpi, or the folders of runs, BASE and NEW"
                );
                recorded::compare(&folders, &self.settings(), self.anyway)?
            }
        };
        output::print(self.form.of(&comparisons)?.as_bytes())?;
        Ok(self.exit_code(&comparisons))
    }

    /// Whether something is to be measured.
    fn is_live(&self) -> bool {
        let conditions = &self.run.conditions;
        !conditions.mpi.is_empty() || !conditions.variants.is_empty() || conditions.has_plan()
    }

    fn settings(&self) -> Settings {
        Settings { control: self.control.clone(), threshold: self.threshold, ..Settings::default() }
    }

    fn exit_code(&self, comparisons: &Comparisons) -> ExitCode {
        match comparisons.gate() {
            Gate::Shut if self.gate => ExitCode::from(super::measure::FAILED),
            Gate::Undecided if self.gate && !self.undecided_is_ok => ExitCode::from(UNDECIDED),
            _ => ExitCode::SUCCESS,
        }
    }
}

impl Form {
    fn of(self, comparisons: &Comparisons) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => comparisons.text(output::width().map_or(WIDTH, usize::from)),
            Self::Markdown => comparisons.markdown(),
            Self::Json => format!("{}\n", serde_json::to_string_pretty(comparisons)?),
            Self::Junit => comparisons.junit()?,
            Self::Tsv => comparisons.tsv(),
        })
    }
}

/// A share, typed in percent.
fn share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.001..=1.0).contains(share));
    share.ok_or_else(|| "must be a percentage from 0.1% to 100%, for example 5%".to_owned())
}

/// A time in seconds, typed with its unit.
fn seconds(text: &str) -> Result<f64, String> {
    let time: Result<jiff::SignedDuration, _> = text.parse();
    let seconds = time.map(|time| time.as_secs_f64()).ok().filter(|seconds| *seconds > 0.0);
    seconds.ok_or_else(|| "must be a time with its unit, for example 90s or 10m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times_are_typed_with_their_units() {
        assert_eq!((share("5%"), share("2.5")), (Ok(0.05), Ok(0.025)));
        for wrong in ["0", "-5%", "200%", "five", "nan"] {
            assert!(share(wrong).unwrap_err().contains("5%"), "{wrong}");
        }
        assert_eq!((seconds("90s"), seconds("10m"), seconds("1h")), (Ok(90.0), Ok(600.0), Ok(3600.0)));
        for wrong in ["10", "-5s", "soon", ""] {
            assert!(seconds(wrong).unwrap_err().contains("10m"), "{wrong}");
        }
    }
}
