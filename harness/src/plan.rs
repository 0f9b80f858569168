//! Plans: the list of cases to run, and under which conditions; built from flags or read from a TOML file.

use std::collections::BTreeMap;
use std::path::Path;

use apps::{Context, ParameterError, Test, Values};
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::record::Case;

mod error;
mod limits;
mod resolve;
mod rule;
mod selection;

pub use error::PlanError;
pub use limits::{Limits, MIN_ROUNDS, max_time_s};
pub use rule::{Rule, pcomm};
pub use selection::{Selected, Selection};

/// The version of the file's format.
pub const SCHEMA: u32 = crate::earlier::SCHEMA;
/// Methods of a plan at most: all that there are, and as many ways to aggregate.
pub const MOST_METHODS: usize = 64;
/// The name of a set of values that is none of the test's.
pub const CUSTOM: &str = "custom";

/// Whether repetitions find their buffers in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// As the last repetition left it.
    #[default]
    Warm,
    /// The buffers are evicted before each repetition.
    Cold,
}

impl Cache {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

/// Which ranks play with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Pairs {
    /// 0 with 1, 2 with 3, and so on.
    #[default]
    Adjacent,
    /// The first half with the second half.
    Across,
}

impl Pairs {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adjacent => "adjacent",
            Self::Across => "across",
        }
    }
}

/// A text format beside the tables that are always written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// The original suite's, as `ddtbench.out`.
    Ddtbench,
}

/// One test with one set of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The test and its values.
    ///
    /// # Errors
    /// An unknown test, set or parameter, or a text that is no value.
    pub fn resolve(&self) -> Result<(&'static Test, Values), ParameterError> {
        let test = apps::find(&self.test)?;
        let set = match self.set.as_deref() {
            None | Some(CUSTOM) => test.quick_set().name,
            Some(name) => name,
        };
        let mut values = test.set(set)?;
        for (name, text) in &self.params {
            values.assign(test, name, &text.0)?;
        }
        Ok((test, values))
    }

    /// What the rank program is told of it.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let values =
            self.params.iter().flat_map(|(name, value)| ["-p".to_owned(), format!("{name}={}", value.0)]);
        std::iter::once(self.test.clone()).chain(values).collect()
    }

    /// The case with all values, and the name of the set that has just these.
    fn of<M: Copy>(test: &Test<M>, set: Option<&str>, values: &Values) -> Self {
        let is_set = |name: &str| test.set(name).is_ok_and(|known| known == *values);
        let named = set.filter(|name| is_set(name));
        let known = named.or_else(|| test.sets.iter().map(|set| set.name).find(|name| is_set(name)));
        Self {
            test: test.name.to_owned(),
            set: Some(known.unwrap_or(CUSTOM).to_owned()),
            methods: Vec::new(),
            params: values.pairs().map(|(name, value)| (name.to_owned(), Text(value))).collect(),
        }
    }
}

/// A value as text; a file may also give a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// What to run, in which order, under which conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the file's format.
    pub schema: u32,
    /// What is measured.
    #[serde(default, skip_serializing_if = "Experiment::is_default")]
    pub experiment: Experiment,
    /// The MPI's name in this project; without one, it is picked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpi: Option<String>,
    /// Number of ranks.
    #[serde(default = "two")]
    pub ranks: usize,
    /// Seed of index lists.
    #[serde(default = "one")]
    pub seed: u64,
    /// Whether repetitions find their buffers in the cache.
    #[serde(default)]
    pub cache: Cache,
    /// Which ranks play with each other.
    #[serde(default)]
    pub pairs: Pairs,
    /// The methods' names; in a file, `all` alone is for all of the experiment.
    #[serde(default = "all")]
    pub methods: Vec<String>,
    /// Instead of the MPI's own launcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    /// More options for the launcher.
    #[serde(default)]
    pub launcher_args: Vec<String>,
    /// Start several receives by `MPI_Startall`, in partitioned experiments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub startall: bool,
    /// Bind each rank to a core.
    #[serde(default = "yes")]
    pub bind: bool,
    /// Text formats to write besides.
    #[serde(default)]
    pub formats: Vec<Format>,
    /// When to end.
    #[serde(default)]
    pub limits: Limits,
    /// The cases, in order.
    pub cases: Vec<PlannedCase>,
}

fn two() -> usize {
    2
}
fn one() -> u64 {
    1
}
fn yes() -> bool {
    true
}
fn all() -> Vec<String> {
    vec!["all".to_owned()]
}

/// The names of all methods of an experiment.
pub fn all_methods(experiment: Experiment) -> Vec<String> {
    experiment.methods().iter().map(|method| method.name.to_owned()).collect()
}

impl Default for Plan {
    /// No cases; all else as without flags.
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            experiment: Experiment::default(),
            mpi: None,
            ranks: two(),
            seed: one(),
            cache: Cache::default(),
            pairs: Pairs::default(),
            methods: all_methods(Experiment::default()),
            launcher: None,
            launcher_args: Vec::new(),
            startall: false,
            bind: true,
            formats: Vec::new(),
            limits: Limits::default(),
            cases: Vec::new(),
        }
    }
}

impl Plan {
    /// A plan of `experiment` without cases, all else as without flags.
    pub fn of(experiment: Experiment) -> Self {
        Self { experiment, methods: all_methods(experiment), ..Self::default() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no TOML, or has wrong, unknown or missing fields, with line and column.
    pub fn read(file: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| PlanError::Read { file: file.to_owned(), source })?;
        let mut plan: Self = toml::from_str(&text)
            .map_err(|source| PlanError::Syntax { file: file.to_owned(), source: Box::new(source) })?;
        if plan.methods == all() {
            plan.methods = all_methods(plan.experiment);
        }
        Ok(plan)
    }

    /// The plan as a file has it.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string(self).expect("a checked plan has only values that TOML has");
        format!(
            "# What was run; `ddtbench run --resume` goes on by it, `ddtbench run --plan` repeats it.\n{text}"
        )
    }

    /// Checks the conditions of the run: everything but the cases.
    ///
    /// # Errors
    /// The first thing that cannot be: field, value, and what would be right.
    pub fn check_conditions(&self) -> Result<(), PlanError> {
        let field = |field, value: String, reason: &str| {
            Err(PlanError::Field { field, value, reason: reason.to_owned() })
        };
        if self.schema != SCHEMA {
            let reason = match self.schema {
                1 => {
                    "made by an earlier version, whose `reference` and `manual` were what `reference_untouched` and \
                     `manual_tuned` are now (docs/columns.md): such a run cannot be resumed; to run the same with the \
                     methods of today, change it to 2 in a copy of the plan"
                }
                _ => "this version of ddtbench reads schema 2",
            };
            return field("schema", self.schema.to_string(), reason);
        }
        let (can, must) = match self.experiment {
            Experiment::PingPong => (
                self.ranks >= 2 && self.ranks.is_multiple_of(2) && i32::try_from(self.ranks).is_ok(),
                "must be an even number, at least 2: ranks work in pairs",
            ),
            Experiment::Partitioned => (self.ranks == 2, "must be 2: one rank sends and one receives"),
            Experiment::Halo => {
                (self.ranks >= 1 && i32::try_from(self.ranks).is_ok(), "must be at least 1 rank")
            }
        };
        if !can {
            return field("ranks", self.ranks.to_string(), must);
        }
        if i64::try_from(self.seed).is_err() {
            return field("seed", self.seed.to_string(), "must be below 2^63");
        }
        if self.experiment == Experiment::Halo && self.cache != Cache::Warm {
            let reason = "must be warm: halos are measured as the last exchange left the caches";
            return field("cache", self.cache.name().to_owned(), reason);
        }
        self.limits.check()?;
        if !self.limits.rule.is_default() && self.experiment != Experiment::Partitioned {
            let reason = "must be interval: the other rule is one of partitioned transfers";
            return field("rule", self.limits.rule.name().to_owned(), reason);
        }
        if self.methods.is_empty() {
            return field("methods", "[]".to_owned(), "at least one is needed");
        }
        if self.methods.len() > MOST_METHODS {
            let reason = format!("must be at most {MOST_METHODS}");
            return field("methods", format!("{} of them", self.methods.len()), &reason);
        }
        for (i, method) in self.methods.iter().enumerate() {
            self.experiment.method(method).map_err(PlanError::Method)?;
            if self.methods[..i].contains(method) {
                return field("methods", format!("{:?}", self.methods), "one is named twice");
            }
        }
        Ok(())
    }

    /// Checks everything that can be checked without an MPI, and completes the values of each case.
    ///
    /// # Errors
    /// The first thing that cannot be: field or case, value, and what would be right.
    pub fn check(&mut self) -> Result<(), PlanError> {
        self.check_conditions()?;
        let field = |field, value: String, reason: &str| {
            Err(PlanError::Field { field, value, reason: reason.to_owned() })
        };
        if self.cases.is_empty() {
            return field("cases", "[]".to_owned(), "at least one is needed");
        }
        for i in 0..self.cases.len() {
            let refuse = |test: &str, reason: String| {
                Err(PlanError::Case { number: i + 1, test: test.to_owned(), reason })
            };
            let given = &self.cases[i];
            let case = match self.complete(given) {
                Ok(case) => case,
                Err(reason) => return refuse(&given.test, reason),
            };
            if let Some(unknown) = case.methods.iter().find(|method| !self.methods.contains(method)) {
                return refuse(&case.test, format!("method {unknown:?} is none of the plan's methods"));
            }
            let is_same = |other: &PlannedCase| other.test == case.test && other.params == case.params;
            if let Some(first) = self.cases[..i].iter().position(is_same) {
                return refuse(&case.test, format!("the same as case {}", first + 1));
            }
            self.cases[i] = case;
        }
        Ok(())
    }

    /// Test and parameters of case `i`: what tells the cases of a run apart.
    pub fn case_key(&self, i: usize) -> (String, String) {
        (self.cases[i].test.clone(), self.params(i))
    }

    /// The methods of case `i`, in the plan's order.
    pub fn methods_of(&self, i: usize) -> Vec<String> {
        let chosen = &self.cases[i].methods;
        let is_chosen = |method: &&String| chosen.is_empty() || chosen.contains(method);
        self.methods.iter().filter(is_chosen).cloned().collect()
    }

    /// What the rank program is told of case `i`.
    pub(crate) fn case_arguments(&self, i: usize) -> Vec<String> {
        let mut arguments = self.cases[i].arguments();
        if self.experiment == Experiment::Partitioned {
            // There is one test only, which is not named.
            arguments.remove(0);
        }
        arguments
    }

    /// What tests need to know of the run.
    pub fn context(&self) -> Context {
        Context { ranks: self.ranks, seed: self.seed }
    }

    /// Case `i` as results name it.
    ///
    /// # Panics
    /// If the plan was not checked.
    pub fn case(&self, i: usize, mpi: &str) -> Case {
        let planned = &self.cases[i];
        Case {
            experiment: self.experiment,
            test: planned.test.clone(),
            set: planned.set.clone().unwrap_or_else(|| CUSTOM.to_owned()),
            params: self.params(i),
            mpi: mpi.to_owned(),
            ranks: self.ranks,
            cache: self.cache.name().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
