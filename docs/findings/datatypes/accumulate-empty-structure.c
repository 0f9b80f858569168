/* MPI_Accumulate to a structure of a char and a structure without members: one predefined type (MPI-4.1, sections 5.1 and 12.3.4).
 * mpicc -o finding accumulate-empty-structure.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char sent = 5;
    static _Alignas(64) char memory = 0;
    int rank, lengths[] = {1, 1};
    MPI_Aint places[] = {0, 0};
    MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE}, type;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &types[0]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Win_create(&memory, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Accumulate(&sent, 1, MPI_BYTE, 1, 0, 1, type, MPI_REPLACE, window);
    MPI_Win_fence(0, window);
    if (rank == 1)
        printf(memory == 5 ? "right\n" : "wrong: %d instead of 5\n", memory);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
