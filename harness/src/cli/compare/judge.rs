//! How comparisons are judged and printed: the flags of all commands that compare.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use ddtbench::compare::{Comparisons, GateDecision, GateResult, Settings};

use super::recorded;
use crate::cli::run_page::{Shown, launches};
use crate::cli::{measure, output};

/// Exit code of a gate if nothing is slower and something is undecided.
const UNDECIDED: u8 = 3;

#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Smallest change that fails a gate; a change shown to be smaller is called the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    threshold: f64,
    /// Do not fail because of undecided rows
    #[arg(long)]
    undecided_is_ok: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ComparisonFormat,
}

impl JudgeArgs {
    pub fn settings(&self) -> Settings {
        Settings { threshold: self.threshold, ..Settings::default() }
    }

    /// Compares folders of runs. With `anyway`, machine and conditions may differ.
    pub fn recorded(&self, folders: &[PathBuf], anyway: bool) -> anyhow::Result<Comparisons> {
        recorded::compare(folders, &self.settings(), anyway)
    }

    /// Adds the result of the gate, if there is one, and returns the exit code.
    pub fn gate(&self, comparisons: &mut Comparisons, is_gate: bool) -> ExitCode {
        let (result, code) = match comparisons.gate() {
            GateDecision::Shut => ("failed", measure::FAILED),
            GateDecision::Undecided if !self.undecided_is_ok => ("undecided", UNDECIDED),
            GateDecision::Open | GateDecision::Undecided => ("passed", 0),
        };
        let text = format!("gate {result}: {}", comparisons.decision());
        comparisons.gate = is_gate.then_some(GateResult { passed: code == 0, text });
        ExitCode::from(if is_gate { code } else { 0 })
    }

    /// Prints comparisons of the runs in these folders. The last line of the log is the decision.
    pub fn print(&self, comparisons: &Comparisons, folders: &[PathBuf]) -> anyhow::Result<()> {
        output::print(self.format.text_of(comparisons, folders)?.as_bytes())?;
        let gate = comparisons.gate.as_ref().map(|gate| gate.text.clone());
        output::log(&gate.unwrap_or_else(|| comparisons.decision()));
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ComparisonFormat {
    Text,
    Markdown,
    Json,
    Junit,
    /// A page that needs no other file
    Html,
}

impl ComparisonFormat {
    fn text_of(self, comparisons: &Comparisons, folders: &[PathBuf]) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => comparisons.compared().text(output::width()),
            Self::Markdown => comparisons.compared().markdown(),
            Self::Json => format!("{}\n", serde_json::to_string_pretty(comparisons)?),
            Self::Junit => comparisons.junit()?,
            Self::Html => {
                let is_table = folders.iter().any(|folder| folder.is_file());
                ensure!(
                    !is_table,
                    "--format html needs recorded runs; for tables use text, markdown, json or junit"
                );
                let runs = recorded::runs(folders)?;
                Shown::new(&runs, &launches(&runs, &[])?, &comparisons.compared(), true)?.page.html
            }
        })
    }
}

/// Reads a percentage as a fraction.
pub fn share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.001..=100.0).contains(share));
    share.ok_or_else(|| "must be a percentage from 0.1% to 10000%, for example 5%".to_owned())
}
