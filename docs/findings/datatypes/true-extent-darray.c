/* The true bounds are those of the type map (MPI-4.1, section 5.1.8). Process 1 of 2 has the second of two
 * elements, cyclic(1).
 * mpicc -o finding true-extent-darray.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int sizes[] = {1, 2}, kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
    int blocks[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, processes[] = {1, 2};
    MPI_Aint lower, extent;
    MPI_Datatype type;
    MPI_Type_create_darray(2, 1, 2, sizes, kinds, blocks, processes, MPI_ORDER_C, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_true_extent(type, &lower, &extent);
    if (lower != 1 || extent != 1)
        printf("wrong: true lower bound %ld, true extent %ld instead of 1, 1\n", (long)lower, (long)extent);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
