/* MPI_Bcast of no items by rank 1, which rank 0 receives as three items of a type without data (MPI-4.1, sections 5.1 and 6.4). Both
 * have the same, empty signature.
 * mpicc -o finding bcast-nothing.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int rank, data = 7;
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 1)
        MPI_Bcast(&data, 0, MPI_INT, 1, MPI_COMM_WORLD);
    else
        MPI_Bcast(&data, 3, type, 1, MPI_COMM_WORLD);
    if (rank == 0)
        printf(data == 7 ? "right\n" : "wrong: %d\n", data);
    MPI_Finalize();
    return 0;
}
