/* MPI_Accumulate of one 64-bit integer with MPI_BXOR (MPI-4.1, section 12.3.4). It is wrong with MPI_BAND and MPI_BOR, too.
 * mpicc -o finding accumulate-bitwise.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    static int64_t origin = 42, target = 1000;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alarm(10);
    MPI_Win_create(&target, sizeof target, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Accumulate(&origin, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_BXOR, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    if (rank == 1 && target != (1000 ^ 42))
        printf("wrong: %ld instead of %d\n", (long)target, 1000 ^ 42);
    else if (rank == 1)
        printf("right\n");
    MPI_Finalize();
    return 0;
}
