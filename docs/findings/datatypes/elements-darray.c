/* MPI_Get_elements counts basic elements (MPI-4.1, section 5.1.11): one, of an array of one element.
 * mpicc -o finding elements-darray.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int size = 1, kind = MPI_DISTRIBUTE_CYCLIC, block = 3, processes = 1;
    MPI_Datatype type, dense = MPI_BYTE;
    MPI_Type_create_darray(1, 0, 1, &size, &kind, &block, &processes, MPI_ORDER_C, MPI_BYTE, &type);
    char from[64] = {0}, to[64];
    int elements;
    MPI_Status status;
    MPI_Type_commit(&type);
    MPI_Sendrecv(from, 1, dense, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, type, &elements);
    if (elements != 1)
        printf("wrong: MPI_Get_elements gives %d instead of 1\n", elements);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
