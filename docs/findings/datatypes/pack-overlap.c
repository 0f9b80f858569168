/* Two blocks of two shorts share a short, which a sender may have (MPI-4.1, section 5.1.11).
 * mpicc -o finding pack-overlap.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    short memory[] = {1, 2, 3}, packed[4] = {0};
    int position = 0;
    MPI_Datatype type;
    MPI_Type_create_hvector(2, 2, 2, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    MPI_Pack(memory, 1, type, packed, 8, &position, MPI_COMM_SELF);
    if (position != 8 || memcmp(packed, (short[]){1, 2, 2, 3}, 8) != 0)
        printf("wrong: %d %d %d %d instead of 1 2 2 3\n", packed[0], packed[1], packed[2], packed[3]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
