/* MPI_Get_elements counts basic elements (MPI-4.1, section 5.1.11): a char in a structure, and a short.
 * mpicc -o finding elements-nested.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 2};
    MPI_Datatype byte = MPI_BYTE, types[] = {MPI_DATATYPE_NULL, MPI_SHORT}, type, dense;
    MPI_Type_create_struct(1, lengths, places, &byte, &types[0]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_dup(type, &dense);
    MPI_Type_commit(&dense);
    struct { char first; short second; } from = {0}, to;
    int elements;
    MPI_Status status;
    MPI_Type_commit(&type);
    MPI_Sendrecv(&from, 1, dense, 0, 0, &to, 1, type, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, type, &elements);
    if (elements != 2)
        printf("wrong: MPI_Get_elements gives %d instead of 2\n", elements);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
