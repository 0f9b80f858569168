//! The command `partitioned`: which transfers between two ranks are measured, one point or a sweep. The check of an MPI's
//! partitioned communication is in `check`.

mod check;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use ddtbench::experiment::Experiment;
use ddtbench::partitioned::sweep::{Figures, Sweep};
use ddtbench::plan::{self, Plan, Rule};

use super::conditions::{ConditionArgs, set};

/// Flags of transfers, which probes know nothing of.
const OF_TRANSFERS: [&str; 26] = [
    "bytes",
    "partitions",
    "theta",
    "partition_bytes",
    "receive",
    "threads",
    "order",
    "arrival",
    "compute_us",
    "emulate",
    "beta",
    "vcis",
    "preset",
    "rule",
    "startall",
    "methods",
    "seed",
    "cache",
    "warmup",
    "min_runs",
    "max_runs",
    "max_time",
    "precision",
    "resume",
    "plan",
    "dry_run",
];

#[derive(Debug, Args)]
pub struct PartitionedArgs {
    /// Run probes instead: does the MPI, or each of several after --mpi, do partitioned communication rightly?
    #[arg(long, conflicts_with_all = OF_TRANSFERS)]
    check: bool,
    /// Probes, by name [default: all]
    #[arg(long = "probe", value_name = "NAME", value_delimiter = ',', requires = "check")]
    probes: Vec<String>,
    /// What --check prints
    #[arg(long, value_enum, default_value = "table", requires = "check")]
    format: CheckFormat,
    /// Bytes of the message; several values of this and the next flags make a sweep [default: 32KiB]
    #[arg(short, long, value_name = "BYTES", value_delimiter = ',', conflicts_with = "resume")]
    bytes: Vec<String>,
    /// Partitions of the sender [default: 32]
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "resume")]
    partitions: Vec<String>,
    /// Partitions of each thread, instead of all together
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["partitions", "resume"])]
    theta: Vec<String>,
    /// Bytes of each partition; with --bytes, instead of their number
    #[arg(long, value_name = "BYTES", value_delimiter = ',', conflicts_with = "resume")]
    partition_bytes: Vec<String>,
    /// Partitions of the receiver, where they are not the sender's
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "resume")]
    receive: Vec<String>,
    /// Threads of each rank [default: 1]
    #[arg(short, long, value_name = "N", value_delimiter = ',', conflicts_with = "resume")]
    threads: Vec<String>,
    /// Order in which partitions become ready: linear, reverse, random, strided:BYTES, burst:BYTES, neighbourhood
    #[arg(long, value_name = "ORDER", value_delimiter = ',', conflicts_with = "resume")]
    order: Vec<String>,
    /// When threads are done: none, laggard:4%, uniform:10%, normal:2us, kde:NAME, delay:GAMMA (us/MB of the last
    /// partition)
    #[arg(long, value_name = "ARRIVAL", value_delimiter = ',', conflicts_with = "resume")]
    arrival: Vec<String>,
    /// Time that each thread computes, in microseconds [default: 0]
    #[arg(long, value_name = "US", value_delimiter = ',', conflicts_with = "resume")]
    compute_us: Vec<String>,
    /// How computing time passes: spin, sleep, work or sweep
    #[arg(long, value_name = "HOW", value_delimiter = ',', conflicts_with = "resume")]
    emulate: Vec<String>,
    /// Bandwidth for the model, in GB/s [default: what `single` reaches beside it]
    #[arg(long, value_name = "GB/S", conflicts_with = "resume")]
    beta: Option<String>,
    /// Virtual interfaces of MPICH (MPIR_CVAR_CH4_NUM_VCIS) [default: as the environment says]
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "resume")]
    vcis: Vec<String>,
    /// The data of a paper's figures, on a grid for this machine
    #[arg(long, value_enum, conflicts_with = "resume")]
    preset: Option<Figures>,
    /// The whole grid of the paper, with --preset
    #[arg(long, requires = "preset")]
    full_grid: bool,
    /// When a mechanism has been measured enough, and what its figures rest on [default: interval]
    #[arg(long, value_enum, conflicts_with = "resume")]
    rule: Option<Rule>,
    /// Start the receives of several messages by one MPI_Startall
    #[arg(long, conflicts_with = "resume")]
    startall: bool,
    #[command(flatten)]
    conditions: ConditionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// Tables
    Table,
    /// Rows
    Csv,
}

impl PartitionedArgs {
    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        if self.check {
            return self.run_check();
        }
        let given = [
            ("--bytes", &self.bytes),
            ("--partitions", &self.partitions),
            ("--theta", &self.theta),
            ("--partition-bytes", &self.partition_bytes),
            ("--receive", &self.receive),
            ("--threads", &self.threads),
            ("--order", &self.order),
            ("--arrival", &self.arrival),
            ("--compute-us", &self.compute_us),
            ("--emulate", &self.emulate),
            ("--vcis", &self.vcis),
        ];
        let mut selected: Vec<_> = given.iter().map(|(flag, values)| (*flag, !values.is_empty())).collect();
        selected.extend([("--beta", self.beta.is_some()), ("--preset", self.preset.is_some())]);
        self.conditions.refuse_selection(&selected)?;
        self.conditions.execute(|| self.plan())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.conditions.begin(Experiment::Partitioned, plan::Limits::default().max_time_s)?;
        plan.startall |= self.startall;
        set(&mut plan.limits.rule, self.rule);
        if plan.limits.rule != Rule::Interval {
            self.conditions.refuse_limits(plan.limits.rule)?;
        }
        if !self.conditions.has_plan() {
            let sweep = Sweep {
                bytes: self.bytes.clone(),
                partitions: self.partitions.clone(),
                theta: self.theta.clone(),
                partition_bytes: self.partition_bytes.clone(),
                receive: self.receive.clone(),
                threads: self.threads.clone(),
                order: self.order.clone(),
                arrival: self.arrival.clone(),
                compute_us: self.compute_us.clone(),
                emulate: self.emulate.clone(),
                beta: self.beta.clone().into_iter().collect(),
                vcis: self.vcis.clone(),
            };
            match self.preset {
                None => plan.cases = sweep.cases().map_err(anyhow::Error::msg)?,
                Some(figures) => {
                    plan.cache = self.conditions.cache.unwrap_or(figures.cache());
                    figures.add_to(&mut plan, &sweep, self.full_grid).map_err(anyhow::Error::msg)?
                }
            }
        }
        Ok(plan)
    }
}
