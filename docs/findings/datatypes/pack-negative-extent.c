/* MPI_Pack of a contiguous type whose element has a negative extent (MPI-4.1, sections 5.1.2 and 5.1.6).
 * mpicc -o finding pack-negative-extent.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[] = {0, 1, 2, 3, 4, 5, 6, 7}, packed[4] = {0};
    int sizes[] = {2}, parts[] = {1}, starts[] = {1}, position = 0;
    MPI_Datatype byte, back, type;
    MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &byte);
    MPI_Type_create_resized(byte, 0, -1, &back);
    MPI_Type_contiguous(2, back, &type);
    MPI_Type_commit(&type);
    MPI_Pack(memory + 4, 2, type, packed, 4, &position, MPI_COMM_SELF);
    if (memcmp(packed, "\5\4\5\4", 4) != 0)
        printf("wrong: %d %d %d %d\n", packed[0], packed[1], packed[2], packed[3]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
