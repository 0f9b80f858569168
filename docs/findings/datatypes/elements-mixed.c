/* MPI_Get_elements counts basic elements (MPI-4.1, section 5.1.11): two, of different types.
 * mpicc -o finding elements-mixed.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 1};
    MPI_Datatype types[] = {MPI_SIGNED_CHAR, MPI_BYTE}, type, dense;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_dup(type, &dense);
    MPI_Type_commit(&dense);
    signed char from[2] = {0}, to[2];
    int elements;
    MPI_Status status;
    MPI_Type_commit(&type);
    MPI_Sendrecv(from, 1, dense, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, type, &elements);
    if (elements != 2)
        printf("wrong: MPI_Get_elements gives %d instead of 2\n", elements);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
