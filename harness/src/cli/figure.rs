//! The command `figure`: measures and draws a figure of a paper, or of the user's plan file.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use ddtbench::experiments::selection::Lists;
use ddtbench::plan::{Plan, figures};

use super::completions;
use super::conditions::{ConditionArgs, FolderArgs};
use super::kinds::RankArgs;
use super::output;

#[derive(Debug, Args)]
pub struct FigureArgs {
    /// Figure, such as hlrs-3, or a plan file with [figure] and sweeps; without it, all figures are listed
    #[arg(value_name = "NAME|FILE", add = completions::figures())]
    name: Option<String>,
    /// Few sizes and short times, for a first result: the values in [quick] of the plan
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// All sizes and threads of the paper: the values in [full] of the plan
    #[arg(long)]
    full: bool,
    /// Values that replace those of the plan's sweeps, for example bytes=1KiB,64KiB; test=NAME replaces the tests
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    params: Vec<String>,
    #[command(flatten)]
    ranks: RankArgs,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    folder: FolderArgs,
}

impl FigureArgs {
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        match &self.name {
            None if self.folder.resume.is_none() => {
                output::print_text(&list())?;
                Ok(ExitCode::SUCCESS)
            }
            name => {
                self.folder.execute(&self.conditions, None, || self.plan(name.as_deref().unwrap_or_default()))
            }
        }
    }

    fn plan(&self, name: &str) -> anyhow::Result<Plan> {
        let mut plan = read(name)?;
        if plan.figure.is_none() {
            let command = plan.experiment.row().command;
            bail!("{name} has no [figure]; `ddtbench {command} --plan {name}` runs it without drawing");
        }
        for (flag, is_asked, values) in
            [("quick", self.quick, plan.quick.clone()), ("full", self.full, plan.full.clone())]
        {
            if is_asked {
                let values = values.ok_or_else(|| anyhow!("--{flag}: the plan {name} has no [{flag}]"))?;
                plan = plan.with(values).with_context(|| format!("[{flag}] of {name}"))?;
            }
        }
        plan.replace(&Lists::typed(&self.params, "bytes=64KiB").map_err(anyhow::Error::msg)?);
        plan.ranks = self.ranks.ranks.or(plan.ranks);
        self.conditions.apply(plan)
    }
}

fn read(name: &str) -> anyhow::Result<Plan> {
    if let Some(plan) = figures::plan(name) {
        return Ok(plan);
    }
    let file = Path::new(name);
    if !file.is_file() {
        bail!(figures::no_such(name));
    }
    Ok(Plan::read(file)?)
}

fn list() -> String {
    let title = |name: &str| figures::plan(name).and_then(|plan| plan.figure).map(|figure| figure.title);
    let row = |(name, _): &(&str, &str)| format!("{name:<11} {}\n", title(name).unwrap_or_default());
    let rows: String = figures::FIGURES.iter().map(row).collect();
    format!(
        "{rows}\n\
         ddtbench figure NAME [--quick]    measures and draws one: SVG and PDF, and its data as CSV\n\
         ddtbench list NAME > my.toml      a plan file to edit\n\
         ddtbench figure my.toml           measures and draws that\n"
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn typed(words: &[&str]) -> FigureArgs {
        match Cli::try_parse_from([&["ddtbench", "figure"], words].concat()).map(|cli| cli.command) {
            Ok(Some(Command::Figure(args))) => *args,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn every_figure_is_listed() {
        assert!(figures::FIGURES.iter().all(|(name, _)| list().contains(name)), "{}", list());
        assert!(list().contains("BenchNBC"));
    }

    #[test]
    fn what_is_given_replaces_the_figures_own() {
        let plan = |words: &[&str]| typed(words).plan(words[0]).unwrap().check().unwrap().plan;
        let text = "hlrs-3 --quick --max-time 2 -m single -p partition_bytes=8KiB,1MiB";
        let quick = plan(&text.split(' ').collect::<Vec<_>>());
        assert_eq!((quick.cases.len(), quick.launches, quick.limits.max_time_s), (2, Some(1), 2.0));
        assert_eq!((quick.methods.as_slice(), quick.ranks()), (&["single".to_owned()][..], 2));
        let of = plan(&["ddtbench-5", "-p", "test=nas_lu_y", "-p", "ny=100,200"]);
        assert!(of.cases.len() == 2 && of.cases.iter().all(|case| case.test == "nas_lu_y"));
        assert_eq!(plan(&["cmb-5", "--quick", "-n", "2"]).ranks, Some(2));
    }
}
