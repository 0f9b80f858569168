/* A reduction, by a function of the program, of a value that is 8 bytes behind the address of the buffer
 * (MPI-4.1, sections 5.1.2 and 6.9.5).
 * mpicc -o finding reduce-displacement.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        ((char *) to)[9 * i + 8] += ((char *) from)[9 * i + 8];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char sent[9] = {0}, sum[9] = {0};
    int rank, places[] = {8};
    MPI_Datatype byte, type;
    MPI_Op operation;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sent[8] = 1 + rank;
    MPI_Type_create_indexed_block(1, 1, places, MPI_BYTE, &byte);
    MPI_Type_create_resized(byte, 0, 9, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &operation);
    for (int i = 0; i < 20; i++)
        MPI_Reduce(sent, sum, 1, type, operation, 1, MPI_COMM_WORLD);
    if (rank == 1 && sum[8] != 3)
        printf("wrong: %d instead of 3\n", sum[8]);
    else if (rank == 1)
        printf("right\n");
    MPI_Finalize();
    return 0;
}
