/* The complex members of two structures, which are 24 bytes apart, are unpacked (MPI-4.1, section 5.1.2).
 * mpicc -o finding complex-stride.c && mpiexec -n 1 ./finding */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    alarm(10);
    struct item { double complex value; double weight; } items[2] = {{-1, -1}, {-1, -1}};
    double complex values[] = {1, 2};
    MPI_Datatype type;
    MPI_Type_create_hvector(2, 1, sizeof(struct item), MPI_C_DOUBLE_COMPLEX, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(values, 2, MPI_C_DOUBLE_COMPLEX, 0, 0, items, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    int wrong = creal(items[0].value) != 1 || creal(items[1].value) != 2 || items[0].weight != -1;
    if (wrong)
        printf("wrong: the second value is %g, and the first weight %g\n", creal(items[1].value), items[0].weight);
    else
        printf("right\n");
    MPI_Finalize();
    return 0;
}
