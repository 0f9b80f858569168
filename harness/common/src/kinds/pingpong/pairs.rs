//! Which ranks play with each other.

use serde::{Deserialize, Serialize};

named! {
    /// Which ranks play with each other.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
    #[serde(rename_all = "snake_case")]
    pub enum Pairs {
        /// 0 with 1, 2 with 3, and so on.
        #[default]
        Adjacent = "adjacent",
        /// The first half with the second half.
        Across = "across",
    }
}
