/* The last two of three members of two structures are written to a file (MPI-4.1, sections 5.1.2 and 14.4.1).
 * mpicc -o finding file-adjacent-members.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    struct { int unsent, number; float value; } memory[] = {{0, 1, 1}, {0, 2, 2}};
    char found[16];
    int lengths[] = {1, 1};
    char name[] = "/tmp/finding-XXXXXX";
    MPI_Aint places[] = {4, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_FLOAT}, pair, type;
    MPI_File file;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_create_hvector(2, 1, sizeof memory[0], pair, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, memory, 1, type, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, found, sizeof found, 0) != sizeof found || memcmp(found, &memory[0].number, 8)
        || memcmp(found + 8, &memory[1].number, 8))
        printf("wrong: the file has other values\n");
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
