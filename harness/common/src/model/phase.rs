//! The timed parts of methods, of all experiments.

use serde::{Deserialize, Serialize};

use super::event::Block;

/// A timed part of a method.
#[derive(Clone, Default, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Datatypes made and committed.
    Create,
    /// Explicit packing at the origin.
    Pack,
    /// Send to end of the answer's receive.
    Communicate,
    /// The peer's explicit unpacking of what came, by its own clock; in an all-to-all this rank's own, half-way.
    PeerUnpack,
    /// The peer's explicit packing of its answer; in an all-to-all this rank's own, half-way.
    PeerPack,
    /// Communication less what the peer unpacks and packs in it; of methods that pack or unpack explicitly.
    Net,
    /// Explicit unpacking at the origin.
    Unpack,
    /// A round trip that was timed in parts: packing, communication, unpacking; of methods that pack or unpack explicitly.
    InParts,
    /// Datatypes freed.
    Free,
    /// The whole ping-pong without creation.
    #[default]
    RoundTrip,
    /// Making what a partitioned transfer needs: requests, windows, communicators.
    Init,
    /// A communication by itself: started and waited for at once.
    CommunicationAlone,
    /// A computation before MPI was initialised.
    ComputationWithoutMpi,
    /// A computation by itself, while MPI has nothing to do.
    ComputationAlone,
    /// The part of it that must wait for a communication when it is beside one: of the rank that computes longest.
    RimAlone,
    /// The call that starts a communication, with what is packed before it.
    Call,
    /// Computing: the thread that took longest.
    Compute,
    /// From the first partition that became ready to its arrival, in repetitions in which the receiver looked.
    FirstPartition,
    /// From the first partition that became ready to the last.
    Delay,
    /// From the last partition that became ready to the end at the receiver.
    AfterLast,
    /// From the start to the end, computing included: at the receiver of a transfer, on the rank of a halo that took
    /// longest.
    Total,
    /// A halo exchange: what it adds to the computing of the thread that computes longest of all ranks.
    Exchange,
    /// The wait for a communication after the computation, with what is unpacked behind it.
    Wait,
    /// What is computed after the wait, since it needs what has come.
    Rim,
    /// The call and the wait together: of the rank that spent most in them.
    InMpi,
    /// From the first rank's start of a communication to the last one's end, with a computation in between.
    Overlapped,
    /// Time to solution of a partitioned transfer: from the start to the end at the receiver, without computing.
    Solution,
}

impl Phase {
    /// All phases, those of each experiment in the order in which they happen, its whole last.
    pub const ALL: [Self; 27] = [
        Self::Create,
        Self::Pack,
        Self::Communicate,
        Self::PeerUnpack,
        Self::PeerPack,
        Self::Net,
        Self::Unpack,
        Self::InParts,
        Self::Free,
        Self::RoundTrip,
        Self::Init,
        Self::CommunicationAlone,
        Self::ComputationWithoutMpi,
        Self::ComputationAlone,
        Self::RimAlone,
        Self::Call,
        Self::Compute,
        Self::FirstPartition,
        Self::Delay,
        Self::AfterLast,
        Self::Total,
        Self::Exchange,
        Self::Wait,
        Self::Rim,
        Self::InMpi,
        Self::Overlapped,
        Self::Solution,
    ];

    /// The name in the `phase` column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Pack => "pack",
            Self::Communicate => "communicate",
            Self::PeerUnpack => "peer_unpack",
            Self::PeerPack => "peer_pack",
            Self::Net => "net",
            Self::Unpack => "unpack",
            Self::InParts => "in_parts",
            Self::Free => "free",
            Self::RoundTrip => "round_trip",
            Self::Init => "init",
            Self::CommunicationAlone => "communication_alone",
            Self::ComputationWithoutMpi => "computation_without_mpi",
            Self::ComputationAlone => "computation_alone",
            Self::RimAlone => "rim_alone",
            Self::Call => "call",
            Self::Compute => "compute",
            Self::FirstPartition => "first_partition",
            Self::Delay => "delay",
            Self::AfterLast => "after_last",
            Self::Total => "total",
            Self::Exchange => "exchange",
            Self::Wait => "wait",
            Self::Rim => "rim",
            Self::InMpi => "in_mpi",
            Self::Overlapped => "overlapped",
            Self::Solution => "solution",
        }
    }
}

impl Phase {
    /// The samples of this phase in a block.
    pub fn samples(self, block: &Block) -> &[f64] {
        &block.times[self]
    }
}
