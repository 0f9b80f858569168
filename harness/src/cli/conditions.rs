//! The flags of any experiment, and the plan that they make.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use ddtbench::experiments::Kind;
use ddtbench::model::conditions::Cache;
use ddtbench::mpi::cores;
use ddtbench::plan::{MIN_ROUNDS, MOST_LAUNCHES, Plan, Variant};

use super::headings::{HOW_LONG, RESULTS, WHAT, WHERE};
use super::measure::{self, Manner};
use super::results::ResultsArgs;
use super::{numbers, resume, trust};

/// Flags that describe the run, which a resumed one has in its folder already.
const GIVEN: [&str; 19] = [
    "mpi",
    "variants",
    "launches",
    "methods",
    "launcher",
    "launcher_args",
    "more_launcher_args",
    "no_bind",
    "out",
    "seed",
    "cache",
    "warmup",
    "min_runs",
    "max_runs",
    "max_time",
    "precision",
    "timeout",
    "plan",
    "dry_run",
];

#[derive(Debug, Args)]
pub struct ConditionArgs {
    /// Methods, by name [default: all]
    #[arg(help_heading = WHAT, short, long = "method", value_name = "NAME", value_delimiter = ',')]
    methods: Vec<String>,
    /// The MPIs, by their names in `ddtbench mpi list` or the paths of their mpicc; each case runs on all of them before the
    /// next
    #[arg(help_heading = WHERE, long, value_name = "NAME", value_delimiter = ',')]
    pub(super) mpi: Vec<String>,
    /// Measure the MPIs a second time with environment variables set, and show that as an MPI of its own:
    /// nocma:MPIR_CVAR_CH4_CMA_ENABLE=0; for one of several MPIs mpich/nocma:...
    #[arg(help_heading = WHERE, long = "variant", value_name = "NAME:VARIABLE=VALUE")]
    pub(super) variants: Vec<Variant>,
    /// How often the processes of each case are started anew, spread over the run; with three launches or more, intervals show
    /// how launches differ [default: 6]
    #[arg(help_heading = HOW_LONG, long, value_name = "N", value_parser = numbers::count(MOST_LAUNCHES))]
    launches: Option<usize>,
    /// Another launcher than the MPI's: srun, a path, or a command with options
    #[arg(help_heading = WHERE, long, value_name = "COMMAND")]
    pub(super) launcher: Option<String>,
    /// An option for the launcher; can be given several times
    #[arg(help_heading = WHERE, long = "launcher-arg", value_name = "ARG", allow_hyphen_values = true)]
    launcher_args: Vec<String>,
    /// More options for the launcher
    #[arg(help_heading = WHERE, last = true, value_name = "LAUNCHER_ARG")]
    more_launcher_args: Vec<String>,
    /// Do not bind ranks to cores
    #[arg(help_heading = WHERE, long)]
    no_bind: bool,
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(help_heading = RESULTS, short, long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Seed of everything random [default: 1]
    #[arg(help_heading = HOW_LONG, long)]
    seed: Option<u64>,
    /// Where data are before each repetition: warm, in the cache; cold, evicted from it; both, one after the other [default: warm]
    #[arg(help_heading = HOW_LONG, long, value_enum, value_delimiter = ',')]
    cache: Vec<CacheName>,
    /// Repetitions to warm up with, which do not count [default: 10]
    #[arg(help_heading = HOW_LONG, long, value_name = "N")]
    warmup: Option<u32>,
    /// Fewest repetitions of a method, unless its time is up before [default: 30]
    #[arg(help_heading = HOW_LONG, long, value_name = "N")]
    min_runs: Option<u32>,
    /// Most repetitions of a method [default: 10000]
    #[arg(help_heading = HOW_LONG, long, value_name = "N")]
    max_runs: Option<u32>,
    /// Time of one method over all launches, with warming up, and with filling and comparing memory between blocks; making and
    /// verifying a method does not count. The methods of a case end together, after this time for each of them. If you give it,
    /// a run keeps to it even with few rounds; otherwise it makes at least ten rounds [default: 0.5; 0.7 or 1 with larger
    /// presets]
    #[arg(help_heading = HOW_LONG, long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// A method is done when its median is known this well: to plus or minus so many percent, at 95% confidence
    /// [default: 2.5]
    #[arg(help_heading = HOW_LONG, long, value_name = "PERCENT")]
    precision: Option<f64>,
    /// How long a process may say nothing before it counts as hanging and is ended [default: 60]
    #[arg(help_heading = HOW_LONG, long, value_name = "SECONDS")]
    pub(super) timeout: Option<f64>,
    /// Go on with the run in this folder
    #[arg(help_heading = RESULTS, long, value_name = "DIR", conflicts_with_all = GIVEN)]
    pub(super) resume: Option<PathBuf>,
    /// Beside --resume: run again what has crashed, timed out, moved wrong bytes or is invalid, and the probes that have failed
    #[arg(help_heading = RESULTS, long, requires = "resume", conflicts_with = "plan")]
    pub(super) retry_failed: bool,
    /// Go on with a run, or compare runs, although the machine or other conditions differ
    #[arg(help_heading = RESULTS, long)]
    pub(super) anyway: bool,
    /// Run what this file says; a flag given beside it replaces the file's value
    #[arg(help_heading = RESULTS, long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Beside --plan or --resume: run the programs that the plan names although it is another user's
    #[arg(help_heading = RESULTS, long)]
    pub(super) trust: bool,
    /// Show what is built
    #[arg(help_heading = RESULTS, short, long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) results: ResultsArgs,
    /// Print the plan, and run nothing
    #[arg(help_heading = RESULTS, long)]
    pub(super) dry_run: bool,
}

/// Cache modes, as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CacheName {
    Warm,
    Cold,
    Both,
}

impl CacheName {
    const fn caches(self) -> &'static [Cache] {
        match self {
            Self::Warm => &[Cache::Warm],
            Self::Cold => &[Cache::Cold],
            Self::Both => &[Cache::Warm, Cache::Cold],
        }
    }
}

/// Takes a flag's value, if it was given.
pub(super) fn set<T>(field: &mut T, flag: Option<T>) {
    if let Some(value) = flag {
        *field = value;
    }
}

impl ConditionArgs {
    /// All options for the launcher.
    pub fn launcher_args(&self) -> Vec<String> {
        self.launcher_args.iter().chain(&self.more_launcher_args).cloned().collect()
    }

    /// Whether methods were named.
    pub fn has_methods(&self) -> bool {
        !self.methods.is_empty()
    }

    /// Whether a file says what is run.
    pub fn has_plan(&self) -> bool {
        self.plan.is_some()
    }

    /// The file that says what is run.
    pub fn plan_file(&self) -> Option<&Path> {
        self.plan.as_deref()
    }

    /// Whether the number of launches was given.
    pub fn has_launches(&self) -> bool {
        self.launches.is_some()
    }

    /// Whether the time of a method was given.
    pub fn has_max_time(&self) -> bool {
        self.max_time.is_some()
    }

    /// Whether cases come from a file or a folder, so that no flag may select them.
    ///
    /// # Errors
    /// If one of `flags` was given all the same.
    pub fn refuse_selection(&self, flags: &[(&str, bool)]) -> anyhow::Result<()> {
        let source = self.resume.as_ref().map(|_| "--resume").or(self.plan.as_ref().map(|_| "--plan"));
        match (source, flags.iter().find(|(_, given)| *given)) {
            (Some(source), Some((flag, _))) => bail!(
                "{flag} cannot be used with {source}, which says already what is run; leave one of them out"
            ),
            _ => Ok(()),
        }
    }

    /// Refuses limits beside a flag that has numbers of its own for them.
    ///
    /// # Errors
    /// If one was given.
    pub fn refuse_limits(&self, beside: &str) -> anyhow::Result<()> {
        let given = [
            ("--warmup", self.warmup.is_some()),
            ("--min-runs", self.min_runs.is_some()),
            ("--max-runs", self.max_runs.is_some()),
            ("--max-time", self.max_time.is_some()),
            ("--precision", self.precision.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => bail!("{flag} cannot be used with {beside}, which has numbers of its own"),
            None => Ok(()),
        }
    }

    /// The cache modes that were named, each once; `None` if none was.
    pub fn caches(&self) -> Option<Vec<Cache>> {
        let mut caches: Vec<Cache> = Vec::new();
        for cache in self.cache.iter().flat_map(|name| name.caches()) {
            if !caches.contains(cache) {
                caches.push(*cache);
            }
        }
        (!caches.is_empty()).then_some(caches)
    }

    /// Goes on with a run, or makes a plan and runs it; an error is a refusal, a failed experiment is none. `all_mpis`: on all
    /// that are usable, where none is named.
    pub fn execute(
        &self,
        all_mpis: bool,
        plan: impl FnOnce() -> anyhow::Result<Plan>,
    ) -> anyhow::Result<ExitCode> {
        self.results.check()?;
        if self.anyway && self.resume.is_none() {
            bail!("--anyway: it goes on with a run elsewhere, by --resume DIR, which is missing");
        }
        match &self.resume {
            Some(dir) => resume::resume(self, dir),
            None => measure::begin(self.manner(all_mpis), plan()?),
        }
    }

    /// How a run is begun by these flags.
    pub fn manner(&self, all_mpis: bool) -> Manner<'_> {
        let Self { dry_run, verbose, .. } = *self;
        let (out, plan_file) = (self.out.as_deref(), self.plan.as_deref());
        Manner { out, dry_run, verbose, all_mpis, results: &self.results, plan_file }
    }

    /// The plan of the file, or an empty one of a kind, with what the flags say.
    ///
    /// # Errors
    /// A file that cannot be read, or is of another kind.
    pub fn begin(&self, kind: Kind, max_time_s: f64) -> anyhow::Result<Plan> {
        let mut plan = match &self.plan {
            Some(file) => {
                let plan = Plan::read(file)?;
                trust::check(&plan, &[file], self.trust)?;
                plan
            }
            None => Plan::of(kind),
        };
        if let Some(file) = self.plan.as_ref().filter(|_| plan.experiment != kind) {
            let (command, file) = (plan.experiment.row().command, file.display());
            bail!(
                "{file} is a plan of {} experiments, and this command makes {}: ddtbench {command} --plan {file}",
                plan.experiment.name(),
                kind.name(),
            );
        }
        if self.plan.is_none() {
            plan.limits.max_time_s = max_time_s;
            plan.limits.min_rounds = MIN_ROUNDS;
        }
        self.apply(&mut plan);
        Ok(plan)
    }

    /// Sets what the flags say.
    pub fn apply(&self, plan: &mut Plan) {
        plan.limit_to_cores(cores());
        if self.max_time.is_some() {
            plan.limits.min_rounds = 0;
        }
        set(&mut plan.seed, self.seed);
        set(&mut plan.caches, self.caches());
        set(&mut plan.launches, self.launches.map(Some));
        set(&mut plan.limits.warmup, self.warmup);
        set(&mut plan.limits.min_runs, self.min_runs);
        set(&mut plan.limits.max_runs, self.max_runs);
        set(&mut plan.limits.max_time_s, self.max_time);
        set(&mut plan.limits.precision_percent, self.precision);
        set(&mut plan.limits.timeout_s, self.timeout);
        if !self.mpi.is_empty() {
            plan.mpis.clear();
            for name in &self.mpi {
                if !plan.mpis.contains(name) {
                    plan.mpis.push(name.clone());
                }
            }
        }
        plan.variants.extend(self.variants.iter().cloned());
        set(&mut plan.launcher, self.launcher.clone().map(Some));
        plan.launcher_args.extend(self.launcher_args());
        plan.bind &= !self.no_bind;
        if !self.methods.is_empty() {
            plan.methods.clear();
            for method in &self.methods {
                if !plan.methods.contains(method) {
                    plan.methods.push(method.clone());
                }
            }
            // They replace those of sweeps as well.
            plan.sweeps.iter_mut().for_each(|sweep| sweep.methods.clear());
        }
    }
}
