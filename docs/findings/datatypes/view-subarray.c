/* A file view of the first halves of two arrays (MPI-4.1, section 14.3): bytes 0 and 2.
 * mpicc -o finding view-subarray.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char values[] = {1, 2}, name[] = "/tmp/finding-XXXXXX", found[3] = {0};
    int size = 2, part = 1, start = 0, lengths[] = {1, 1}, places[] = {0, 1};
    MPI_File file;
    MPI_Datatype half, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_create_subarray(1, &size, &part, &start, MPI_ORDER_C, MPI_BYTE, &half);
    MPI_Type_indexed(2, lengths, places, half, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, values, 2, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, found, 3, 0) != 3 || found[0] != 1 || found[2] != 2)
        printf("wrong: the file has %d and %d instead of 1 and 2\n", found[0], found[2]);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
