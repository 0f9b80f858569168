//! Which tests a command is of, with which parameters.

use clap::{Args, ValueEnum};

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
    /// The preset, or this one if none was typed.
    pub fn preset(&self, default: apps::Preset) -> apps::Preset {
        self.preset.map_or(default, Into::into)
    }

    /// Refuses values beside a plan or an earlier run. Other commands take values without these, so that `clap` cannot.
    ///
    /// # Errors
    /// If there are any.
    pub fn check(&self, conditions: &ConditionArgs) -> anyhow::Result<()> {
        let ValueArgs { set, params } = &self.values;
        conditions.refuse_selection(&[("--set", set.is_some()), ("-p", !params.is_empty())])
    }
}

/// A test's parameters.
#[derive(Clone, Debug, Default, Args)]
pub struct ValueArgs {
    /// A named parameter set instead of the preset's
    #[arg(long, value_name = "NAME")]
    pub set: Option<String>,
    /// Single parameters, changing the named set or the one of `quick`; several values, as nx=8,16, make a case each
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    pub params: Vec<String>,
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
