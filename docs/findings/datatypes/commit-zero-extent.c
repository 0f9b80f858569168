/* A subarray of a list of elements with extent 0 is committed (MPI-4.1, sections 5.1.3, 5.1.7 and 5.1.9).
 * mpicc -o finding commit-zero-extent.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    int sizes[] = {5}, parts[] = {2}, starts[] = {2}, lengths[] = {1, 3}, places[] = {1, 7}, size;
    MPI_Datatype element, list, type;
    MPI_Type_create_resized(MPI_INT, 0, 0, &element);
    MPI_Type_indexed(2, lengths, places, element, &list);
    MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, list, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    printf(size == 32 ? "right\n" : "wrong: the size is %d\n", size);
    MPI_Finalize();
    return 0;
}
