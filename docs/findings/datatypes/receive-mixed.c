/* 17,500 structures of an int and a long are received from packed data (MPI-4.1, sections 3.3.1, 5.1.11 and 5.2).
 * mpicc -o finding receive-mixed.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 17500 };
    static struct item { int number; long value; } sent[ITEMS], memory[ITEMS];
    int lengths[] = {1, 1}, rank, room, position = 0, wrong = 0;
    MPI_Aint places[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_LONG}, type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < ITEMS; i++)
        sent[i] = (struct item) {1 + i, 1 + i};
    MPI_Pack_size(ITEMS, type, MPI_COMM_WORLD, &room);
    char *packed = malloc(room);
    MPI_Pack(sent, ITEMS, type, packed, room, &position, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(packed, position, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(memory, ITEMS, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ITEMS && rank == 1; i++)
        wrong += memory[i].number != 1 + i || memory[i].value != 1 + i;
    if (rank == 1)
        printf(wrong ? "wrong: %d of %d items\n" : "right\n", wrong, ITEMS);
    MPI_Finalize();
    return 0;
}
