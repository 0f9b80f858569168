//! What the rank program tells while it runs: one JSON object per line of its standard output.
//!
//! Raw samples leave the rank program as they were measured; nothing is averaged or dropped on the way.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::calibration::CalibratedSize;
use super::transport::Transport;
use super::{Outcome, Phase, Times};

/// Tells whether two programs mean the same by events: a hash of this file.
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
    /// Before anything is measured: where this runs, and on what. Boxed: it is far larger than the others.
    Hello(Box<Hello>),
    /// Before any method: what carries the bytes between ranks.
    Transport(Transport),
    /// Work on a method begins; whatever goes wrong before the next event is this method's.
    Working {
        /// The method's name.
        method: String,
        /// What is being done.
        stage: Stage,
    },
    /// The samples of one block of one method. Boxed as well.
    Block(Box<Block>),
    /// A method has come to its end.
    Ended {
        /// The method's name.
        method: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// A size that was found for a time.
    Size(CalibratedSize),
    /// A rank whose call of MPI has failed is about to end all: no launcher has done so before.
    Aborting,
    /// All methods have ended; the rank program is about to leave.
    Done,
    /// After all that is measured: what the library itself tells of the ways that its messages may go.
    Library {
        /// Its settings and components, by name.
        account: Vec<(String, String)>,
    },
}

named! {
    /// What is done with a method.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        /// It is shown to move the right bytes.
        Verify = "verify",
        /// Sizes or costs are found for it.
        Calibrate = "calibrate",
        /// It is warmed up, and how long it takes is found out.
        WarmUp = "warm up",
        /// It is measured.
        Measure = "measure",
    }
}

/// The rank program's account of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`] of the rank program.
    #[serde(default)]
    pub version: u32,
    /// `MPI_Get_library_version`, first line.
    pub library_version: String,
    /// What the library says of its way to other ranks, where it does: `ch4:ofi` of MPICH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The standard that the library says it supports, e.g. `4.1`.
    pub mpi_standard: String,
    /// Name and version that the rank program was compiled for, from `mpi.h`.
    pub compiled_for: String,
    /// File of the MPI library that is mapped into the process.
    pub library_path: Option<String>,
    /// Level of `MPI_Init_thread` that is in force.
    pub thread_level: String,
    /// Smallest step of the clock, in seconds.
    pub clock_step_s: f64,
    /// Time of one reading of the clock, in seconds; taken off ping-pongs' samples once per reading that lies in them.
    pub clock_cost_s: f64,
    /// `MPI_Wtick`, for comparison.
    pub mpi_wtick_s: f64,
    /// Bytes of a message, of the send side's segments, and how many there are. Of one case: left out where the
    /// account is kept for a whole run.
    #[serde(default, skip_serializing_if = "MessageFacts::is_unknown")]
    pub message: MessageFacts,
    /// Where each rank runs, in rank order.
    pub ranks: Vec<RankPlace>,
    /// Threads of each rank that compute, pack or call MPI at the same time.
    pub threads: usize,
    /// The pairs as (origin, echo) ranks; empty for an all-to-all.
    pub pairs: Vec<(usize, usize)>,
    /// Variables that steer the MPI (`MPIR_CVAR_*`, `OMPI_MCA_*`, `I_MPI_*`, `UCX_*`, `FI_*`, ...).
    pub settings: Vec<(String, String)>,
    /// What the library tells of the ways that its messages may go, by MPI's tool information interface; told by an event of
    /// its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub library_account: Vec<(String, String)>,
    /// The compiler and flags that the rank program was built with.
    pub build: String,
    /// What carries the bytes between ranks, once that was found out; told by an event of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// How well clocks agree, in experiments that compare them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<ClockFacts>,
    /// How its processes ended after all was measured, unless with exit code 0; added by `ddtbench`, which started them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_ending: Option<String>,
}

impl Hello {
    /// Adds what the event [`Event::Transport`] tells.
    pub fn goes_by(hello: &mut Option<Box<Self>>, transport: Transport) {
        if let Some(hello) = hello {
            hello.transport = Some(transport);
        }
    }

    /// Hosts that the ranks are on.
    pub fn hosts(&self) -> usize {
        self.ranks.iter().map(|rank| rank.host.as_str()).collect::<BTreeSet<_>>().len()
    }
}

/// What one rank sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFacts {
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// Merged segments of the send side.
    pub segments: u64,
    /// Bytes of all arrays of one rank.
    pub array_bytes: u64,
    /// Bytes of the cache lines that packing and unpacking must touch; known where they are compared with that bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<LineBytes>,
}

/// Bytes of all cache lines that a test's data touches in the arrays and in the packed buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineBytes {
    /// Of the lines that packing touches.
    pub pack: u64,
    /// Of the lines that unpacking touches.
    pub unpack: u64,
}

impl MessageFacts {
    /// Whether nothing is said: no message lies in arrays without bytes.
    fn is_unknown(&self) -> bool {
        self.array_bytes == 0
    }
}

/// How well the clocks of all ranks agree, where times begin on one and end on another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// Whether all read one clock of one kernel.
    pub shared: bool,
    /// How far off a time can be that is compared across ranks, in seconds: half the way of the best message there and back
    /// (all that lie between a rank and rank 0 added), of the worst rank. 0 where the clock is shared.
    pub error_s: f64,
    /// How far off it was, as far as further messages could tell; of the worst rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual_s: Option<f64>,
}

/// Where a rank runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankPlace {
    /// Rank in the world.
    pub rank: usize,
    /// Host name.
    pub host: String,
    /// Process id on that host.
    pub pid: u32,
    /// The processors that the rank may run on: the binding that is really in force.
    pub cpus: Vec<usize>,
}

/// The machine beside a block: what changes under a benchmark without anyone's doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineState {
    /// One way of a cache line from core to core, in seconds; across nodes half a round trip of an 8-byte message.
    pub latency_s: f64,
    /// Rate of copying a buffer that fits in a core's cache, in bytes per second.
    pub copy_bytes_per_s: f64,
    /// Rate of copying between buffers that are in no cache; `None` where none can be evicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_copy_bytes_per_s: Option<f64>,
}

/// What disturbed a block: the most of any rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Time that the hypervisor kept cores of the machine for others, in seconds; counted in steps of some milliseconds.
    pub steal_s: f64,
    /// Share of the block's time that its main thread was runnable and had no core, as another process had it.
    pub waited: f64,
    /// Times that another process or thread was given the core of one that wanted to go on.
    pub switches: u64,
    /// Pages of memory that had to be found.
    pub faults: u64,
}

/// Share of a block's time without a core from which on it is disturbed. Measured with other programs running at the same time: 3 to 6% of the
/// blocks of three runs with MPICH are beyond it, and 25% of one run with Open MPI.
const WAITED: f64 = 0.1;

/// One block: a datatype created, some repetitions, the datatype freed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The method's name.
    pub method: String,
    /// Number of the pair; 0 for an all-to-all.
    pub pair: usize,
    /// Number of the block within its method, from 0; once it has come from the rank program, on from where the rounds of
    /// processes before ended, if any crashed.
    pub block: usize,
    /// When it began, in seconds since the case's measurement did.
    pub began_s: f64,
    /// Its place in its round, from 0.
    pub place: usize,
    /// What disturbed it.
    pub disturbance: Disturbance,
    /// The machine before the block.
    pub before: MachineState,
    /// The machine after the block.
    pub after: MachineState,
    /// Repetitions per sample: above 1 where one alone is too short for the clock; samples are then means.
    pub batch: u32,
    /// Datatypes that the sample of making them is of; above 1 where one alone is too short for the clock.
    pub made_in_a_row: u32,
    /// The same of freeing them.
    pub freed_in_a_row: u32,
    /// By how much the peer began to wait after the origin had begun, in seconds, median; negative where it was ready before.
    /// Only of ping-pongs between two ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_skew_s: Option<f64>,
    /// The samples. What is made and freed once per block has one of each.
    pub times: Times,
    /// Shares of the bytes that had arrived when the last partition became ready, of repetitions in which the receiver
    /// looked. Only of partitioned transfers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<f64>,
    /// Messages or puts of the last repetition, where the mechanism knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Bytes that the network interfaces and the ports of InfiniBand and similar adapters of all hosts have sent during the block,
    /// whoever sent them; on one host its loopback interface as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// Half of an empty message's round trip between the ranks beside the block, in seconds. Only of partitioned transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_latency_s: Option<f64>,
    /// How far off the common time was at the end of the block, as far as further messages could tell, in seconds; of the
    /// worst rank. Only where times of ranks are compared that do not read one clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_error_s: Option<f64>,
    /// By how much each rank began after the times that were agreed on, in seconds, the median of the block's. Only where all
    /// begin at agreed times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_late_s: Vec<f64>,
    /// Ranks in which the MPI's threads are not bound to the core that is left free for them; the core of these is shared
    /// with whatever the system puts there. Only where one is left free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unbound_ranks: Option<usize>,
}

/// Tells which phases of a block were timed in repetitions of their own.
pub type TimedApart = fn(&Block) -> &'static [Phase];

impl Block {
    /// Repetitions per sample of a phase: what is made and freed has batches of its own, whatever those of the repetitions are.
    pub fn batch_of(&self, phase: Phase) -> u32 {
        match phase {
            Phase::Create => self.made_in_a_row.max(1),
            Phase::Free => self.freed_in_a_row.max(1),
            Phase::Init | Phase::ComputationWithoutMpi => 1,
            _ => self.batch,
        }
    }

    /// Bytes that devices have sent per repetition that was timed.
    pub fn device_bytes_per_repetition(&self) -> Option<f64> {
        let repetitions = self.times.repetitions() as f64 * f64::from(self.batch.max(1));
        self.device_bytes.map(|bytes| bytes as f64 / repetitions).filter(|bytes| bytes.is_finite())
    }

    /// Whether a rank was without its core for long: the hypervisor kept it, or another process had it for more than
    /// [`WAITED`] of the time.
    pub fn is_disturbed(&self) -> bool {
        self.disturbance.steal_s > 0.0 || self.disturbance.waited > WAITED
    }
}
