/* A block of 64 columns of a matrix of complex numbers, column by column, as a distributed transpose sends it.
 * ddtbench run --layout 'hvector(64, 1, 16, vector(512, 1, 512, double_complex))' --pack transpose.c */
#include <complex.h>
enum { ROWS = 512, COLUMNS = 64 };

void pack(const double complex (*matrix)[ROWS], double complex *message)
{
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            *message++ = matrix[i][j];
}

void unpack(const double complex *message, double complex (*matrix)[ROWS])
{
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            matrix[i][j] = *message++;
}
