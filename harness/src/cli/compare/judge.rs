//! How comparisons are judged and printed: the flags of all commands that compare.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use ddtbench::compare::{Comparisons, GateDecision, Settings};

use super::recorded;
use crate::cli::run_page::Shown;
use crate::cli::{measure, output};

/// Exit code of a gate where nothing is slower, and something undecided.
const UNDECIDED: u8 = 3;

/// How comparisons are judged and printed.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Smallest change that fails a gate; a change shown to be smaller is called the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    threshold: f64,
    /// With --gate: exit code 0, and not 3, if something is undecided
    #[arg(long)]
    undecided_is_ok: bool,
    /// How the comparison is printed
    #[arg(long, value_enum, default_value = "text")]
    format: ComparisonFormat,
}

impl JudgeArgs {
    /// What verdicts go by.
    pub fn settings(&self) -> Settings {
        Settings { threshold: self.threshold, ..Settings::default() }
    }

    /// Compares folders of runs; `anyway`: although machine or conditions differ.
    pub fn recorded(&self, folders: &[PathBuf], anyway: bool) -> anyhow::Result<Comparisons> {
        recorded::compare(folders, &self.settings(), anyway)
    }

    /// Prints comparisons of what is in these folders; the exit code is that of a gate, if it is one.
    pub fn print(
        &self,
        comparisons: &Comparisons,
        folders: &[PathBuf],
        is_gate: bool,
    ) -> anyhow::Result<ExitCode> {
        output::print(self.format.of(comparisons, folders)?.as_bytes())?;
        Ok(match comparisons.gate() {
            GateDecision::Shut if is_gate => ExitCode::from(measure::FAILED),
            GateDecision::Undecided if is_gate && !self.undecided_is_ok => ExitCode::from(UNDECIDED),
            _ => ExitCode::SUCCESS,
        })
    }
}

/// How a comparison can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ComparisonFormat {
    Text,
    Markdown,
    Json,
    Junit,
    /// A page that needs nothing else
    Html,
}

impl ComparisonFormat {
    fn of(self, comparisons: &Comparisons, folders: &[PathBuf]) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => comparisons.compared().text(output::width()),
            Self::Markdown => comparisons.compared().markdown(),
            Self::Json => format!("{}\n", serde_json::to_string_pretty(comparisons)?),
            Self::Junit => comparisons.junit()?,
            Self::Html => Shown::of(&recorded::runs(folders)?, &[], &comparisons.compared())?.page.html,
        })
    }
}

/// A change below which there is none, as a share, typed in percent: at most a hundredfold.
pub fn share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.001..=100.0).contains(share));
    share.ok_or_else(|| "must be a percentage from 0.1% to 10000%, for example 5%".to_owned())
}
