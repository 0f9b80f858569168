/* Particles that leave the domain, by a flag; their three coordinates are in one array.
 * awk 'BEGIN { for (i = 0; i < 50000; i++) if (i * 7919 % 10 == 0) print i }' > leaving.txt
 * ddtbench run --layout 'indexed_block(1, @leaving.txt, contiguous(3, double))' --pack leaving.c */
enum { PARTICLES = 50000 };
/* The program's arrays have bytes of ddtbench, so that flags are in a table of this file. */
static char leaves[PARTICLES];

__attribute__((constructor)) static void set_flags(void)
{
    for (int i = 0; i < PARTICLES; i++)
        leaves[i] = i * 7919 % 10 == 0;
}

void pack(const double (*x)[3], double *message)
{
    for (int i = 0; i < PARTICLES; i++)
        if (leaves[i])
            for (int d = 0; d < 3; d++)
                *message++ = x[i][d];
}

void unpack(const double *message, double (*x)[3])
{
    for (int i = 0; i < PARTICLES; i++)
        if (leaves[i])
            for (int d = 0; d < 3; d++)
                x[i][d] = *message++;
}
