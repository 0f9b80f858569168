/* Two bytes with a gap, described by a constructor for large counts, are written to a file
 * (MPI-4.1, sections 5.1.2 and 14.4.1). Open MPI does not have the constructor.
 * mpicc -o finding file-large-vector.c && mpiexec -n 1 ./finding */
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
    MPI_Datatype type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_vector_c(2, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, memory, 1, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, found, 2, 0) != 2 || found[0] != 1 || found[1] != 3)
        printf("wrong: the file has %d %d instead of 1 3\n", found[0], found[1]);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
