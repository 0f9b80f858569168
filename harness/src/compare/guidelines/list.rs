//! The guidelines, which are in `guidelines.toml`: what should not take longer than what, and what a user can write instead.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::experiments::pingpong::methods::{METHODS, description};
use crate::model::{LOOP, LOOPS};
use crate::report::names::distinct;

/// Something that should not take longer than something else.
#[derive(Debug, Deserialize)]
pub struct Guideline {
    /// Its name.
    pub name: String,
    /// What it says, in a line.
    pub says: String,
    /// What should not take longer ...
    pub takes: Term,
    /// ... than this.
    pub than: Than,
    /// What a user can write instead.
    pub instead: String,
}

/// A time of a case.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// Of a method, by which it is judged.
    Whole(String),
    /// Of its packing alone.
    Packing(String),
    /// Of making its datatypes and freeing them, which is done once.
    Making(String),
}

/// What a time is held against.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Than {
    /// So many times another time of the case.
    Times(f64, Term),
    /// So many times what a round trip by the method itself is shorter than by this one.
    Saved(f64, String),
    /// Any other description of the same bytes.
    Described,
    /// The same of the next larger message of the test, which differs in one parameter.
    Larger,
    /// The same of the next smaller such message, as many times as it fits into this one.
    Smaller,
}

impl Term {
    /// The method.
    pub fn method(&self) -> &str {
        match self {
            Self::Whole(method) | Self::Packing(method) | Self::Making(method) => method,
        }
    }
}

impl Guideline {
    /// The methods that it is about.
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

/// All of them.
pub static GUIDELINES: LazyLock<Vec<Guideline>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        guidelines: Vec<Guideline>,
    }
    let file: File = toml::from_str(include_str!("guidelines.toml")).expect("it is part of the program");
    file.guidelines
});

/// The application's loop; where there is none, [`LOOP`] takes its place.
pub(super) const MANUAL: &str = LOOPS[0];

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
            Than::Saved(uses, _) => Some((uses, &guideline.says)),
            _ => None,
        };
        let (uses, says) = GUIDELINES.iter().find_map(saved).unwrap();
        assert!(says.contains(&uses.to_string()), "{says}");
    }
}
