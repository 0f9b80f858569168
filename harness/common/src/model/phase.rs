//! The timed parts of methods, of all experiments.

use serde::{Deserialize, Serialize};

use super::event::Block;

named! {
    /// A timed part of a method.
    #[derive(Clone, Default, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Phase {
        /// Creating and committing datatypes.
        Create = "create",
        /// Explicit packing at the origin.
        Pack = "pack",
        /// From the send to the end of the answer's receive.
        Communicate = "communicate",
        /// The peer's explicit unpacking of the received data, by its own clock; in an all-to-all this rank's own, halfway.
        PeerUnpack = "peer_unpack",
        /// The peer's explicit packing of its answer; in an all-to-all this rank's own, halfway.
        PeerPack = "peer_pack",
        /// Communication minus the peer's unpacking and packing within it; for methods that pack or unpack explicitly.
        Net = "net",
        /// Explicit unpacking at the origin.
        Unpack = "unpack",
        /// A round trip that was timed in parts: packing, communication, unpacking; for methods that pack or unpack explicitly.
        InParts = "in_parts",
        /// Freeing datatypes.
        Free = "free",
        /// The whole ping-pong without creation.
        #[default]
        RoundTrip = "round_trip",
        /// Setting up a partitioned transfer: requests, windows, communicators.
        Init = "init",
        /// A communication by itself: started and waited for at once.
        CommunicationAlone = "communication_alone",
        /// A computation before MPI was initialised.
        ComputationWithoutMpi = "computation_without_mpi",
        /// A computation by itself, while MPI is idle.
        ComputationAlone = "computation_alone",
        /// The part of it that must wait for a concurrent communication; for the rank that computes longest.
        RimAlone = "rim_alone",
        /// The call that starts a communication, with packing before it.
        Call = "call",
        /// Computing, for the thread that took longest.
        Compute = "compute",
        /// From the first partition that became ready to its arrival, in repetitions in which the receiver checked.
        FirstPartition = "first_partition",
        /// From the first partition that became ready to the last.
        Delay = "delay",
        /// From the last partition that became ready to the end at the receiver.
        AfterLast = "after_last",
        /// From the start to the end, computing included: at the receiver of a transfer, on the rank of a
        /// halo that took longest.
        Total = "total",
        /// Time a halo exchange adds to the computing time of the thread that computes longest on any rank.
        Exchange = "exchange",
        /// The wait for a communication after the computation, with unpacking after it.
        Wait = "wait",
        /// The computation after the wait, which needs the received data.
        Rim = "rim",
        /// The call and the wait together, for the rank that spent most time in them.
        InMpi = "in_mpi",
        /// From the first rank's start of a communication to the last one's end, with a computation in between.
        Overlapped = "overlapped",
        /// Time to solution of a partitioned transfer: from the start to the end at the receiver, without computing.
        Solution = "solution",
    }
}

impl Phase {
    /// The samples of this phase in a block.
    pub fn samples(self, block: &Block) -> &[f64] {
        &block.times[self]
    }
}
