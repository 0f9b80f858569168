//! The operations that are tried on each layout.

use apps::similar;

/// An operation of MPI that uses a datatype.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// The comparison, in one line.
    pub asks: &'static str,
    /// The section of MPI-4.1 that defines the result.
    pub clause: &'static str,
    /// The least number of processes.
    pub ranks: usize,
    /// Whether all processes take part; otherwise one, or pairs.
    pub is_collective: bool,
}

const fn alone(name: &'static str, clause: &'static str, asks: &'static str) -> Operation {
    Operation { name, asks, clause, ranks: 1, is_collective: false }
}

const fn pair(name: &'static str, clause: &'static str, asks: &'static str) -> Operation {
    Operation { name, asks, clause, ranks: 2, is_collective: false }
}

const fn all(name: &'static str, clause: &'static str, asks: &'static str) -> Operation {
    Operation { name, asks, clause, ranks: 2, is_collective: true }
}

/// All operations, in the order in which they are tried.
pub const OPERATIONS: &[Operation] = &[
    alone("bounds", "5.1.5 to 5.1.8", "size, extent and true extent of the type and of each type within it"),
    alone("pack", "5.2", "MPI_Pack gathers the bytes of the type map, and MPI_Pack_size is enough for them"),
    alone("pack_items", "5.2", "the same, item by item into one buffer"),
    alone("unpack", "5.2", "MPI_Unpack writes the bytes of the type map and no others"),
    alone("unpack_items", "5.2", "the same, item by item from one buffer"),
    alone("pack_external", "5.3", "MPI_Pack_external writes big-endian values without gaps"),
    alone("unpack_external", "5.3", "MPI_Unpack_external reads them"),
    alone("send_to_self", "5.1.11", "a message of the type is received as a contiguous type"),
    alone("receive_from_self", "5.1.11", "a message of a contiguous type is received as the type"),
    alone("typed_to_typed", "5.1.11", "a message of the type is received as the same type"),
    alone("element_count", "5.1.11", "MPI_Get_count and MPI_Get_elements of a full message"),
    alone("short_message", "5.1.11", "the same of a message that ends within an item"),
    alone(
        "equivalent",
        "5.1 and 5.1.6",
        "other constructors with the same type map give the same bounds and bytes",
    ),
    alone("duplicate", "5.1.10", "a duplicate packs the same bytes after its original is freed"),
    alone("freed_while_active", "5.1.9", "types that are freed before their messages are complete"),
    alone(
        "contents",
        "5.1.13",
        "MPI_Type_get_envelope and MPI_Type_get_contents give the arguments of the constructor",
    ),
    alone("life_cycle", "5.1.9", "types that are made and freed again and again take no memory"),
    alone("persistent", "3.9", "a persistent request that receives the type twice"),
    alone("probe", "3.8.2", "a message whose elements are counted before it is received"),
    alone("file_memory", "14.4.1", "the type is written to a file and read from it"),
    alone("file_view", "14.3", "values are written and read through a view of the type"),
    pair("send", "5.1.11", "rank 0 sends the type, rank 1 receives a contiguous type"),
    pair("receive", "5.1.11", "rank 0 sends a contiguous type, rank 1 receives the type"),
    pair("sendrecv_replace", "3.10", "both ranks exchange the type in place"),
    pair("partitioned", "4.2.3", "partitions of the type that are ready in descending order"),
    pair("put", "12.3.1", "rank 0 puts a contiguous type; the target has the type"),
    pair("put_locked", "12.5.3", "the same while the window is locked"),
    pair("put_posted", "12.5.2", "the same between MPI_Win_start and MPI_Win_complete"),
    pair("put_origin", "12.3.1", "rank 0 puts the type; the target has a contiguous type"),
    pair("get", "12.3.2", "rank 1 gets the type of rank 0 as a contiguous type"),
    pair("get_origin", "12.3.2", "rank 1 gets a contiguous type of rank 0 as the type"),
    pair("accumulate", "12.3.4", "rank 0 replaces the type of rank 1 by MPI_Accumulate"),
    pair("get_accumulate", "12.3.4", "rank 1 gets the type of rank 0 by MPI_Get_accumulate"),
    all("bcast", "6.4", "a broadcast of the type"),
    all("gather", "6.5", "every rank sends a contiguous type, and rank 1 gathers the type"),
    all("nothing_from_others", "6.5", "a gather of no items as items of a type without data"),
    all("allgather", "6.7", "the same to all ranks"),
    all("scatter", "6.6", "rank 1 sends the type to all ranks, which receive a contiguous type"),
    all("alltoall", "6.8", "every rank sends a contiguous type to each, and receives the type"),
    all("neighbor_alltoall", "8.6.2", "the same between neighbours on a graph"),
    all("alltoallw", "6.8", "rank 0 sends the type, rank 1 receives a contiguous type"),
    all("neighbor_alltoallw", "8.6.2", "the same between neighbours on a graph"),
    all(
        "gatherv",
        "6.5",
        "odd ranks send a contiguous type, the others nothing, and rank 1 gathers the type",
    ),
    all("allgatherv", "6.7", "the same to all ranks"),
    all("reduce", "6.9.5", "a reduction of the type to rank 1 by a function of the program"),
];

impl Operation {
    /// The operation called `name`.
    ///
    /// # Errors
    /// A message with the nearest name, if there is none.
    pub fn find(name: &str) -> Result<&'static Self, String> {
        OPERATIONS.iter().find(|operation| operation.name == name).ok_or_else(|| {
            let names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
            let near =
                similar(&names, name).map_or_else(String::new, |near| format!("did you mean {near:?}? "));
            // All names would hide this one.
            format!("no operation is called {name:?}: {near}`ddtbench conform --help-all` lists all")
        })
    }

    /// Its place in [`OPERATIONS`].
    pub fn number(&self) -> usize {
        OPERATIONS.iter().position(|known| known.name == self.name).expect("one of them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_name() {
        for operation in OPERATIONS {
            assert_eq!(Operation::find(operation.name), Ok(operation));
            assert!((1..=2).contains(&operation.ranks) && !operation.asks.is_empty());
        }
        assert!(Operation::find("pac").unwrap_err().contains("pack"));
    }
}
