//! Plans: the cases to run, one by one or as sweeps, and their conditions; made of flags, or read from a TOML file.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use common::kinds;
use serde::{Deserialize, Serialize};

use crate::experiments::launches::FEWEST;
use crate::experiments::pingpong::Pairs;
use crate::experiments::planned::PlannedCase;
use crate::experiments::selection::{Lists, Selection};
use crate::experiments::{self, Context, Kind};
use crate::model::conditions::{COLD_DEVICE, Cache, Conditions, MemoryKind, Rule};
use crate::model::{OWN, SCHEMA};
use crate::mpi::{MpiError, Origin, Print, Programs, Trusted, Variant};
use crate::report::pictures::PaperFigure;
use crate::stats;

mod checked;
mod error;
pub mod figures;
pub mod memory;
mod set;

pub use checked::CheckedPlan;
pub use common::limit_args::LimitArgs;
pub use common::limits::{LONGEST_S, Limits, MIN_ROUNDS, MOST_METHODS, max_time_s};
pub use error::PlanError;

/// Maximum launches; a larger number is a typo.
pub const MOST_LAUNCHES: usize = 10_000;

/// The cases, their order and their conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the file's format.
    pub schema: u32,
    #[serde(default)]
    pub experiment: Kind,
    /// The MPIs: names in this project, or paths of compiler wrappers. If empty, one is chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mpis: Vec<String>,
    /// Settings that turn one of these MPIs into another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// Number of ranks. Default: depends on the kind.
    pub ranks: Option<usize>,
    /// Seed of everything random.
    #[serde(default = "one")]
    pub seed: u64,
    /// Warm or cold caches, or both.
    #[serde(default = "warm")]
    pub caches: Vec<Cache>,
    /// The memory of arrays and messages.
    #[serde(default = "host", skip_serializing_if = "is_host")]
    pub memories: Vec<MemoryKind>,
    /// Launches (new processes) of each case, on each MPI and with each cache mode. Default: depends on the kind.
    pub launches: Option<usize>,
    /// Which ranks are partners in ping-pongs.
    #[serde(default)]
    pub pairs: Pairs,
    /// The methods' names. In a file, `all` means all methods of the experiment.
    #[serde(default = "all")]
    pub methods: Vec<String>,
    /// Launcher to use instead of the MPI's own.
    pub launcher: Option<String>,
    #[serde(default)]
    pub launcher_args: Vec<String>,
    /// The file with the user's loop, for the method `own`.
    pub pack: Option<PathBuf>,
    /// Start several receives with `MPI_Startall`, in partitioned experiments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub startall: bool,
    /// Bind each rank to a core.
    #[serde(default = "yes")]
    pub bind: bool,
    /// Names of additional text formats to write.
    #[serde(default)]
    pub formats: Vec<String>,
    #[serde(default)]
    pub limits: Limits,
    pub figure: Option<PaperFigure>,
    /// Values that replace others for a first result (`--quick`).
    pub quick: Option<toml::Table>,
    /// Values that replace others for the whole grid of a paper (`--full`).
    pub full: Option<toml::Table>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<PlannedCase>,
    /// Selections that add cases when the plan is checked.
    #[serde(rename = "sweep", default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Selection>,
    /// Who has written it.
    #[serde(skip)]
    pub origin: Origin,
}

fn one() -> u64 {
    1
}
fn yes() -> bool {
    true
}
fn warm() -> Vec<Cache> {
    vec![Cache::Warm]
}
fn host() -> Vec<MemoryKind> {
    vec![MemoryKind::Host]
}
fn is_host(memories: &[MemoryKind]) -> bool {
    memories == host()
}
fn all() -> Vec<String> {
    vec!["all".to_owned()]
}

impl Default for Plan {
    /// Ping-pongs without cases; everything else is as without flags.
    fn default() -> Self {
        Self::of_experiment(Kind::default())
    }
}

impl Plan {
    /// A plan of one kind of experiments without cases; everything else is as without flags, and as in a file without it.
    pub fn of_experiment(experiment: Kind) -> Self {
        let empty: Self = toml::from_str(&format!("schema = {SCHEMA}")).expect("no other field is necessary");
        Self { experiment, methods: experiment.all_methods(), origin: Origin::typed(), ..empty }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If a file cannot be read, is not TOML, or has wrong, unknown or missing fields; with line and column.
    pub fn read(file: &Path) -> Result<Self, PlanError> {
        let refuse =
            |error: &dyn std::fmt::Display| PlanError(format!("plan file {}: {error}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => PlanError(format!("plan file not found: {}", file.display())),
            _ => refuse(&error),
        })?;
        let plan = Self::parse(&text).map_err(|error| refuse(&error))?;
        Ok(plan.within(file))
    }

    /// Adds to its origin the file, or a folder in which it is.
    #[must_use]
    pub fn within(self, path: &Path) -> Self {
        Self { origin: self.origin.within(path), ..self }
    }

    pub fn programs(&self) -> Programs {
        let Self { mpis, variants, launcher, launcher_args, pack, .. } = self.clone();
        Programs { mpis, variants, launcher, launcher_args, pack }
    }

    /// The same, for starting them.
    ///
    /// # Errors
    /// If another user may have written the plan, and it is not trusted.
    pub fn trusted(&self, is_trusted: bool, print: Print<'_>) -> Result<Trusted, MpiError> {
        self.programs().trusted(&self.origin, is_trusted, print)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is not TOML, or has wrong, unknown or missing fields; with line and column.
    pub fn parse(text: &str) -> Result<Self, Box<toml::de::Error>> {
        let mut plan: Self = toml::from_str(text).map_err(Box::new)?;
        if plan.methods == all() {
            plan.use_usual_methods();
        }
        Ok(plan)
    }

    /// Uses the default methods for its cases.
    pub fn use_usual_methods(&mut self) {
        let of_sweep = |sweep: &'_ Selection| {
            let layouts = sweep.layouts.iter().map(|_| apps::LAYOUT.name.to_owned());
            sweep.tests.iter().cloned().chain(layouts).collect::<Vec<_>>()
        };
        let swept: Vec<String> = self.sweeps.iter().flat_map(of_sweep).collect();
        let tests = self.cases.iter().map(|case| &case.test).chain(&swept);
        self.methods = self.experiment.usual_methods_in(&self.memories, tests.map(String::as_str));
    }

    /// Replaces values of the plan, as with `quick` and `full`. Tables are merged; `sweep` is merged into each sweep.
    ///
    /// # Errors
    /// If a name or a value is invalid.
    pub fn with(self, values: toml::Table) -> Result<Self, PlanError> {
        let refuse = |error: &dyn std::fmt::Display| PlanError(error.to_string());
        let mut plan = toml::Value::try_from(&self).map_err(|error| refuse(&error))?;
        merge(&mut plan, toml::Value::Table(values));
        let plan: Self = plan.try_into().map_err(|error: toml::de::Error| refuse(&error))?;
        Ok(Self { origin: self.origin, ..plan })
    }

    /// Replaces values of all sweeps.
    pub fn replace(&mut self, given: &Lists) {
        self.sweeps.iter_mut().for_each(|sweep| sweep.replace(given));
    }

    /// Limits values of sweeps to the cores of each of two ranks, but at least to two: results with one
    /// thread would not show the effect of threads.
    pub fn limit_to_cores(&mut self, cores: usize) {
        self.sweeps.iter_mut().for_each(|sweep| sweep.limit_to_cores((cores / 2).max(2)));
    }

    /// Adds the cases of a selection.
    ///
    /// # Errors
    /// Errors of the method `cases` of [`Experiment`](experiments::Experiment).
    pub fn select(&mut self, selection: &Selection) -> Result<Vec<String>, PlanError> {
        let is_of_all = selection.tests.is_empty() && selection.layouts.is_empty();
        if let Some(file) = self.pack.as_ref().filter(|_| is_of_all && self.experiment.method(OWN).is_ok()) {
            let needed = "needs the test or the --layout whose message your loop packs, such as nas_lu_y";
            return Err(PlanError(format!("--pack {}: {needed}", file.display())));
        }
        let selected = (experiments::of_kind(self.experiment).cases)(selection, self.context());
        let selected = selected.map_err(PlanError)?;
        let (methods, first) = (&selection.methods, self.cases.len());
        self.cases
            .extend(selected.cases.into_iter().map(|case| PlannedCase { methods: methods.clone(), ..case }));
        self.origin.unnamed.extend((first..self.cases.len()).filter(|_| is_of_all));
        Ok(selected.notes)
    }

    /// The plan as a file has it.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string(self).expect("a checked plan has only values that TOML has");
        format!(
            "# Plan of this run. `ddtbench run --resume` continues it, `ddtbench {} --plan` repeats it.\n{text}",
            self.experiment.row().command
        )
    }

    /// Given, or the default of the kind.
    pub fn ranks(&self) -> usize {
        self.ranks.unwrap_or(self.experiment.row().default_ranks)
    }

    /// Given, or the default of the kind.
    pub fn launches(&self) -> usize {
        self.launches.unwrap_or(kinds::LAUNCHES)
    }

    /// Why ratios cannot have intervals or verdicts, with the smallest setting that allows them. `None` if
    /// they may have them.
    pub fn without_verdict(&self) -> Option<String> {
        let least_runs = stats::MIN_ROUNDS as u32;
        match self.launches() {
            1 if self.limits.rule == Rule::Interval && self.limits.max_runs < least_runs => Some(format!(
                "no verdict will be possible: one launch needs {least_runs} repetitions of each method for an interval, and --max-repetitions is {}; \
                 the smallest setting with a verdict is --max-repetitions {least_runs}",
                self.limits.max_runs
            )),
            launches if launches > 1 && launches < FEWEST => Some(format!(
                "no verdict will be possible: {launches} launches have no interval; the smallest setting with a verdict is --launches {FEWEST} \
                 (--launches 1 has intervals, which do not include the variation between launches)"
            )),
            _ => None,
        }
    }

    /// All combinations of cache mode and memory, in the plan's order.
    pub fn conditions(&self) -> impl Iterator<Item = Conditions> + '_ {
        let with = |&cache: &Cache| self.memories.iter().map(move |&memory| Conditions { cache, memory });
        self.caches.iter().flat_map(with)
    }

    /// The context in which cases are prepared.
    pub fn context(&self) -> Context {
        Context { ranks: self.ranks(), seed: self.seed }
    }

    /// Checks the conditions of the run, but not the cases.
    ///
    /// # Errors
    /// The first invalid field: its name, its value, and valid values.
    pub fn check_conditions(&self) -> Result<(), PlanError> {
        let field = |field, value: String, reason: &str| Err(PlanError::field(field, &value, reason));
        if self.schema != SCHEMA {
            let reason = format!("this version of ddtbench reads schema {SCHEMA}");
            return field("schema", self.schema.to_string(), &reason);
        }
        if let Some(reason) = (self.experiment.row().refuse_ranks)(self.ranks()) {
            return field("ranks", self.ranks().to_string(), reason);
        }
        if i64::try_from(self.seed).is_err() {
            return field("seed", self.seed.to_string(), "must be below 2^63");
        }
        for (i, cache) in self.caches.iter().enumerate() {
            if let Some(reason) = self.experiment.refuse_cache(*cache) {
                return field("cache", cache.name().to_owned(), reason);
            }
            if self.caches[..i].contains(cache) {
                return field("caches", cache.name().to_owned(), "is given twice");
            }
        }
        for (i, memory) in self.memories.iter().enumerate() {
            if let Some(reason) = self.experiment.refuse_memory(*memory) {
                return field("memory", memory.name().to_owned(), reason);
            }
            if !memory.is_host() && self.caches.contains(&Cache::Cold) {
                return field("cache", "cold".to_owned(), COLD_DEVICE);
            }
            if self.memories[..i].contains(memory) {
                return field("memories", memory.name().to_owned(), "is given twice");
            }
        }
        if self.memories.is_empty() {
            return field(
                "memories",
                "[]".to_owned(),
                "must have at least one of host, device, managed and pinned",
            );
        }
        if self.caches.is_empty() {
            return field("caches", "[]".to_owned(), "must have at least one of warm and cold");
        }
        if !(1..=MOST_LAUNCHES).contains(&self.launches()) {
            let reason = format!("must be from 1 to {MOST_LAUNCHES}");
            return field("launches", self.launches().to_string(), &reason);
        }
        Variant::check(&self.variants)
            .or_else(|(name, reason)| field("variants", name.to_owned(), reason))?;
        self.limits.check()?;
        let options = [
            ("rule", self.limits.rule != Rule::default(), self.limits.rule.name().to_owned()),
            ("pack", self.pack.is_some(), self.pack.iter().map(|file| file.display().to_string()).collect()),
            ("startall", self.startall, "true".to_owned()),
            ("pairs", self.pairs != Pairs::default(), self.pairs.name().to_owned()),
        ];
        for (name, is_given, value) in options {
            if is_given && !self.experiment.row().options.contains(&name) {
                let reason = format!("{} experiments do not have this option", self.experiment.name());
                return field(name, value, &reason);
            }
        }
        for format in &self.formats {
            if let Err(reason) = experiments::text_format(self.experiment, format) {
                return field("formats", format.clone(), &reason);
            }
        }
        if self.methods.is_empty() {
            return field("methods", "[]".to_owned(), "must have at least one");
        }
        if self.methods.len() > MOST_METHODS {
            let reason = format!("must be at most {MOST_METHODS}");
            return field("methods", format!("{} methods", self.methods.len()), &reason);
        }
        for (i, method) in self.methods.iter().enumerate() {
            self.experiment.method(method).map_err(PlanError)?;
            if method == OWN && self.pack.is_none() {
                return field("methods", method.clone(), "needs your loop: --pack FILE");
            }
            if self.methods[..i].contains(method) {
                return field("methods", format!("{:?}", self.methods), "has a duplicate");
            }
        }
        for memory in &self.memories {
            if !self.methods.iter().any(|method| self.experiment.can_in(*memory, method)) {
                let reason = format!(
                    "none is for data in {} memory: loops run on the host, and staged methods copy from a device",
                    memory.name()
                );
                return field("methods", self.methods.join(", "), &reason);
            }
        }
        Ok(())
    }

    /// Changes methods to the upper and lower case of tables.
    fn name_methods_as_tables_do(&mut self) {
        let lists = self.cases.iter_mut().map(|case| &mut case.methods);
        let lists = lists.chain(self.sweeps.iter_mut().map(|sweep| &mut sweep.methods));
        for name in lists.chain([&mut self.methods]).flatten() {
            match self.experiment.method(name) {
                Ok(method) if method.name.eq_ignore_ascii_case(name) => method.name.clone_into(name),
                _ => {}
            }
        }
    }

    /// Checks everything that can be checked without an MPI, once, and prepares the cases with all values.
    ///
    /// # Errors
    /// The first invalid field or case: its name, its value, and valid values.
    pub fn check(mut self) -> Result<CheckedPlan, PlanError> {
        self.name_methods_as_tables_do();
        if self.pack.is_some() && !self.methods.iter().any(|method| method == OWN) {
            self.methods.push(OWN.to_owned());
        }
        self.check_conditions()?;
        self.ranks = Some(self.ranks());
        self.launches = Some(self.launches());
        (self.quick, self.full) = (None, None);
        if let Some(figure) = &self.figure {
            let refused = figure.check(self.experiment);
            refused.map_err(|reason| PlanError(format!("figure: {reason}")))?;
        }
        let mut notes = Vec::new();
        for sweep in std::mem::take(&mut self.sweeps) {
            notes.extend(self.select(&sweep)?);
        }
        if self.cases.is_empty() {
            return Err(PlanError::field("cases", "[]", "must have at least one case or a sweep"));
        }
        let (mut cases, mut known) = (Vec::new(), HashMap::new());
        for (i, given) in self.cases.iter_mut().enumerate() {
            let refuse =
                |test: &str, reason: String| Err(PlanError(format!("case {} ({test}): {reason}", i + 1)));
            let setup = Context { ranks: self.ranks.unwrap_or(1), seed: self.seed };
            let prepared = match (experiments::of_kind(self.experiment).prepare)(given, &self.methods, setup)
            {
                Ok(prepared) => prepared,
                Err(reason) => return refuse(&given.test, reason),
            };
            given.clone_from(&prepared.planned);
            if let Some(unknown) = given.methods.iter().find(|method| !self.methods.contains(method)) {
                return refuse(&given.test, format!("method {unknown:?} is not one of the plan's methods"));
            }
            let is_asked = |method: &&String| given.methods.is_empty() || given.methods.contains(method);
            let asked: Vec<String> = self.methods.iter().filter(is_asked).cloned().collect();
            if asked
                .iter()
                .all(|method| prepared.lacking.get(method).is_some_and(|reason| !reason.is_empty()))
            {
                return refuse(
                    &given.test,
                    format!("cannot be measured by {}", prepared.lacks(&asked).join(", ")),
                );
            }
            if let Some(first) = known.insert((given.test.clone(), prepared.params.clone()), i) {
                return refuse(&given.test, format!("the same as case {}", first + 1));
            }
            cases.push(prepared);
        }
        Ok(CheckedPlan { plan: self, cases, notes })
    }
}

/// Puts values into a plan: tables are merged name by name, and a table is merged into each table of a list.
fn merge(into: &mut toml::Value, values: toml::Value) {
    use toml::Value::{Array, Table};
    match (into, values) {
        (Table(own), Table(values)) => {
            for (name, value) in values {
                match own.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => drop(own.insert(name, value)),
                }
            }
        }
        (Array(own), values @ Table(_)) => own.iter_mut().for_each(|own| merge(own, values.clone())),
        (own, value) => *own = value,
    }
}

#[cfg(test)]
mod tests;
