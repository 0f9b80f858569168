//! Ways to make a datatype of a layout that do not change its type map.

use serde::{Deserialize, Serialize};

/// How the constructors of a layout are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Construction {
    /// With the functions for large counts, whose names end in `_c`, only if an argument is beyond `int`.
    #[default]
    Usual,
    /// Always with these.
    Large,
    /// Each type is duplicated before it is used.
    Duplicated,
}

impl Construction {
    /// For people; empty for the usual way.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::Large => "constructors with large counts (_c)",
            Self::Duplicated => "each type duplicated",
        }
    }

    /// Whether it is the usual one.
    pub fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}
