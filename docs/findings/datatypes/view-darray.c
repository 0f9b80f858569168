/* A view of a cyclic darray whose element has its byte at displacement 1 (MPI-4.1, sections 5.1.4 and 14.3).
 * mpicc -o finding view-darray.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char sent[] = {1, 2, 3, 4}, found[6] = {0};
    int place = 1, one = 1, cyclic = MPI_DISTRIBUTE_CYCLIC, block = 3, first = 0;
    MPI_Datatype byte, array, view;
    MPI_File file;
    MPI_Type_create_indexed_block(1, 1, &place, MPI_BYTE, &byte);
    MPI_Type_create_darray(1, 0, 1, &one, &cyclic, &block, &one, MPI_ORDER_C, byte, &array);
    MPI_Type_create_indexed_block(1, 2, &first, array, &view);
    MPI_Type_commit(&view);
    MPI_File_open(MPI_COMM_SELF, "finding.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
        MPI_INFO_NULL, &file);
    int code = MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) {
        MPI_File_write_at(file, 0, sent, 4, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_read_at(file, 0, found, 5, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    int right = found[1] == 1 && found[2] == 2 && found[3] == 3 && found[4] == 4;
    printf(right ? "right\n" : "wrong: code %d\n", code);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
