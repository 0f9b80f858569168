/* MPI_Put of three chars in descending order at the end of a window (MPI-4.1, sections 5.1.2 and 12.3.1).
 * mpicc -o finding put-negative-stride.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char sent[] = {1, 2, 3};
    static _Alignas(64) char memory[3];
    int rank;
    MPI_Datatype type;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_hvector(3, 1, -1, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Win_create(memory, 3, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Put(sent, 3, MPI_CHAR, 1, 2, 1, type, window);
    MPI_Win_fence(0, window);
    if (rank == 1)
        printf(memory[0] == 3 && memory[1] == 2 && memory[2] == 1 ? "right\n" : "wrong: %d %d %d instead of 3 2 1\n",
               memory[0], memory[1], memory[2]);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
