/* A distributed array of elements without data (MPI-4.1, section 5.1.4).
 * mpicc -o finding darray-of-nothing.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int size = 4, kind = MPI_DISTRIBUTE_BLOCK, block = MPI_DISTRIBUTE_DFLT_DARG, processes = 1, code;
    MPI_Datatype empty, type;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(0, MPI_BYTE, &empty);
    code = MPI_Type_create_darray(1, 0, 1, &size, &kind, &block, &processes, MPI_ORDER_C, empty, &type);
    printf(code == MPI_SUCCESS ? "right\n" : "wrong: error %d\n", code);
    MPI_Finalize();
    return 0;
}
