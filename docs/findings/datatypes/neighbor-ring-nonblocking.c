/* A periodic grid of two ranks: what one sends to its lower neighbour, the other receives from its upper one, also with the nonblocking
 * call (MPI-4.1, section 8.6.2).
 * mpicc -o finding neighbor-ring-nonblocking.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int rank, ranks[1] = {2}, periods[1] = {1}, received[2] = {0};
    MPI_Comm ring;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, ranks, periods, 0, &ring);
    int sent[2] = {10 * rank + 1, 10 * rank + 2}, lower = 10 * (1 - rank) + 2;
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (received[0] != lower || received[1] != lower - 1)
        printf("wrong: rank %d has %d %d instead of %d %d\n", rank, received[0], received[1], lower, lower - 1);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
