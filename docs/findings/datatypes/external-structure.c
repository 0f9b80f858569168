/* MPI_Pack_external writes big-endian values (MPI-4.1, sections 5.3 and 14.5.2), here of a structure of
 * a short and a char.
 * mpicc -o finding external-structure.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    struct { short number; char letter; } memory = {0x0102, 3};
    char packed[16] = {0};
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 2}, position = 0;
    MPI_Datatype types[] = {MPI_SHORT, MPI_CHAR}, type;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external("external32", &memory, 1, type, packed, 16, &position);
    if (position != 3 || memcmp(packed, "\1\2\3", 3) != 0)
        printf("wrong: %ld bytes: %d %d %d\n", (long)position, packed[0], packed[1], packed[2]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
