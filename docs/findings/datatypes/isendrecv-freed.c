/* A rank sends itself a message by MPI_Isendrecv and frees the type (MPI-4.1, sections 3.10 and 5.1.9).
 * mpicc -o finding isendrecv-freed.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char from[2] = {1, 2}, to[2] = {0, 0};
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_contiguous(2, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Isendrecv(from, 1, type, 0, 0, to, 2, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    if (to[0] != 1 || to[1] != 2)
        printf("wrong: %d %d instead of 1 2\n", to[0], to[1]);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
