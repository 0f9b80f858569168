//! The predefined types, with the sizes and alignments of their C types.

/// The predefined types, a row each: the name used in reports, files and parameters, the bytes of a value,
/// MPI's constant in C and in Fortran, and the other names that are read.
macro_rules! elements {
    ($($element:ident = $name:literal, $bytes:literal, $c:literal, $fortran:literal, [$($other:literal),*];)*) => {
        /// A predefined MPI datatype (MPI-4.1, table 3.2 and section 5.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Element {
            $(#[doc = concat!("`", $c, "`")] $element,)*
        }

        impl Element {
            /// Every predefined type, narrow ones first within a kind.
            pub const ALL: [Self; [$($bytes),*].len()] = [$(Self::$element),*];

            /// Bytes of one value.
            pub const fn size(self) -> u64 {
                match self {
                    $(Self::$element => $bytes,)*
                }
            }

            /// The name used in reports, files and parameters: `float`, `double_complex`, ...
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$element => $name,)*
                }
            }

            /// MPI's constant in C, and in Fortran.
            pub(crate) const fn constants(self) -> [&'static str; 2] {
                match self {
                    $(Self::$element => [$c, $fortran],)*
                }
            }

            /// Other names, in lower case: C's types on 64-bit Linux, Fortran's with the kinds that all compilers there have, and
            /// MPI's own (MPI-4.1, tables 3.1 to 3.3) without `MPI_`. Fortran's `logical` and `character(n)` are missing: the
            /// first has four bytes and no portable value, the second can have any length.
            pub(crate) const fn other_names(self) -> &'static [&'static str] {
                match self {
                    $(Self::$element => &[$($other),*],)*
                }
            }
        }
    };
}

elements! {
    Byte = "byte", 1, "MPI_BYTE", "MPI_BYTE", [];
    Char = "char", 1, "MPI_CHAR", "MPI_CHARACTER", ["character"];
    Int8 = "int8", 1, "MPI_INT8_T", "MPI_INT8_T",
        ["int8_t", "signed char", "signed_char", "integer(1)", "integer1"];
    Int16 = "int16", 2, "MPI_INT16_T", "MPI_INT16_T",
        ["int16_t", "short", "short int", "integer(2)", "integer2"];
    Int32 = "int32", 4, "MPI_INT32_T", "MPI_INTEGER",
        ["int32_t", "int", "integer", "integer(4)", "integer4"];
    Int64 = "int64", 8, "MPI_INT64_T", "MPI_INT64_T",
        ["int64_t", "long", "long int", "long long", "long_long", "long long int", "long_long_int", "integer(8)", "integer8"];
    Uint8 = "uint8", 1, "MPI_UINT8_T", "MPI_UINT8_T", ["uint8_t", "unsigned char", "unsigned_char"];
    Uint16 = "uint16", 2, "MPI_UINT16_T", "MPI_UINT16_T",
        ["uint16_t", "unsigned short", "unsigned_short", "unsigned short int"];
    Uint32 = "uint32", 4, "MPI_UINT32_T", "MPI_UINT32_T", ["uint32_t", "unsigned", "unsigned int"];
    Uint64 = "uint64", 8, "MPI_UINT64_T", "MPI_UINT64_T",
        ["uint64_t", "unsigned long", "unsigned_long", "unsigned long int", "unsigned long long", "size_t"];
    Half = "half", 2, "MPIX_C_FLOAT16", "MPIX_C_FLOAT16",
        ["float16", "_float16", "float16_t", "short float", "short_float", "real(2)", "real*2", "real2"];
    Float = "float", 4, "MPI_FLOAT", "MPI_REAL", ["real", "real(4)", "real*4", "real4"];
    Double = "double", 8, "MPI_DOUBLE", "MPI_DOUBLE_PRECISION",
        ["real(8)", "real*8", "real8", "double precision", "double_precision"];
    LongDouble = "long_double", 16, "MPI_LONG_DOUBLE", "MPI_LONG_DOUBLE", ["long double"];
    FloatComplex = "float_complex", 8, "MPI_C_FLOAT_COMPLEX", "MPI_COMPLEX",
        ["float complex", "float _complex", "complex", "complex(4)", "complex*8", "complex8"];
    DoubleComplex = "double_complex", 16, "MPI_C_DOUBLE_COMPLEX", "MPI_DOUBLE_COMPLEX",
        ["double complex", "double _complex", "complex(8)", "complex*16", "complex16"];
    LongDoubleComplex = "long_double_complex", 32, "MPI_C_LONG_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX",
        ["long double complex", "long double _complex"];
    Bool = "bool", 1, "MPI_C_BOOL", "MPI_C_BOOL", ["_bool", "cxx_bool"];
}

impl Element {
    /// The alignment of the C type in bytes; a complex number is aligned like its parts.
    pub const fn alignment(self) -> u64 {
        match self {
            Self::FloatComplex => 4,
            Self::DoubleComplex => 8,
            Self::LongDoubleComplex => 16,
            other => other.size(),
        }
    }

    /// Whether MPI counts it among integers, of which it has sums.
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::Int8
                | Self::Int16
                | Self::Int32
                | Self::Int64
                | Self::Uint8
                | Self::Uint16
                | Self::Uint32
                | Self::Uint64
        )
    }

    /// Bytes of a part of a value, and how many of these have data; the bytes after them are padding, which
    /// copies of the value need not keep. `None` without padding.
    pub const fn padded_parts(self) -> Option<(usize, usize)> {
        match self {
            // The x87 format has 80 bits. Other processors use all 128.
            Self::LongDouble | Self::LongDoubleComplex if cfg!(target_arch = "x86_64") => Some((16, 10)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
