//! The MPI functions that partitioned transfers call. An MPI may lack them, whatever version its header states.

/// The functions a partitioned transfer needs.
pub const PARTITIONED: &[&str] = &["MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Parrived"];

/// The same, with the call that marks several partitions at once.
pub const PARTITIONED_LISTS: &[&str] =
    &["MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Parrived", "MPI_Pready_list"];
