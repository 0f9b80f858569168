/* MPI_Put of a char to a window whose memory begins at an odd address (MPI-4.1, sections 12.2.1 and 12.3.1).
 * mpicc -o finding put-unaligned-window.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char memory[4096];
    char sent = 5;
    int rank, wrong = 0;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    alarm(10);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(memory + 2001, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0)
        MPI_Put(&sent, 1, MPI_BYTE, 1, 0, 1, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 4096 && rank == 1; i++)
        if (memory[i] != (i == 2001 ? 5 : 0)) {
            printf("wrong: byte %d is %d\n", i - 2001, memory[i]);
            wrong = 1;
        }
    if (rank == 1 && !wrong)
        printf("right\n");
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
