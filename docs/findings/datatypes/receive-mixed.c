/* 8,750 items of a byte and a short integer without a gap are received as the same values in a contiguous type
 * (MPI-4.1, section 5.1.11).
 * mpicc -o finding receive-mixed.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 8750, BYTES = 3 * ITEMS };
    static char sent[BYTES], memory[4 * ITEMS];
    int rank, wrong = 0, lengths[2 * ITEMS];
    MPI_Aint places[2 * ITEMS], lower, extent;
    MPI_Datatype types[2 * ITEMS], type, dense;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * ITEMS; i++) {
        lengths[i] = 1;
        places[i] = i / 2 * 3 + i % 2;
        types[i] = i % 2 ? MPI_SHORT : MPI_BYTE;
    }
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_create_struct(2 * ITEMS, lengths, places, types, &dense);
    MPI_Type_commit(&type);
    MPI_Type_commit(&dense);
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < BYTES; i++)
        sent[i] = 1 + i % 100;
    if (rank == 0)
        MPI_Send(sent, 1, dense, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(memory, ITEMS, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < BYTES && rank == 1; i++)
        wrong += memory[i / 3 * extent + i % 3] != 1 + i % 100;
    if (rank == 1)
        printf(wrong ? "wrong: %d of %d bytes\n" : "right\n", wrong, BYTES);
    MPI_Finalize();
    return 0;
}
