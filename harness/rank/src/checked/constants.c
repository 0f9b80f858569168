/* What mpi.h has only as macros with casts, which binding generators leave out, and which MPI this is. */
#include <mpi.h>

const MPI_Datatype ddtbench_byte = MPI_BYTE;
const MPI_Datatype ddtbench_char = MPI_CHAR;
const MPI_Datatype ddtbench_long_double = MPI_LONG_DOUBLE;
const MPI_Datatype ddtbench_long_double_complex = MPI_C_LONG_DOUBLE_COMPLEX;
const MPI_Datatype ddtbench_packed = MPI_PACKED;
const MPI_Op ddtbench_replace = MPI_REPLACE;
const MPI_Op ddtbench_no_op = MPI_NO_OP;
/* In the order of COMBINERS in typed.rs; MPICH has them as values of an enumeration that it does not name as the others. */
const int ddtbench_combiners[] = {
    MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR,
    MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_STRUCT, MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY, MPI_COMBINER_RESIZED,
};
const int ddtbench_no_object = MPI_T_BIND_NO_OBJECT;
const int ddtbench_constant = MPI_T_SCOPE_CONSTANT;
/* The numbers of control variables, in the order of NUMBERS in tool_information.rs. */
const MPI_Datatype ddtbench_numbers[] = {
    MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE, MPI_C_BOOL,
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#if defined(I_MPI_VERSION)
const char ddtbench_compiled_for[] = "Intel(R) MPI " I_MPI_VERSION;
#elif defined(MVAPICH_VERSION)
const char ddtbench_compiled_for[] = "MVAPICH " MVAPICH_VERSION;
#elif defined(MPICH_VERSION)
const char ddtbench_compiled_for[] = "MPICH " MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
const char ddtbench_compiled_for[] =
    "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);
#else
const char ddtbench_compiled_for[] = "MPI " TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION);
#endif

/* The type of half precision, or MPI_DATATYPE_NULL. Open MPI's is a symbol, which the loaded library may lack. */
#if defined(MPIX_C_FLOAT16)
MPI_Datatype ddtbench_half(void) { return MPIX_C_FLOAT16; }
#elif defined(OPEN_MPI)
extern struct ompi_predefined_datatype_t ompi_mpi_short_float __attribute__((weak));
MPI_Datatype ddtbench_half(void) {
  return &ompi_mpi_short_float ? (MPI_Datatype)(void *)&ompi_mpi_short_float : MPI_DATATYPE_NULL;
}
#else
MPI_Datatype ddtbench_half(void) { return MPI_DATATYPE_NULL; }
#endif
