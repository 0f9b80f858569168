/* The y halo of three 3-d fields in one message, as weather codes pack it. The array is a table of addresses.
 * ddtbench run subarray -p 'shape=float u[40][70][134],halo=0x3x3,face=y-,width=3,arrays=3' --pack fields.c */
enum { NX = 134, NY = 70, NZ = 40, HALO = 3, FIELDS = 3 };

void pack(const void *array, void *message)
{
    float (*const *fields)[NY][NX] = (void *)array;
    float *next = message;
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k < NZ; k++)
            for (int j = HALO; j < 2 * HALO; j++)
                for (int i = HALO; i < NX - HALO; i++)
                    *next++ = fields[f][k][j][i];
}

void unpack(const void *message, void *array)
{
    float (*const *fields)[NY][NX] = (void *)array;
    const float *next = message;
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k < NZ; k++)
            for (int j = NY - HALO; j < NY; j++)
                for (int i = HALO; i < NX - HALO; i++)
                    fields[f][k][j][i] = *next++;
}
