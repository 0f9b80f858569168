/* The extent of a structure is that of its only member with data (MPI-4.1, section 5.1.6).
 * mpicc -o finding extent-negative-member.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int lengths[] = {0, 1};
    MPI_Aint places[] = {0, 0}, lower, extent;
    MPI_Datatype members[] = {MPI_CHAR, MPI_DATATYPE_NULL}, type;
    MPI_Type_create_resized(MPI_SHORT, 0, -9, &members[1]);
    MPI_Type_create_struct(2, lengths, places, members, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    if (lower != 0 || extent != -9)
        printf("wrong: lower bound %ld, extent %ld instead of 0, -9\n", (long) lower, (long) extent);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
