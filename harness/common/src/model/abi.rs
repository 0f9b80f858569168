//! Binary interfaces of MPIs. MPIs with the same one can run the same program.

use serde::{Deserialize, Serialize};

named! {
    /// A family of MPIs with one binary interface. The name is in those of files, and that of the rank package's feature.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Abi {
        /// MPICH since 3.1, Intel MPI, MVAPICH, Cray MPICH.
        #[default]
        Mpich = "mpich",
        /// Open MPI since version 4, and its relatives.
        OpenMpi = "openmpi",
        /// The interface that the standard defines since MPI 5.
        Standard = "standard",
    }
}

impl Abi {
    /// The name in texts.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Mpich => "MPICH",
            Self::OpenMpi => "Open MPI",
            Self::Standard => "the standard, MPI 5",
        }
    }

    /// The usual file name of the library.
    pub const fn library(self) -> &'static str {
        match self {
            Self::Mpich => "libmpi.so.12",
            Self::OpenMpi => "libmpi.so.40",
            Self::Standard => "libmpi_abi.so.1",
        }
    }

    /// The size of `MPI_Status` in bytes, which distinguishes headers.
    pub const fn status_bytes(self) -> usize {
        match self {
            Self::Mpich => 20,
            Self::OpenMpi => 24,
            Self::Standard => 32,
        }
    }

    /// The interface of the library with this text of `MPI_Get_library_version`, or with this title.
    pub fn of_library(text: &str) -> Option<Self> {
        const RELATIVES: &[(&str, Abi)] = &[
            ("Open MPI", Abi::OpenMpi),
            ("Spectrum MPI", Abi::OpenMpi),
            ("Intel(R) MPI", Abi::Mpich),
            ("MVAPICH", Abi::Mpich),
            ("CRAY MPICH", Abi::Mpich),
            ("MPICH", Abi::Mpich),
        ];
        RELATIVES.iter().find(|(name, _)| text.contains(name)).map(|(_, abi)| *abi)
    }
}
