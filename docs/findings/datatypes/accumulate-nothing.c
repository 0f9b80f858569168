/* MPI_Accumulate of no elements to an item of a type without data (MPI-4.1, section 12.3.4).
 * mpicc -o finding accumulate-nothing.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[4] = {0};
    int rank, code = 0;
    MPI_Datatype type;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &type);
    MPI_Type_commit(&type);
    MPI_Win_create(memory, rank == 1 ? 4 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    if (rank == 0)
        code = MPI_Accumulate(memory, 1, type, 1, 0, 1, type, MPI_REPLACE, window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        printf(code ? "wrong: error %d\n" : "right\n", code);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
