/* A graph in which each rank is twice the neighbour of the other: the two blocks differ (MPI-4.1, section 8.6.2).
 * mpicc -o finding neighbor-twice.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int rank;
    MPI_Comm graph;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int neighbors[2] = {1 - rank, 1 - rank}, weights[2] = {1, 1}, received[2] = {0};
    int sent[2] = {10 * rank + 1, 10 * rank + 2}, first = 10 * (1 - rank) + 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors, weights, 2, neighbors, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, graph);
    if (received[0] != first || received[1] != first + 1)
        printf("wrong: rank %d has %d %d instead of %d %d\n", rank, received[0], received[1], first, first + 1);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
