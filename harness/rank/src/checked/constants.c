/* What mpi.h has only as macros with casts, which binding generators leave out, and which MPI this is. */
#include <mpi.h>

const MPI_Datatype ddtbench_byte = MPI_BYTE;
const MPI_Datatype ddtbench_char = MPI_CHAR;
const MPI_Datatype ddtbench_int = MPI_INT;
const MPI_Datatype ddtbench_packed = MPI_PACKED;
const int ddtbench_no_object = MPI_T_BIND_NO_OBJECT;

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
