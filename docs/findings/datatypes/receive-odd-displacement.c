/* 3,000 items of three shorts, one of them at an odd displacement, are received (MPI-4.1, section 5.1.11).
 * mpicc -o finding receive-odd-displacement.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 3000, EXTENT = 10 };
    static short values[3 * ITEMS];
    static char memory[EXTENT * (ITEMS + 1)];
    MPI_Aint places[] = {2, -5, 0};
    MPI_Datatype item, type;
    int wrong = 0;
    for (int i = 0; i < 3 * ITEMS; i++)
        values[i] = 1 + i;
    MPI_Type_create_hindexed_block(3, 1, places, MPI_SHORT, &item);
    MPI_Type_create_resized(item, 0, EXTENT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(values, 3 * ITEMS, MPI_SHORT, 0, 0, memory + EXTENT, ITEMS, type, 0, 0, MPI_COMM_SELF,
        MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * ITEMS; i++)
        wrong += memcmp(&values[i], memory + EXTENT + i / 3 * EXTENT + places[i % 3], sizeof(short)) != 0;
    if (wrong)
        printf("wrong: %d of %d shorts\n", wrong, 3 * ITEMS);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
