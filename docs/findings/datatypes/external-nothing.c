/* MPI_Pack_external of an item of a type without data writes nothing (MPI-4.1, sections 5.1 and 5.3).
 * mpicc -o finding external-nothing.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    char memory[8] = {0}, packed[16];
    MPI_Aint position = 0;
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_BYTE, &empty);
    MPI_Type_commit(&empty);
    MPI_Pack_external("external32", memory, 1, empty, packed, 16, &position);
    if (position != 0)
        printf("wrong: %ld bytes\n", (long)position);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
