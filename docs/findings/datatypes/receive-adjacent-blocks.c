/* A message of 6,000 pairs of adjacent structures; malloc returns memory that is not zero (MPI-4.1, section 5.1.11).
 * mpicc -o finding receive-adjacent-blocks.c && mpiexec -n 2 ./finding */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    mallopt(M_PERTURB, 85);
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { PAIRS = 6000, BYTES = 24 * PAIRS };
    static _Alignas(4) char sent[BYTES], memory[27 * PAIRS + 16];
    int rank, wrong = 0, lengths[] = {2, 2};
    MPI_Aint places[] = {16, 20};
    MPI_Datatype member, dense, type, types[] = {MPI_INT16_T, MPI_INT32_T};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, places, types, &member);
    MPI_Type_create_hvector(PAIRS, 2, 27, member, &type);
    MPI_Type_commit(&type);
    places[0] = 0;
    places[1] = 4;
    MPI_Type_create_struct(2, lengths, places, types, &dense);
    MPI_Type_commit(&dense);
    for (int i = 0; i < BYTES; i++)
        sent[i] = 1 + i % 100;
    if (rank == 0)
        MPI_Send(sent, 2 * PAIRS, dense, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(memory, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES && rank == 1; i++)
        wrong += memory[16 + i / 24 * 27 + i % 24] != 1 + i % 100;
    if (rank == 1)
        printf(wrong ? "wrong: %d of %d bytes\n" : "right\n", wrong, BYTES);
    MPI_Finalize();
    return 0;
}
