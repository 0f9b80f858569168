/* A structure of a char and a vector of blocks of no elements is sent (MPI-4.1, section 5.1).
 * mpicc -o finding send-empty-vector.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char from = 7, to = 0;
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 0};
    MPI_Datatype types[] = {MPI_BYTE, MPI_DATATYPE_NULL}, back, type;
    MPI_Type_create_resized(MPI_BYTE, 0, -1, &back);
    MPI_Type_vector(1, 0, 0, back, &types[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(&from, 1, type, 0, 0, &to, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    printf(to == 7 ? "right\n" : "wrong: nothing arrives\n");
    MPI_Finalize();
    return 0;
}
