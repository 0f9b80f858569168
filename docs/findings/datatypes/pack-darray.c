/* A distributed array of 2 x 2 chars, cyclic and in blocks, on one row and two columns of processes (MPI-4.1, section 5.1.4):
 * process 0 has column 0.
 * mpicc -o finding pack-darray.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[] = {0, 1, 2, 3}, packed[2] = {9, 9};
    int sizes[] = {2, 2}, kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    int blocks[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, processes[] = {1, 2}, position = 0;
    MPI_Datatype type;
    MPI_Type_create_darray(2, 0, 2, sizes, kinds, blocks, processes, MPI_ORDER_C, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Pack(memory, 1, type, packed, 2, &position, MPI_COMM_SELF);
    if (position != 2 || packed[0] != 0 || packed[1] != 2)
        printf("wrong: %d bytes: %d %d instead of 0 2\n", position, packed[0], packed[1]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
