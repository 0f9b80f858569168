/* An item with a block of no elements within blocks is written to a file (MPI-4.1, sections 5.1 and 14.4.1).
 * mpicc -o finding file-nested-empty-block.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char memory[64], name[] = "/tmp/finding-XXXXXX", found[9] = {0};
    int lengths[] = {3, 0}, blocks[] = {2, 1}, starts[] = {0, 3};
    MPI_Aint places[] = {1, 1};
    MPI_File file;
    MPI_Datatype part, type;
    MPI_Init(&argc, &argv);
    alarm(10);
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < 64; i++)
        memory[i] = i;
    MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &part);
    MPI_Type_indexed(2, blocks, starts, part, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, memory, 1, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, found, 9, 0) != 9 || memcmp(found, "\1\2\3\4\5\6\12\13\14", 9) != 0)
        printf("wrong: the file begins with %d %d %d\n", found[0], found[1], found[2]);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
