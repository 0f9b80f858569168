//! From words on a command line to cases: tests, a preset, a named set, single values.

use apps::{ParameterError, Preset, TESTS, Test, Values};

use crate::experiments::planned::{PlannedCase, Selected};
use crate::experiments::{Setup, parameter};

/// What the user selects; all tests if none is named.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Names of tests.
    pub tests: Vec<String>,
    /// Which of their sets.
    pub preset: Preset,
    /// Named sets instead. Where no test is named, each is of the tests that have it.
    pub sets: Vec<String>,
    /// Single values, as `nx=162`; what follows without a name is another value of the name before.
    pub params: Vec<String>,
}

impl Selection {
    /// The cases, for these ranks and this seed.
    ///
    /// # Errors
    /// An unknown test, set or parameter, a refused value, a selection of nothing.
    pub fn cases(&self, setup: Setup) -> Result<Selected, SelectionError> {
        let tests = self.tests()?;
        let mut selected = Selected::default();
        for test in tests {
            if !self.sets.is_empty() || !self.params.is_empty() {
                for set in self.sets(test) {
                    for values in self.choices(test, set)? {
                        test.build(&values, setup.context())?;
                        selected.add(PlannedCase::of(test, set, &values));
                    }
                }
                continue;
            }
            for set in test.sets_of(self.preset) {
                let values = test.set(set.name)?;
                match test.build(&values, setup.context()) {
                    Ok(_) => selected.add(PlannedCase::of(test, Some(set.name), &values)),
                    // What another number of ranks could have is no mistake of the user's.
                    Err(error @ ParameterError::Value { .. }) => {
                        selected.notes.push(format!("left out: {} {}: {error}", test.name, set.name))
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if selected.cases.is_empty() {
            return Err(SelectionError::Selection(format!(
                "nothing is left to run; {}",
                selected.notes.join("; ")
            )));
        }
        Ok(selected)
    }

    /// The values of one test: the named set or the one of `quick`, changed by the single values, of which each name has one.
    ///
    /// # Errors
    /// An unknown set or parameter, a text that is no value, several sets or several values of a name.
    pub fn values(&self, test: &Test) -> Result<Values, SelectionError> {
        if self.sets.len() > 1 {
            let sets = self.sets.join(",");
            return Err(SelectionError::Selection(format!("--set {sets}: one set is needed here")));
        }
        let mut all = self.choices(test, self.sets.first().map(String::as_str))?;
        match all.pop() {
            Some(values) if all.is_empty() => Ok(values),
            _ => Err(SelectionError::Selection(format!(
                "-p {}: one value each is needed here",
                self.params.join(",")
            ))),
        }
    }

    /// The named sets of a test; `None` stands for the one of `quick`.
    fn sets(&self, test: &Test) -> Vec<Option<&str>> {
        if self.sets.is_empty() {
            return vec![None];
        }
        let is_its_own = |set: &&String| !self.tests.is_empty() || test.set(set).is_ok();
        self.sets.iter().filter(is_its_own).map(|set| Some(set.as_str())).collect()
    }

    /// The values of a set for each choice of single values.
    fn choices(&self, test: &Test, set: Option<&str>) -> Result<Vec<Values>, SelectionError> {
        let start = test.set(set.unwrap_or(test.quick_set().name))?;
        let choices = parameter::choices(&self.params, "nx=162").map_err(SelectionError::Selection)?;
        let changed = |choice: Vec<(String, String)>| {
            let mut values = start.clone();
            choice.iter().try_for_each(|(name, text)| values.assign(test, name, text))?;
            Ok(values)
        };
        choices.into_iter().map(changed).collect()
    }

    fn tests(&self) -> Result<Vec<&'static Test>, SelectionError> {
        if !self.tests.is_empty() {
            return Ok(self.tests.iter().map(|name| apps::find(name)).collect::<Result<_, _>>()?);
        }
        if !self.params.is_empty() {
            return Err(SelectionError::Selection(
                "single values (-p) need the TEST that they are for".to_owned(),
            ));
        }
        if let Some(set) = self.sets.iter().find(|set| TESTS.iter().all(|test| test.set(set).is_err())) {
            return Err(SelectionError::Selection(format!(
                "no test has a parameter set called {set:?}; `ddtbench list` shows them"
            )));
        }
        Ok(TESTS.iter().filter(|test| !self.sets(test).is_empty()).collect())
    }
}

/// Why there are no cases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// An unknown name, or a value that cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A selection that selects nothing or contradicts itself.
    #[error("{0}")]
    Selection(String),
}
