/* The extent of a structure does not depend on the order of its members (MPI-4.1, sections 5.1 and 5.1.6): bytes 1
 * to 47, which may be rounded to 48.
 * mpicc -o finding extent-member-order.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int lengths[] = {3, 1, 1};
    MPI_Aint places[] = {24, 18, 1}, lower, extent;
    MPI_Datatype types[] = {MPI_C_FLOAT_COMPLEX, MPI_UINT16_T, MPI_INT64_T}, type;
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    if (lower != 1 || (extent != 47 && extent != 48))
        printf("wrong: lower bound %ld, extent %ld\n", (long)lower, (long)extent);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
