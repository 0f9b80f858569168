/* Two partitions, each of one item of a type with a negative extent (MPI-4.1, section 4.2.3).
 * mpicc -o finding partitioned-negative-extent.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[] = {1, 2, 3, 4, 5, 6, 7, 8}, received[8] = {0};
    int rank;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_resized(MPI_BYTE, 0, -4, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Psend_init(memory + 4, 2, 1, type, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(received + 4, 2, 1, type, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 0)
        MPI_Pready_range(0, 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1)
        printf(received[4] == 5 && received[0] == 1 ? "right\n" : "wrong: %d %d instead of 5 1\n", received[4], received[0]);
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
