/* Every process sends 162 integers and receives them as 54 items of three (MPI-4.1, section 6.7).
 * mpicc -o finding allgather-other-count.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    static int sent[162], received[2][162], guard[4096];
    int rank, wrong = 0;
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    memset(received, 0, sizeof received);
    for (int i = 0; i < 162; i++)
        sent[i] = 1000 * rank + i + 1;
    MPI_Allgather(sent, 162, MPI_INT, received, 54, type, MPI_COMM_WORLD);
    for (int i = 0; i < 324; i++)
        wrong += received[i / 162][i % 162] != 1000 * (i / 162) + i % 162 + 1;
    printf(wrong ? "wrong: %d of 324 values\n" : "right\n", wrong);
    MPI_Finalize();
    return 0;
}
