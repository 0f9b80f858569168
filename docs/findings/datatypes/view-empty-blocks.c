/* A file view of bytes 0 and 4, with blocks of no elements before, between and behind them (MPI-4.1, sections 5.1 and 14.3).
 * Their displacements are not in the type map, so that it has no negative ones, and none that descend.
 * mpicc -o finding view-empty-blocks.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char values[] = {1, 2}, name[] = "/tmp/finding-XXXXXX", found[5] = {0};
    int lengths[] = {0, 1, 0, 1, 0}, one = 1;
    MPI_Aint places[] = {400, -1, 0, 3, 0}, at = 1;
    MPI_File file;
    MPI_Datatype byte = MPI_BYTE, part, type;
    MPI_Init(&argc, &argv);
    alarm(10);
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_create_struct(1, &one, &at, &byte, &part);
    MPI_Type_create_hindexed(5, lengths, places, part, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    int code = MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, values, 2, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (code || pread(descriptor, found, 5, 0) != 5 || found[0] != 1 || found[4] != 2)
        printf("wrong: code %d, the file has %d and %d instead of 1 and 2\n", code, found[0], found[4]);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
