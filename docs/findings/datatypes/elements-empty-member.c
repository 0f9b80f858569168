/* MPI_Get_elements counts basic elements (MPI-4.1, sections 5.1 and 5.1.11): one, next to an empty member.
 * mpicc -o finding elements-empty-member.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 0};
    MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE}, type, dense = MPI_BYTE;
    MPI_Type_contiguous(0, MPI_BYTE, &types[0]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
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
