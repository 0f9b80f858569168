/* The root gathers 1,025 items of a type with a negative extent (MPI-4.1, sections 5.1.2 and 6.5).
 * mpicc -o finding gather-negative-extent.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    static char sent[1025], memory[2 * 1025];
    int rank, wrong = 0, code;
    MPI_Datatype type;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_resized(MPI_CHAR, 0, -1, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 1025; i++)
        sent[i] = 1 + (rank + i) % 100;
    code = MPI_Gather(sent, 1025, MPI_CHAR, memory + 2049, 1025, type, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 2050; i++)
        wrong += memory[2049 - i] != 1 + (i / 1025 + i % 1025) % 100;
    if (rank == 1)
        printf(wrong || code ? "wrong: code %d, %d values\n" : "right\n", code, wrong);
    MPI_Finalize();
    return 0;
}
