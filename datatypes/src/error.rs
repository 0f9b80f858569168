//! What can be wrong with a layout or a pack.

/// Why a constructor refused its arguments: which constructor, which argument, which value, what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// An argument is outside what MPI allows.
    #[error("{constructor}: {argument} = {value}: {reason}")]
    Argument {
        /// The constructor's MPI name, e.g. `vector`.
        constructor: &'static str,
        /// The argument's MPI name, with its index where it is a list, e.g. `blocklengths[3]`.
        argument: String,
        /// The value that was given.
        value: String,
        /// What would be right.
        reason: String,
    },
    /// Size, extent or a displacement does not fit in 64 bits.
    #[error("{constructor}: {argument} = {value}: the {what} does not fit in a signed 64-bit number")]
    Overflow {
        /// The constructor's MPI name.
        constructor: &'static str,
        /// The argument that makes it too large.
        argument: String,
        /// The value that was given.
        value: String,
        /// What overflows: `size`, `displacement`, `extent`, ...
        what: &'static str,
    },
}

/// Why bytes could not be packed or unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The type map leaves the array.
    #[error(
        "the layout reaches bytes {from}..{to} of an array of {array_bytes} bytes (counted from its start)"
    )]
    OutsideArray {
        /// First byte, counted from the start of the array; may be negative.
        from: i128,
        /// One past the last byte.
        to: i128,
        /// Bytes of the array.
        array_bytes: usize,
    },
    /// The packed buffer has the wrong length.
    #[error("the packed buffer has {found} bytes where the layout has {expected}")]
    PackedLength {
        /// Bytes of the layout.
        expected: u64,
        /// Bytes of the buffer.
        found: usize,
    },
}
