//! What is asked for of a case, as plans write it.

use std::collections::BTreeMap;

use apps::{LAYOUT, Test, UNNAMED, Values};
use serde::{Deserialize, Serialize};

use crate::model::CUSTOM;

/// One test with one set of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCase {
    /// The test's name.
    pub test: String,
    /// The set that the values start from; without one, the set of `quick`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Values that differ from the set's, or all of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Text>,
    /// Those of the plan's methods that it is measured with; all without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
}

impl PlannedCase {
    /// The case with all values, and the name of the set that has just these.
    pub fn of<M: Copy>(test: &Test<M>, set: Option<&str>, values: &Values) -> Self {
        let params = values.pairs().map(|(name, value)| (name.to_owned(), Text(value))).collect();
        let set = Some(set_name(test, set, values));
        Self { test: test.name.to_owned(), set, params, methods: Vec::new() }
    }

    /// What the rank program is told of it: the test, and all values.
    pub fn arguments(&self) -> Vec<String> {
        std::iter::once(self.test.clone()).chain(self.value_arguments()).collect()
    }

    /// The same without the test.
    pub fn value_arguments(&self) -> impl Iterator<Item = String> + '_ {
        self.given().flat_map(|(name, value)| ["-p".to_owned(), format!("{name}={value}")])
    }

    /// Names and values that it gives.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.params.iter().map(|(name, text)| (name.as_str(), text.0.as_str()))
    }
}

/// The name of the set that has just these values: the one they started from, or the first. What is in none is [`CUSTOM`], a
/// layout what it is called.
pub fn set_name<M: Copy>(test: &Test<M>, set: Option<&str>, values: &Values) -> String {
    let is_set = |name: &str| test.set(name).is_ok_and(|known| known == *values);
    let named = set.filter(|name| is_set(name));
    let known = named.or_else(|| test.sets.iter().map(|set| set.name).find(|name| is_set(name)));
    match known {
        Some(known) => known.to_owned(),
        // Layouts have names of their own, by which results tell them apart.
        None if test.name == LAYOUT.name => match values.label("name") {
            name if name == UNNAMED => values.label("send"),
            name => name,
        },
        None => CUSTOM.to_owned(),
    }
}

/// The cases of a selection, and what the user should know about them.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    /// The cases.
    pub cases: Vec<PlannedCase>,
    /// Sets that were left out, and why.
    pub notes: Vec<String>,
}

impl Selected {
    /// A case that was named twice runs once.
    pub fn add(&mut self, case: PlannedCase) {
        if !self.cases.contains(&case) {
            self.cases.push(case);
        }
    }
}

/// A value as text; a file may also give a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Text;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number or a text")
            }
            fn visit_i64<E>(self, value: i64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Text, E> {
                Ok(Text(value.to_owned()))
            }
        }
        from.deserialize_any(Visitor)
    }
}
