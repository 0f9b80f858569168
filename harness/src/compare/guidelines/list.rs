//! The guidelines from `guidelines.toml`: a time that should not exceed another one, and the alternative for users.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::experiments::pingpong::methods::{METHODS, description};
use crate::model::LOOP;
pub(super) use crate::model::MANUAL;
use crate::report::names::distinct;

/// A time that should not exceed another one.
#[derive(Debug, Deserialize)]
pub struct Guideline {
    pub name: String,
    pub statement: String,
    /// This time should not be longer ...
    pub takes: Term,
    /// ... than this.
    pub than: Than,
    /// The alternative for users.
    pub instead: String,
}

/// A time of a case.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// The headline time of a method.
    Whole(String),
    Packing(String),
    /// The time of creating and freeing its datatypes, which happens once.
    Making(String),
}

/// The compared time.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Than {
    /// A multiple of another time of the case.
    Times(f64, Term),
    /// A multiple of the time that the method saves per round trip relative to this one.
    Saved(f64, String),
    /// Any other description of the same bytes.
    Described,
    /// The time of the next larger message of the test, which differs in one parameter.
    Larger,
    /// The time of the next smaller such message, times the number that fits into this one.
    Smaller,
}

impl Term {
    pub fn method(&self) -> &str {
        match self {
            Self::Whole(method) | Self::Packing(method) | Self::Making(method) => method,
        }
    }
}

impl Guideline {
    fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = match &self.than {
            Than::Times(_, term) => vec![term.method()],
            Than::Saved(_, method) => vec![method],
            Than::Described => descriptions().collect(),
            Than::Larger | Than::Smaller => Vec::new(),
        };
        methods.push(self.takes.method());
        if methods.contains(&MANUAL) {
            methods.push(LOOP);
        }
        methods
    }
}

pub static GUIDELINES: LazyLock<Vec<Guideline>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct GuidelinesFile {
        guidelines: Vec<Guideline>,
    }
    let file: GuidelinesFile =
        toml::from_str(include_str!("guidelines.toml")).expect("it is part of the program");
    file.guidelines
});

/// The methods that describe a message in another way.
pub(super) fn descriptions() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.name).filter(|name| description(name).is_some())
}

/// The methods that guidelines compare.
pub fn methods() -> Vec<String> {
    distinct(GUIDELINES.iter().flat_map(Guideline::methods).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Kind;

    #[test]
    fn every_method_of_a_guideline_is_one_of_ping_pongs() {
        for method in methods() {
            assert!(Kind::PingPong.method(&method).is_ok(), "{method}");
        }
    }

    #[test]
    fn guidelines_of_creation_ask_what_they_report() {
        let saved = |guideline: &'static Guideline| match guideline.than {
            Than::Saved(uses, _) => Some((uses, &guideline.statement)),
            _ => None,
        };
        let (uses, statement) = GUIDELINES.iter().find_map(saved).unwrap();
        assert!(statement.contains(&uses.to_string()), "{statement}");
    }
}
