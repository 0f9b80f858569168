//! The timed parts of methods, of all experiments.

use serde::{Deserialize, Serialize};

use super::event::Block;

named! {
    /// A timed part of a method.
    #[derive(Clone, Default, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Phase {
        /// Datatypes made and committed.
        Create = "create",
        /// Explicit packing at the origin.
        Pack = "pack",
        /// Send to end of the answer's receive.
        Communicate = "communicate",
        /// The peer's explicit unpacking of what came, by its own clock; in an all-to-all this rank's own, half-way.
        PeerUnpack = "peer_unpack",
        /// The peer's explicit packing of its answer; in an all-to-all this rank's own, half-way.
        PeerPack = "peer_pack",
        /// Communication less what the peer unpacks and packs in it; of methods that pack or unpack explicitly.
        Net = "net",
        /// Explicit unpacking at the origin.
        Unpack = "unpack",
        /// A round trip that was timed in parts: packing, communication, unpacking; of methods that pack or unpack explicitly.
        InParts = "in_parts",
        /// Datatypes freed.
        Free = "free",
        /// The whole ping-pong without creation.
        #[default]
        RoundTrip = "round_trip",
        /// Making what a partitioned transfer needs: requests, windows, communicators.
        Init = "init",
        /// A communication by itself: started and waited for at once.
        CommunicationAlone = "communication_alone",
        /// A computation before MPI was initialised.
        ComputationWithoutMpi = "computation_without_mpi",
        /// A computation by itself, while MPI has nothing to do.
        ComputationAlone = "computation_alone",
        /// The part of it that must wait for a concurrent communication; of the rank that computes longest.
        RimAlone = "rim_alone",
        /// The call that starts a communication, with packing before it.
        Call = "call",
        /// Computing: the thread that took longest.
        Compute = "compute",
        /// From the first partition that became ready to its arrival, in repetitions in which the receiver looked.
        FirstPartition = "first_partition",
        /// From the first partition that became ready to the last.
        Delay = "delay",
        /// From the last partition that became ready to the end at the receiver.
        AfterLast = "after_last",
        /// From the start to the end, computing included: at the receiver of a transfer, on the rank of a halo that took
        /// longest.
        Total = "total",
        /// A halo exchange: what it adds to the computing of the thread that computes longest of all ranks.
        Exchange = "exchange",
        /// The wait for a communication after the computation, with unpacking after it.
        Wait = "wait",
        /// The computation after the wait, which needs the received data.
        Rim = "rim",
        /// The call and the wait together: of the rank that spent most in them.
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
