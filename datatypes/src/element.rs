//! The predefined types, with the sizes and alignments of the C types that they stand for.

/// A predefined MPI datatype (MPI-4.1, table 3.2 and section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Element {
    /// `MPI_BYTE`
    Byte,
    /// `MPI_CHAR`
    Char,
    /// `MPI_INT8_T`
    Int8,
    /// `MPI_INT16_T`
    Int16,
    /// `MPI_INT32_T`
    Int32,
    /// `MPI_INT64_T`
    Int64,
    /// `MPI_UINT8_T`
    Uint8,
    /// `MPI_UINT16_T`
    Uint16,
    /// `MPI_UINT32_T`
    Uint32,
    /// `MPI_UINT64_T`
    Uint64,
    /// `MPI_FLOAT`
    Float,
    /// `MPI_DOUBLE`
    Double,
    /// `MPI_C_FLOAT_COMPLEX`
    FloatComplex,
    /// `MPI_C_DOUBLE_COMPLEX`
    DoubleComplex,
    /// `MPI_C_BOOL`
    Logical,
}

impl Element {
    /// Every predefined type, narrow ones first within a kind.
    pub const ALL: [Self; 15] = [
        Self::Byte,
        Self::Char,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
        Self::Float,
        Self::Double,
        Self::FloatComplex,
        Self::DoubleComplex,
        Self::Logical,
    ];

    /// Bytes of one value.
    pub const fn size(self) -> u64 {
        match self {
            Self::Byte | Self::Char | Self::Int8 | Self::Uint8 | Self::Logical => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float => 4,
            Self::Int64 | Self::Uint64 | Self::Double | Self::FloatComplex => 8,
            Self::DoubleComplex => 16,
        }
    }

    /// The alignment of the C type in bytes; a complex number is aligned like its parts.
    pub const fn alignment(self) -> u64 {
        match self {
            Self::FloatComplex => 4,
            Self::DoubleComplex => 8,
            other => other.size(),
        }
    }

    /// The name used in reports, files and parameters: `float`, `double_complex`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Self::Byte => "byte",
            Self::Char => "char",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
            Self::FloatComplex => "float_complex",
            Self::DoubleComplex => "double_complex",
            Self::Logical => "logical",
        }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
