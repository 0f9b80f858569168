/* Three items of a structure of a double and a member without data, packed one after the other: an item begins
 * at a multiple of the extent that the MPI reports (MPI-4.1, sections 5.1.2 and 5.1.7).
 * mpicc -o finding pack-empty-member.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[120], packed[24];
    int lengths[] = {1, 1}, position = 0, wrong = 0;
    MPI_Aint places[] = {0, 16}, lower, extent;
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_DATATYPE_NULL}, type;
    MPI_Type_contiguous(0, MPI_DOUBLE, &types[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < 120; i++)
        memory[i] = i;
    MPI_Pack(memory, 3, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    for (int i = 0; i < 24; i++)
        wrong += packed[i] != memory[i / 8 * extent + i % 8];
    printf(wrong ? "wrong: %d of 24 bytes; the extent is %ld\n" : "right\n", wrong, (long) extent);
    MPI_Finalize();
    return 0;
}
