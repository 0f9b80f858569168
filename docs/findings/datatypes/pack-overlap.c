/* Two shorts that overlap in one byte are packed, which a sender may do (MPI-4.1, sections 5.1.2 and 5.1.11).
 * mpicc -o finding pack-overlap.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[] = {1, 2, 3}, packed[4] = {0};
    int position = 0;
    MPI_Datatype type;
    MPI_Type_create_hvector(2, 1, 1, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    MPI_Pack(memory, 1, type, packed, 4, &position, MPI_COMM_SELF);
    if (position != 4 || memcmp(packed, "\1\2\2\3", 4) != 0)
        printf("wrong: %d %d %d %d instead of 1 2 2 3\n", packed[0], packed[1], packed[2], packed[3]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
