/* MPI_Get_accumulate with MPI_SUM of 1,025 items of a type of one int (MPI-4.1, section 12.3.4). Rank 0 gets the values before the sum.
 * mpicc -o finding get-accumulate-sum.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 1025 };
    static int target[ITEMS], values[ITEMS], before[ITEMS];
    int rank, wrong = 0, all;
    MPI_Win window;
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < ITEMS; i++) {
        target[i] = 10000 + i;
        values[i] = 1 + i;
    }
    MPI_Win_create(target, sizeof target, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Get_accumulate(values, ITEMS, MPI_INT, before, ITEMS, MPI_INT, 1, 0, ITEMS, type, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < ITEMS; i++)
        wrong += rank == 0 ? before[i] != 10000 + i : target[i] != 10001 + 2 * i;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all ? "wrong: %d of %d values\n" : "right\n", all, 2 * ITEMS);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
