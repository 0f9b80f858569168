/* 17,500 structures of an int and a long are received from the same values without gaps
 * (MPI-4.1, section 5.1.11).
 * mpicc -o finding receive-mixed.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 17500, BYTES = ITEMS * 12 };
    static char sent[BYTES], memory[ITEMS * 16];
    static int lengths[2 * ITEMS];
    static MPI_Aint places[2 * ITEMS];
    static MPI_Datatype types[2 * ITEMS], type, dense;
    int rank, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * ITEMS; i++) {
        lengths[i] = 1;
        places[i] = i / 2 * 12 + i % 2 * 4;
        types[i] = i % 2 ? MPI_LONG : MPI_INT;
    }
    MPI_Type_create_struct(2 * ITEMS, lengths, places, types, &dense);
    places[1] = 8;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_commit(&dense);
    for (int i = 0; i < BYTES; i++)
        sent[i] = 1 + i % 100;
    if (rank == 0)
        MPI_Send(sent, 1, dense, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(memory, ITEMS, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES && rank == 1; i++)
        wrong += memory[i / 12 * 16 + i % 12 + (i % 12 < 4 ? 0 : 4)] != 1 + i % 100;
    if (rank == 1)
        printf(wrong ? "wrong: %d of %d bytes\n" : "right\n", wrong, BYTES);
    MPI_Finalize();
    return 0;
}
