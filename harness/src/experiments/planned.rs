//! A case as plans write it.

use std::collections::BTreeMap;

use apps::{Test, UNNAMED, Values, is_of_layouts};
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::CUSTOM;

/// One test with one set of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCase {
    pub test: String,
    /// The set that provides the values. Default: the set of `quick`.
    pub set: Option<String>,
    /// Values that differ from the set's, or all of them.
    #[serde(default, deserialize_with = "texts", skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// The plan's methods for this case; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
}

impl PlannedCase {
    /// The case with all values, and the name of the set with exactly these values.
    pub fn from_test<M: Copy>(test: &Test<M>, set: Option<&str>, values: &Values) -> Self {
        let set = Some(set_name(test, set, values));
        Self { test: test.name.to_owned(), set, ..Self::default() }.with(values.pairs())
    }

    /// The case with these values replaced.
    pub fn with<N: Into<String>>(self, values: impl IntoIterator<Item = (N, String)>) -> Self {
        Self { params: values.into_iter().map(|(name, value)| (name.into(), value)).collect(), ..self }
    }

    /// Arguments for the rank program: the test, and all values.
    pub fn arguments(&self) -> Vec<String> {
        std::iter::once(self.test.clone()).chain(self.value_arguments()).collect()
    }

    pub fn value_arguments(&self) -> impl Iterator<Item = String> + '_ {
        self.given().flat_map(|(name, value)| ["-p".to_owned(), format!("{name}={value}")])
    }

    /// The named set that provides its values. `None` if its name is not that of a set: [`CUSTOM`], or a layout's own name.
    pub fn named_set(&self) -> Option<&str> {
        // For overlap, the name of an exchange has a prefix.
        let test = self.test.rsplit(':').next().unwrap_or_default();
        let has_set = |set: &str| apps::halo::find(test).is_ok_and(|test| test.set(set).is_ok());
        let is_named = |set: &str| set != CUSTOM && (!is_of_layouts(test) || has_set(set));
        self.set.as_deref().filter(|set| is_named(set))
    }

    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.params.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

/// The name of the set with exactly these values: the one they started from, or the first one. Otherwise
/// [`CUSTOM`], or the name of a layout.
pub fn set_name<M: Copy>(test: &Test<M>, set: Option<&str>, values: &Values) -> String {
    let is_set = |name: &str| test.set(name).is_ok_and(|known| known == *values);
    let named = set.filter(|name| is_set(name));
    let known = named.or_else(|| test.sets.iter().map(|set| set.name).find(|name| is_set(name)));
    match known {
        Some(known) => known.to_owned(),
        // Results distinguish layouts by their names. If a named set has the same name, as for a file
        // `vector.toml`, it would be mistaken for the set, so that the layout's text is used instead.
        None if is_of_layouts(test.name) => match values.label("name") {
            name if name == UNNAMED || test.set(&name).is_ok() => values.label("send"),
            name => name,
        },
        None => CUSTOM.to_owned(),
    }
}

/// The cases of a selection, with notes for the user.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    pub cases: Vec<PlannedCase>,
    /// Sets that were left out, with reasons.
    pub notes: Vec<String>,
}

impl Selected {
    /// Duplicate cases run once.
    pub fn add(&mut self, case: PlannedCase) {
        if !self.cases.contains(&case) {
            self.cases.push(case);
        }
    }
}

/// A value in a file: a text, or a number that is kept as text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or a text")]
pub(super) enum FileValue {
    Text(String),
    Whole(i64),
    Number(f64),
}

impl From<FileValue> for String {
    fn from(value: FileValue) -> Self {
        match value {
            FileValue::Text(text) => text,
            FileValue::Whole(number) => number.to_string(),
            FileValue::Number(number) => number.to_string(),
        }
    }
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, FileValue>::deserialize(from)?;
    Ok(values.into_iter().map(|(name, value)| (name, value.into())).collect())
}

#[cfg(test)]
mod tests {
    use apps::LAYOUT;

    use super::*;

    #[test]
    fn a_layout_is_never_called_as_a_named_set_that_it_is_not() {
        let named = |name: &str, send: &str| {
            let mut values = LAYOUT.set(LAYOUT.quick_set().name).unwrap();
            values.assign("name", name).unwrap();
            values.assign("send", send).unwrap();
            set_name(&LAYOUT, None, &values)
        };
        assert_eq!(named("mine", "vector(2, 1, 4, double)"), "mine");
        for set in LAYOUT.sets {
            assert_eq!(named(set.name, "vector(2, 1, 4, double)"), "vector(2,1,4,double)");
            // Not even with the set's own layout: results distinguish them by the value `name`.
            assert_eq!(named(set.name, "vector(408, 5, 2050, double)"), "vector(408,5,2050,double)");
        }
        assert_eq!(named(UNNAMED, "vector(408, 5, 2050, double)"), "vector");
    }

    #[test]
    fn values_start_from_a_named_set_and_from_none_that_is_a_name() {
        let named = |test: &str, set: &str| {
            let set = Some(set.to_owned());
            let case = PlannedCase { test: test.to_owned(), set, ..PlannedCase::default() };
            case.named_set().map(str::to_owned)
        };
        for test in ["layout", "halo:layout"] {
            assert_eq!(named(test, "indexed").as_deref(), Some("indexed"));
            assert_eq!((named(test, "my_face"), named(test, CUSTOM)), (None, None));
        }
        // An unknown set must be refused.
        assert_eq!(named("nas_lu_y", "my_face").as_deref(), Some("my_face"));
        let sets = |sets: &[apps::ParameterSet]| sets.iter().map(|set| set.name).collect::<Vec<_>>();
        assert_eq!(sets(LAYOUT.sets), sets(apps::halo::LAYOUT.sets));
    }
}
