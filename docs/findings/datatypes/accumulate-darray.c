/* A value of an array of one element is added to another one (MPI-4.1, sections 5.1.4 and 12.3.4).
 * mpicc -o finding accumulate-darray.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int rank, size[1] = {1}, distribution[1] = {MPI_DISTRIBUTE_CYCLIC}, argument[1] = {2}, ranks[1] = {1};
    signed char sent = 3, memory = 4;
    MPI_Datatype type;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_darray(1, 0, 1, size, distribution, argument, ranks, MPI_ORDER_FORTRAN, MPI_INT8_T, &type);
    MPI_Type_commit(&type);
    MPI_Win_create(&memory, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Accumulate(&sent, 1, type, 1, 0, 1, type, MPI_SUM, window);
    MPI_Win_fence(0, window);
    if (rank == 1 && memory != 7)
        printf("wrong: %d instead of 7\n", memory);
    else if (rank == 1)
        printf("right\n");
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
