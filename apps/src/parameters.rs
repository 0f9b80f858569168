//! Parameters of a test: names, units, named sets, and what users may make of them.

use datatypes::Element;

use crate::{ArraySpec, Arrays, MicroApp};

/// What a parameter's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A whole number.
    Integer,
    /// The name of a predefined type; its value is the index in [`Element::ALL`].
    Element,
}

/// One parameter of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// The unit of its value, e.g. `points`, `elements`, `bytes`.
    pub unit: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What its value is.
    pub value_type: ParameterType,
}

impl Parameter {
    /// A whole number.
    pub const fn integer(name: &'static str, unit: &'static str, about: &'static str) -> Self {
        Self { name, unit, about, value_type: ParameterType::Integer }
    }
}

/// How large a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// One parameter set per test.
    Quick,
    /// The original's parameter sets.
    Default,
    /// Those and larger ones.
    Full,
}

/// A named set of values, one per parameter, in the parameters' order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSet {
    /// The name, e.g. `16x16x16x16`.
    pub name: &'static str,
    /// The smallest preset that runs it.
    pub preset: Preset,
    /// A value per parameter.
    pub values: &'static [i64],
}

/// What a test needs to know besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Number of ranks of the run; decides the block size of an all-to-all.
    pub ranks: usize,
    /// Seed of random index lists.
    pub seed: u64,
}

impl Default for Context {
    /// Two ranks, seed 1.
    fn default() -> Self {
        Self { ranks: 2, seed: 1 }
    }
}

/// A micro-app in one direction or variant: a row of [`TESTS`](crate::TESTS); `M` makes the micro-app.
#[derive(Clone, Copy, Debug)]
pub struct Test<M = fn(&Values, Context) -> Built> {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// The name in the original suite's output; `None` for tests that it does not have.
    pub original_name: Option<&'static str>,
    /// Code, version, routine.
    pub source: &'static str,
    /// What is sent, in a line.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its named sets.
    pub sets: &'static [ParameterSet],
    /// Makes the micro-app; refuses values that the application could not have.
    pub(crate) make: M,
}

/// A micro-app, or why its values were refused.
pub type Built = Result<Box<dyn MicroApp>, ParameterError>;

/// Checked values of a test's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    parameters: &'static [Parameter],
    values: Vec<i64>,
}

/// Why parameters were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No such test.
    #[error("no test is called {name:?}{}", nearest(.candidates, .name))]
    UnknownTest {
        /// What was asked for.
        name: String,
        /// The names there are.
        candidates: Vec<&'static str>,
    },
    /// No such parameter.
    #[error("{test} has no parameter {name:?}{}; it has {}", nearest(.candidates, .name), .candidates.join(", "))]
    UnknownParameter {
        /// The test.
        test: &'static str,
        /// What was asked for.
        name: String,
        /// The names there are.
        candidates: Vec<&'static str>,
    },
    /// No such set.
    #[error("{test} has no parameter set {name:?}{}; it has {}", nearest(.candidates, .name), .candidates.join(", "))]
    UnknownSet {
        /// The test.
        test: &'static str,
        /// What was asked for.
        name: String,
        /// The names there are.
        candidates: Vec<&'static str>,
    },
    /// A value that cannot be.
    #[error("parameter {name} = {value}: {reason}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// What was asked for.
        value: String,
        /// What would be right.
        reason: String,
    },
    /// A number of ranks that the application cannot be divided among.
    #[error("{test} on {ranks} ranks: {reason}")]
    Ranks {
        /// The test.
        test: &'static str,
        /// What was asked for.
        ranks: usize,
        /// What would be right, with the nearest number that is.
        reason: String,
    },
    /// Arrays beyond the address space.
    #[error("{test} {values}: the arrays would be larger than an address space")]
    TooLarge {
        /// The test.
        test: &'static str,
        /// All values.
        values: String,
    },
}

/// `: did you mean "x"?` where a candidate is close to `name`.
fn nearest(candidates: &[&'static str], name: &str) -> String {
    /// Jaro-Winkler similarity from which a name counts as a slip of the other.
    const CLOSE: f64 = 0.75;
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(candidate, name), candidate))
        .filter(|(similarity, _)| *similarity >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, candidate)| format!(": did you mean {candidate:?}?"))
}

impl ParameterError {
    /// No test called `name`; the nearest of `candidates` is proposed.
    pub(crate) fn unknown_test(name: &str, candidates: Vec<&'static str>) -> Self {
        Self::UnknownTest { name: name.to_owned(), candidates }
    }
}

impl<M> Test<M> {
    /// The values of a named set.
    ///
    /// # Errors
    /// [`ParameterError::UnknownSet`] with the names there are.
    pub fn set(&self, name: &str) -> Result<Values, ParameterError> {
        let set =
            self.sets.iter().find(|set| set.name == name).ok_or_else(|| ParameterError::UnknownSet {
                test: self.name,
                name: name.to_owned(),
                candidates: self.sets.iter().map(|set| set.name).collect(),
            })?;
        Ok(Values { parameters: self.parameters, values: set.values.to_vec() })
    }

    /// The set that the preset `quick` runs, and that single values change where no set is named.
    pub fn quick_set(&self) -> &'static ParameterSet {
        self.sets.iter().find(|set| set.preset == Preset::Quick).expect("every test has a quick set")
    }

    /// The sets of a preset, in table order.
    pub fn sets_of(&self, preset: Preset) -> impl Iterator<Item = &'static ParameterSet> {
        self.sets.iter().filter(move |set| set.preset <= preset)
    }

    /// Refuses arrays that could not even be addressed: from here on no byte offset within them can overflow.
    pub(crate) fn addressable(&self, values: &Values, arrays: &[ArraySpec]) -> Result<(), ParameterError> {
        match Arrays::footprint_bytes(arrays) {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
            _ => Err(ParameterError::TooLarge { test: self.name, values: values.to_string() }),
        }
    }
}

impl Test {
    /// The micro-app with these values.
    ///
    /// # Errors
    /// [`ParameterError::Value`] naming the parameter, its value and what would be right;
    /// [`ParameterError::TooLarge`] where the arrays could not even be addressed.
    pub fn build(&self, values: &Values, context: Context) -> Built {
        let app = (self.make)(values, context)?;
        self.addressable(values, &app.arrays())?;
        Ok(app)
    }
}

impl Values {
    /// Sets one value from text.
    ///
    /// # Errors
    /// An unknown name, or a text that is no value of its kind.
    pub fn assign<M>(&mut self, test: &Test<M>, name: &str, text: &str) -> Result<(), ParameterError> {
        let i = self.parameters.iter().position(|p| p.name == name).ok_or_else(|| {
            let candidates = self.parameters.iter().map(|p| p.name).collect();
            ParameterError::UnknownParameter { test: test.name, name: name.to_owned(), candidates }
        })?;
        let parameter = &self.parameters[i];
        let value = match parameter.value_type {
            ParameterType::Integer => text.parse().map_err(|_| "must be a whole number".to_owned()),
            ParameterType::Element => Element::ALL
                .iter()
                .position(|e| e.name() == text)
                .map(|i| i as i64)
                .ok_or_else(|| format!("must be one of {}", Element::ALL.map(Element::name).join(", "))),
        };
        self.values[i] = value.map_err(|reason| ParameterError::Value {
            name: parameter.name,
            value: text.to_owned(),
            reason,
        })?;
        Ok(())
    }

    /// Name and value of each, as text.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.parameters.iter().zip(&self.values).map(|(parameter, &value)| {
            let text = match parameter.value_type {
                ParameterType::Integer => value.to_string(),
                ParameterType::Element => Element::ALL[value as usize].to_string(),
            };
            (parameter.name, text)
        })
    }

    /// The value of parameter `name`.
    ///
    /// # Panics
    /// If the test has none of that name.
    pub fn get(&self, name: &str) -> i64 {
        let i = self.parameters.iter().position(|p| p.name == name);
        self.values[i.unwrap_or_else(|| panic!("no parameter {name}"))]
    }

    /// The value of parameter `name` as an element.
    ///
    /// # Panics
    /// If the test has none of that name and kind.
    pub fn element(&self, name: &str) -> Element {
        Element::ALL[self.get(name) as usize]
    }

    /// The value of parameter `name`, which must lie in `range`.
    ///
    /// # Errors
    /// [`ParameterError::Value`] with the range.
    pub fn within(
        &self,
        name: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<i64, ParameterError> {
        let value = self.get(name);
        if range.contains(&value) {
            return Ok(value);
        }
        let reason = match (*range.start(), *range.end()) {
            (least, i64::MAX) => format!("must be at least {least}"),
            (least, most) if least > most => "no value is possible with the others".to_owned(),
            (least, most) => format!("must be from {least} to {most}"),
        };
        Err(self.refuse(name, reason))
    }

    /// The value of parameter `name`, which must be a count of at least 1 that MPI can take as `int`.
    ///
    /// # Errors
    /// [`ParameterError::Value`] with the range.
    pub(crate) fn positive(&self, name: &'static str) -> Result<usize, ParameterError> {
        Ok(self.within(name, 1..=i32::MAX.into())? as usize)
    }

    /// The error that refuses the value of parameter `name`.
    pub fn refuse(&self, name: &'static str, reason: impl Into<String>) -> ParameterError {
        ParameterError::Value { name, value: self.get(name).to_string(), reason: reason.into() }
    }
}

impl std::fmt::Display for Values {
    /// `nx=162 ny=162`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs: Vec<_> = self.pairs().map(|(name, value)| format!("{name}={value}")).collect();
        f.pad(&pairs.join(" "))
    }
}
