/* MPI_Put of an item without data between two fences (MPI-4.1, sections 5.1 and 12.3.1).
 * mpicc -o finding put-nothing.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[4] = {0};
    int rank;
    MPI_Datatype nothing, type;
    MPI_Aint place = 0;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_BYTE, &nothing);
    MPI_Type_create_hindexed_block(1, 1, &place, nothing, &type);
    MPI_Type_commit(&type);
    MPI_Win_create(memory, rank == 1 ? 4 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Put(memory, 1, type, 1, 0, 1, type, window);
    MPI_Win_fence(0, window);
    if (rank == 1)
        printf("right\n");
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
