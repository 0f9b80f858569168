/* A view of several lists, each with a block of no elements (MPI-4.1, sections 5.1.2 and 14.3).
 * mpicc -o finding view-nested-empty-block.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    short values[32], found = 0;
    char name[] = "/tmp/finding-XXXXXX";
    int lengths[] = {2, 2, 0}, inner_places[] = {0, 3, 0}, blocks[] = {3, 5}, places[] = {1, 4};
    MPI_File file;
    MPI_Datatype inner, list, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < 32; i++)
        values[i] = 1 + i;
    MPI_Type_indexed(3, lengths, inner_places, MPI_SHORT, &inner);
    MPI_Type_indexed(2, blocks, places, inner, &list);
    MPI_Type_create_resized(list, 0, 90, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_SHORT, type, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, values, 32, MPI_SHORT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, &found, 2, 88) != 2 || found != 32)
        printf("wrong: the file ends with %d instead of 32\n", found);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
