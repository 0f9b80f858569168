/* The root gathers items of a type without data from processes that send no item: both type signatures are
 * empty (MPI-4.1, section 6.5).
 * mpicc -o finding gather-nothing.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    MPI_Datatype type;
    int rank;
    char memory[8];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Gather(memory, 0, MPI_BYTE, memory, 2, type, 1, MPI_COMM_WORLD);
    if (rank == 1)
        printf("right\n");
    MPI_Finalize();
    return 0;
}
