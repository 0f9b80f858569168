//! What is communicated while the application computes: operations on contiguous bytes, whose size can be chosen, and the
//! messages and exchanges of micro-apps, whose size is the application's.

use apps::halo::HaloTest;
use apps::{Test, Values};

/// An operation on contiguous bytes. The rank program implements it.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// The name of the test.
    pub name: &'static str,
    /// What it does, and what its bytes are.
    pub about: &'static str,
    /// Whether it moves bytes at all.
    pub has_bytes: bool,
    /// Whether it adds up numbers, whose type can be chosen.
    pub adds: bool,
}

const fn operation(name: &'static str, about: &'static str) -> Operation {
    Operation { name, about, has_bytes: true, adds: false }
}

const fn sum(name: &'static str, about: &'static str) -> Operation {
    Operation { adds: true, ..operation(name, about) }
}

/// The one that goes between two ranks.
pub const ISEND: &str = "isend";

/// All operations.
pub const OPERATIONS: &[Operation] = &[
    operation("ibcast", "MPI_Ibcast from rank 0; bytes of the message"),
    sum("ireduce", "MPI_Ireduce of numbers by MPI_SUM to rank 0; bytes of a rank's vector"),
    sum("iallreduce", "MPI_Iallreduce of numbers by MPI_SUM; bytes of a rank's vector"),
    operation("iallgather", "MPI_Iallgather; bytes of a rank's block"),
    operation("ialltoall", "MPI_Ialltoall; bytes from each rank to each other"),
    operation("igather", "MPI_Igather to rank 0; bytes of a rank's block"),
    operation("iscatter", "MPI_Iscatter from rank 0; bytes of a rank's block"),
    Operation {
        has_bytes: false,
        ..operation("ibarrier", "MPI_Ibarrier, which moves no bytes: its time is what it is")
    },
    operation("ineighbor_alltoall", "MPI_Ineighbor_alltoall on a ring; bytes to each neighbour"),
    operation(ISEND, "MPI_Isend from even ranks and MPI_Irecv at the next odd ones; bytes of the message"),
];

/// What of an exchange between many ranks stands before its name, which a test may have too.
pub const EXCHANGE: &str = "halo:";

/// What is communicated in a case.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// An operation on contiguous bytes.
    Operation(&'static Operation),
    /// The message of a micro-app, from even ranks to the next odd ones; of an all-to-all, between all ranks.
    Message(&'static Test, Values),
    /// The exchange of a micro-app between all ranks.
    Exchange(&'static HaloTest, Values),
}

impl Traffic {
    /// What the test called `name` communicates, with the values of a set; without one, of `quick`.
    ///
    /// # Errors
    /// An unknown name, with what there is, or an unknown set.
    pub fn find(name: &str, set: Option<&str>) -> Result<Self, String> {
        if let Some(operation) = OPERATIONS.iter().find(|operation| operation.name == name) {
            return Ok(Self::Operation(operation));
        }
        if let Some(name) = name.strip_prefix(EXCHANGE) {
            let test = apps::halo::find(name).map_err(|error| error.to_string())?;
            let values = test.set(set.unwrap_or(test.quick_set().name)).map_err(|error| error.to_string())?;
            return Ok(Self::Exchange(test, values));
        }
        let Ok(test) = apps::find(name) else {
            let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
            return Err(format!(
                "there is no {name:?} to overlap: there are the operations {}, every test, and every exchange with \
                 {EXCHANGE} before its name (ddtbench list)",
                names.join(", ")
            ));
        };
        let values = test.set(set.unwrap_or(test.quick_set().name)).map_err(|error| error.to_string())?;
        Ok(Self::Message(test, values))
    }

    /// Whether its bytes can be chosen, so that it takes the time that is asked for.
    pub fn is_sized(&self) -> bool {
        matches!(self, Self::Operation(operation) if operation.has_bytes)
    }

    /// Whether it adds up numbers, whose type can be chosen.
    pub fn adds(&self) -> bool {
        matches!(self, Self::Operation(operation) if operation.adds)
    }

    /// Whether it can be communicated by a method.
    pub fn has(&self, method: &str) -> bool {
        use super::methods::{NEIGHBOUR, NONBLOCKING, PERSISTENT, PERSISTENT_NEIGHBOUR};
        match self {
            Self::Operation(_) => [NONBLOCKING, PERSISTENT].contains(&method),
            Self::Message(..) => ![NONBLOCKING, NEIGHBOUR, PERSISTENT_NEIGHBOUR].contains(&method),
            Self::Exchange(..) => ![NONBLOCKING, "mpi_pack"].contains(&method),
        }
    }

    /// Sets a value of the application's.
    ///
    /// # Errors
    /// A name that it does not have, or a value that cannot be.
    pub fn assign(&mut self, name: &str, text: &str) -> Result<(), String> {
        match self {
            Self::Operation(operation) => {
                Err(format!("{name} = {text}: {} has no such parameter", operation.name))
            }
            Self::Message(test, values) => values.assign(test, name, text).map_err(|error| error.to_string()),
            Self::Exchange(test, values) => {
                values.assign(test, name, text).map_err(|error| error.to_string())
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
    fn operations_tests_and_exchanges_are_distinguished() {
        assert!(matches!(Traffic::find("ibcast", None), Ok(Traffic::Operation(_))));
        assert!(matches!(Traffic::find("lammps_full", None), Ok(Traffic::Message(..))));
        assert!(matches!(Traffic::find("halo:lammps_full", None), Ok(Traffic::Exchange(..))));
        let error = Traffic::find("ibcst", None).unwrap_err();
        assert!(error.contains("ibcst") && error.contains("iallreduce"), "{error}");
        assert!(Traffic::find("halo:nothing", None).is_err() && Traffic::find("fft2d", Some("x")).is_err());
        // No name is an operation's and a test's.
        assert!(OPERATIONS.iter().all(|operation| apps::find(operation.name).is_err()));
    }
}
