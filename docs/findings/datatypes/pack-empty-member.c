/* Three items of a structure of a double and a member without data are packed, and unpacked as doubles: an item
 * begins at a multiple of the extent that the MPI reports (MPI-4.1, sections 5.1.2 and 5.1.7).
 * mpicc -o finding pack-empty-member.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    double memory[15], found[3];
    int lengths[] = {1, 1}, size, room, position = 0, wrong = 0;
    MPI_Aint places[] = {0, 16}, lower, extent;
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_DATATYPE_NULL}, type;
    MPI_Type_contiguous(0, MPI_DOUBLE, &types[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < 15; i++)
        memory[i] = i;
    MPI_Pack_size(3, type, MPI_COMM_WORLD, &room);
    char *packed = malloc(room);
    MPI_Pack(memory, 3, type, packed, room, &position, MPI_COMM_WORLD);
    size = position;
    position = 0;
    MPI_Unpack(packed, size, &position, found, 3, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        wrong += found[i] != memory[i * extent / 8];
    printf(wrong ? "wrong: %d of 3 items; the extent is %ld\n" : "right\n", wrong, (long) extent);
    MPI_Finalize();
    return 0;
}
