/* Two bytes with a stride of -1 are received: the second is in front of the first (MPI-4.1, sections 5.1.2 and 5.1.8).
 * mpicc -o finding vector-negative-stride.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[4] = {0}, values[] = {1, 2};
    MPI_Aint lower, extent;
    MPI_Datatype type;
    MPI_Type_vector(2, 1, -1, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_true_extent(type, &lower, &extent);
    MPI_Sendrecv(values, 2, MPI_CHAR, 0, 0, memory + 1, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (memory[0] != 2 || memory[1] != 1 || memory[2] != 0)
        printf("wrong: %d %d %d instead of 2 1 0; the true lower bound is %ld\n", memory[0], memory[1], memory[2], (long) lower);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
