/* MPI_Get_accumulate from a structure of a char and no bytes: one predefined type (MPI-4.1, section 12.3.4).
 * mpicc -o finding get-accumulate-empty-block.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char got = 0;
    static _Alignas(64) char memory = 5;
    int rank, lengths[] = {1, 0};
    MPI_Aint places[] = {0, 0};
    MPI_Datatype types[] = {MPI_SIGNED_CHAR, MPI_BYTE}, type;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Win_create(&memory, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Get_accumulate(NULL, 0, MPI_BYTE, &got, 1, MPI_SIGNED_CHAR, 1, 0, 1, type, MPI_NO_OP, window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        printf(got == 5 ? "right\n" : "wrong: %d instead of 5\n", got);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
