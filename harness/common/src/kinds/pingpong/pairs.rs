//! Which ranks are paired.

use serde::{Deserialize, Serialize};

named! {
    /// Which ranks are paired.
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
