/* Two ranks exchange two bytes with a gap by the nonblocking call (MPI-4.1, section 3.10).
 * mpicc -o finding replace-vector-nonblocking.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int rank;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char memory[3] = {10 * rank + 1, 0, 10 * rank + 2}, first = 10 * (1 - rank) + 1;
    MPI_Type_vector(2, 1, 2, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Isendrecv_replace(memory, 1, type, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (memory[0] != first || memory[1] != 0 || memory[2] != first + 1)
        printf("wrong: rank %d has %d %d %d instead of %d 0 %d\n", rank, memory[0], memory[1], memory[2], first, first + 1);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
