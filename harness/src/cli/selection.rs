//! Which tests a command is of, with which parameters.

use clap::{Args, ValueEnum};
use ddtbench::experiments::selection::{Lists, Selection};

use super::conditions::ConditionArgs;
use super::headings::WHAT;

/// Tests of a run that can also come from a plan, or be those of an earlier run.
#[derive(Debug, Args)]
#[command(next_help_heading = WHAT)]
pub struct TestArgs {
    /// Names of tests; all if there is none
    #[arg(value_name = "TEST", conflicts_with_all = ["resume", "plan"])]
    pub tests: Vec<String>,
    /// quick: one size per test; default: the original's sizes; full: these and larger ones [default: quick]
    #[arg(long, value_enum, conflicts_with_all = ["resume", "plan"])]
    preset: Option<PresetName>,
    #[command(flatten)]
    pub values: ValueArgs,
}

impl TestArgs {
    /// What they select.
    ///
    /// # Errors
    /// A value without a name, or a name that is given twice.
    pub fn selection(&self) -> anyhow::Result<Selection> {
        let (tests, preset) = (self.tests.clone(), self.preset.map(Into::into));
        Ok(Selection { tests, preset, ..self.values.selection()? })
    }

    /// Refuses values beside a plan or an earlier run. Other commands take values without these, so that `clap` cannot.
    ///
    /// # Errors
    /// If there are any.
    pub fn check(&self, conditions: &ConditionArgs) -> anyhow::Result<()> {
        self.values.check(conditions)
    }
}

/// Layouts that are measured, or shown, as the test `layout`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = WHAT)]
pub struct GivenLayouts {
    /// Any layout instead of a test: a text as 'vector(408, 5, 2050, double)', a file that has one or is what `ddtbench layout
    /// --json` prints, or - for standard input; several make a case each (docs/my-array.md)
    #[arg(long = "layout", value_name = "FILE|TEXT", conflicts_with_all = ["sets", "params", "corners"])]
    pub layouts: Vec<String>,
}

/// A test's parameters.
#[derive(Clone, Debug, Default, Args)]
pub struct ValueArgs {
    /// A named parameter set instead of the preset's; several, as 408x408,1020x1020, make a case each
    #[arg(long = "set", value_name = "NAME", value_delimiter = ',')]
    sets: Vec<String>,
    /// Single parameters, changing the named set or the one of `quick`; several values, as nx=8,16, make a case each
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    params: Vec<String>,
    /// Short for -p corners=yes: a face of `subarray` spans the halo of the other axes, too
    #[arg(long)]
    corners: bool,
}

impl ValueArgs {
    /// Refuses them beside a plan or an earlier run.
    ///
    /// # Errors
    /// If there are any.
    pub fn check(&self, conditions: &ConditionArgs) -> anyhow::Result<()> {
        conditions.refuse_selection(&[
            ("--set", !self.sets.is_empty()),
            ("-p", !self.params.is_empty()),
            ("--corners", self.corners),
        ])
    }

    /// What they select of a test.
    ///
    /// # Errors
    /// A value without a name, or a name that is given twice.
    pub fn selection(&self) -> anyhow::Result<Selection> {
        let corners = self.corners.then(|| "corners=yes".to_owned());
        let typed: Vec<String> = self.params.iter().cloned().chain(corners).collect();
        let lists = Lists::typed(&typed, "nx=162").map_err(anyhow::Error::msg)?;
        Ok(Selection { sets: self.sets.clone(), lists, ..Selection::default() })
    }
}

/// A preset, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    Quick,
    Default,
    Full,
}

impl From<PresetName> for apps::Preset {
    fn from(name: PresetName) -> Self {
        match name {
            PresetName::Quick => Self::Quick,
            PresetName::Default => Self::Default,
            PresetName::Full => Self::Full,
        }
    }
}
