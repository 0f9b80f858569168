/* A file view of a structure of a char and an empty member: nothing overlaps (MPI-4.1, sections 5.1 and 14.3).
 * mpicc -o finding view-empty-member.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char value = 1, name[] = "/tmp/finding-XXXXXX", found = 0;
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 0};
    MPI_File file;
    MPI_Datatype types[] = {MPI_BYTE, MPI_DATATYPE_NULL}, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_contiguous(0, MPI_BYTE, &types[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    int code = MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, &value, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (code != MPI_SUCCESS || pread(descriptor, &found, 1, 0) != 1 || found != 1)
        printf("wrong: code %d, the file has %d instead of 1\n", code, found);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
