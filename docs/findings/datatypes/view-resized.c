/* A view whose type is resized twice (MPI-4.1, sections 5.1.7 and 14.3).
 * mpicc -o finding view-resized.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char values[] = {1, 2}, found[2] = {0}, name[] = "/tmp/finding-XXXXXX";
    MPI_File file;
    MPI_Datatype inner, type;
    int descriptor = mkstemp(name);
    if (descriptor < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_create_resized(MPI_BYTE, -1, 2, &inner);
    MPI_Type_create_resized(inner, 0, 1, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, values, 2, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (pread(descriptor, found, 2, 0) != 2 || found[0] != 1 || found[1] != 2)
        printf("wrong: the file has %d and %d instead of 1 and 2\n", found[0], found[1]);
    else
        printf("right\n");
    remove(name);
    MPI_Finalize();
    return 0;
}
