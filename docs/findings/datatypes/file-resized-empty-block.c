/* A resized list that ends with a block of no elements is written to a file (MPI-4.1, sections 5.1.7 and 14.4.1).
 * mpicc -o finding file-resized-empty-block.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[24], found = 0, name[] = "/tmp/finding-XXXXXX";
    int sizes[] = {4}, parts[] = {2}, starts[] = {1}, lengths[] = {2, 0}, places[] = {4, 1};
    MPI_File file;
    MPI_Datatype part, list, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < 24; i++)
        memory[i] = i;
    MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_C, MPI_CHAR, &part);
    MPI_Type_indexed(2, lengths, places, part, &list);
    MPI_Type_create_resized(list, 0, 24, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, memory, 1, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, &found, 1, 3) != 1 || found != 22)
        printf("wrong: the file ends with %d instead of 22\n", found);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
