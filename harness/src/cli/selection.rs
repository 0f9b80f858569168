//! Which tests a command is of, with which parameters.

use apps::Preset;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ddtbench::experiments::selection::{Lists, Selection};

use super::headings::WHAT;

/// Tests with their sets and parameters.
#[derive(Debug, Args)]
#[command(next_help_heading = WHAT)]
pub struct TestArgs {
    /// Names of tests, exchanges or operations; all if there is none
    #[arg(value_name = "TEST")]
    pub tests: Vec<String>,
    /// quick: one size per test; default: the original's sizes; full: these and larger ones [default: quick]
    #[arg(long, value_parser = PossibleValuesParser::new(["quick", "default", "full"]).map(preset))]
    preset: Option<Preset>,
    #[command(flatten)]
    pub sets: SetArgs,
}

impl TestArgs {
    /// What they select.
    ///
    /// # Errors
    /// A value without a name, or a name that is given twice.
    pub fn selection(&self) -> anyhow::Result<Selection> {
        Ok(Selection { tests: self.tests.clone(), preset: self.preset, ..self.sets.selection()? })
    }

    /// Whether no test is named, and the preset is `quick`.
    pub fn are_quick(&self) -> bool {
        self.tests.is_empty() && self.preset.is_none_or(|preset| preset == Preset::Quick)
    }
}

/// Named sets of parameters, and single ones.
#[derive(Clone, Debug, Default, Args)]
pub struct SetArgs {
    /// A named parameter set instead of the preset's; several, as 408x408,1020x1020, make a case each
    #[arg(long = "set", value_name = "NAME", value_delimiter = ',')]
    sets: Vec<String>,
    #[command(flatten)]
    params: ParamArgs,
}

impl SetArgs {
    /// What they select of a test.
    ///
    /// # Errors
    /// A value without a name, or a name that is given twice.
    pub fn selection(&self) -> anyhow::Result<Selection> {
        Ok(Selection { sets: self.sets.clone(), lists: self.params.lists()?, ..Selection::default() })
    }
}

/// Single parameters.
#[derive(Clone, Debug, Default, Args)]
pub struct ParamArgs {
    /// Single parameters, changing the named set or the one of `quick`; several values, as nx=8,16, make a case each.
    /// `ddtbench list NAME` shows those of a test, an exchange or an operation
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    params: Vec<String>,
}

impl ParamArgs {
    /// Their lists of values.
    ///
    /// # Errors
    /// A value without a name, or a name that is given twice.
    pub fn lists(&self) -> anyhow::Result<Lists> {
        Lists::typed(&self.params, "nx=162").map_err(anyhow::Error::msg)
    }
}

fn preset(name: String) -> Preset {
    match &*name {
        "quick" => Preset::Quick,
        "default" => Preset::Default,
        _ => Preset::Full,
    }
}
