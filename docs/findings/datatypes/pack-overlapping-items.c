/* Items that overlap are packed, which a sender may do (MPI-4.1, section 5.1.11): 86 complex numbers, 8 bytes apart.
 * mpicc -o finding pack-overlapping-items.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    static union {
        struct { double _Complex numbers[43]; double end; } even;
        struct { double start; double _Complex numbers[43]; } odd;
        char bytes[87 * 8];
    } memory;
    static char packed[86 * 16];
    int position = 0, wrong = 0;
    MPI_Datatype wide, type;
    MPI_Type_create_resized(MPI_C_DOUBLE_COMPLEX, 0, 8, &wide);
    MPI_Type_contiguous(86, wide, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 87 * 8; i++)
        memory.bytes[i] = i % 101;
    MPI_Pack(&memory, 1, type, packed, 86 * 16, &position, MPI_COMM_SELF);
    for (int i = 0; i < 86 * 16; i++)
        wrong += packed[i] != (i / 16 * 8 + i % 16) % 101;
    printf(wrong || position != 86 * 16 ? "wrong: %d bytes\n" : "right\n", wrong);
    MPI_Finalize();
    return 0;
}
