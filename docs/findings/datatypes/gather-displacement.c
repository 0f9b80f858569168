/* The root gathers two chars from each process, 3 in front of the address of an item (MPI-4.1, sections 5.1.2 and 6.5).
 * mpicc -o finding gather-displacement.c && mpiexec -n 2 ./finding */
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    char sent[2] = {5, 6};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    alarm(10);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* The last byte of this memory is the address of the second item; the page behind it cannot be accessed. */
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + page, page, PROT_NONE);
    char *items = memory + page - 3;
    MPI_Type_create_hindexed_block(1, 2, (MPI_Aint[]){-3}, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Gather(sent, 2, MPI_BYTE, items, 1, type, 1, MPI_COMM_WORLD);
    if (rank == 1 && (items[-3] != 5 || items[-2] != 6 || items[-1] != 5 || items[0] != 6))
        printf("wrong: %d %d %d %d instead of 5 6 5 6\n", items[-3], items[-2], items[-1], items[0]);
    else if (rank == 1)
        printf("right\n");
    MPI_Finalize();
    return 0;
}
