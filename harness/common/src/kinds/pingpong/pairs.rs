//! Which ranks play with each other.

use serde::{Deserialize, Serialize};

/// Which ranks play with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// 0 with 1, 2 with 3, and so on.
    #[default]
    Adjacent,
    /// The first half with the second half.
    Across,
}

impl Pairs {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adjacent => "adjacent",
            Self::Across => "across",
        }
    }
}
