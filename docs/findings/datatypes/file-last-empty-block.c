/* Blocks of one and of no structures, each with a char at displacement 1, are written to a file
 * (MPI-4.1, sections 5.1 and 14.4.1).
 * mpicc -o finding file-last-empty-block.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[] = {1, 2, 3}, name[] = "/tmp/finding-XXXXXX", found = 0;
    int lengths[] = {1, 0}, one = 1;
    MPI_Aint places[] = {0, 0}, at = 1;
    MPI_File file;
    MPI_Datatype byte = MPI_BYTE, part, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_create_struct(1, &one, &at, &byte, &part);
    MPI_Type_create_hindexed(2, lengths, places, part, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, memory, 1, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, &found, 1, 0) != 1 || found != 2)
        printf("wrong: the file has %d instead of 2\n", found);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
