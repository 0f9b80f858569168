//! The methods that there are, by name: how a test's bytes can travel. The rank program implements them.

/// A method's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The name in the original suite's output, where it has the method.
    pub original_name: Option<&'static str>,
    /// Whether an application could use it: the bytes go from arrays to arrays. The others are for comparison.
    pub is_complete: bool,
}

/// The method that all others are compared with.
pub const REFERENCE: &str = "reference";

/// The application's hand-written loops, that verdicts name: as it has them, and as an expert tunes them. Either may be
/// missing.
pub const LOOPS: [&str; 2] = ["manual", "manual_tuned"];

/// All methods, in report order.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: REFERENCE,
        about: "the same number of contiguous bytes, nothing packed",
        original_name: Some("reference"),
        is_complete: false,
    },
    MethodInfo {
        name: "manual",
        about: "the application's hand-written pack and unpack loops around a contiguous message",
        original_name: Some("manual"),
        is_complete: true,
    },
    MethodInfo {
        name: "mpi_pack",
        about: "MPI_Pack and MPI_Unpack with the derived datatype around a contiguous message",
        original_name: Some("mpi_pack_ddt"),
        is_complete: true,
    },
    MethodInfo {
        name: "engine",
        about: "the datatype compiled by our own pack engine, around a contiguous message",
        original_name: None,
        is_complete: true,
    },
    MethodInfo {
        name: "ddt",
        about: "the derived datatype, sent and received as it is",
        original_name: Some("mpi_ddt"),
        is_complete: true,
    },
    MethodInfo {
        name: "ddt_to_packed",
        about: "the datatype on the sending side only: its cost is the sender's",
        original_name: None,
        is_complete: false,
    },
    MethodInfo {
        name: "packed_to_ddt",
        about: "the datatype on the receiving side only: its cost is the receiver's",
        original_name: None,
        is_complete: false,
    },
    MethodInfo {
        name: "put_manual",
        about: "one-sided: packed by hand, MPI_Put between fences, unpacked by hand",
        original_name: None,
        is_complete: true,
    },
    MethodInfo {
        name: "put_ddt",
        about: "one-sided: MPI_Put between fences with datatypes at origin and target",
        original_name: None,
        is_complete: true,
    },
];

/// The method called `name`, or the reason why there is none.
///
/// # Errors
/// A sentence with all names.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    METHODS.iter().find(|method| method.name == name).ok_or_else(|| {
        let names: Vec<_> = METHODS.iter().map(|method| method.name).collect();
        format!("no method is called {name:?}; there are {}", names.join(", "))
    })
}
