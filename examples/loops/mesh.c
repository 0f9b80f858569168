/* Five values of each cell at the border of an unstructured mesh, by a list.
 * awk 'BEGIN { for (i = 0; i < 3000; i++) print (i * 7919) % 100003 "," }' > cells.txt
 * ddtbench run --layout 'indexed_block(1, @cells.txt, contiguous(5, double))' --pack mesh.c */
static const int cells[] = {
#include "cells.txt"
};
enum { CELLS = sizeof cells / sizeof *cells, VALUES = 5 };

void pack(const double (*state)[VALUES], double *message)
{
    for (int c = 0; c < CELLS; c++)
        for (int v = 0; v < VALUES; v++)
            message[c * VALUES + v] = state[cells[c]][v];
}

void unpack(const double *message, double (*state)[VALUES])
{
    for (int c = 0; c < CELLS; c++)
        for (int v = 0; v < VALUES; v++)
            state[cells[c]][v] = message[c * VALUES + v];
}
