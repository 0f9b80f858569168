//! Definitions that differ between headers, as variables of `constants.c`.

use std::ffi::c_int;

use super::*;

/// Declares variables of one type.
macro_rules! variables {
    ($($type:ty: $($name:ident)*;)*) => {
        unsafe extern "C" {
            $($(pub static $name: $type;)*)*
        }
    };
}

variables! {
    MPI_Comm: RSMPI_COMM_NULL RSMPI_COMM_SELF RSMPI_COMM_WORLD;
    MPI_Datatype: RSMPI_BYTE RSMPI_CHAR RSMPI_C_BOOL RSMPI_DATATYPE_NULL RSMPI_DOUBLE RSMPI_DOUBLE_COMPLEX RSMPI_FLOAT
        RSMPI_FLOAT_COMPLEX RSMPI_INT8_T RSMPI_INT16_T RSMPI_INT32_T RSMPI_INT64_T RSMPI_LONG_DOUBLE RSMPI_LONG_DOUBLE_COMPLEX
        RSMPI_PACKED RSMPI_UINT8_T RSMPI_UINT16_T RSMPI_UINT32_T RSMPI_UINT64_T;
    MPI_Errhandler: RSMPI_ERRORS_RETURN;
    MPI_Group: RSMPI_GROUP_EMPTY RSMPI_GROUP_NULL;
    MPI_Info: RSMPI_INFO_NULL;
    MPI_Message: RSMPI_MESSAGE_NO_PROC RSMPI_MESSAGE_NULL;
    MPI_Op: RSMPI_BAND RSMPI_BOR RSMPI_BXOR RSMPI_LAND RSMPI_LOR RSMPI_LXOR RSMPI_MAX RSMPI_MIN RSMPI_NO_OP RSMPI_PROD
        RSMPI_REPLACE RSMPI_SUM;
    MPI_Request: RSMPI_REQUEST_NULL;
    *mut MPI_Status: RSMPI_STATUS_IGNORE;
    MPI_Win: RSMPI_WIN_NULL;
    c_int: RSMPI_ANY_SOURCE RSMPI_ANY_TAG RSMPI_CART RSMPI_COMM_TYPE_SHARED RSMPI_CONGRUENT RSMPI_DIST_GRAPH RSMPI_GRAPH
        RSMPI_IDENT RSMPI_MAX_LIBRARY_VERSION_STRING RSMPI_MAX_PROCESSOR_NAME RSMPI_PROC_NULL RSMPI_SIMILAR
        RSMPI_THREAD_FUNNELED RSMPI_THREAD_MULTIPLE RSMPI_THREAD_SERIALIZED RSMPI_THREAD_SINGLE RSMPI_T_BIND_NO_OBJECT
        RSMPI_T_SCOPE_CONSTANT RSMPI_UNDEFINED RSMPI_UNEQUAL;
    // The combiners of constructors, from MPI_COMBINER_NAMED to MPI_COMBINER_RESIZED, in the order of `constants.c`.
    [c_int; 13]: RSMPI_COMBINERS;
    // The types of control variables, in the order of `constants.c`.
    [MPI_Datatype; 7]: RSMPI_NUMBERS;
}

unsafe extern "C" {
    pub fn RSMPI_Wtick() -> f64;
    pub fn RSMPI_Wtime() -> f64;
    /// The type of half precision, or `MPI_DATATYPE_NULL`.
    pub fn RSMPI_half() -> MPI_Datatype;
}
