/* 2,159 structures of an int and a long are exchanged in place (MPI-4.1, section 3.10).
 * mpicc -o finding replace-mixed.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 2159 };
    static struct { int number; long value; } items[ITEMS];
    int rank, wrong = 0, lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_LONG}, type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < ITEMS; i++)
        items[i].number = items[i].value = i + rank;
    MPI_Sendrecv_replace(items, ITEMS, type, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ITEMS; i++)
        wrong += items[i].number != i + 1 - rank || items[i].value != i + 1 - rank;
    if (rank == 1)
        printf(wrong ? "wrong: %d of %d items\n" : "right\n", wrong, ITEMS);
    MPI_Finalize();
    return 0;
}
