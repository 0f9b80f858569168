//! The command line of the rank program, for `ddtbench` and for manual use.

use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{Context as _, anyhow, bail, ensure};
use apps::{Context, MicroApp, Test, Values};
use clap::{Args, Parser, Subcommand};
use common::kinds::Kind;
use common::kinds::engine::PackingOrder;
use common::kinds::halo::HaloCase;
use common::kinds::overlap::OverlapCase;
use common::kinds::partitioned::Setting;
use common::kinds::partitioned::methods::SINGLE_INIT;
use common::kinds::pingpong::Pairs;
use common::limit_args::LimitArgs;
use common::limits::{Limits, MOST_METHODS};
use common::model::check::{self, CLOCKS, Check, PARTITIONED};
use common::model::conditions::{COLD_DEVICE, Cache, MemoryKind, Rule};
use common::model::{Case, OWN};
use common::parameter::whole;

use mpi::Threading;

use crate::bounds::AdoptedBounds;
use crate::checked::identity;
use crate::output::OutputFormat;

/// The process that an MPI launcher starts: measures one test on the ranks that it finds itself among.
#[derive(Debug, Parser)]
#[command(name = "ddtbench-rank", version = version())]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// This program's version, and after `on` the library that it finds: `ddtbench` asks for it.
fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| format!("{} on {}", env!("CARGO_PKG_VERSION"), identity::title()));
    &VERSION
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a test's methods: mpirun -n 2 ddtbench-rank pingpong wrf_x_vec --method ddt
    Pingpong(PingPong),
    /// Compare the pack engine with other ways to pack a test, in one process: mpirun -n 1 ddtbench-rank engine wrf_x_vec
    Engine(Engine),
    /// Compare mechanisms for a message that is finished in partitions: mpirun -n 2 ddtbench-rank partitioned -p bytes=4MiB
    Partitioned(Partitioned),
    /// Compare methods for the exchange of an application between all ranks: mpirun -n 4 ddtbench-rank halo nas_mg
    Halo(Halo),
    /// Communicate while ranks compute: mpirun -n 2 ddtbench-rank overlap ibcast -p bytes=1MiB,matrix_order=200
    Overlap(Overlap),
    /// Check the MPI's correctness: mpirun -n 2 ddtbench-rank conform equal_counts
    Conform(Conform),
    /// Try operations on the datatypes of a batch, which ddtbench has written to a folder: mpirun -n 1 ddtbench-rank datatypes FOLDER
    Datatypes(Datatypes),
}

impl Command {
    /// The kind of its experiments, their conditions and their methods; `None` for checks.
    fn experiments(&self) -> Option<(Kind, &ConditionArgs, &MethodArgs)> {
        Some(match self {
            Self::Pingpong(args) => (Kind::PingPong, &args.case.conditions, &args.methods),
            Self::Engine(args) => (Kind::Engine, &args.case.conditions, &args.methods),
            Self::Partitioned(args) => (Kind::Partitioned, &args.conditions, &args.methods),
            Self::Halo(args) => (Kind::Halo, &args.case.conditions, &args.methods),
            Self::Overlap(args) => (Kind::Overlap, &args.case.conditions, &args.methods),
            Self::Conform(_) | Self::Datatypes(_) => return None,
        })
    }

    /// The shared object with the user's loop, if the kind has the method for it, and the file that it was made of.
    pub fn own_loop(&self) -> Option<(PathBuf, PathBuf)> {
        let (kind, _, methods) = self.experiments()?;
        let object = methods.pack.clone().filter(|_| kind.method(OWN).is_ok())?;
        Some((object.clone(), methods.pack_source.clone().unwrap_or(object)))
    }

    /// The memory of its data.
    pub fn memory(&self) -> anyhow::Result<MemoryKind> {
        if let Self::Datatypes(Datatypes { memory, .. }) = self {
            return Ok(*memory);
        }
        let Some((kind, conditions, _)) = self.experiments() else { return Ok(MemoryKind::Host) };
        let memory = conditions.memory;
        if let Some(reason) = kind.refuse_memory(memory) {
            bail!("--memory {}: {reason}", memory.name());
        }
        ensure!(memory.is_host() || conditions.cache == Cache::Warm, "--cache cold: {COLD_DEVICE}");
        Ok(memory)
    }

    /// The thread level that it needs.
    pub fn threading(&self) -> Threading {
        match self {
            Self::Pingpong(_) | Self::Engine(_) => Threading::Funneled,
            // In a separate process, without any other mechanism.
            Self::Partitioned(args) if args.methods.methods == [SINGLE_INIT] => Threading::Single,
            Self::Partitioned(_) | Self::Halo(_) => Threading::Multiple,
            Self::Overlap(_) => Threading::Funneled,
            Self::Conform(args) if args.check().is_ok_and(|check| check.threads > 1) => Threading::Multiple,
            Self::Conform(_) | Self::Datatypes(_) => Threading::Funneled,
        }
    }
}

/// The measured test, and its conditions.
#[derive(Debug, Args)]
pub struct CaseArgs {
    /// The test
    pub test: String,
    /// A named parameter set [default: the one of preset `quick`]
    #[arg(long, value_name = "NAME")]
    pub set: Option<String>,
    /// Single parameters, changing the set; of some kinds also parameters of their own (`ddtbench list KIND`)
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    pub params: Vec<String>,
    #[command(flatten)]
    pub conditions: ConditionArgs,
}

/// Arguments that all kinds of cases have.
#[derive(Debug, Args)]
pub struct ConditionArgs {
    /// Seed of index lists, neighbourhoods, orders and times
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Leave the buffers in the cache, or evict them before each repetition
    #[arg(long, value_enum, default_value_t)]
    pub cache: Cache,
    /// The memory of arrays and messages: of the host or of a device
    #[arg(long, value_enum, default_value_t)]
    pub memory: MemoryKind,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: OutputFormat,
}

impl CaseArgs {
    /// The test, its values, and the micro-app on this number of ranks with the bounds that this MPI gives layouts.
    pub fn build(
        &self,
        ranks: usize,
        bounds: &mut AdoptedBounds<'_>,
    ) -> anyhow::Result<(&'static Test, Values, MicroApp)> {
        let test = apps::find(&self.test)?;
        let mut values = test.set(self.set.as_deref().unwrap_or(test.quick_set().name))?;
        for (name, text) in pairs(&self.params)? {
            values.assign(&name, &text)?;
        }
        let context = Context { ranks, seed: self.conditions.seed };
        let app = test.build(&bounds.adopted(&values), context);
        let app = bounds.explain(app)?;
        Ok((test, values, app))
    }
}

impl ConditionArgs {
    /// The case in the form used in results.
    pub fn case(&self, kind: Kind, test: &str, set: &str, params: String, ranks: usize) -> Case {
        Case {
            experiment: kind,
            test: test.to_owned(),
            set: set.to_owned(),
            params,
            mpi: identity::title(),
            ranks,
            cache: self.cache,
            memory: self.memory,
            ..Case::default()
        }
    }
}

/// The methods that are measured, on how many ranks, and for how long.
#[derive(Debug, Args)]
pub struct MethodArgs {
    /// Methods, by name [default: all]
    #[arg(short, long = "method", value_name = "NAME", value_delimiter = ',')]
    methods: Vec<String>,
    /// A shared object with your loop, for the method `own`: functions `pack` and `unpack`
    #[arg(long, value_name = "FILE")]
    pack: Option<PathBuf>,
    /// The file that it was made of, for errors
    #[arg(long, value_name = "FILE")]
    pack_source: Option<PathBuf>,
    /// The number of ranks requested; any other number is refused
    #[arg(short = 'n', long)]
    pub ranks: Option<usize>,
    /// When a method has been measured enough; a rule that is not the default has numbers of its own
    #[arg(long, value_enum, default_value_t)]
    rule: Rule,
    /// Rounds of blocks that are made however long they take
    #[arg(long, value_name = "N", default_value_t = Limits::default().min_rounds)]
    min_rounds: u32,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, Args)]
pub struct PingPong {
    #[command(flatten)]
    pub case: CaseArgs,
    #[command(flatten)]
    pub methods: MethodArgs,
    /// 0 with 1, 2 with 3, ..., or the first half with the second
    #[arg(long, value_enum, default_value_t)]
    pub pairs: Pairs,
}

#[derive(Debug, Args)]
pub struct Engine {
    #[command(flatten)]
    pub case: CaseArgs,
    /// As the hand-written loop packs, or as the datatype does, where the two differ
    #[arg(long, value_enum, default_value_t)]
    pub order: PackingOrder,
    #[command(flatten)]
    pub methods: MethodArgs,
}

#[derive(Debug, Args)]
pub struct Conform {
    /// The check
    name: String,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: OutputFormat,
}

#[derive(Debug, Args)]
pub struct Datatypes {
    /// The folder of the batch, to which faults are written
    pub folder: PathBuf,
    /// The memory of data that a datatype describes
    #[arg(long, value_enum, default_value_t)]
    pub memory: MemoryKind,
}

impl Conform {
    /// The check.
    pub fn check(&self) -> Result<&'static Check, String> {
        check::find(PARTITIONED.iter().chain(CLOCKS), &self.name)
    }
}

impl MethodArgs {
    /// Whether methods were named.
    pub fn are_given(&self) -> bool {
        !self.methods.is_empty()
    }

    /// The names of the methods, each once, in the order given, and when each has been measured enough.
    pub fn of_kind(&self, kind: Kind) -> anyhow::Result<(Vec<String>, Limits)> {
        Ok((self.names(kind, kind.all_methods())?, self.limits()?))
    }

    /// The same for the methods that a test `can` use.
    pub fn of_test(
        &self,
        kind: Kind,
        test: &str,
        memory: MemoryKind,
        can: impl Fn(&str) -> bool,
    ) -> anyhow::Result<(Vec<String>, Limits)> {
        let mut names = self.names(kind, kind.usual_methods_in(&[memory], std::iter::once(test)))?;
        names.retain(|name| can(name) && kind.can_in(memory, name));
        ensure!(!names.is_empty(), "{test}: no loops were written by hand for it, which these methods need");
        Ok((names, self.limits()?))
    }

    /// When a method has been measured enough.
    fn limits(&self) -> anyhow::Result<Limits> {
        let mut limits = Limits::default();
        self.limits.apply(&mut limits);
        (limits.rule, limits.min_rounds) = (self.rule, self.min_rounds);
        limits.check()?;
        Ok(limits)
    }

    fn names(&self, kind: Kind, usual: Vec<String>) -> anyhow::Result<Vec<String>> {
        if self.methods.is_empty() {
            return Ok(usual);
        }
        let mut names = Vec::new();
        for name in &self.methods {
            kind.method(name).map_err(|reason| anyhow!(reason))?;
            ensure!(name != OWN || self.pack.is_some(), "method own needs --pack FILE");
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        ensure!(names.len() <= MOST_METHODS, "{} methods: there can be {MOST_METHODS} at most", names.len());
        Ok(names)
    }
}

#[derive(Debug, Args)]
pub struct Halo {
    #[command(flatten)]
    pub case: CaseArgs,
    #[command(flatten)]
    pub methods: MethodArgs,
}

impl Halo {
    pub fn case(&self) -> anyhow::Result<HaloCase> {
        let CaseArgs { test, set, params, .. } = &self.case;
        HaloCase::parse(test, set.as_deref(), &pairs(params)?.into_iter().collect())
            .map_err(|reason| anyhow!(reason))
    }
}

#[derive(Debug, Args)]
pub struct Overlap {
    #[command(flatten)]
    pub case: CaseArgs,
    /// Find sizes for times, and measure nothing else
    #[arg(long)]
    pub calibrate: bool,
    /// Times of the communication for which to find bytes, in seconds, rising
    #[arg(long, value_name = "SECONDS", value_delimiter = ',', requires = "calibrate")]
    pub communication_s: Vec<f64>,
    /// Times of the computation for which to find matrices, in seconds, rising
    #[arg(long, value_name = "SECONDS", value_delimiter = ',', requires = "calibrate")]
    pub computation_s: Vec<f64>,
    /// Find matrices that take as long as the communication
    #[arg(long, requires = "calibrate")]
    pub as_long: bool,
    #[command(flatten)]
    pub methods: MethodArgs,
}

impl Overlap {
    pub fn case(&self) -> anyhow::Result<OverlapCase> {
        let CaseArgs { test, set, params, .. } = &self.case;
        let params = pairs(params)?;
        let params = params.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        OverlapCase::parse(test, set.as_deref(), params).map_err(|reason| anyhow!(reason))
    }
}

/// Names and values of parameters; `NAME=@FILE` reads the value from a file, for values that are too long for a command line.
fn pairs(params: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for text in &whole(params) {
        match (text.split_once('='), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name.trim().to_owned(), value.trim().to_owned())),
            // The name of a file may have a comma.
            (None, Some((_, value))) if value.starts_with('@') => value.extend([",", text]),
            _ => bail!("parameter {text:?}: must be NAME=VALUE, for example bytes=4MiB"),
        }
    }
    for (name, value) in &mut pairs {
        if let Some(file) = value.strip_prefix('@') {
            let text = std::fs::read_to_string(file).with_context(|| {
                format!("parameter {name}: cannot read {file}, which must be visible to all ranks: choose a shared folder with --out")
            })?;
            *value = text.trim().to_owned();
        }
    }
    Ok(pairs)
}

#[derive(Debug, Args)]
pub struct Partitioned {
    /// Parameters of the transfer, as bytes=4MiB,partitions=4
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    params: Vec<String>,
    /// Start several receives by MPI_Startall
    #[arg(long)]
    pub startall: bool,
    #[command(flatten)]
    pub conditions: ConditionArgs,
    #[command(flatten)]
    pub methods: MethodArgs,
}

impl Partitioned {
    pub fn setting(&self) -> anyhow::Result<Setting> {
        let pairs = pairs(&self.params)?;
        let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Setting::parse(pairs).map_err(|reason| anyhow!(reason))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn long_values_are_read_from_files() {
        let dir = std::env::temp_dir().join(format!("ddtbench,values-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("1-send.txt");
        std::fs::write(&file, "indexed_block(1,[9,0],double)\n").unwrap();
        let typed = format!("name=mine,send=@{},receive=send", file.display());
        let words: Vec<String> = typed.split(',').map(str::to_owned).collect();
        let read = pairs(&words);
        std::fs::remove_dir_all(&dir).unwrap();
        let expected = [("name", "mine"), ("send", "indexed_block(1,[9,0],double)"), ("receive", "send")];
        assert_eq!(read.unwrap(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let error = pairs(&words).unwrap_err().to_string();
        assert!(error.contains("must be visible to all ranks"), "{error}");
        assert!(pairs(&["name=mine".to_owned(), "send".to_owned()]).is_err());
    }
}
