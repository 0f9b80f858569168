//! Weights of tests, for one mean per MPI: a table from test to weight, such as each code's share of a centre's hours.

use std::collections::BTreeMap;

use super::Subject;

/// Weights by the names of tests, or by the beginnings of several names, such as `wrf` for `wrf_x_vec` and `wrf_y_sa`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// The file that they are from.
    pub file: String,
    table: BTreeMap<String, f64>,
}

impl Weights {
    /// Those in the text of a TOML file.
    ///
    /// # Errors
    /// The mistake, with its key.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let table: toml::Table =
            toml::from_str(text).map_err(|error| format!("{file}: {}", error.to_string().trim_end()))?;
        let weight = |(key, value): (String, toml::Value)| {
            let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
            match number.filter(|number| (0.0..=1e100).contains(number)) {
                Some(number) => Ok((key, number)),
                None => Err(format!(
                    "{file}: key {key}: is {value}; must be a number from 0 on, for example {key} = 40"
                )),
            }
        };
        let table: BTreeMap<String, f64> = table.into_iter().map(weight).collect::<Result<_, _>>()?;
        if table.values().sum::<f64>() <= 0.0 {
            return Err(format!(
                "{file}: has no weight above 0; a line is a test and its weight: nas_lu_y = 40"
            ));
        }
        Ok(Self { file: file.to_owned(), table })
    }

    /// The weight of each of these tests. One that several tests share is split equally among those without a weight.
    ///
    /// # Errors
    /// A key without a test.
    pub fn of_tests<'a>(&self, tests: &[&'a str]) -> Result<BTreeMap<&'a str, f64>, String> {
        let key = |test: &str| {
            let is_of = |key: &&String| {
                test.strip_prefix(key.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            self.table.keys().filter(is_of).max_by_key(|key| key.len())
        };
        let keys: BTreeMap<&str, &String> =
            tests.iter().filter_map(|test| Some((*test, key(test)?))).collect();
        if let Some(unknown) = self.table.keys().find(|known| !keys.values().any(|key| key == known)) {
            return Err(format!(
                "{}: key {unknown}: is neither a test of the run nor the beginning of one; its tests are {}",
                self.file,
                tests.join(", ")
            ));
        }
        let share =
            |key: &String| self.table[key] / keys.values().filter(|other| **other == key).count() as f64;
        Ok(keys.iter().map(|(test, key)| (*test, share(key))).collect())
    }
}

/// The tests of cases, each once.
pub(super) fn test_names<'a>(cases: impl IntoIterator<Item = &'a Subject>) -> Vec<&'a str> {
    crate::report::names::distinct(cases.into_iter().map(|case| case.test.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_key_counts_and_shared_weights_are_split() {
        let weights =
            Weights::parse("codes.toml", "wrf = 40\nwrf_x_vec = 10.5\nnas_lu_y = 20 # hours").unwrap();
        let of = weights.of_tests(&["wrf_x_vec", "wrf_y_vec", "wrf_y_sa", "nas_lu_y", "nas_lu_x"]).unwrap();
        let expected = [("nas_lu_y", 20.0), ("wrf_x_vec", 10.5), ("wrf_y_sa", 20.0), ("wrf_y_vec", 20.0)];
        assert_eq!(of, BTreeMap::from(expected), "nas_lu_x has none");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let of = |text: &str| {
            Weights::parse("w.toml", text).and_then(|weights| weights.of_tests(&["nas_lu_y"]).map(|_| ()))
        };
        for row in include_str!("tests/weights.txt").lines().skip(1) {
            let (text, words) = row.split_once(" => ").unwrap();
            let error = of(&text.replace("\\n", "\n")).unwrap_err();
            assert!(words.split(" | ").all(|word| error.contains(word)), "{row}: {error}");
        }
        assert_eq!(of("nas_lu_y = 1"), Ok(()));
    }
}
