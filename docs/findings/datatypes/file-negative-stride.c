/* Two bytes, the second of which is in front of the first in memory, with the bounds that they have anyway, are
 * written to a file (MPI-4.1, sections 5.1.2, 5.1.7 and 14.4.1).
 * mpicc -o finding file-negative-stride.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[] = {1, 2, 3}, name[] = "/tmp/finding-XXXXXX", found[2] = {0};
    MPI_File file;
    MPI_Datatype vector, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_vector(2, 1, -2, MPI_BYTE, &vector);
    MPI_Type_create_resized(vector, -2, 3, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, memory + 2, 1, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, found, 2, 0) != 2 || found[0] != 3 || found[1] != 1)
        printf("wrong: the file has %d %d instead of 3 1\n", found[0], found[1]);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
