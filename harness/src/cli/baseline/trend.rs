//! `baseline trend`: all checks of a baseline side by side.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, ensure};
use clap::{Args, ValueEnum};
use ddtbench::compare::{Check, Trend};
use ddtbench::folder;
use jiff::Timestamp;

use super::{NamedArgs, checks_of, environment};
use crate::cli::run_page::{Shown, comparisons, launches};
use crate::cli::{output, recorded};

#[derive(Debug, Args)]
pub struct TrendArgs {
    #[command(flatten)]
    baseline: NamedArgs,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: TrendFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TrendFormat {
    Text,
    Markdown,
    /// A page that needs no other file, with a picture
    Html,
}

impl TrendArgs {
    pub fn execute(&self) -> anyhow::Result<ExitCode> {
        let (path, runs) = (self.baseline.path(), self.baseline.runs()?);
        let checks = checks_of(&path)?;
        let Some(newest) = checks.last() else {
            return Err(anyhow!(
                "{}: no checks; `ddtbench baseline check {}` makes one",
                path.display(),
                self.baseline.name
            ));
        };
        let since = date(&runs[0])?;
        let trend = Trend(checks.iter().map(|check| read(check, since)).collect::<anyhow::Result<_>>()?);
        let compared = trend.compared();
        let shown = match self.format {
            TrendFormat::Text => compared.text(output::width()),
            TrendFormat::Markdown => compared.markdown(),
            TrendFormat::Html => {
                let of_newest =
                    recorded::runs_within(newest).with_context(|| newest.display().to_string())?;
                let runs = [runs, of_newest].concat();
                Shown::of(&runs, &launches(&runs, &[])?, &compared, true)?.page.html
            }
        };
        output::print(shown.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn read(check: &Path, since: Timestamp) -> anyhow::Result<Check> {
    let found = comparisons(check);
    let found =
        found.ok_or_else(|| anyhow!("{}: cannot be read", check.join(folder::COMPARISON).display()))?;
    let runs = recorded::runs_within(check).with_context(|| check.display().to_string())?;
    ensure!(!runs.is_empty(), "{}: has no runs", check.display());
    let made = date(&runs[0])?;
    let seconds = made.duration_since(since).as_secs_f64();
    Ok(Check { date: made.strftime("%Y-%m-%d %H:%M").to_string(), days: seconds / 86400.0, found })
}

fn date(run: &Path) -> anyhow::Result<Timestamp> {
    let begun =
        environment(run).with_context(|| format!("{}: has no {}", run.display(), folder::ENVIRONMENT))?;
    begun.begun.date.parse().with_context(|| format!("{}: {}", run.display(), begun.begun.date))
}
