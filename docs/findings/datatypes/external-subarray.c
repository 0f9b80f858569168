/* MPI_Pack_external writes big-endian values (MPI-4.1, sections 5.3 and 14.5.2), here one short of an array.
 * mpicc -o finding external-subarray.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    short memory[] = {0x0102, 0x0304};
    char packed[16] = {0};
    int size = 2, part = 1, start = 1;
    MPI_Aint position = 0;
    MPI_Datatype type;
    MPI_Type_create_subarray(1, &size, &part, &start, MPI_ORDER_C, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external("external32", memory, 1, type, packed, 16, &position);
    if (position != 2 || packed[0] != 3 || packed[1] != 4)
        printf("wrong: %ld bytes: %d %d\n", (long)position, packed[0], packed[1]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
