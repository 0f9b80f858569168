/* MPI_Get of 17,500 pairs of an int and a long without gaps, into structures with gaps (MPI-4.1, section 12.3.2). The pairs are one
 * large structure, in which half of the longs are not aligned: of aligned values, all arrive.
 * mpicc -o finding get-mixed-origin.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    enum { ITEMS = 17500, BYTES = ITEMS * 12 };
    static _Alignas(long) char window_memory[BYTES], memory[ITEMS * 16];
    static int lengths[2 * ITEMS];
    static MPI_Aint places[2 * ITEMS];
    static MPI_Datatype types[2 * ITEMS], type, dense;
    int rank, wrong = 0;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * ITEMS; i++) {
        lengths[i] = 1;
        places[i] = i / 2 * 12 + i % 2 * 4;
        types[i] = i % 2 ? MPI_LONG : MPI_INT;
    }
    MPI_Type_create_struct(2 * ITEMS, lengths, places, types, &dense);
    places[1] = 8;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_commit(&dense);
    for (int i = 0; i < BYTES; i++)
        window_memory[i] = 1 + i % 100;
    MPI_Win_create(window_memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 1)
        MPI_Get(memory, ITEMS, type, 0, 0, 1, dense, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < BYTES && rank == 1; i++)
        wrong += memory[i / 12 * 16 + i % 12 + (i % 12 < 4 ? 0 : 4)] != 1 + i % 100;
    if (rank == 1)
        printf(wrong ? "wrong: %d of %d bytes\n" : "right\n", wrong, BYTES);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
