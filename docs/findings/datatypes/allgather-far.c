/* MPI_Allgather of two chars of each rank, which are received more than 2 GiB apart (MPI-4.1, section 6.7).
 * mpicc -o finding allgather-far.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(20);
    const long far = 2147483648, bytes = 3 * far;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int rank, wrong = 0;
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char sent[] = {1 + 2 * rank, 2 + 2 * rank};
    MPI_Type_create_hvector(2, 1, far, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Allgather(sent, 2, MPI_CHAR, memory, 1, type, MPI_COMM_WORLD);
    char found[] = {memory[0], memory[far], memory[far + 1], memory[2 * far + 1]};
    for (int i = 0; i < 4; i++)
        wrong += found[i] != 1 + i;
    if (rank == 1 && wrong)
        printf("wrong: %d %d %d %d instead of 1 2 3 4\n", found[0], found[1], found[2], found[3]);
    else if (rank == 1)
        printf("right\n");
    MPI_Finalize();
    return 0;
}
