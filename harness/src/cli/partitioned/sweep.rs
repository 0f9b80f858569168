//! Which transfers are measured: values of each parameter.

use clap::Args;
use ddtbench::experiments::partitioned::sweep::Sweep;

/// Transfers that can also come from a plan, or be those of an earlier run.
#[derive(Clone, Debug, Args)]
pub struct SweepArgs {
    /// Bytes of the message; several values of this and the next flags make a sweep [default: 32KiB]
    #[arg(short, long, value_name = "BYTES", value_delimiter = ',')]
    bytes: Vec<String>,
    /// Partitions of the sender [default: 32]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    partitions: Vec<String>,
    /// Partitions of each thread, instead of all together
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "partitions")]
    theta: Vec<String>,
    /// Bytes of each partition; with --bytes, instead of their number
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    partition_bytes: Vec<String>,
    /// Partitions of the receiver, where they are not the sender's
    #[arg(long, value_name = "N", value_delimiter = ',')]
    receive: Vec<String>,
    /// Threads of each rank [default: 1]
    #[arg(short, long, value_name = "N", value_delimiter = ',')]
    threads: Vec<String>,
    /// Order in which partitions become ready: linear, reverse, random, strided:BYTES, burst:BYTES, neighbourhood
    #[arg(long, value_name = "ORDER", value_delimiter = ',')]
    order: Vec<String>,
    /// When threads are done: none, laggard:4%, uniform:10%, normal:2us, kde:NAME, delay:GAMMA (us/MB of the last
    /// partition)
    #[arg(long, value_name = "ARRIVAL", value_delimiter = ',')]
    arrival: Vec<String>,
    /// Time that each thread computes, in microseconds [default: 0]
    #[arg(long, value_name = "US", value_delimiter = ',')]
    compute_us: Vec<String>,
    /// How computing time passes: spin, sleep, work or sweep
    #[arg(long, value_name = "HOW", value_delimiter = ',')]
    emulate: Vec<String>,
    /// Bandwidth for the model, in GB/s [default: what `single` reaches beside it]
    #[arg(long, value_name = "GB/S")]
    beta: Option<String>,
    /// Virtual interfaces of MPICH (MPIR_CVAR_CH4_NUM_VCIS) [default: as the environment says]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    vcis: Vec<String>,
    /// 2: both ranks send such a message, at the same time [default: 1]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    ways: Vec<String>,
}

impl SweepArgs {
    /// Every flag, and whether it was given.
    pub fn given(&self) -> [(&'static str, bool); 13] {
        [
            ("--bytes", !self.bytes.is_empty()),
            ("--partitions", !self.partitions.is_empty()),
            ("--theta", !self.theta.is_empty()),
            ("--partition-bytes", !self.partition_bytes.is_empty()),
            ("--receive", !self.receive.is_empty()),
            ("--threads", !self.threads.is_empty()),
            ("--order", !self.order.is_empty()),
            ("--arrival", !self.arrival.is_empty()),
            ("--compute-us", !self.compute_us.is_empty()),
            ("--emulate", !self.emulate.is_empty()),
            ("--beta", self.beta.is_some()),
            ("--vcis", !self.vcis.is_empty()),
            ("--ways", !self.ways.is_empty()),
        ]
    }

    /// The values; what was not given has none.
    pub fn sweep(&self) -> Sweep {
        Sweep {
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
            ways: self.ways.clone(),
        }
    }
}
