/* MPI_Scatter of 65,540 bytes to the root itself: structures of a double and two chars (MPI-4.1, section 6.6).
 * mpicc -o finding scatter-fragment.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 6554, BYTES = 10 * ITEMS };
    static _Alignas(16) char sent[16 * ITEMS], memory[BYTES];
    int wrong = 0, lengths[] = {1, 2};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype item, dense, type, types[] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(2, lengths, places, types, &item);
    MPI_Type_create_resized(item, 0, 16, &type);
    MPI_Type_create_resized(item, 0, 10, &dense);
    MPI_Type_commit(&type);
    MPI_Type_commit(&dense);
    for (int i = 0; i < BYTES; i++)
        sent[i / 10 * 16 + i % 10] = 1 + i % 100;
    MPI_Scatter(sent, ITEMS, type, memory, ITEMS, dense, 0, MPI_COMM_SELF);
    for (int i = 0; i < BYTES; i++)
        wrong += memory[i] != 1 + i % 100;
    printf(wrong ? "wrong: %d of %d bytes\n" : "right\n", wrong, BYTES);
    MPI_Finalize();
    return 0;
}
