/* MPI_Get_accumulate with MPI_SUM of an int whose extent is that of two (MPI-4.1, sections 5.1.7 and 12.3.4).
 * mpicc -o finding get-accumulate-resized.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int target[2] = {1000, 7}, value = 30, before = 0, rank, wrong, all;
    MPI_Win window;
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Win_create(target, sizeof target, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Get_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, 1, 0, 1, type, MPI_SUM, window);
    MPI_Win_fence(0, window);
    wrong = rank == 0 ? before != 1000 : target[0] != 1030 || target[1] != 7;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all ? "wrong: on %d of 2 ranks, %d before\n" : "right\n", all, before);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
