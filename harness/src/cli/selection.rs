//! Flags that select tests and their parameters.

use apps::Preset;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ddtbench::experiments::selection::{Lists, Selection};

use super::completions;
use super::headings::WHAT;

#[derive(Debug, Args)]
#[command(next_help_heading = WHAT)]
pub struct TestArgs {
    /// Names of tests, exchanges or operations [default: all]
    #[arg(value_name = "TEST", add = completions::tests())]
    pub tests: Vec<String>,
    /// quick: one size per test; default: sizes of the original; full: these and larger ones [default: quick]
    #[arg(long, value_parser = PossibleValuesParser::new(["quick", "default", "full"]).map(preset))]
    preset: Option<Preset>,
    #[command(flatten)]
    pub sets: SetArgs,
}

impl TestArgs {
    /// # Errors
    /// If a value has no name, or a name is given twice.
    pub fn selection(&self) -> anyhow::Result<Selection> {
        Ok(Selection { tests: self.tests.clone(), preset: self.preset, ..self.sets.selection()? })
    }

    pub fn are_quick(&self) -> bool {
        self.tests.is_empty() && self.preset.is_none_or(|preset| preset == Preset::Quick)
    }
}

#[derive(Clone, Debug, Default, Args)]
pub struct SetArgs {
    /// Named parameter set instead of the preset's; several, such as 408x408,1020x1020, are a case each
    #[arg(long = "set", value_name = "NAME", value_delimiter = ',', add = completions::sets())]
    sets: Vec<String>,
    #[command(flatten)]
    params: ParamArgs,
}

impl SetArgs {
    /// # Errors
    /// If a value has no name, or a name is given twice.
    pub fn selection(&self) -> anyhow::Result<Selection> {
        Ok(Selection { sets: self.sets.clone(), lists: self.params.lists()?, ..Selection::default() })
    }
}

#[derive(Clone, Debug, Default, Args)]
pub struct ParamArgs {
    /// Set single parameters; several values, such as nx=8,16, are a case each. `ddtbench list NAME` shows
    /// the parameters of a test, an exchange or an operation
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',', add = completions::parameters())]
    params: Vec<String>,
}

impl ParamArgs {
    /// # Errors
    /// If a value has no name, or a name is given twice.
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
