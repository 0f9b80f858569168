//! What `run` and its like share: the flags of any experiment, and the way from a plan to a folder of results and a table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use ddtbench::event::Outcome;
use ddtbench::experiment::Experiment;
use ddtbench::folder::{self, Folder, FolderError};
use ddtbench::mpi::{self, Installation, Project, interrupt};
use ddtbench::plan::{Cache, MIN_ROUNDS, Plan};
use ddtbench::record::Record;
use ddtbench::run::{End, Environment, Run, RunError};
use ddtbench::{memory, report};

use super::output::{self, say};
use super::progress::Progress;

/// Exit code after Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;
/// Exit code when a method failed, or nothing could be measured.
pub(super) const FAILED: u8 = 1;

/// Flags that describe the run, which a resumed one has in its folder already.
const GIVEN: [&str; 16] = [
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
    #[arg(short, long = "method", value_name = "NAME", value_delimiter = ',')]
    methods: Vec<String>,
    /// The MPI, by its name in `ddtbench mpi list` or the path of its mpicc
    #[arg(long, value_name = "NAME")]
    pub(super) mpi: Option<String>,
    /// Another launcher than the MPI's: srun, a path, or a command with options
    #[arg(long, value_name = "COMMAND")]
    pub(super) launcher: Option<String>,
    /// An option for the launcher; can be given several times
    #[arg(long = "launcher-arg", value_name = "ARG", allow_hyphen_values = true)]
    launcher_args: Vec<String>,
    /// More options for the launcher
    #[arg(last = true, value_name = "LAUNCHER_ARG")]
    more_launcher_args: Vec<String>,
    /// Leave the ranks where the launcher puts them
    #[arg(long)]
    no_bind: bool,
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(short, long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Seed of everything random [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Leave the buffers in the cache, or evict them before each repetition [default: warm]
    #[arg(long, value_enum)]
    pub(super) cache: Option<Cache>,
    /// Repetitions before the first that counts [default: 10]
    #[arg(long, value_name = "N")]
    warmup: Option<u32>,
    /// Fewest repetitions with which a method can be done before its time is up [default: 30]
    #[arg(long, value_name = "N")]
    min_runs: Option<u32>,
    /// Repetitions that are never exceeded [default: 10000]
    #[arg(long, value_name = "N")]
    max_runs: Option<u32>,
    /// Time of one method: warming up and all its blocks count, with what is filled and compared around them; making
    /// methods and verifying them does not. All methods of a case end together, after their number times this. Where it is
    /// given, it wins over rounds: only the one that is running is finished [default: 0.5; 0.7 or 1 with larger presets, but
    /// at least ten rounds]
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// Half width of the median's interval at which a method is done [default: 2.5]
    #[arg(long, value_name = "PERCENT")]
    precision: Option<f64>,
    /// Silence after which a hanging rank program is ended [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub(super) timeout: Option<f64>,
    /// Go on with the run in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = GIVEN)]
    resume: Option<PathBuf>,
    /// Run what this file says; other flags win over it
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Show what is built
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Print the plan, and run nothing
    #[arg(long)]
    dry_run: bool,
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

    /// Goes on with a run, or makes a plan and runs it; an error is a refusal, a failed experiment is none.
    pub fn execute(&self, plan: impl FnOnce() -> anyhow::Result<Plan>) -> anyhow::Result<ExitCode> {
        if let Some(dir) = &self.resume {
            return self.go_on(dir);
        }
        let mut plan = plan()?;
        plan.check()?;
        memory::check(&plan).map_err(|reason| anyhow!(reason))?;
        if self.dry_run {
            output::print(plan.to_toml().as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        // A folder that was asked for is tried before anything is installed or built.
        let folder = self.out.as_deref().map(|out| Folder::create(out, &plan)).transpose()?;
        let (project, mpi) = match self.pick(plan.mpi.as_deref()) {
            Ok(picked) => picked,
            Err(error) => {
                return Err(match folder {
                    Some(folder) => self.give_back(folder, error),
                    None => error,
                });
            }
        };
        plan.mpi = Some(mpi.name.clone());
        let folder = match folder {
            Some(folder) => folder,
            None => default_folder(&mpi.name, |path| Folder::create(path, &plan))?,
        };
        folder.write_plan(&plan)?;
        introduce(&mpi, &folder);
        self.measure(&project, &mpi, &plan, folder, Vec::new())
    }

    /// The plan of the file, or an empty one of `experiment`, with what the flags say.
    ///
    /// # Errors
    /// A file that cannot be read, or is of another experiment.
    pub fn begin(&self, experiment: Experiment, max_time_s: f64) -> anyhow::Result<Plan> {
        let mut plan = match &self.plan {
            Some(file) => Plan::read(file)?,
            None => Plan::of(experiment),
        };
        if self.plan.is_none() {
            plan.limits.max_time_s = max_time_s;
            plan.limits.min_rounds = MIN_ROUNDS;
        }
        if self.max_time.is_some() {
            plan.limits.min_rounds = 0;
        }
        set(&mut plan.seed, self.seed);
        set(&mut plan.cache, self.cache);
        set(&mut plan.limits.warmup, self.warmup);
        set(&mut plan.limits.min_runs, self.min_runs);
        set(&mut plan.limits.max_runs, self.max_runs);
        set(&mut plan.limits.max_time_s, self.max_time);
        set(&mut plan.limits.precision_percent, self.precision);
        set(&mut plan.limits.timeout_s, self.timeout);
        plan.mpi = self.mpi.clone().or(plan.mpi);
        plan.launcher = self.launcher.clone().or(plan.launcher);
        plan.launcher_args.extend(self.launcher_args());
        plan.bind &= !self.no_bind;
        if !self.methods.is_empty() {
            plan.methods.clear();
            for method in &self.methods {
                if !plan.methods.contains(method) {
                    plan.methods.push(method.clone());
                }
            }
        }
        Ok(plan)
    }

    fn go_on(&self, dir: &Path) -> anyhow::Result<ExitCode> {
        let (folder, plan, records) = Folder::resume(dir)?;
        if let (Some(asked), Some(planned)) = (&self.mpi, &plan.mpi)
            && asked != planned
        {
            bail!(
                "the run in {} is one of `{planned}`; results of `{asked}` belong into another folder",
                dir.display()
            );
        }
        memory::check(&plan).map_err(|reason| anyhow!(reason))?;
        let (project, mpi) = self.pick(plan.mpi.as_deref())?;
        if let Some(before) = Environment::read(&dir.join(folder::ENVIRONMENT)) {
            let then = format!("{} {}", before.mpi.family, before.mpi.version);
            if then != mpi.title() {
                bail!(
                    "`{}` is {} now and was {then} when the run in {} began; start a new run",
                    mpi.name,
                    mpi.title(),
                    dir.display()
                );
            }
            if before.ddtbench_version != env!("CARGO_PKG_VERSION") {
                say(&format!("warning: the run was begun by ddtbench {}", before.ddtbench_version));
            }
        }
        introduce(&mpi, &folder);
        self.measure(&project, &mpi, &plan, folder, records)
    }

    fn pick(&self, name: Option<&str>) -> anyhow::Result<(Project, Installation)> {
        let mut project = Project::locate()?;
        project.verbose = self.verbose;
        let mpi = project.pick(name, &mut say)?;
        Ok((project, mpi))
    }

    fn measure(
        &self,
        project: &Project,
        mpi: &Installation,
        plan: &Plan,
        mut folder: Folder,
        mut records: Vec<Record>,
    ) -> anyhow::Result<ExitCode> {
        if interrupt::requested() {
            return Ok(stopped(&folder));
        }
        let begin = || -> anyhow::Result<(PathBuf, String)> {
            let program = project.rank_program(mpi, &mut say)?;
            let command = Run { plan, installation: mpi, program: &program }.command_line(0)?;
            Ok((program, command))
        };
        let begun = begin();
        if interrupt::requested() {
            return Ok(stopped(&folder));
        }
        let (program, command) = match begun {
            Ok(begun) => begun,
            Err(error) => return Err(self.give_back(folder, error)),
        };
        let run = Run { plan, installation: mpi, program: &program };
        if self.verbose {
            say(&command);
        }
        let threads = (0..plan.cases.len()).map(|i| plan.threads(i)).max().unwrap_or(1);
        if (0..plan.cases.len()).any(|i| run.launch(i, &[]).is_oversubscribed()) {
            let of = if threads > 1 { format!(" of up to {threads} threads") } else { String::new() };
            say(&format!(
                "warning: {} ranks{of} share {} cores: they are not bound, and times say little of other machines",
                plan.ranks,
                mpi::cores()
            ));
        }
        let now = now();
        let file = folder.path().join(folder::ENVIRONMENT);
        let mut environment = match Environment::read(&file).filter(|_| self.resume.is_some()) {
            Some(mut earlier) => {
                earlier.resumed.push(now);
                earlier
            }
            None => Environment::now(now, mpi, command),
        };
        folder.write_environment(&environment)?;

        let done = folder::done(&records, plan);
        let mut progress = Progress::new(plan.cases.len(), plan.methods.len());
        let result = run.all(&mut folder, &done, &mut environment, &mut progress);
        drop(progress);
        let (end, new) = match result {
            Ok(result) => result,
            Err(error @ RunError::Mpi(_)) => return Err(self.give_back(folder, error.into())),
            Err(error) => return Err(anyhow::Error::from(error).context(resume_hint(&folder))),
        };
        records.extend(new);
        if !records.is_empty() {
            folder.write_report(&records).with_context(|| resume_hint(&folder))?;
            output::print(report::table::table(&records, output::width()).as_bytes())?;
        }
        if end == End::Interrupted {
            return Ok(stopped(&folder));
        }
        output::print(format!("\nresults: {}\n", folder.path().display()).as_bytes())?;
        Ok(if is_success(&records) { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    /// Removes the folder of a new run that could not begin; where cases have ended, says how to go on.
    fn give_back(&self, folder: Folder, error: anyhow::Error) -> anyhow::Error {
        let hint = resume_hint(&folder);
        if self.resume.is_none() && folder.discard() { error } else { error.context(hint) }
    }
}

/// Whether there are times, and every method has some that count unless the MPI lacks what it needs.
fn is_success(records: &[Record]) -> bool {
    let invalid = Outcome::Invalid { detail: String::new() }.label();
    let has_times = |record: &Record| record.median_s.is_some() && record.outcome != invalid;
    let outcome = |record: &Record| Experiment::of_whole(record.phase).map(|_| has_times(record));
    let lacks = |record: &&Record| record.outcome == Outcome::NotAvailable { reason: String::new() }.label();
    let mut outcomes = records.iter().filter(|record| !lacks(record)).filter_map(outcome).peekable();
    outcomes.peek().is_some() && outcomes.all(|has_times| has_times)
}

fn introduce(mpi: &Installation, folder: &Folder) {
    let from = mpi.mpicc.display();
    say(&format!("MPI: {}, {} ({}: {from})", mpi.name, mpi.title(), mpi.source.label()));
    say(&format!("results: {}", folder.path().display()));
}

fn resume_hint(folder: &Folder) -> String {
    format!(
        "stopped; what was finished is kept, and `ddtbench run --resume {}` goes on",
        folder.path().display()
    )
}

fn stopped(folder: &Folder) -> ExitCode {
    say(&resume_hint(folder));
    ExitCode::from(INTERRUPTED)
}

/// `results/DATE-TIME-WHAT` in the current folder; with a number if two begin in one second. `create` makes it.
pub(super) fn default_folder<F>(
    what: &str,
    create: impl Fn(&Path) -> Result<F, FolderError>,
) -> anyhow::Result<F> {
    let stem = format!("results/{}-{what}", jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S"));
    let names = (2..).map(|number| format!("{stem}-{number}"));
    for name in std::iter::once(stem.clone()).chain(names) {
        match create(Path::new(&name)) {
            Err(FolderError::NotEmpty(_) | FolderError::InUse(_)) => {}
            result => return Ok(result?),
        }
    }
    unreachable!("numbers do not end")
}

/// This moment, with the zone's offset.
pub(super) fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

#[cfg(test)]
mod tests {
    use ddtbench::record::Phase;

    use super::*;

    #[test]
    fn a_run_succeeds_if_all_has_times_that_count() {
        let record = |outcome: &str, median_s| Record {
            phase: Phase::Exchange,
            outcome: outcome.to_owned(),
            median_s,
            ..Record::default()
        };
        let (measured, lacking) = (record("converged", Some(1.0)), record("not available", None));
        assert!(is_success(&[measured.clone(), lacking.clone()]));
        assert!(!is_success(&[lacking]), "nothing was measured");
        for failed in [record("invalid", Some(1.0)), record("crashed", None)] {
            assert!(!is_success(&[measured.clone(), failed]));
        }
        // What is not the whole tells nothing of success.
        assert!(is_success(&[measured, Record { phase: Phase::Init, ..record("converged", None) }]));
    }
}
