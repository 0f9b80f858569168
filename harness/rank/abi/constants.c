/* What `mpi.h` defines in different ways, as variables that `predefined.rs` declares; and the main function. It is compiled with the
   MPI's own header when the rank program is linked. */
#include <mpi.h>

#ifdef DDTBENCH_STATUS
_Static_assert(sizeof(MPI_Status) == DDTBENCH_STATUS, "this mpi.h is of another family of MPIs than the rank library");
#endif

#define SAME(type, name) const type RSMPI_##name = MPI_##name;
#define COMM(name) SAME(MPI_Comm, COMM_##name)
#define TYPE(name) SAME(MPI_Datatype, name)
#define OP(name) SAME(MPI_Op, name)
#define NUMBER(name) SAME(int, name)

COMM(NULL) COMM(SELF) COMM(WORLD)
TYPE(BYTE) TYPE(CHAR) TYPE(C_BOOL) TYPE(DATATYPE_NULL) TYPE(DOUBLE) TYPE(FLOAT) TYPE(INT8_T) TYPE(INT16_T) TYPE(INT32_T)
TYPE(INT64_T) TYPE(LONG_DOUBLE) TYPE(PACKED) TYPE(UINT8_T) TYPE(UINT16_T) TYPE(UINT32_T) TYPE(UINT64_T)
const MPI_Datatype RSMPI_FLOAT_COMPLEX = MPI_C_FLOAT_COMPLEX;
const MPI_Datatype RSMPI_DOUBLE_COMPLEX = MPI_C_DOUBLE_COMPLEX;
const MPI_Datatype RSMPI_LONG_DOUBLE_COMPLEX = MPI_C_LONG_DOUBLE_COMPLEX;
SAME(MPI_Errhandler, ERRORS_RETURN)
SAME(MPI_Group, GROUP_EMPTY) SAME(MPI_Group, GROUP_NULL)
SAME(MPI_Info, INFO_NULL)
SAME(MPI_Message, MESSAGE_NO_PROC) SAME(MPI_Message, MESSAGE_NULL)
OP(BAND) OP(BOR) OP(BXOR) OP(LAND) OP(LOR) OP(LXOR) OP(MAX) OP(MIN) OP(NO_OP) OP(PROD) OP(REPLACE) OP(SUM)
SAME(MPI_Request, REQUEST_NULL)
MPI_Status *const RSMPI_STATUS_IGNORE = MPI_STATUS_IGNORE;
SAME(MPI_Win, WIN_NULL)
NUMBER(ANY_SOURCE) NUMBER(ANY_TAG) NUMBER(CART) NUMBER(COMM_TYPE_SHARED) NUMBER(CONGRUENT) NUMBER(DIST_GRAPH) NUMBER(GRAPH)
NUMBER(IDENT) NUMBER(MAX_LIBRARY_VERSION_STRING) NUMBER(MAX_PROCESSOR_NAME) NUMBER(PROC_NULL) NUMBER(SIMILAR)
NUMBER(THREAD_FUNNELED) NUMBER(THREAD_MULTIPLE) NUMBER(THREAD_SERIALIZED) NUMBER(THREAD_SINGLE) NUMBER(T_BIND_NO_OBJECT)
NUMBER(T_SCOPE_CONSTANT) NUMBER(UNDEFINED) NUMBER(UNEQUAL)

/* In the order of Combiner in contents.rs. */
const int RSMPI_COMBINERS[] = {
    MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR,
    MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_STRUCT, MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY, MPI_COMBINER_RESIZED,
};
/* In the order of NUMBERS in tool_information.rs. */
const MPI_Datatype RSMPI_NUMBERS[] = {
    MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE, MPI_C_BOOL,
};

double RSMPI_Wtick(void) { return MPI_Wtick(); }
double RSMPI_Wtime(void) { return MPI_Wtime(); }

/* Open MPI's type is a symbol, which the loaded library may lack. */
#if defined(MPIX_C_FLOAT16)
MPI_Datatype RSMPI_half(void) { return MPIX_C_FLOAT16; }
#elif defined(OPEN_MPI)
extern struct ompi_predefined_datatype_t ompi_mpi_short_float __attribute__((weak));
MPI_Datatype RSMPI_half(void) {
  return &ompi_mpi_short_float ? (MPI_Datatype)(void *)&ompi_mpi_short_float : MPI_DATATYPE_NULL;
}
#else
MPI_Datatype RSMPI_half(void) { return MPI_DATATYPE_NULL; }
#endif

/* Unit tests have their own. */
#ifndef DDTBENCH_NO_MAIN
extern int ddtbench_rank(void);
int main(void) { return ddtbench_rank(); }
#endif
