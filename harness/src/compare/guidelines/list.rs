//! The guidelines, which are in `guidelines.toml`: what should not take longer than what, and what a user can write instead.

use std::sync::LazyLock;

use serde::Deserialize;

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
    fn methods(&self) -> [&str; 2] {
        let than = match &self.than {
            Than::Times(_, term) => term.method(),
            Than::Saved(_, method) => method,
            Than::Larger | Than::Smaller => self.takes.method(),
        };
        [than, self.takes.method()]
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

/// The methods that guidelines hold against each other.
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
