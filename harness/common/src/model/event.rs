//! The reports of the rank program while it runs: one JSON object per line of its standard output.
//!
//! Raw samples leave the rank program as they were measured; they are not averaged, and none is dropped.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::abi::Abi;
use super::calibration::CalibratedSize;
use super::transport::Transport;
use super::{Outcome, Phase, Times};

/// Hash of this file, to detect two programs with different definitions of events.
pub const VERSION: u32 = {
    // FNV-1a.
    let (text, mut hash, mut i) = (include_bytes!("event.rs"), 0x811c_9dc5_u32, 0);
    while i < text.len() {
        hash = (hash ^ text[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
};

/// One line from the rank program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Before measuring: the machine, the MPI and the ranks. Boxed because it is much larger than the others.
    Hello(Box<Hello>),
    /// Before any method: the transport between ranks.
    Transport(Transport),
    /// Work on a method begins. Anything that goes wrong before the next event is attributed to this method.
    Working { method: String, stage: Stage },
    /// The samples of one block of one method. Boxed for the same reason.
    Block(Box<Block>),
    /// A method has ended.
    Ended { method: String, outcome: Outcome },
    /// A size found for a requested time.
    Size(CalibratedSize),
    /// A rank's MPI call has failed, and it is about to abort the others: no launcher has ended them yet.
    Aborting,
    /// All methods have ended; the rank program is about to exit.
    Done,
    /// After all measurements: the library's own report about the paths its messages may take.
    Library {
        /// Its settings and components, by name.
        account: Vec<(String, String)>,
    },
}

named! {
    /// The kind of work on a method.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        /// Verifying that it transfers the right bytes.
        Verify = "verify",
        /// In the user's function of this name.
        Pack = "pack",
        Unpack = "unpack",
        /// Finding sizes or costs for it.
        Calibrate = "calibrate",
        /// Warming up, and finding out how long it takes.
        WarmUp = "warm up",
        Measure = "measure",
    }
}

/// The rank program's description of itself and its environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`] of the rank program.
    #[serde(default)]
    pub version: u32,
    /// `MPI_Get_library_version`, first line.
    pub library_version: String,
    /// How the library reaches other ranks, if it reports that, such as MPICH's `ch4:ofi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The standard that the library reports to support, such as `4.1`.
    pub mpi_standard: String,
    /// The binary interface of the rank program; old results lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abi: Option<Abi>,
    /// File of the MPI library that is mapped into the process.
    pub library_path: Option<String>,
    /// The thread level that `MPI_Init_thread` provided.
    pub thread_level: String,
    /// Smallest step of the clock, in seconds.
    pub clock_step_s: f64,
    /// Time to read the clock once, in seconds; subtracted from ping-pong samples, once per reading within them.
    pub clock_cost_s: f64,
    /// `MPI_Wtick`, for comparison.
    pub mpi_wtick_s: f64,
    /// Bytes of a message, of the send side's segments, and the number of segments. They belong to one case,
    /// and are omitted if the description is stored for a whole run.
    #[serde(default, skip_serializing_if = "MessageFacts::is_unknown")]
    pub message: MessageFacts,
    /// The place of each rank, in rank order.
    pub ranks: Vec<RankPlace>,
    /// Threads of each rank that compute, pack or call MPI at the same time.
    pub threads: usize,
    /// The pairs as (origin, echo) ranks; empty for an all-to-all.
    pub pairs: Vec<(usize, usize)>,
    /// Variables that control the MPI (`MPIR_CVAR_*`, `OMPI_MCA_*`, `I_MPI_*`, `UCX_*`, `FI_*`, ...).
    pub settings: Vec<(String, String)>,
    /// The library's report of its settings and components, by MPI's tool information interface; sent in a separate event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub library_account: Vec<(String, String)>,
    /// The compiler and flags that the rank program was built with.
    pub build: String,
    /// The transport between ranks, once it is known; sent in a separate event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The devices of ranks with data there, in rank order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceFacts>,
    /// How well clocks agree, in experiments that compare them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<ClockFacts>,
    /// Notes on the case: bounds of its layouts that other MPIs read in another way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How its processes ended after all measurements, if not with exit code 0; added by `ddtbench`, which started them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_ending: Option<String>,
}

impl Hello {
    /// Adds the content of the event [`Event::Transport`].
    pub fn goes_by(hello: &mut Option<Box<Self>>, transport: Transport) {
        if let Some(hello) = hello {
            hello.transport = Some(transport);
        }
    }

    /// The device with the ranks' data and its driver, how many ranks of a host share one, and whether a
    /// service lets them use it at the same time; empty without one.
    pub fn device_of_data(&self) -> String {
        let Some(DeviceFacts { name, cuda, has_mps, .. }) = self.devices.first() else {
            return String::new();
        };
        let mut ranks = BTreeMap::<(&str, &str), usize>::new();
        for (rank, device) in self.ranks.iter().zip(&self.devices) {
            *ranks.entry((&rank.host, &device.bus)).or_default() += 1;
        }
        let shared = match ranks.into_values().max() {
            Some(most @ 2..) => {
                let mps = match has_mps {
                    Some(true) => " with MPS",
                    Some(false) => " without MPS",
                    None => "",
                };
                format!(", shared by {most} ranks{mps}")
            }
            _ => String::new(),
        };
        format!("{name}, CUDA {cuda}{shared}")
    }

    /// Hosts that the ranks are on.
    pub fn hosts(&self) -> usize {
        self.ranks.iter().map(|rank| rank.host.as_str()).collect::<BTreeSet<_>>().len()
    }
}

/// The device that a rank uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub name: String,
    /// Its address on the host's bus.
    pub bus: String,
    /// The version of CUDA that the driver has, such as `13.0`.
    pub cuda: String,
    /// Whether a service lets several processes use it at the same time, if the driver says.
    pub has_mps: Option<bool>,
}

/// The message of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFacts {
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// Merged segments of the send side.
    pub segments: u64,
    /// Bytes of all arrays of one rank.
    pub array_bytes: u64,
    /// Bytes of the cache lines that packing and unpacking must touch; known if methods are compared with that bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<LineBytes>,
}

/// Bytes of all cache lines that a test's data touches in the arrays and in the packed buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineBytes {
    /// Bytes of the lines that packing touches.
    pub pack: u64,
    /// Bytes of the lines that unpacking touches.
    pub unpack: u64,
}

impl MessageFacts {
    /// Whether the facts are unknown: the arrays of a message always have bytes.
    fn is_unknown(&self) -> bool {
        self.array_bytes == 0
    }
}

/// How well the clocks of all ranks agree, for times that begin on one rank and end on another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// Whether all ranks read the same clock of one kernel.
    pub shared: bool,
    /// Error bound of a time compared across ranks, in seconds, for the worst rank: half the fastest round
    /// trip of a message (the sum of all hops between a rank and rank 0). 0 if the clock is shared.
    pub error_s: f64,
    /// The error observed with further messages; for the worst rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual_s: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankPlace {
    /// Rank in the world.
    pub rank: usize,
    pub host: String,
    /// Process id on that host.
    pub pid: u32,
    /// The processors that the rank may run on: the binding in effect.
    pub cpus: Vec<usize>,
}

/// The machine before or after a block: conditions that change during a benchmark by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineState {
    /// One-way transfer of a cache line from core to core, in seconds; across nodes, half a round trip of an 8-byte message.
    pub latency_s: f64,
    /// Rate of copying a buffer that fits in a core's cache, in bytes per second.
    pub copy_bytes_per_s: f64,
    /// Rate of copying between buffers that are not in a cache; `None` if no cache can be evicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_copy_bytes_per_s: Option<f64>,
}

/// The disturbances of a block: the maximum over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Time for which the hypervisor gave the machine's cores to others, in seconds; counted in steps of several milliseconds.
    pub steal_s: f64,
    /// Share of the block's time in which its main thread was runnable without a core, because another process had it.
    pub waited: f64,
    /// Involuntary context switches.
    pub switches: u64,
    pub faults: u64,
}

/// A block is disturbed from this share of its time without a core on. Measured with other programs running at the same
/// time: 3 to 6% of the blocks of three runs with MPICH exceed it, and 25% of one run with Open MPI.
const WAITED: f64 = 0.1;

/// One block: a datatype is created, some repetitions run, the datatype is freed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub method: String,
    /// Number of the pair; 0 for an all-to-all.
    pub pair: usize,
    /// Number of the block within its method, from 0. The rank program counts from 0; after a crash,
    /// `ddtbench` continues the count after the rounds of the processes before.
    pub block: usize,
    /// When it began, in seconds since the start of the case's measurement.
    pub began_s: f64,
    /// Its place in its round, from 0.
    pub place: usize,
    pub disturbance: Disturbance,
    /// The machine before the block.
    pub before: MachineState,
    /// The machine after the block.
    pub after: MachineState,
    /// Repetitions per sample: above 1 if a single one is too short for the clock; samples are then means.
    pub batch: u32,
    /// Number of datatypes per creation sample; above 1 if creating one is too short for the clock.
    pub made_in_a_row: u32,
    /// The same for freeing them.
    pub freed_in_a_row: u32,
    /// How much later than the origin the peer began to wait, in seconds, median; negative if it was ready
    /// earlier. Only for ping-pongs between two ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_skew_s: Option<f64>,
    /// Repetitions after which all received bytes were compared. Others are judged by a few bytes of each message.
    #[serde(default)]
    pub compared: u32,
    /// The samples. Phases that happen once per block have one sample each.
    pub times: Times,
    /// Shares of the bytes that had arrived when the last partition became ready, for repetitions in which
    /// the receiver checked. Only for partitioned transfers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<f64>,
    /// Messages or puts of the last repetition, if the mechanism knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Bytes sent during the block by all hosts' network interfaces and ports of InfiniBand and similar
    /// adapters, including other programs' bytes; on one host its loopback interface as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// Copies by a device's driver in all processes for one message; the mean of the block's whole repetitions. Only if it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_copies: Option<f64>,
    /// Half of an empty message's round trip between the ranks, measured with the block, in seconds. Only for partitioned transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_latency_s: Option<f64>,
    /// Error of the common time at the end of the block, as observed with further messages, in seconds; for
    /// the worst rank. Only if times are compared between ranks that do not read the same clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_s: Option<f64>,
    /// How late each rank began relative to the agreed times, in seconds, median over the block. Only if all ranks begin at agreed times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_late_s: Vec<f64>,
    /// Ranks in which the MPI's threads are not bound to the core that is left free for them; the system may
    /// then run anything on the core of these threads. Only if a core is left free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unbound_ranks: Option<usize>,
}

/// Returns the phases of a block that were timed in separate repetitions.
pub type TimedApart = fn(&Block) -> &'static [Phase];

impl Block {
    /// Repetitions per sample of a phase: creating and freeing have their own batches, independent of those of the repetitions.
    pub fn batch_of(&self, phase: Phase) -> u32 {
        match phase {
            Phase::Create => self.made_in_a_row.max(1),
            Phase::Free => self.freed_in_a_row.max(1),
            Phase::Init | Phase::ComputationWithoutMpi => 1,
            _ => self.batch,
        }
    }

    /// Bytes that devices sent per timed repetition.
    pub fn device_bytes_per_repetition(&self) -> Option<f64> {
        let repetitions = self.times.repetitions() as f64 * f64::from(self.batch.max(1));
        self.device_bytes.map(|bytes| bytes as f64 / repetitions).filter(|bytes| bytes.is_finite())
    }

    /// Whether a rank was without its core for long: the hypervisor gave it to others, or another process had
    /// it for more than `WAITED` of the time.
    pub fn is_disturbed(&self) -> bool {
        self.disturbance.steal_s > 0.0 || self.disturbance.waited > WAITED
    }
}
