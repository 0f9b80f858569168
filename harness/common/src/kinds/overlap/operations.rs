//! The communication that runs while the application computes: operations on contiguous bytes, whose size can
//! be chosen, and the messages and exchanges of micro-apps, whose size the application defines.

use apps::halo::HaloTest;
use apps::{Test, Values};

use super::methods::transfer;

/// A collective of contiguous blocks. The names are those of the nonblocking forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// One block from rank 0 to all.
    Bcast,
    /// The sum of a block of each rank, on rank 0.
    Reduce,
    /// The same, on all ranks.
    Allreduce,
    /// A block of each rank, on all ranks.
    Allgather,
    /// A block from each rank to each.
    Alltoall,
    /// A block of each rank, on rank 0.
    Gather,
    /// A block from rank 0 to each rank.
    Scatter,
    /// No bytes.
    Barrier,
    /// A block from each rank to each of its neighbours.
    NeighborAlltoall,
}

/// The MPI operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationTransfer {
    /// A collective of all ranks.
    Collective(Collective),
    /// A message from even ranks to the next odd ones.
    Message,
}

/// An operation on contiguous bytes. The rank program implements it.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// The name of the test.
    pub name: &'static str,
    /// A description of the operation and of its bytes.
    pub about: &'static str,
    /// The MPI operation.
    pub transfer: OperationTransfer,
}

impl Operation {
    /// Whether it transfers any bytes.
    pub fn has_bytes(&self) -> bool {
        self.transfer != OperationTransfer::Collective(Collective::Barrier)
    }

    /// Whether it adds numbers; their type can be chosen.
    pub fn adds(&self) -> bool {
        use OperationTransfer::Collective as Of;
        matches!(self.transfer, Of(Collective::Reduce | Collective::Allreduce))
    }
}

const fn collective(name: &'static str, about: &'static str, collective: Collective) -> Operation {
    Operation { name, about, transfer: OperationTransfer::Collective(collective) }
}

pub const OPERATIONS: &[Operation] = &[
    collective("ibcast", "MPI_Ibcast from rank 0; bytes of the message", Collective::Bcast),
    collective(
        "ireduce",
        "MPI_Ireduce of numbers by MPI_SUM to rank 0; bytes of a rank's vector",
        Collective::Reduce,
    ),
    collective(
        "iallreduce",
        "MPI_Iallreduce of numbers by MPI_SUM; bytes of a rank's vector",
        Collective::Allreduce,
    ),
    collective("iallgather", "MPI_Iallgather; bytes of a rank's block", Collective::Allgather),
    collective("ialltoall", "MPI_Ialltoall; bytes from each rank to each other", Collective::Alltoall),
    collective("igather", "MPI_Igather to rank 0; bytes of a rank's block", Collective::Gather),
    collective("iscatter", "MPI_Iscatter from rank 0; bytes of a rank's block", Collective::Scatter),
    collective("ibarrier", "MPI_Ibarrier, which moves no bytes: its time is what it is", Collective::Barrier),
    collective(
        "ineighbor_alltoall",
        "MPI_Ineighbor_alltoall on a ring; bytes to each neighbour",
        Collective::NeighborAlltoall,
    ),
    Operation {
        name: "isend",
        about: "MPI_Isend from even ranks and MPI_Irecv at the next odd ones; bytes of the message",
        transfer: OperationTransfer::Message,
    },
];

/// Prefix of the name of an exchange between many ranks, because a test may have the same name.
pub const EXCHANGE: &str = "halo:";

/// The communication of a case.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// An operation on contiguous bytes.
    Operation(&'static Operation),
    /// The message of a micro-app, from even ranks to the next odd ones; for an all-to-all, between all ranks.
    Message(&'static Test, Values),
    /// The exchange of a micro-app between all ranks.
    Exchange(&'static HaloTest, Values),
}

impl Traffic {
    /// The communication of the test called `name`, with the values of a set (`quick` by default).
    pub fn find(name: &str, set: Option<&str>) -> Result<Self, String> {
        if let Some(operation) = OPERATIONS.iter().find(|operation| operation.name.eq_ignore_ascii_case(name))
        {
            return Ok(Self::Operation(operation));
        }
        if let Some(name) = name.strip_prefix(EXCHANGE) {
            let test = apps::halo::find(name).map_err(|error| error.to_string())?;
            let values = test.set(set.unwrap_or(test.quick_set().name)).map_err(|error| error.to_string())?;
            return Ok(Self::Exchange(test, values));
        }
        let Ok(test) = apps::find(name) else {
            let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
            let near = apps::similar(&names, name)
                .map_or_else(|| "there".to_owned(), |near| format!("did you mean {near:?}? There"));
            return Err(format!(
                "there is no {name:?} to overlap: {near} are the operations {}, every test, and every exchange with \
                 {EXCHANGE} before its name (ddtbench list)",
                names.join(", ")
            ));
        };
        let values = test.set(set.unwrap_or(test.quick_set().name)).map_err(|error| error.to_string())?;
        Ok(Self::Message(test, values))
    }

    /// Whether its number of bytes can be chosen so that it takes the requested time.
    pub fn is_sized(&self) -> bool {
        matches!(self, Self::Operation(operation) if operation.has_bytes())
    }

    /// Whether it adds numbers; their type can be chosen.
    pub fn adds(&self) -> bool {
        matches!(self, Self::Operation(operation) if operation.adds())
    }

    /// Whether a method supports it.
    pub fn has(&self, method: &str) -> bool {
        transfer(method).is_ok_and(|transfer| match self {
            Self::Operation(_) => transfer.operation.is_some(),
            Self::Message(..) => transfer.message.is_some(),
            Self::Exchange(..) => transfer.exchange.is_some(),
        })
    }

    /// Sets a parameter of the application.
    pub fn assign(&mut self, name: &str, text: &str) -> Result<(), String> {
        match self {
            Self::Operation(operation) => {
                Err(format!("{name} = {text}: {} has no such parameter", operation.name))
            }
            Self::Message(_, values) | Self::Exchange(_, values) => {
                values.assign(name, text).map_err(|error| error.to_string())
            }
        }
    }

    /// Names and values of the application's parameters.
    pub fn pairs(&self) -> Vec<(String, String)> {
        match self {
            Self::Operation(_) => Vec::new(),
            Self::Message(_, values) | Self::Exchange(_, values) => {
                values.pairs().map(|(name, value)| (name.to_owned(), value)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_tests_do_not_share_a_name() {
        assert!(OPERATIONS.iter().all(|operation| apps::find(operation.name).is_err()));
        assert!(Traffic::find("fft2d", Some("x")).is_err());
    }
}
