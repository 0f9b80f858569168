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
    /// The method of contiguous bytes against which it is an overhead; `None`: that of its experiment.
    pub reference: Option<&'static str>,
    /// Whether it sends contiguous bytes for others to be compared with.
    pub is_reference: bool,
}

impl MethodInfo {
    /// A method that goes from arrays to arrays, compared with the reference of its experiment.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, original_name: None, is_complete: true, reference: None, is_reference: false }
    }

    /// The same, not from arrays to arrays.
    pub const fn partial(self) -> Self {
        Self { is_complete: false, ..self }
    }

    /// Contiguous bytes for others to be compared with.
    pub const fn contiguous(self) -> Self {
        Self { is_complete: false, is_reference: true, ..self }
    }

    /// The name in the original suite's output.
    pub const fn originally(self, name: &'static str) -> Self {
        Self { original_name: Some(name), ..self }
    }

    /// Compared with another reference than the experiment's.
    pub const fn against(self, reference: &'static str) -> Self {
        Self { reference: Some(reference), ..self }
    }
}

/// The method that two-sided ones are compared with.
pub const REFERENCE: &str = "reference";
/// The method that one-sided ones are compared with.
pub const PUT_REFERENCE: &str = "put_reference";

/// The application's hand-written loops, that verdicts name: as it has them, and as an expert tunes them. Either may be
/// missing.
pub const LOOPS: [&str; 2] = ["manual", "manual_tuned"];

/// All methods, in report order.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::new(REFERENCE, "the same number of contiguous bytes, written anew before each repetition")
        .contiguous()
        .originally("reference"),
    MethodInfo::new("reference_untouched", "the same bytes again and again, as IMB and OSU send them")
        .contiguous(),
    MethodInfo::new(
        "manual",
        "the application's pack and unpack loops, as it has them, around a contiguous message",
    )
    .originally("manual"),
    MethodInfo::new(
        "manual_tuned",
        "these loops as an expert tunes them by hand, around a contiguous message",
    ),
    MethodInfo::new(
        "mpi_pack",
        "MPI_Pack and MPI_Unpack with the derived datatype around a contiguous message",
    )
    .originally("mpi_pack_ddt"),
    MethodInfo::new("engine", "the datatype compiled by our own pack engine, around a contiguous message"),
    MethodInfo::new("ddt", "the derived datatype, sent and received as it is").originally("mpi_ddt"),
    MethodInfo::new("ddt_to_packed", "the datatype on the sending side only: its cost is the sender's")
        .partial(),
    MethodInfo::new("packed_to_ddt", "the datatype on the receiving side only: its cost is the receiver's")
        .partial(),
    MethodInfo::new(PUT_REFERENCE, "one-sided: MPI_Put of contiguous bytes between fences").contiguous(),
    MethodInfo::new("put_manual", "one-sided: packed by hand, MPI_Put between fences, unpacked by hand")
        .against(PUT_REFERENCE),
    MethodInfo::new("put_ddt", "one-sided: MPI_Put between fences with datatypes at origin and target")
        .against(PUT_REFERENCE),
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
