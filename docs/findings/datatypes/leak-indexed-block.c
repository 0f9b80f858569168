/* Types that are freed leave no memory (MPI-4.1, section 5.1.9): 20,000 types of two blocks.
 * Some processes lose memory, others do not: run it several times.
 * mpicc -o finding leak-indexed-block.c && mpiexec -n 1 ./finding */
#include <mpi.h>
#include <stdio.h>

static long pages(void)
{
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &resident) != 1)
        resident = 0;
    fclose(file);
    return resident;
}

int main(int argc, char **argv)
{
    long before = 0;
    int places[] = {0, 2};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 21000; i++) {
        MPI_Datatype type;
        if (i == 1000)
            before = pages();
        MPI_Type_create_indexed_block(2, 1, places, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }
    long more = pages() - before;
    if (more > 200)
        printf("wrong: %ld pages more\n", more);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
