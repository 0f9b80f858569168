/* The true bounds are those of the type map (MPI-4.1, sections 5.1 and 5.1.8): an empty member has none.
 * mpicc -o finding true-extent-empty-member.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 1}, lower, extent;
    MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE}, type;
    MPI_Type_contiguous(0, MPI_BYTE, &types[0]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_true_extent(type, &lower, &extent);
    if (lower != 1 || extent != 1)
        printf("wrong: true lower bound %ld, true extent %ld instead of 1, 1\n", (long)lower, (long)extent);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
