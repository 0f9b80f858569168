/* A reduction over the ranks up to each, of two items, the second of which is 1 byte in front of the first
 * (MPI-4.1, sections 5.1.7 and 6.11.1).
 * mpicc -o finding scan-negative-extent.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        ((char *) to)[-i] += ((char *) from)[-i];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char sent[2] = {0}, sum[2] = {0};
    int rank;
    MPI_Datatype type;
    MPI_Op operation;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sent[0] = sent[1] = 1 + rank;
    MPI_Type_create_resized(MPI_BYTE, 0, -1, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &operation);
    MPI_Scan(sent + 1, sum + 1, 2, type, operation, MPI_COMM_WORLD);
    if (rank == 1 && (sum[0] != 3 || sum[1] != 3))
        printf("wrong: %d %d instead of 3 3\n", sum[0], sum[1]);
    else if (rank == 1)
        printf("right\n");
    MPI_Finalize();
    return 0;
}
